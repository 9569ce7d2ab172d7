"""What the catalogue asks of publishers, whatever a store has: the first load, and each day after it. Nothing is sent."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.domain.cadence import Cadence
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.ingest.newest import parted
from almanac.pipeline.ingest.register import SLOW_ROUND
from almanac.pipeline.ingest.workload import Workload, led, span, together, volume, workload_of
from almanac.sources.base import Limit, Request, connector, limit_of

#: Stands for a key where there is none: the plan is the same for any.
ANY_KEY = "a-key"
#: Requests a second of one host, where a publisher states no slower pace.
_PACE = 2.0


#: What the operator of a group of sources has to have.
_NEEDS = {
    "without keys": "Sources that need nothing",
    "with keys and consents": "Those with a key or a consent",
    "companies": "Companies of the SEC, one by one",
}


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What a source, or several, come to: all that an empty store asks for, and a day of turns after that, on average."""

    first: Workload
    daily: Workload


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Sources that need the same of an operator."""

    name: str
    sources: tuple[str, ...]
    reckoned: Reckoned


def groups(catalog: Catalog, now: int, per_second: float = _PACE) -> list[SourceGroup]:
    """All real sources: those that need nothing, those that need a key or a consent, and companies', by far the largest."""
    named: dict[str, list[Source]] = {"without keys": [], "with keys and consents": [], "companies": []}
    for source in catalog.sources.values():
        if source.connector and source.cadence is not None and not source.simulated:
            named[_name(source)].append(source)
    return [
        SourceGroup(
            name,
            tuple(source.id for source in sources),
            sum_of(reckoned(catalog, source, now, per_second) for source in sources),
        )
        for name, sources in named.items()
    ]


def sum_of(several: Iterable[Reckoned]) -> Reckoned:
    """All of them, one after the other."""
    found = list(several)
    return Reckoned(together(one.first for one in found), together(one.daily for one in found))


def reckoned(catalog: Catalog, source: Source, now: int, per_second: float = _PACE) -> Reckoned:
    """What one source comes to, with any key that it needs."""
    key = ANY_KEY if source.key_required else None
    today = datetime.fromtimestamp(now, UTC).date()
    plan = parted(connector(source.connector), source, catalog.series.get(source.id, {}), today, key)
    limit = limit_of(source.provider, catalog.providers[source.provider].limit, with_key=key is not None)
    first = [
        request for request in plan if request.news_since is None
    ]  # there is no news yet of what was never asked for
    return Reckoned(workload_of(first, per_second, limit), daily(source, plan, now, per_second, limit))


def daily(source: Source, plan: list[Request], now: int, per_second: float, limit: Limit | None) -> Workload:
    """What a day asks on average: each turn what is new, and its share of the slow round."""
    each = [request for request in plan if not request.closed]
    often, seldom = (
        workload_of([request for request in each if request.once_a_day is once], per_second, limit, only_news=True)
        for once in (False, True)
    )
    past = workload_of([request for request in plan if request.closed], per_second, limit)
    # Of what answers lead to, that which is not new has its day of the slow round too.
    for request in plan:
        if request.news is not None and request.news_since is None:
            count, size = led(request, only_news=False)
            past = together([past, workload_of([Request(request.url, size=size)] * count, per_second, limit)])
    turns = turns_a_day(source, now)
    return together([often.times(turns), seldom.times(min(turns, 1.0)), past.times(1 / SLOW_ROUND)])


def turns_a_day(source: Source, now: int) -> float:
    """How often a source is asked in a day, on average of four weeks."""
    if source.cadence is None:
        return 0.0
    cadence, count, until = Cadence(source.cadence), 0, now + 28 * DAY_SECONDS
    at = cadence.next(now)
    while at <= until:
        count, at = count + 1, cadence.next(at)
    return count / 28


def _name(source: Source) -> str:
    if source.turn == "last":
        return "companies"
    needs = source.key_required or source.rights.channel is not Exposure.public
    return "with keys and consents" if needs else "without keys"


def loads_at(now: int) -> list[tuple[str, str, str, str, str, str]]:
    """Tell what asking all publishers comes to by the plan of today: whom, when, requests, values, bytes and time."""
    return _loads(now // DAY_SECONDS)


@functools.lru_cache(maxsize=1)
def _loads(day: int) -> list[tuple[str, str, str, str, str, str]]:
    return [
        (
            _NEEDS[group.name],
            when,
            f"{workload.requests:,.0f}",
            f"{float(f'{workload.values:.2g}'):,.0f}",
            volume(float(f"{workload.bytes:.2g}")),
            span(workload.seconds),
        )
        for group in groups(shipped(), day * DAY_SECONDS)
        for when, workload in (("first load", group.reckoned.first), ("each day after", group.reckoned.daily))
    ]
