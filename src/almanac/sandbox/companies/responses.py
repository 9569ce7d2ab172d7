"""When each page of the simulated companies' feed was fetched, and what it held then.

Every company has one page of submissions and one of facts, fetched an hour after its newest filing could be read, so a
page is the same bytes on any day until the next filing comes; the list of tickers, after the last listing or
delisting. Older captures are not needed: the facts list the rows of every filing, each known from its own filing. But of
those who are gone only an older list of tickers tells what they were listed under: the first one is there too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from almanac.sandbox.companies import formats
from almanac.sandbox.companies.books import TrueBooks
from almanac.sandbox.companies.calendar import Calendar, fiscal_calendar
from almanac.sandbox.companies.cast import Filer, cast, filer
from almanac.sandbox.companies.filings import Paper, docket, fetched_after
from almanac.sandbox.companies.financial import finance, fund, shell
from almanac.sandbox.companies.operating import goods
from almanac.sandbox.companies.reports import stated
from almanac.sandbox.feeds import PendingResponse

SEC = "sandbox-sec"
#: The facts are fetched this much later than the submissions, which say when the facts' filings could be read.
_AFTER_SUBMISSIONS = 60
#: Papers of a quarter that is not over are filed too: a purchase of another company, and the prospectus of one that goes
#: public, 110 days before its first quarter begins, which may have sixteen weeks. The docket keeps what was fetched.
_AHEAD = timedelta(days=230)
#: The list of tickers was first fetched then.
_FIRST_TICKERS = int(datetime(2015, 12, 31, 12, tzinfo=UTC).timestamp())
_BOOKS = {"goods": goods, "finance": finance, "fund": fund, "shell": shell}
_JSON = "application/json"
#: Company, ticker, title: a row of the list of tickers.
_Listed = tuple[Filer, str, str]


class FilingHistory(NamedTuple):
    """One company up to an instant: its quarters, its true books, and its filings in order of acceptance."""

    company: Filer
    calendar: Calendar
    books: TrueBooks
    papers: list[Paper]


@functools.lru_cache(maxsize=4)
def filed(number: int, now: int) -> FilingHistory:
    """The company of that number with all that can have been fetched by `now` (unix seconds)."""
    company, today = filer(number), datetime.fromtimestamp(now, UTC).date()
    calendar = fiscal_calendar(company, today + _AHEAD)
    if not calendar.ends:
        return FilingHistory(company, calendar, TrueBooks(), [])
    books = _BOOKS[company.trade.books](company.continues or company, calendar)
    return FilingHistory(company, calendar, books, docket(company, calendar, books, now))


def companies(now: int) -> Iterator[PendingResponse]:
    """The pages of all companies that have filed anything by `now`, and the lists of tickers, the first and the last."""
    changes = [_FIRST_TICKERS]
    first: list[_Listed] = []
    listed: list[_Listed] = []
    for company in cast():
        papers = filed(company.number, now).papers
        if not papers:
            continue
        yield from _pages(company, papers, now)
        changes += [
            fetched_after(paper) for paper in papers if paper.form in {"424B4", "25-NSE"} or _renames(company, paper)
        ]
        first += _listings(company, [paper for paper in papers if fetched_after(paper) <= _FIRST_TICKERS])
        listed += _listings(company, papers)
    lists = {_FIRST_TICKERS: first, max(changes): listed}
    for changed, rows in lists.items():
        # By the number that each has: neither size nor order of the real list is known here.
        made = functools.partial(formats.company_tickers, rows)
        yield PendingResponse(SEC, formats.TICKERS_URL, changed + 3600, _JSON, made)


def pages_of(numbers: Iterable[int], now: int) -> Iterator[PendingResponse]:
    """The pages of a few companies by their numbers, those that have filed anything by `now`."""
    for number in numbers:
        found = filed(number, now)
        if found.papers:
            yield from _pages(found.company, found.papers, now)


def _pages(company: Filer, papers: list[Paper], now: int) -> Iterator[PendingResponse]:
    last = max(fetched_after(paper) for paper in papers)
    url = formats.SUBMISSIONS_URL.format(cik=company.cik)
    yield PendingResponse(SEC, url, last, _JSON, functools.partial(_submissions, company.number, now), apart=True)
    if any(paper.figures for paper in papers):
        url = formats.FACTS_URL.format(cik=company.cik)
        yield PendingResponse(
            SEC, url, last + _AFTER_SUBMISSIONS, _JSON, functools.partial(_facts, company.number, now), apart=True
        )


def _listings(company: Filer, papers: list[Paper]) -> list[_Listed]:
    """What the list of tickers has of a company after these filings."""
    if not papers:
        return []
    day = papers[-1].accepted.date()
    title = formats.name_on(company, day)
    return [(company, ticker, title) for ticker, _ in formats.listings(company, day, papers)]


def _renames(company: Filer, paper: Paper) -> bool:
    return company.former is not None and paper.accepted.date() == company.former[1]


def _submissions(number: int, now: int) -> bytes:
    found = filed(number, now)
    return formats.submissions(found.company, found.papers)


def _facts(number: int, now: int) -> bytes:
    company, calendar, books, papers = filed(number, now)
    name = formats.name_on(company, papers[-1].accepted.date())
    teller = company.continues or company  # who goes on with the books of another states them as that one did
    return formats.company_facts(company, name, stated(teller, calendar, books, papers))
