"""
Sovereign rates analytics: one country's curve against its peers', in basis points, from the latest reading of each.

Nothing is interpolated: a tenor without a yield is absent, and a peer without it is left out. Spreads and slopes are
exact in decimals; means and differences to means have twelve significant digits. If there is a day on which both legs
of a slope are known, the slope is of that day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from almanac.domain.fields import (
    AsOf,
    Compounding,
    CurveType,
    ObservedAt,
    PeriodEnd,
    SeriesId,
    SourceId,
    Time,
    says,
)
from almanac.domain.numbers import exact_sum, mean, mean_difference, plain, significant
from almanac.domain.times import wire_day, wire_time

SCOPES = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
TENORS = ("2y", "5y", "10y", "30y")
SLOPES: dict[Literal["2s10s", "5s30s"], tuple[str, str]] = {"2s10s": ("2y", "10y"), "5s30s": ("5y", "30y")}
#: Most days between a peer's reading and the scope's own for a place in the mean, and between the legs of a slope.
STALE_DAYS = 10
#: A yield more than this many days older than the newest of its curve is no longer published, and not part of that curve.
GONE_DAYS = 31


class YieldReading(msgspec.Struct, frozen=True):
    """The latest public yield of a scope at a tenor, in percent per year. `known` is in unix seconds."""

    scope: str
    tenor: str
    value: float
    day: date
    known: int
    series: str
    source: str
    curve_type: str | None
    compounding: str | None
    #: Days after which a reading of its frequency is stale.
    allowance: int = STALE_DAYS


def is_gone(day: date, newest: date, allowance: int) -> bool:
    """
    Return whether a reading is too old to belong to a curve, or to a slope of it, whose newest yield is of day
    `newest`.
    """
    return (newest - day).days > max(GONE_DAYS, allowance)


def without_gone(curve: Mapping[str, YieldReading]) -> tuple[dict[str, YieldReading], list[str]]:
    """Return the yields of a curve by tenor without those too old for it, and a sentence on each that was removed."""
    newest = max((one.day for one in curve.values()), default=date.min)
    gone = [one for one in curve.values() if is_gone(one.day, newest, one.allowance)]
    notes = [
        f"{one.scope} {one.tenor}: its newest yield is of {one.day}, too old for a curve of {newest}." for one in gone
    ]
    return {tenor: one for tenor, one in curve.items() if one not in gone}, notes


class SlopeLegs(NamedTuple):
    """The two yields of a slope, of the same day if there is a day on which both are known."""

    scope: str
    name: Literal["2s10s", "5s30s"]
    short: YieldReading
    long: YieldReading

    @property
    def stale(self) -> bool:
        """True if the legs are too many days apart for a slope."""
        return _apart(self.short, self.long)


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
    value_bp: Annotated[
        float | None,
        says(
            "The long yield less the short one, basis points, on the newest day on which both are known. Null: excluded."
        ),
    ]
    excluded: Annotated[
        Literal["stale"] | None,
        says(
            "Why there is no value: on no day are both known, and they are more than ten days apart. Null: there is one."
        ),
    ]
    legs: Annotated[list[SlopeLeg], says("The short end, then the long one.")]


class PeerSlope(Slope):
    """A peer's slope."""

    scope: _Scope


class Rates(_Record):
    """
    Sovereign rates analytics of one scope against its peers. A tenor without a yield is absent, never interpolated; so is one
    whose newest yield is more than a month older than its curve's.
    """

    scope: _Scope
    name: Annotated[str, says("Name of the country or region.")]
    currency: Annotated[str | None, says("ISO 4217 code of the currency of its bonds. Null: not known.", "USD")]
    as_of: AsOf
    curve: Annotated[list[CurvePoint], says("Its yields, the shortest tenor first.")]
    spreads: Annotated[list[Spread], says("Its yields less those of its peers.")]
    slopes: Annotated[list[Slope], says("Slopes of its curve.")]
    peer_slopes: Annotated[list[PeerSlope], says("Slopes of the peers' curves.")]
    comparability: Annotated[
        list[str],
        says("What to know before comparing: other kinds of curve, compounding or days; yields not shown or too old."),
    ]


class RatesOfDay(Rates):
    """Sovereign rates analytics of one day: of each yield the latest that is of that day or of one before."""

    period_end: Annotated[Time, says("The day: the newest on which the scope has a yield.")]


Curves = Mapping[str, Mapping[str, YieldReading]]


