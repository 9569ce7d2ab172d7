"""Sovereign rates analytics: one country's curve against its peers', in basis points, from the latest reading of each.

Nothing is interpolated: a tenor without a yield is absent, a peer without it is left out. Spreads and slopes are exact
in decimals; means, and what is held against them, have twelve significant digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Annotated, Literal

import msgspec

from almanac.domain.fields import (
    AsOf,
    Compounding,
    CurveType,
    ObservedAt,
    PeriodEnd,
    SeriesId,
    SourceId,
    says,
)
from almanac.domain.numbers import exact_sum, mean, mean_difference, plain, significant
from almanac.domain.times import wire_day, wire_time

SCOPES = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
TENORS = ("2y", "5y", "10y", "30y")
SLOPES: dict[Literal["2s10s", "5s30s"], tuple[str, str]] = {"2s10s": ("2y", "10y"), "5s30s": ("5y", "30y")}
#: A peer's leg dated further than this from the scope's own takes no part in the mean.
STALE_DAYS = 10


class YieldReading(msgspec.Struct, frozen=True):
    """The latest public yield of a scope at a tenor, percent per year. `known` is unix seconds."""

    scope: str
    tenor: str
    value: float
    day: date
    known: int
    series: str
    source: str
    curve_type: str | None
    compounding: str | None


class _Record(msgspec.Struct, kw_only=True, rename="camel"):
    pass


_Scope = Annotated[str, says("One of the seven scopes.", "USA", enum=SCOPES)]
_Tenor = Annotated[str, says("Time to maturity.", "10y", enum=TENORS)]
_Yield = Annotated[float, says("The latest public yield, percent per year, as published.")]


class CurvePoint(_Record):
    """The latest yield of one tenor."""

    tenor: _Tenor
    yield_: _Yield = msgspec.field(name="yield")
    period_end: PeriodEnd
    observed_at: ObservedAt
    series_id: SeriesId
    source_id: SourceId
    curve_type: CurveType
    compounding: Compounding


class SpreadPeer(_Record):
    """One peer at one tenor."""

    scope: _Scope
    yield_: _Yield = msgspec.field(name="yield")
    spread_bp: Annotated[float, says("The scope's yield less the peer's, basis points.")]
    period_end: PeriodEnd
    date_gap_days: Annotated[int, says("Days from the scope's reading to the peer's; negative: the peer's is older.")]
    excluded: Annotated[
        Literal["stale"] | None,
        says("Why it takes no part in the mean: its reading is too many days apart. Null: it takes part."),
    ]


class Spread(_Record):
    """The scope against its peers at one tenor. A peer without a yield there is left out."""

    tenor: _Tenor
    peers: Annotated[list[SpreadPeer], says("The peers.")]
    peer_mean: Annotated[
        float | None, says("Mean yield of the peers that take part, percent per year. Null: none does.")
    ]
    spread_to_mean_bp: Annotated[float | None, says("The scope's yield less that mean, basis points. Null: likewise.")]
    peer_count: Annotated[int, says("How many peers take part in the mean.")]


class SlopeLeg(_Record):
    """One end of a slope."""

    tenor: _Tenor
    yield_: _Yield = msgspec.field(name="yield")
    period_end: PeriodEnd
    series_id: SeriesId


class Slope(_Record):
    """The slope of one curve."""

    name: Annotated[Literal["2s10s", "5s30s"], says("Which slope it is: two years to ten, five years to thirty.")]
    value_bp: Annotated[float, says("The long yield less the short one, basis points.")]
    legs: Annotated[list[SlopeLeg], says("The short end, then the long one.")]


class PeerSlope(Slope):
    """A peer's slope."""

    scope: _Scope


class Rates(_Record):
    """Sovereign rates analytics of one scope against its peers. A tenor without a yield is absent, never interpolated."""

    scope: _Scope
    name: Annotated[str, says("Name of the country or region.")]
    currency: Annotated[str | None, says("ISO 4217 code of the currency of its bonds. Null: not known.", "USD")]
    as_of: AsOf
    curve: Annotated[list[CurvePoint], says("Its yields, the shortest tenor first.")]
    spreads: Annotated[list[Spread], says("Its yields less those of its peers.")]
    slopes: Annotated[list[Slope], says("Slopes of its curve.")]
    peer_slopes: Annotated[list[PeerSlope], says("Slopes of the peers' curves.")]
    comparability: Annotated[
        list[str], says("What to know before comparing: other kinds of curve, compounding or days; yields not shown.")
    ]


Curves = Mapping[str, Mapping[str, YieldReading]]


