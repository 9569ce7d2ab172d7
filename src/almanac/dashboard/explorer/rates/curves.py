"""Yield curves: the yields of the seven scopes as known on a day, the curve a year before, and their figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.curves import Curve, curve_chart
from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry
from almanac.dashboard.drawing.readout import curve_readout
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.captions_across import CurveStep, curve_caption
from almanac.dashboard.words.dates import day, day_of
from almanac.dashboard.words.periods import frequency_of
from almanac.dashboard.words.units import UnitWords, unit_of
from almanac.dashboard.words.values import masked
from almanac.domain.periods import add_months
from almanac.reports.rates import SCOPES, TENORS, is_gone

#: The order of the lines' colours.
COLOURS = ("USA", "EUR", "GBR", "JPN", "CAN", "CHE", "AUS")
_YIELD = "gov_yield_"
#: A curve a year before is of that day or, where markets were shut, of one so long before.
_SHUT_DAYS = timedelta(days=10)
_PERCENT = UnitWords("Percent", sign="%", rate=True)
_DIGITS = 2

Row = dict[str, Any]


class Scope(NamedTuple):
    """A place with a curve: its code in addresses, its id, its name."""

    code: str
    entity: str
    name: str


def _is_gone(row: Row, newest: date) -> bool:
    """Return whether a reading is too old to be one of a curve whose newest yield is of a day."""
    return is_gone(day_of(row["periodEnd"]), newest, frequency_of(row["frequency"]).allowance_days)


class Yields:
    """
    What /observations/latest says of the scopes: yields by scope and tenor, and what is derived of them; of a curve that of its
    time alone.
    """

    def __init__(self, scopes: Sequence[Scope], rows: Sequence[Row]) -> None:
        self.scopes = scopes
        #: By place, the day of the newest yield.
        newest: dict[str, date] = {}
        for row in rows:
            if row["indicatorId"].startswith(f"indicator_{_YIELD}") and row["valueNumeric"] is not None:
                newest[row["entityId"]] = max(day_of(row["periodEnd"]), newest.get(row["entityId"], date.min))
        self._rows = {
            (row["entityId"], row["indicatorId"].removeprefix("indicator_")): row
            for row in rows
            if not _is_gone(row, newest.get(row["entityId"], date.min))
        }

    def of(self, scope: Scope, tenor: str) -> Row | None:
        """The latest yield; None: nothing is known of it."""
        return self._rows.get((scope.entity, _YIELD + tenor))

    def derived(self, scope: Scope, slug: str) -> Row | None:
        """The latest reading of an indicator derived of yields."""
        return self._rows.get((scope.entity, slug))

    def steps(self, scope: Scope) -> list[CurveStep]:
        """The curve; a tenor that is absent or may not be shown has no value."""
        return [_step(tenor, self.of(scope, tenor)) for tenor in TENORS]

    def newest(self, scope: Scope) -> date | None:
        """The day of the newest yield that is shown."""
        return max((step.day for step in self.steps(scope) if step.value is not None and step.day), default=None)

    def digits(self) -> int:
        """The one precision of all yields."""
        values = [row["valueNumeric"] for (_, slug), row in self._rows.items() if slug.startswith(_YIELD)]
        return unit_of({"unit": "percent", "indicatorId": _YIELD}).digits(values)

    def kind(self, scope: Scope) -> str:
        """What its curve is made of: `par, semi-annual compounding`."""
        found = [row.get("metadata") or {} for tenor in TENORS if (row := self.of(scope, tenor)) is not None]
        kinds = [f"{one.get('curveType') or 'unknown'}, {_compounding(one.get('compounding'))}" for one in found]
        return "; ".join(dict.fromkeys(kinds))


def scopes(visit: Visit) -> list[Scope]:
    """The scopes there are, in the order of their codes."""
    told = visit.look_up("/countries", limit=500)
    rows = [row for row in (told.data if told is not None else []) if row["ratesScope"]]
    called = {code: row for row in rows for code in (row["isoAlpha3"], *row["aliases"]) if code in SCOPES}
    return [Scope(code, called[code]["id"], called[code]["name"]) for code in SCOPES if code in called]


def yields(visit: Visit, of: Sequence[Scope], as_of: str | None, *derived: str) -> Yields:
    """Their yields as known on a day, and what is asked for of what is derived of them."""
    slugs = [*(_YIELD + tenor for tenor in TENORS), *derived]
    ids = [scope.entity for scope in of]
    rows = visit.ask("/observations/latest", indicator_id=slugs, entity_id=ids, limit=500, as_of=as_of).data
    return Yields(of, rows)


def year_before(visit: Visit, scope: Scope, newest: date | None, as_of: str | None) -> Mapping[str, Row]:
    """The yields of a year before a day, by tenor, as known then; none where the plan does not reach."""
    if newest is None:
        return {}
    end = add_months(newest, -12)
    try:
        rows = visit.ask(
            "/observations",
            indicator_id=[_YIELD + tenor for tenor in TENORS],
            entity_id=scope.entity,
            start_date=(end - _SHUT_DAYS).isoformat(),
            end_date=end.isoformat(),
            limit=500,
            as_of=as_of,
        ).data
    except ApiError as error:
        if error.status == 403:
            return {}
        raise
    found: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: str(row["periodEnd"])):
        if row["valueNumeric"] is not None:
            found[row["indicatorId"].rpartition("_")[2]] = row
    return found


def figure(found: Yields, own: Scope | None, peers: Sequence[Scope], before: Mapping[str, Row]) -> ChartFigure:
    """The curve of a scope with its peers' and its own of a year before; without a scope, all curves alike."""
    shown = [*([own] if own is not None else []), *peers]
    # Ends carry the code: seven names would not stand beside each other on a phone.
    curves = [Curve(one.name, found.steps(one), COLOURS.index(one.code) + 1, one.code, own=one == own) for one in shown]
    ghost = [_step(tenor, before[tenor]) for tenor in TENORS if tenor in before]
    subject = own or next((one for one in shown if found.newest(one) is not None), None)
    newest = None if subject is None else found.newest(subject)
    caption = curve_caption(
        own.name if own is not None else subject.name if subject is not None else "the scopes",
        found.steps(subject) if subject is not None else [],
        ghost,
        day=day(newest) if newest is not None else "",
        notes=_notes(found, peers),
    )
    legend = [
        LegendEntry(
            name=curve.name, kind="dash" if len(curves) > 3 and curve.colour > 1 else "line", colour=curve.colour
        )
        for curve in curves
    ]
    return ChartFigure(
        id="curve",
        title="Curve, percent a year" if own is not None else "Curves, percent a year",
        caption=caption,
        drawing=curve_chart(curves, TENORS, ghost=ghost),
        legend=[*legend, *([LegendEntry(name="A year earlier", kind="ghost")] if ghost else [])],
        readout=curve_readout(curves, TENORS, _PERCENT, _DIGITS),
        empty="No yield is shown on that day.",
    )


def _notes(found: Yields, peers: Sequence[Scope]) -> list[str]:
    """Of peers whose newest yields are old, or may not be shown."""
    rows = {one.name: [found.of(one, tenor) for tenor in TENORS] for one in peers}
    said = {
        "is stale": [name for name, all_ in rows.items() if any(r and r["freshnessStatus"] == "stale" for r in all_)],
        "has yields that may not be shown": [name for name, all_ in rows.items() if any(r and masked(r) for r in all_)],
    }
    return [f"{name} {what}" for what, names in said.items() for name in names]


def _step(tenor: str, row: Row | None) -> CurveStep:
    if row is None or masked(row):
        return CurveStep(tenor, None)
    return CurveStep(tenor, float(row["valueNumeric"]), day_of(row["periodEnd"]))


def _compounding(word: str | None) -> str:
    return "compounding not known" if word in {None, "unknown"} else f"{word.replace('_', '-')} compounding"
