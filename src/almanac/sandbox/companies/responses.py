"""
Pages of the simulated companies' feed: when each was fetched, and its content then.

Every company has one page of submissions and one of facts, fetched an hour after its newest filing could be read, so a
page is the same bytes on any day until the next filing comes; the list of tickers, after the last listing or
delisting. Older captures are not needed: the facts list the rows of every filing, each known from its own filing. But only
an older list of tickers has the tickers of companies that are gone: the first one is there too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from almanac.sandbox.companies import formats
from almanac.sandbox.companies.books import TrueBooks, true_books
from almanac.sandbox.companies.calendar import Calendar, fiscal_calendar
from almanac.sandbox.companies.filers import Filer, companies, filer
from almanac.sandbox.companies.filings import Filing, filings_of
from almanac.sandbox.companies.reports import stated_figures
from almanac.sandbox.feeds import PendingResponse

SEC = "sandbox-sec"
#: The facts are fetched this much later than the submissions, which say when the facts' filings could be read.
_AFTER_SUBMISSIONS = 60
#: Filings of a quarter that is not over are there too: a purchase of another company, and the prospectus of one that goes
#: public, 110 days before its first quarter begins, which may have sixteen weeks. Only those that were fetched count.
_AHEAD = timedelta(days=230)
#: The list of tickers was first fetched then.
_FIRST_TICKERS = int(datetime(2015, 12, 31, 12, tzinfo=UTC).timestamp())
_JSON = "application/json"


class FilingHistory(NamedTuple):
    """One company up to an instant: its quarters, its true books, and its filings in order of acceptance."""

    company: Filer
    calendar: Calendar
    books: TrueBooks
    filings: list[Filing]


@functools.lru_cache(maxsize=4)
def filing_history(number: int, now: int) -> FilingHistory:
    """Return the company of that number with all that can have been fetched by `now` (unix seconds)."""
    company, today = filer(number), datetime.fromtimestamp(now, UTC).date()
    calendar = fiscal_calendar(company, today + _AHEAD)
    if not calendar.ends:
        return FilingHistory(company, calendar, TrueBooks(), [])
    books = true_books(company.continues or company, calendar)
    return FilingHistory(company, calendar, books, filings_of(company, calendar, books, now))


def company_pages(now: int) -> Iterator[PendingResponse]:
    """Yield the pages of all companies that have filed anything by `now`, and the lists of tickers, the first and the last."""
    changes = [_FIRST_TICKERS]
    first: list[tuple[Filer, str, str]] = []
    latest: list[tuple[Filer, str, str]] = []
    for company in companies():
        filings = filing_history(company.number, now).filings
        yield from pages_of([company.number], now)
        renamed = company.former[1] if company.former else None
        changes += [
            filing.fetched_after
            for filing in filings
            if filing.form in {"424B4", "25-NSE"} or filing.accepted.date() == renamed
        ]
        first += _listings(company, [filing for filing in filings if filing.fetched_after <= _FIRST_TICKERS])
        latest += _listings(company, filings)
    # By the number that each has: neither size nor order of the real list is known here.
    for changed, rows in {_FIRST_TICKERS: first, max(changes): latest}.items():
        make = functools.partial(formats.company_tickers, rows)
        yield PendingResponse(SEC, formats.TICKERS_URL, changed + 3600, _JSON, make)


def pages_of(numbers: Iterable[int], now: int) -> Iterator[PendingResponse]:
    """Yield the pages of some companies by their numbers, without those that have not filed anything by `now`."""
    for number in numbers:
        company, _, _, filings = filing_history(number, now)
        if not filings:
            continue
        last = max(filing.fetched_after for filing in filings)
        url = formats.SUBMISSIONS_URL.format(cik=company.cik)
        yield PendingResponse(SEC, url, last, _JSON, functools.partial(_submissions, number, now), apart=True)
        if any(filing.figures for filing in filings):
            url = formats.FACTS_URL.format(cik=company.cik)
            make = functools.partial(_facts, number, now)
            yield PendingResponse(SEC, url, last + _AFTER_SUBMISSIONS, _JSON, make, apart=True)


def _listings(company: Filer, filings: list[Filing]) -> list[tuple[Filer, str, str]]:
    """Return company, ticker and title of each row that the list of tickers has after these filings."""
    if not filings:
        return []
    day = filings[-1].accepted.date()
    title = formats.name_on(company, day)
    return [(company, ticker, title) for ticker, _ in formats.listings(company, day, filings)]


def _submissions(number: int, now: int) -> bytes:
    history = filing_history(number, now)
    return formats.submissions(history.company, history.filings)


def _facts(number: int, now: int) -> bytes:
    company, calendar, books, filings = filing_history(number, now)
    name = formats.name_on(company, filings[-1].accepted.date())
    author = company.continues or company  # who goes on with the books of another states them as that one did
    return formats.company_facts(company, name, stated_figures(author, calendar, books, filings))
