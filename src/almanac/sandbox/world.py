"""The simulated world: the publishers' own wire formats, filled with invented numbers, up to the day before `now`.

It is deterministic: a value depends on its series and period only. A later `now` adds rows and vintages, and takes
nothing away. What was fetched before `now` was fetched at fixed instants, so those payloads too are the same on any day.
The connectors of the real feeds read it; nothing here is parsed by anything made for the purpose.
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
from almanac.sandbox.calendars import MEETINGS, RELEASE_DAYS, calendars
from almanac.sandbox.companies.cast import MOST, cast
from almanac.sandbox.companies.responses import SEC, pages_of
from almanac.sandbox.companies.responses import companies as company_pages
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import (
    FRED,
    LICENSED,
    MOF,
    MOF_TENORS,
    TREASURY,
    TREASURY_TENORS,
    PendingResponse,
    fred,
    mof,
    treasury,
)
from almanac.sandbox.fred_series import everything
from almanac.sandbox.load import extra_series, taken

#: What makes the body of a page, and what begins to and returns what waits for it.
Make = Callable[[], bytes]
Begin = Callable[[Make], Make]

ATTRIBUTION = "Simulated, not real data"
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
    """The catalogue of the simulated world, built once."""
    return load([catalog_part()])


def catalog_part() -> dict[str, Any]:
    """Providers, sources and series in the shape of the catalogue's TOML files.

    The series of load tests are among them; without `observations` they have no rows.
    """
    series = everything()
    series += extra_series(taken(series))
    yields = {"frequency": "D", "unit": "percent", "seasonal_adjustment": "NSA"}
    par = {**yields, "curve_type": "par", "compounding": "semi_annual"}

    def code(native: str, tenor: str, place: str) -> dict[str, Any]:
        return {"native": native, "indicator": f"gov_yield_{tenor}", "name": f"Simulated {place}, {tenor} par yield"}

    return {
        "provider": [
            _provider("sandbox-us-treasury", "Simulated Treasury", "treasury"),
            _provider("sandbox-mof", "Simulated Ministry of Finance Japan", "treasury"),
            _provider("sandbox-fred", "Simulated FRED", "service"),
            _provider("sandbox-licensed", "Simulated licensed publisher", "service"),
            _provider(RELEASE_DAYS, "Simulated Bureau of Labor Statistics", "statistics_office"),
            _provider(MEETINGS, "Simulated central banks", "central_bank"),
            _provider(SEC, "Simulated regulator of companies", "regulator"),
        ],
        "source": [
            _source(TREASURY, "sandbox-us-treasury", "Simulated daily Treasury par yield curve", "us_treasury", "D")
            | {"declared_release": "same_day", "release_url": "https://example.org/simulated/treasury"},
            _source(MOF, "sandbox-mof", "Simulated Japanese government bond yields", "mof_japan", "D"),
            _source(FRED, "sandbox-fred", "Simulated FRED and ALFRED", "fred", "DWMQA") | {"stores_vintages": True},
            _source(LICENSED, "sandbox-licensed", "Simulated licensed series", "fred", "DWMQA", reason=_WITHHELD)
            | {"stores_vintages": True},
            _source(RELEASE_DAYS, RELEASE_DAYS, "Simulated schedule of releases", "bls_calendar", ""),
            _source(MEETINGS, MEETINGS, "Simulated meetings of central banks", "bls_calendar", ""),
            _source(SEC, SEC, "Simulated company filings", "sec", "QSNA") | {"stores_vintages": True},
        ],
        "series": [
            {**par, "source": TREASURY, "entity": "country_usa", "codes": [
                code(native, tenor, "United States") for native, tenor in TREASURY_TENORS.items()
            ]},
            {**par, "source": MOF, "entity": "country_jpn", "codes": [
                code(native, tenor, "Japan") for native, tenor in MOF_TENORS.items()
            ]},
            *({"source": source, "codes": [one.line() for one in series if one.source == source]} for source in (FRED, LICENSED)),
        ],
    }  # fmt: skip


_WITHHELD = "The simulated owner of these series allows no redistribution."


def _provider(identity: str, name: str, kind: str) -> dict[str, Any]:
    return {
        "id": identity,
        "name": name,
        "kind": kind,
        "homepage": "https://example.org/simulated",
        "attribution": ATTRIBUTION,
    }


def _source(
    identity: str, provider: str, name: str, connector: str, frequencies: str, reason: str | None = None
) -> dict[str, Any]:
    rights = {"exposure": "restricted", "reason": reason} if reason else {"exposure": "public"}
    return {
        "id": identity,
        "provider": provider,
        "name": name,
        "description": f"{name}: invented numbers in the publisher's own format, for trying the service out.",
        "homepage": "https://example.org/simulated",
        "connector": connector,
        "frequencies": list(frequencies),
        "simulated": True,
        "rights": {
            **rights,
            "license": "Simulated",
            "license_class": "consent" if reason else "open",
            "attribution": ATTRIBUTION,
        },
    }


class SimulatedPages:
    """
    Pages of the world in their order, each made when it is asked for, and how many there are: of the companies beyond
    its own `cast`, up to `market` in all, two each at most.
    """

    def __init__(
        self, captures: Sequence[PendingResponse], market: int, now: int, begin: Begin | None = None, ahead: int = 0
    ) -> None:
        self._captures = captures
        self._market, self._now = market, now
        self._begin, self._ahead = begin, ahead

    def begun(self, begin: Begin, ahead: int) -> SimulatedPages:
        """
        Have pages that can be made in another process begun with `begin`, and so many of all begun before the one that
        is given. It takes what makes a page, and returns what waits for that page.
        """
        return SimulatedPages(self._captures, self._market, self._now, begin, ahead)

    def __len__(self) -> int:
        return len(self._captures) + 2 * max(0, self._market - len(cast()))

    def __iter__(self) -> Iterator[Response]:
        begun: deque[tuple[PendingResponse, Make]] = deque()
        # The lists of tickers do not have the further companies, so the world's own pages are the same with them and without.
        further = pages_of(range(len(cast()), self._market), self._now)
        for one in itertools.chain(self._captures, further):
            begun.append((one, self._begin(one.make) if self._begin is not None and one.apart else one.make))
            if len(begun) > self._ahead:
                yield _made(*begun.popleft())
        while begun:
            yield _made(*begun.popleft())


def _made(pending: PendingResponse, make: Make) -> Response:
    return Response(pending.source, pending.url, make(), pending.fetched_at, pending.media_type)


def first_pages(now: int) -> SimulatedPages:
    """The first pages of the world as of `now`: the yield curve of one treasury, which takes two seconds to load."""
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    # In the order of `fetched_at`, as all pages are: out of it, series would be put together again from every page before.
    captures = sorted(treasury(economy, now), key=lambda capture: capture.fetched_at)
    return SimulatedPages(captures, 0, now)


def world(
    now: int, observations: int | None = None, *, companies: bool = True, market: int | None = None
) -> SimulatedPages:
    """Every page of the world as of `now` (unix seconds), one body in memory at a time.

    First those of the economy in the order of `fetched_at`, then what companies file in that order: what is computed
    from a page is computed once for many pages of a kind.

    `observations` asks for about so many macroeconomic rows in all; fewer than the world has anyway change nothing.
    `companies`: with what the simulated companies file; `market` asks for so many of them in all, and fewer than the world
    has anyway change nothing.

    Raises ValueError for a `now` before 2016-01-04 and for more observations or companies than there are, before the
    first page.
    """
    if market is not None and market > MOST:
        raise ValueError(f"companies: at most {MOST}, not {market}")
    if now < int(EARLIEST.timestamp()):
        raise ValueError(f"now: the simulated world begins at {EARLIEST:%Y-%m-%d}, not at {wire_time(now)}")
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    captures = [*treasury(economy, now), *mof(economy, now), *fred(economy, now, observations), *calendars(now)]
    captures.sort(key=lambda capture: capture.fetched_at)
    if companies:
        captures += sorted(company_pages(now), key=lambda capture: capture.fetched_at)
    return SimulatedPages(captures, market or 0 if companies else 0, now)