def rates(
    scope: str, name: str, currency: str | None, readings: Iterable[YieldReading], withheld: Sequence[str]
) -> Rates:
    """The payload of one scope. `withheld`: sentences on yields that exist but may not be shown."""
    curves: dict[str, dict[str, YieldReading]] = {one: {} for one in SCOPES}
    for reading in readings:
        curves[reading.scope][reading.tenor] = reading
    own = curves[scope]
    peers = [peer for peer in SCOPES if peer != scope]
    used = [r for curve in curves.values() for r in curve.values()]
    return Rates(
        scope=scope,
        name=name,
        currency=currency,
        as_of=wire_time(max(r.known for r in used)) if used else None,
        curve=[_point(own[tenor]) for tenor in TENORS if tenor in own],
        spreads=[
            _spread(own[tenor], [curves[peer][tenor] for peer in peers if tenor in curves[peer]])
            for tenor in TENORS
            if tenor in own
        ],
        slopes=_slopes(own),
        peer_slopes=[
            PeerSlope(scope=peer, name=slope.name, value_bp=slope.value_bp, legs=slope.legs)
            for peer in peers
            for slope in _slopes(curves[peer])
        ],
        comparability=[*_notes(own, curves, peers), *withheld],
    )


def _day(day: date) -> str:
    return wire_day(day)


def _point(reading: YieldReading) -> CurvePoint:
    return CurvePoint(
        tenor=reading.tenor,
        yield_=plain(reading.value),
        period_end=_day(reading.day),
        observed_at=wire_time(reading.known),
        series_id=reading.series,
        source_id=reading.source,
        curve_type=reading.curve_type or "unknown",  # type: ignore[arg-type]  # the catalogue's words are these
        compounding=reading.compounding or "unknown",  # type: ignore[arg-type]  # likewise
    )


def _spread(own: YieldReading, others: Sequence[YieldReading]) -> Spread:
    peers = [
        SpreadPeer(
            scope=other.scope,
            yield_=plain(other.value),
            spread_bp=plain(exact_sum(own.value, -other.value, times=100)),
            period_end=_day(other.day),
            date_gap_days=(other.day - own.day).days,
            excluded="stale" if abs((other.day - own.day).days) > STALE_DAYS else None,
        )
        for other in others
    ]
    counted = [other.value for other, peer in zip(others, peers, strict=True) if peer.excluded is None]
    return Spread(
        tenor=own.tenor,
        peers=peers,
        peer_mean=plain(mean(counted)) if counted else None,
        spread_to_mean_bp=plain(significant(100.0 * mean_difference([own.value], counted))) if counted else None,
        peer_count=len(counted),
    )


def _slopes(curve: Mapping[str, YieldReading]) -> list[Slope]:
    return [
        Slope(
            name=name,
            value_bp=plain(exact_sum(curve[long].value, -curve[short].value, times=100)),
            legs=[
                SlopeLeg(
                    tenor=leg,
                    yield_=plain(curve[leg].value),
                    period_end=_day(curve[leg].day),
                    series_id=curve[leg].series,
                )
                for leg in (short, long)
            ],
        )
        for name, (short, long) in SLOPES.items()
        if short in curve and long in curve
    ]


def _notes(own: Mapping[str, YieldReading], curves: Curves, peers: Sequence[str]) -> list[str]:
    """What a reader must know before comparing: other kinds of curve, other compounding, other days."""
    notes: list[str] = []
    for peer in peers:
        kinds: dict[str, list[str]] = {}
        gaps: dict[str, list[str]] = {}
        for tenor in TENORS:
            if tenor not in own or tenor not in curves[peer]:
                continue
            mine, theirs = own[tenor], curves[peer][tenor]
            if (mine.curve_type, mine.compounding) != (theirs.curve_type, theirs.compounding):
                text = f"{peer} is {_kind(theirs)}, {mine.scope} is {_kind(mine)}{_size(mine, theirs)}"
                kinds.setdefault(text, []).append(tenor)
            if mine.day != theirs.day:
                excluded = "; left out of the mean" if abs((theirs.day - mine.day).days) > STALE_DAYS else ""
                gaps.setdefault(f"{peer} is of {theirs.day}, {mine.scope} of {mine.day}{excluded}", []).append(tenor)
        notes += [f"{', '.join(tenors)}: {text}." for text, tenors in (kinds | gaps).items()]
    for name, (short, long) in SLOPES.items():
        for scope, curve in curves.items():
            if short in curve and long in curve and curve[short].day != curve[long].day:
                notes.append(f"{scope} {name}: its legs are of {curve[short].day} and {curve[long].day}.")
    return notes


def _kind(reading: YieldReading) -> str:
    compounding = {"semi_annual": "semi-annual"}.get(reading.compounding or "", reading.compounding)
    return f"{reading.curve_type or 'of an unstated curve type'} with {compounding or 'unstated'} compounding"


def _size(a: YieldReading, b: YieldReading) -> str:
    if {a.compounding, b.compounding} == {"continuous", "semi_annual"}:
        return " (continuous against semi-annual is about 2 bp at 3 %, 5 bp at 4.5 %)"
    return ""
