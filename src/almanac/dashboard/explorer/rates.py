"""Rates: curves of seven scopes, their spreads and slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.columns import Dot, dot_plot
from almanac.dashboard.drawing.curves import Curve, curve_chart
from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry, curve_readout
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.past import day_asked
from almanac.dashboard.formatting.captions import CurveStep, curve_caption, dots_caption
from almanac.dashboard.formatting.dates import day, day_of, frequency_of
from almanac.dashboard.formatting.numbers import UnitWords, change, full, unit_of
from almanac.dashboard.formatting.values import ABSENT, FormattedValue, masked
from almanac.dashboard.formatting.values import look as look_of
from almanac.dashboard.visit import Answer, Html, Page, Redirect, Visit
from almanac.domain.periods import add_months
from almanac.reports.rates import SCOPES, SLOPES, TENORS, is_gone
from almanac.reports.wording import listed

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


class Yields:
    """Yields of the scopes by scope and tenor, and what is derived of them; of a curve only those of its time."""

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
            # One that is too old is none of a curve whose newest yield is of another time.
            if not is_gone(
                day_of(row["periodEnd"]),
                newest.get(row["entityId"], date.min),
                frequency_of(row["frequency"]).allowance_days,
            )
        }

    def of(self, scope: Scope, tenor: str) -> Row | None:
        """Return the latest yield; None: nothing is known of it."""
        return self._rows.get((scope.entity, _YIELD + tenor))

    def derived(self, scope: Scope, slug: str) -> Row | None:
        """Return the latest reading of an indicator derived of yields."""
        return self._rows.get((scope.entity, slug))

    def steps(self, scope: Scope) -> list[CurveStep]:
        """Return the curve; a tenor that is absent or may not be shown has no value."""
        return [_step(tenor, self.of(scope, tenor)) for tenor in TENORS]

    def newest(self, scope: Scope) -> date | None:
        """Return the day of the newest yield that is shown."""
        return max((step.day for step in self.steps(scope) if step.value is not None and step.day), default=None)

    def digits(self) -> int:
        """Return the one precision of all yields."""
        values = [row["valueNumeric"] for (_, slug), row in self._rows.items() if slug.startswith(_YIELD)]
        return unit_of({"unit": "percent", "indicatorId": _YIELD}).digits(values)

    def kind(self, scope: Scope) -> str:
        """Return what its curve is made of: `par, semi-annual compounding`."""
        found = [row.get("metadata") or {} for tenor in TENORS if (row := self.of(scope, tenor)) is not None]
        kinds = []
        for one in found:
            word = one.get("compounding")
            compounding = (
                "compounding not known" if word in {None, "unknown"} else f"{word.replace('_', '-')} compounding"
            )
            kinds.append(f"{one.get('curveType') or 'unknown'}, {compounding}")
        return "; ".join(dict.fromkeys(kinds))


def scopes(visit: Visit) -> list[Scope]:
    """Return the scopes there are, in the order of their codes."""
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
    """Return the yields of a year before a day, by tenor, as known then; none where the plan does not reach."""
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
    """Return the curve of a scope with its peers' and its own of a year before; without a scope, all curves alike."""
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


SLUGS = tuple(f"yield_slope_{name}" for name in SLOPES)
BASIS_POINTS = UnitWords("Basis points", after="basis points", move="basis points", moves="bp", computed=0)
_WORDS = {"2s10s": "10 years less 2 years", "5s30s": "30 years less 5 years"}


class ScopeSlope(NamedTuple):
    """One slope of one scope; `value` None: there is none that is shown. `days`: of its ends, in words."""

    scope: Scope
    name: str
    value: float | None
    look: FormattedValue
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
        """Return a dot plot for each kind of slope, one row a scope."""
        figures = []
        for name in SLOPES:
            rows = [one for one in self.all if one.name == name]
            # Slopes of one day rank by themselves; of several, each says its own.
            apart = len({one.days for one in rows if one.value is not None}) > 1
            told: list[tuple[str, float | None]] = []
            dots = []
            for one in rows:
                told_name = f"{one.scope.name} ({one.days})" if apart and one.value is not None else one.scope.name
                told.append((told_name, one.value))
                label = "" if one.value is None else change(one.value, self.digits) + (f", {one.days}" if apart else "")
                dots.append(Dot(one.scope.name, one.value, label, one.scope == own))
            figures.append(
                ChartFigure(
                    id=f"slope-{name}",
                    title=f"{name}: {_WORDS[name]}, {self.unit.head.lower()}",
                    caption=dots_caption(name, told, self.unit, self.digits),
                    drawing=dot_plot(dots),
                    empty="No slope is shown on that day.",
                )
            )
        return figures


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
            look = ABSENT if value is None else signed(value, 0)
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
                look = ABSENT if row is None else look_of(row)
                found.append(ScopeSlope(scope, name, None, look))
            else:
                look = signed(row["valueNumeric"], 2)
                found.append(ScopeSlope(scope, name, row["valueNumeric"], look, day(row["periodEnd"])))
    return Slopes(found, unit_of({"unit": "percentage_points"}), 2)


