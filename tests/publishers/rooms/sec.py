"""The room of the Securities and Exchange Commission, with companies of the simulated world."""

import functools
import re
from datetime import UTC, date, datetime, timedelta

from almanac.domain.times import DAY_SECONDS
from almanac.sandbox.companies import formats, responses
from almanac.sandbox.companies.filers import Filer, companies
from almanac.sandbox.companies.filings import Filing
from almanac.sandbox.companies.reports import stated_figures
from tests.publishers.room import Asked, Reply, Room, Rules, as_json

_QUARTER_DAY = DAY_SECONDS // 4
#: Seconds after a day has begun in UTC until its index is written.
WRITTEN_AFTER = 27 * 3_600
#: The companies that are there, by their number in the simulated world.
COMPANIES = 4


class Sec(Room):
    name, sources, hosts = "sec", ("sec",), ("www.sec.gov", "data.sec.gov")
    rules = Rules(
        documented="sec.gov/os/accessing-edgar-data: ten requests a second over all hosts, a User-Agent with a contact;"
        " who asks more is shut out for ten minutes; daily indexes are written at about 22:00 New York time, and a quarter's"
        " listing (index.json) has those that there are. Others have met 403 where there is none, and 404 for facts of who"
        " never stated any",
        limits=((10, 1.0),), over=403, shut_out=600.0, contact=True, last_modified=True, seconds=0.2,
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        now = int(asked.now) // _QUARTER_DAY * _QUARTER_DAY
        there = _there(int(asked.now) // DAY_SECONDS * DAY_SECONDS)
        if asked.path.startswith("/Archives/edgar/daily-index/"):
            return _indexes(asked, there, now)
        if asked.path == "/files/company_tickers_exchange.json":
            rows = [row for number in there for row in _tickers(number, now)]
            return as_json({"fields": ["cik", "name", "ticker", "exchange"], "data": rows})
        found = re.fullmatch(r"/(submissions|api/xbrl/companyfacts)/CIK([0-9]{10})\.json", asked.path)
        number = {responses.filer(one).cik: one for one in there}.get(int(found[2])) if found else None
        if found is None or number is None:
            return Reply(b"<Error><Code>NoSuchKey</Code></Error>", "application/xml", 404)
        body, changed = _page(number, now, facts=found[1] != "submissions")
        return Reply(body, "application/json", changed=changed)


_MISSING = Reply(b"<Error><Code>AccessDenied</Code></Error>", "application/xml", 403)
_HEAD = (
    "Description:           Daily Index of EDGAR Dissemination Feed\nLast Data Received:    {day:%b %d, %Y}\n"
    "Comments:              webmaster@sec.gov\nAnonymous FTP:         ftp://ftp.sec.gov/edgar/\n \n"
    "CIK|Company Name|Form Type|Date Filed|File Name\n" + "-" * 80 + "\n"
)


def _indexes(asked: Asked, there: tuple[int, ...], now: int) -> Reply:
    """The listing of a quarter, and the index of a day: what the companies filed then, and what somebody else did."""
    found = re.fullmatch(r".*/daily-index/([0-9]{4})/QTR([1-4])/(?:index\.json|master\.([0-9]{8})\.idx)", asked.path)
    if found is None:
        return _MISSING
    first = date(int(found[1]), 3 * int(found[2]) - 2, 1)
    last = datetime.fromtimestamp(asked.now - WRITTEN_AFTER, UTC).date()
    days = [first + timedelta(days=place) for place in range(92)]
    written = [day for day in days if day <= last and (day.month + 2) // 3 == int(found[2]) and is_open(day)]
    if found[3] is None:
        names = [f"{kind}.{day:%Y%m%d}.idx" for day in written for kind in ("company", "crawler", "form", "master")]
        items = [
            {"last-modified": "", "name": name, "type": "file", "href": name, "size": "865 KB"}
            for name in sorted(names)
        ]
        told = {"directory": {"item": items, "name": "daily-index/", "parent-dir": "../"}}
        return as_json(told) if written else _MISSING
    day = next((one for one in written if f"{one:%Y%m%d}" == found[3]), None)
    if day is None:
        return _MISSING
    lines = [f"9990001|DOE JANE|4|{day:%Y%m%d}|edgar/data/9990001/0009990001-26-000001.txt"]
    for number in there:
        company = responses.filer(number)
        lines += [
            f"{company.cik}|{formats.name_on(company, day)}|{filing.form}|{day:%Y%m%d}|edgar/data/{company.cik}/{filing.accession}.txt"
            for filing in _filings(number, now)
            if filing.filed == day.toordinal()
        ]
    body = _HEAD.format(day=day) + "".join(f"{line}\n" for line in sorted(lines))
    return Reply(body.encode("latin-1", "replace"), "application/octet-stream", changed=_written(day))


def is_open(day: date) -> bool:
    """Whether there is an index of a day: a day of work, but one in November on which nobody works."""
    return day.weekday() < 5 and (day.month, day.day) not in {(1, 1), (7, 4), (12, 25), (11, 11), (11, 26)}


def _written(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() + WRITTEN_AFTER


@functools.lru_cache(maxsize=4)
def _there(now: int) -> tuple[int, ...]:
    """Companies that have filed figures and are listed, the first few."""
    found: list[int] = []
    for company in companies():
        if any(filing.figures for filing in _filings(company.number, now)) and _tickers(company.number, now):
            found.append(company.number)
        if len(found) == COMPANIES:
            break
    return tuple(found)


def _filings(number: int, now: int) -> list[Filing]:
    return responses.filing_history(number, now).filings


@functools.lru_cache(maxsize=64)
def _tickers(number: int, now: int) -> list[list[object]]:
    company: Filer = responses.filer(number)
    filings = _filings(number, now)
    if not filings:
        return []
    day = filings[-1].accepted.date()
    title = formats.name_on(company, day)
    return [[company.cik, title, ticker, exchange] for ticker, exchange in formats.listings(company, day, filings)]


@functools.lru_cache(maxsize=64)
def _page(number: int, now: int, *, facts: bool) -> tuple[bytes, float]:
    company, calendar, books, filings = responses.filing_history(number, now)
    changed = float(max(filing.fetched_after for filing in filings))
    if not facts:
        return formats.submissions(company, filings), changed
    name = formats.name_on(company, filings[-1].accepted.date())
    return formats.company_facts(
        company, name, stated_figures(company.continues or company, calendar, books, filings)
    ), changed


ROOMS = [Sec]
