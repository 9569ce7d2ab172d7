"""The room of the Securities and Exchange Commission, with companies of the simulated world."""

from __future__ import annotations

import functools
import re

from almanac.domain.times import DAY_SECONDS
from almanac.sandbox.companies import formats, responses
from almanac.sandbox.companies.cast import Filer, cast
from almanac.sandbox.companies.filings import Paper, fetched_after
from almanac.sandbox.companies.reports import stated
from tests.publishers.room import Asked, Reply, Room, Rules, as_json

#: The companies that are there, by their number in the simulated world.
COMPANIES = 4


class Sec(Room):
    name, sources, hosts = "sec", ("sec",), ("www.sec.gov", "data.sec.gov")
    rules = Rules(
        documented="sec.gov/os/accessing-edgar-data: ten requests a second over all hosts, a User-Agent with a contact;"
        " who asks more is shut out for ten minutes",
        limits=((10, 1.0),), over=403, shut_out=600.0, contact=True, last_modified=True, seconds=0.2,
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        now = int(asked.now) // DAY_SECONDS * DAY_SECONDS
        there = _there(now)
        if asked.path == "/files/company_tickers_exchange.json":
            rows = [row for number in there for row in _tickers(number, now)]
            return as_json({"fields": ["cik", "name", "ticker", "exchange"], "data": rows})
        found = re.fullmatch(r"/(submissions|api/xbrl/companyfacts)/CIK([0-9]{10})\.json", asked.path)
        number = {responses.filer(one).cik: one for one in there}.get(int(found[2])) if found else None
        if found is None or number is None:
            return Reply(b"<Error><Code>NoSuchKey</Code></Error>", "application/xml", 404)
        body, changed = _page(number, now, facts=found[1] != "submissions")
        return Reply(body, "application/json", changed=changed)


@functools.lru_cache(maxsize=4)
def _there(now: int) -> tuple[int, ...]:
    """Companies that have filed figures and are listed, the first few."""
    found: list[int] = []
    for company in cast():
        if any(paper.figures for paper in _papers(company.number, now)) and _tickers(company.number, now):
            found.append(company.number)
        if len(found) == COMPANIES:
            break
    return tuple(found)


def _papers(number: int, now: int) -> list[Paper]:
    return responses.filed(number, now).papers


@functools.lru_cache(maxsize=64)
def _tickers(number: int, now: int) -> list[list[object]]:
    company: Filer = responses.filer(number)
    papers = _papers(number, now)
    if not papers:
        return []
    day = papers[-1].accepted.date()
    title = formats.name_on(company, day)
    return [[company.cik, title, ticker, exchange] for ticker, exchange in formats.listings(company, day, papers)]


@functools.lru_cache(maxsize=64)
def _page(number: int, now: int, *, facts: bool) -> tuple[bytes, float]:
    company, calendar, books, papers = responses.filed(number, now)
    changed = float(max(fetched_after(paper) for paper in papers))
    if not facts:
        return formats.submissions(company, papers), changed
    name = formats.name_on(company, papers[-1].accepted.date())
    return formats.company_facts(company, name, stated(company.continues or company, calendar, books, papers)), changed


ROOMS = [Sec]