def signed(value: float, digits: int) -> FormattedValue:
    """Return a difference of yields: with its sign."""
    text = change(value, digits)
    return FormattedValue("plain", text, text, full(value))


#: What the templates of both pages are given beside their models.
_ALWAYS = {"tenors": TENORS, "slope_names": tuple(SLOPES), "series_address": series_address}


def listing(visit: Visit) -> Answer:
    """All scopes: their yields and slopes, as known on any day."""
    there = scopes(visit)
    as_of, refused = day_asked(visit)
    found = yields(visit, there, as_of, *SLUGS)
    page = {
        # The day that they are known on, None for today; and what the interface has against the one that was asked for.
        "as_of": as_of,
        "errors": refused,
        "scopes": there,
        "yields": found,
        "slopes": as_known(there, found),
        "figure": figure(found, None, there, {}),
    }
    return Html("explorer/rates.html", _ALWAYS | page)


def scope(visit: Visit) -> Answer:
    """One scope: what the analytics say of it, today or as known on a past day."""
    there = scopes(visit)
    name = visit.values["scope"]
    as_of, refused = day_asked(visit)
    # The analytics of today take no day: of a past one they tell which scope is meant, and no number of theirs is shown.
    told = (visit.ask_if_known if as_of is None else visit.look_up)(f"/rates/{name}")
    if told is None:
        text = f"There are no rates for “{name[:80]}”. There are for {listed(SCOPES)}."
        return Html("explorer/rates_none.html", {"text": text, "scopes": there}, 404)
    rates = told.data
    if rates["scope"] != name:
        return Redirect(visit.here().replace(visit.path, f"/rates/{rates['scope']}", 1), 301)
    own = next(one for one in there if one.code == rates["scope"])
    chosen = _chosen(visit)
    peers = [one for one in there if one.code in chosen and one != own]
    if as_of is not None:
        past = visit.ask(f"/rates/{own.code}/history", as_of=as_of).data
        rates = past[0] if past else None
    found = yields(visit, there, as_of)
    before = year_before(visit, own, found.newest(own), as_of)
    others = [one for one in there if one != own]
    page = {
        # As those of `RatesPage`.
        "as_of": as_of,
        "errors": refused,
        "own": own,
        "others": others,
        # Those of the others whose curves are drawn too.
        "peers": peers,
        "compared": _compared(visit, there, own, peers),
        # The analytics, as the interface has them; None where nothing was known on the day.
        "rates": rates,
        "yields": found,
        # The yields of a year before, by tenor.
        "before": before,
        "slopes": of_scope(there, own, rates),
        "figure": figure(found, own, peers, before),
        # Scopes in the order of the tables, its own first.
        "rows": [own, *others],
    }
    return Html("explorer/rates_scope.html", _ALWAYS | page)


def _chosen(visit: Visit) -> list[str]:
    """Codes in `with`, whether joined by commas or given several times."""
    given = [value for key, value in parse_qsl(visit.query_string) if key == "with"]
    return [code.strip().upper() for value in given for code in value.split(",")]


def _compared(visit: Visit, there: Sequence[Scope], own: Scope, peers: Sequence[Scope]) -> list[dict[str, Any]]:
    links = []
    for one in there:
        if one != own:
            current = one in peers
            codes = [peer.code for peer in peers if peer != one] + ([] if current else [one.code])
            href = visit.here(**{"with": ",".join(codes) or None})
            aloud = f"{one.name}{', drawn' if current else ''}"
            links.append({"title": one.code, "href": href, "current": current, "aloud": aloud})
    return links


PAGES = (
    Page("/rates", listing),
    Page("/rates/{scope}", scope),
)