def rates(
    scope: str,
    name: str,
    currency: str | None,
    readings: Iterable[YieldReading],
    slopes: Sequence[SlopeLegs],
    withheld: Sequence[str],
    asked: int | None,
) -> Rates:
    """
    Build the payload of one scope, as known at `asked` (unix seconds; None means now).

    `slopes` holds the slope legs of all scopes, `withheld` sentences on yields that exist but must not be shown.
    """
    curves: dict[str, dict[str, YieldReading]] = {one: {} for one in SCOPES}
    for reading in readings:
        curves[reading.scope][reading.tenor] = reading
    own = curves[scope]
    peers = [peer for peer in SCOPES if peer != scope]
    used = [r for curve in curves.values() for r in curve.values()] + [r for one in slopes for r in one[2:]]
    moment = max((r.known for r in used), default=None) if asked is None else asked
    return Rates(
        scope=scope,
        name=name,
        currency=currency,
        as_of=None if moment is None else wire_time(moment),
        curve=[_point(own[tenor]) for tenor in TENORS if tenor in own],
        spreads=[
            _spread(own[tenor], [curves[peer][tenor] for peer in peers if tenor in curves[peer]])
            for tenor in TENORS
            if tenor in own
        ],
        slopes=[Slope(**_slope(one)) for one in slopes if one.scope == scope],
        peer_slopes=[PeerSlope(scope=peer, **_slope(one)) for peer in peers for one in slopes if one.scope == peer],
        comparability=[*_notes(own, curves, peers, slopes), *withheld],
    )


def of_day(found: Rates) -> RatesOfDay | None:
    """Add the day of the newest yield to the analytics. Return None if the scope has no yield."""
    day = max((point.period_end for point in found.curve), default=None)
    return None if day is None else RatesOfDay(**msgspec.structs.asdict(found), period_end=day)


def _point(reading: YieldReading) -> CurvePoint:
    return CurvePoint(
        tenor=reading.tenor,
        yield_=plain(reading.value),
        period_end=wire_day(reading.day),
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
            period_end=wire_day(other.day),
            date_gap_days=(other.day - own.day).days,
            excluded="stale" if _apart(own, other) else None,
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


def _apart(a: YieldReading, b: YieldReading) -> bool:
    return abs((a.day - b.day).days) > STALE_DAYS


def _slope(one: SlopeLegs) -> dict[str, Any]:
    return {
        "name": one.name,
        "value_bp": None if one.stale else plain(exact_sum(one.long.value, -one.short.value, times=100)),
        "excluded": "stale" if one.stale else None,
        "legs": [
            SlopeLeg(tenor=leg.tenor, yield_=plain(leg.value), period_end=wire_day(leg.day), series_id=leg.series)
            for leg in (one.short, one.long)
        ],
    }


def _notes(
    own: Mapping[str, YieldReading], curves: Curves, peers: Sequence[str], slopes: Sequence[SlopeLegs]
) -> list[str]:
    """Return sentences on what limits a comparison: other kinds of curve, other compounding, other days."""
    notes: list[str] = []
    newest = max((one.day for one in own.values()), default=date.min)
    for one in own.values():
        if (newest - one.day).days > STALE_DAYS:
            notes.append(f"{one.scope} {one.tenor} is of {one.day}, its curve of {newest}.")
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
                excluded = "; left out of the mean" if _apart(mine, theirs) else ""
                gaps.setdefault(f"{peer} is of {theirs.day}, {mine.scope} of {mine.day}{excluded}", []).append(tenor)
        notes += [f"{', '.join(tenors)}: {text}." for text, tenors in (kinds | gaps).items()]
    for slope in sorted(slopes, key=lambda slope: (slope.name, SCOPES.index(slope.scope))):
        newest = max(curves[slope.scope][leg.tenor].day for leg in slope[2:])
        if slope.short.day != slope.long.day:
            excluded = "; too far apart for a slope" if slope.stale else ""
            notes.append(
                f"{slope.scope} {slope.name}: its legs are of {slope.short.day} and {slope.long.day}{excluded}."
            )
        elif slope.short.day < newest:
            notes.append(
                f"{slope.scope} {slope.name} is of {slope.short.day}, the newest day on which both its legs are known."
            )
    return notes


def _kind(reading: YieldReading) -> str:
    compounding = {"semi_annual": "semi-annual"}.get(reading.compounding or "", reading.compounding)
    return f"{reading.curve_type or 'of an unstated curve type'} with {compounding or 'unstated'} compounding"


def _size(a: YieldReading, b: YieldReading) -> str:
    if {a.compounding, b.compounding} == {"continuous", "semi_annual"}:
        return " (continuous against semi-annual is about 2 bp at 3 %, 5 bp at 4.5 %)"
    return ""
