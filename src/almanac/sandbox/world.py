"""
The simulated world: the publishers' own wire formats, filled with invented numbers, up to the day before `now`.

It is deterministic: a value depends on its series and period only. A later `now` adds rows and vintages, and takes
nothing away. What was fetched before `now` was fetched at fixed instants, so those payloads too are the same on any day.
The connectors of the real feeds read it; there is no parser of its own.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from almanac.catalog.load import load
from almanac.catalog.records import Catalog
from almanac.domain.times import wire_time
from almanac.sandbox.calendars import calendars
from almanac.sandbox.companies import filers
from almanac.sandbox.companies.responses import company_pages, pages_of
from almanac.sandbox.data import table
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import PendingResponse, fred, mof, treasury
from almanac.sandbox.fred_series import all_series, extra_series
from almanac.sandbox.series import FRED, LICENSED

#: Makes the body of a page; begins to make one and returns a function that waits for it.
Make = Callable[[], bytes]
Begin = Callable[[Make], Make]

#: Before this instant the world is not defined: its first captures lie behind it.
EARLIEST = datetime(2016, 1, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Response:
    """One response as a mirror would hold it; `fetched_at` in unix seconds, never after the world's `now`."""

    source: str
    url: str
    body: bytes
    fetched_at: int
    media_type: str


@functools.cache
def catalog() -> Catalog:
    """Return the catalogue of the simulated world, built once."""
    return load([catalog_part()])


def catalog_part() -> dict[str, Any]:
    """
    Return providers, sources and series in the shape of the catalogue's TOML files.

    The series of load tests are among them; without `observations` they have no rows.
    """
    series = all_series()
    series += list(extra_series(series))
    lines = [
        {"source": source, "codes": [each.catalog_line() for each in series if each.source == source]}
        for source in (FRED, LICENSED)
    ]
    return table("catalog") | {"series": [*table("catalog")["series"], *lines]}


class SimulatedPages:
    """
    Pages of the world in their order, each made when it is asked for, and their number.

    The world's own `captures` come first, then the pages of further companies, two each at most, up to `market` companies
    in all. With `begin`, pages that can be made in another process are begun `ahead` of the one that is given.
    """

    def __init__(
        self, captures: Sequence[PendingResponse], market: int, now: int, begin: Begin | None = None, ahead: int = 0
    ) -> None:
        self._captures = captures
        self._market, self._now = market, now
        self._begin, self._ahead = begin, ahead

    def begun(self, begin: Begin, ahead: int) -> SimulatedPages:
        """Return the same pages begun ahead. `begin` takes what makes a page, and returns what waits for that page."""
        return SimulatedPages(self._captures, self._market, self._now, begin, ahead)

    def __len__(self) -> int:
        return len(self._captures) + 2 * max(0, self._market - len(filers.companies()))

    def __iter__(self) -> Iterator[Response]:
        begun: deque[tuple[PendingResponse, Make]] = deque()
        # The lists of tickers do not have the further companies, so the world's own pages are the same with them and without.
        further = pages_of(range(len(filers.companies()), self._market), self._now)
        for page in itertools.chain(self._captures, further):
            begun.append((page, self._begin(page.make) if self._begin is not None and page.apart else page.make))
            if len(begun) > self._ahead:
                yield _respond(*begun.popleft())
        while begun:
            yield _respond(*begun.popleft())


def _respond(pending: PendingResponse, make: Make) -> Response:
    return Response(pending.source, pending.url, make(), pending.fetched_at, pending.media_type)


def first_pages(now: int) -> SimulatedPages:
    """Return the first pages of the world as of `now`: the yield curve of one treasury, which takes two seconds to load."""
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    # In the order of `fetched_at`, as all pages are: in another order series would be rebuilt from every page before.
    captures = sorted(treasury(economy, now), key=lambda capture: capture.fetched_at)
    return SimulatedPages(captures, 0, now)


def world(
    now: int, observations: int | None = None, *, companies: bool = True, market: int | None = None
) -> SimulatedPages:
    """
    Return every page of the world as of `now` (unix seconds), one body in memory at a time.

    The pages of the economy come first, then those of companies unless `companies` is False, both in the order of
    `fetched_at`: what is derived from pages is derived once for many of a kind. `observations` is the approximate number of
    macroeconomic rows wanted, `market` that of companies; numbers below the world's own change nothing.

    Raises ValueError for a `now` before 2016-01-04 and for more observations or companies than there are, before the
    first page.
    """
    if market is not None and market > filers.MOST:
        raise ValueError(f"companies: at most {filers.MOST}, not {market}")
    if now < int(EARLIEST.timestamp()):
        raise ValueError(f"now: the simulated world begins at {EARLIEST:%Y-%m-%d}, not at {wire_time(now)}")
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    captures = [*treasury(economy, now), *mof(economy, now), *fred(economy, now, observations), *calendars(now)]
    captures.sort(key=lambda capture: capture.fetched_at)
    if companies:
        captures += sorted(company_pages(now), key=lambda capture: capture.fetched_at)
    return SimulatedPages(captures, market or 0 if companies else 0, now)
