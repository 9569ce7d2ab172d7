"""Slopes of the seven curves: long less short end, as a dot plot and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from almanac.dashboard.drawing.dots import Dot, dot_plot
from almanac.dashboard.drawing.figure import ChartFigure
from almanac.dashboard.explorer.rates.curves import Scope, Yields
from almanac.dashboard.words.captions_across import dots_caption
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.numbers import change, full
from almanac.dashboard.words.units import UnitWords, unit_of
from almanac.dashboard.words.values import NO_DATA, Look, masked
from almanac.dashboard.words.values import look as look_of
from almanac.reports.rates import SLOPES

SLUGS = tuple(f"yield_slope_{name}" for name in SLOPES)
BASIS_POINTS = UnitWords("Basis points", after="basis points", move="basis points", moves="bp", computed=0)
_WORDS = {"2s10s": "10 years less 2 years", "5s30s": "30 years less 5 years"}


class ScopeSlope(NamedTuple):
    """One slope of one scope; `value` None: there is none that is shown. `days`: of its ends, in words."""

    scope: Scope
    name: str
    value: float | None
    look: Look
    days: str = ""


class Slopes(NamedTuple):
    """All slopes in one unit, told to so many decimals."""

    all: Sequence[ScopeSlope]
    unit: UnitWords
    digits: int

    def of(self, scope: Scope, name: str) -> ScopeSlope:
        """One of them."""
        return next(one for one in self.all if one.scope == scope and one.name == name)

    def figures(self, own: Scope | None) -> list[ChartFigure]:
        """A dot plot for each kind of slope, one row a scope."""
        return [self._figure(name, own) for name in SLOPES]

    def _figure(self, name: str, own: Scope | None) -> ChartFigure:
        rows = [one for one in self.all if one.name == name]
        # Slopes of one day rank by themselves; of several, each says its own.
        apart = len({one.days for one in rows if one.value is not None}) > 1
        told = [
            (f"{one.scope.name} ({one.days})" if apart and one.value is not None else one.scope.name, one.value)
            for one in rows
        ]
        dots = [
            Dot(
                one.scope.name,
                one.value,
                f"{change(one.value, self.digits)}{f', {one.days}' if apart else ''}" if one.value is not None else "",
                one.scope == own,
            )
            for one in rows
        ]
        return ChartFigure(
            id=f"slope-{name}",
            title=f"{name}: {_WORDS[name]}, {self.unit.head.lower()}",
            caption=dots_caption(name, told, self.unit, self.digits),
            drawing=dot_plot(dots),
            empty="No slope is shown on that day.",
        )


def of_scope(scopes: Sequence[Scope], own: Scope, rates: dict[str, Any] | None) -> Slopes:
    """From the analytics of one scope, in basis points: its own slopes and its peers'. None: nothing is known of it."""
    said = rates or {"slopes": [], "peerSlopes": []}
    told = {(own.code, one["name"]): one for one in said["slopes"]}
    told |= {(one["scope"], one["name"]): one for one in said["peerSlopes"]}
    found = []
    for scope in scopes:
        for name in SLOPES:
            one = told.get((scope.code, name))
            value = None if one is None else one["valueBp"]
            look = Look("none", NO_DATA, NO_DATA) if value is None else signed(value, 0)
            days = [] if one is None else [day(leg["periodEnd"]) for leg in one["legs"]]
            apart = ", too far apart" if one is not None and one["excluded"] else ""
            found.append(ScopeSlope(scope, name, value, look, " and ".join(dict.fromkeys(days)) + apart))
    return Slopes(found, BASIS_POINTS, 0)


def as_known(scopes: Sequence[Scope], yields: Yields) -> Slopes:
    """From the derived series, in percentage points: what is known of any day."""
    found = []
    for scope in scopes:
        for name, slug in zip(SLOPES, SLUGS, strict=True):
            row = yields.derived(scope, slug)
            if row is None or masked(row) or row["valueNumeric"] is None:
                look = Look("none", NO_DATA, NO_DATA) if row is None else look_of(row)
                found.append(ScopeSlope(scope, name, None, look))
            else:
                look = signed(row["valueNumeric"], 2)
                found.append(ScopeSlope(scope, name, row["valueNumeric"], look, day(row["periodEnd"])))
    return Slopes(found, unit_of({"unit": "percentage_points"}), 2)


def signed(value: float, digits: int) -> Look:
    """A difference of yields: with its sign."""
    text = change(value, digits)
    return Look("plain", text, text, full(value))
