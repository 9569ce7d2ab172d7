"""
The eight looks of a value: one place decides what is on screen, what is read aloud, and the chip beside it.

Records of every kind come here as the interface has them. What may not be shown is told apart before anything else is
looked at, so that no later rule can bring a number back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Literal, NamedTuple

from almanac.dashboard.words.dates import day, day_of
from almanac.dashboard.words.numbers import change, full, number
from almanac.dashboard.words.periods import period
from almanac.dashboard.words.units import UnitWords, computed, unit_of
from almanac.domain.numbers import Number, rounded

State = Literal["plain", "revised", "stale", "discontinued", "withheld", "outside_plan", "none", "withdrawn"]
Row = Mapping[str, Any]
#: What provenance says of an input that the plan does not reach.
OUTSIDE_PLAN = "outside_plan_history"
NO_DATA, NOT_IN_PLAN, WITHHELD = "No data", "Not in plan", "Withheld"
_FORBIDS = {
    "internal_only": "for internal use only",
    "restricted": "licence forbids redistribution",
    "blocked": "may not be used",
}


class Chip(NamedTuple):
    """A sign and a word. `kind`: good, warn, bad, revised, withheld or plain; `sign`: disc, half, up, down, crossed or tick."""

    kind: str
    sign: str
    text: str


class Look(NamedTuple):
    """
    How a record's value is shown.

    `text`: on screen (of a withdrawn one the number struck through, where that is known); `spoken`: read aloud; `full`:
    the number unrounded for `data-value`; `change` and `direction` (up, down): of a revision, `+0.4`; `note`: words beside
    it; `reason`: the sentence of the rights; `source`: whose licence explains it; `forecast`: to be said at the period.
    """

    state: State
    text: str
    spoken: str
    full: str | None = None
    chip: Chip | None = None
    change: str | None = None
    direction: str | None = None
    note: str | None = None
    reason: str | None = None
    source: str | None = None
    forecast: bool = False

    @property
    def shown(self) -> bool:
        """Whether a number or a text of the record is on screen."""
        return self.state not in {"withheld", "outside_plan", "none"} and bool(self.text)


def masked(row: Row) -> bool:
    """Whether the value of a record may not be shown, whatever stands in it."""
    rights = row.get("rights")
    return bool(row.get("valueWithheld") or (rights or {}).get("valueWithheld"))


def is_forecast(row: Row) -> bool:
    """Whether the period had not begun when the value was known, or the publisher calls the value a projection."""
    metadata = row.get("metadata") or {}
    return bool(metadata.get("forecast") or metadata.get("projection"))


def look(
    row: Row,
    *,
    was: Number | None = None,
    digits: int | None = None,
    today: date | None = None,
    history: bool = False,
    figure: bool = False,
) -> Look:
    """
    How an observation looks.

    `was`: what it was before its revision or withdrawal, as the interface gave it; `digits`: the precision of its column;
    `today`: the day to count staleness to; `history`: one of many periods, of which freshness says nothing;
    `figure`: with its unit, where no table's head has it.
    """
    metadata = row.get("metadata") or {}
    shut = _shut(row)
    if shut is not None:
        return shut._replace(forecast=is_forecast(row))
    value, text = row.get("valueNumeric"), row.get("valueText")
    told = _Told(unit_of(row), digits, computed(row), figure)
    if metadata.get("withdrawn"):
        return _withdrawn(was, told, day(row["observedAt"]))
    if value is None:
        return _no_data() if text is None else _text(str(text))
    plain = _plain(value, told)._replace(forecast=is_forecast(row))
    if not history:
        old = _old(plain, row, today)
        if old is not None:
            return old
    if row.get("revisionStatus") == "revised":
        return _revised(plain, value, was, told)
    return plain


def look_column(rows: Iterable[Row], **arguments: Any) -> list[Look]:
    """Observations of one column, all to one precision: `look` of each as one of many periods."""
    rows = list(rows)
    shown = [row.get("valueNumeric") for row in rows if not masked(row)]
    digits = unit_of(rows[0]).digits(shown, computed=any(computed(row) for row in rows)) if rows else None
    return [look(row, digits=digits, history=True, **arguments) for row in rows]


def look_reading(row: Row, *, digits: int | None = None, today: date | None = None, figure: bool = False) -> Look:
    """How a reading of a brief, a match of the macro screener (`value`) or a key figure looks."""
    return _look_value(row, row.get("value"), digits, today, figure=figure)


def look_release(row: Row, key: str = "actual", *, digits: int | None = None, figure: bool = False) -> Look:
    """How a number of a release's reading or of an event looks: actual, previous, revisedPrevious, revisedActual."""
    return _look_value(row, row.get(key), digits, None, figure=figure)


def look_yield(row: Row | None, *, digits: int | None = None) -> Look:
    """How a point of a curve looks; None: the tenor is absent."""
    if row is None:
        return _no_data()
    return _look_value({"unit": "percent", "indicatorId": "gov_yield", **row}, row.get("yield"), digits, None)


def look_field(value: Number | str | None, unit: UnitWords, *, digits: int | None = None, figure: bool = False) -> Look:
    """How a value of an equity screen, a statement's item or a score looks: a number or a text without a record around it."""
    if value is None or isinstance(value, str):
        return _no_data() if value is None else _text(value)
    return _plain(value, _Told(unit, digits, computed=False, figure=figure))


def look_input(row: Row, unit: UnitWords, *, digits: int | None = None) -> Look:
    """How an input of a provenance looks: masked, outside the plan, or its number or text."""
    shut = _shut(row)
    if shut is not None:
        return shut
    return look_field(row["valueText"] if row["valueNumeric"] is None else row["valueNumeric"], unit, digits=digits)


# -- the looks ----------------------------------------------------------------------------------------------------------


class _Told(NamedTuple):
    """How a record's numbers are told: in its unit, to the precision of its column, else its own."""

    unit: UnitWords
    column: int | None
    computed: bool
    figure: bool

    def digits(self, values: Iterable[Number]) -> int:
        return self.unit.digits(values, computed=self.computed) if self.column is None else self.column

    def text(self, value: Number, digits: int) -> str:
        return self.unit.figure(value, digits) if self.figure else self.unit.cell(value, digits)


def _look_value(row: Row, value: Any, digits: int | None, today: date | None, *, figure: bool = False) -> Look:
    shut = _shut(row)
    if shut is not None:
        return shut
    plain = look_field(value, unit_of(row), digits=digits, figure=figure)
    return _old(plain, row, today) or plain if plain.shown else plain


def _shut(row: Row) -> Look | None:
    """The look of what may not be shown; None: it may."""
    if not masked(row):
        return None
    rights = row.get("rights") or {}
    reason = rights.get("reason") or row.get("reason")
    if reason == OUTSIDE_PLAN:
        return Look("outside_plan", NOT_IN_PLAN, NOT_IN_PLAN)
    why = _FORBIDS.get(rights.get("exposure", ""), "licence forbids redistribution")
    chip = Chip("withheld", "crossed", why)
    return Look("withheld", WITHHELD, f"withheld, {why}", chip=chip, reason=reason, source=row.get("sourceId"))


def _no_data() -> Look:
    return Look("none", NO_DATA, NO_DATA)


def _text(text: str) -> Look:
    return Look("plain", text, text)


def _plain(value: Number, told: _Told) -> Look:
    text = told.text(value, told.digits([value]))
    return Look("plain", text, text, full(value))


def _old(plain: Look, row: Row, today: date | None) -> Look | None:
    """Of a series that ended, or is behind; None: neither."""
    if (row.get("metadata") or {}).get("discontinued"):
        ended = f"ended {period(row.get('periodStart'), row['periodEnd'], row.get('frequency'))}"
        return plain._replace(state="discontinued", spoken=f"{plain.text}, {ended}", chip=Chip("plain", "disc", ended))
    if row.get("freshnessStatus") != "stale":
        return None
    end = row.get("periodEnd")
    days = "" if today is None or end is None else f", {(today - day_of(end)).days} days"
    return plain._replace(state="stale", spoken=f"{plain.text}, stale", chip=Chip("warn", "half", f"stale{days}"))


def _revised(plain: Look, value: Number, was: Number | None, told: _Told) -> Look:
    """With a triangle; the direction is that of the numbers, also where both are told alike."""
    digits = told.digits([value] if was is None else [value, was])
    text = told.text(value, digits)
    if was is None:
        return plain._replace(state="revised", text=text, spoken=f"{text}, revised")
    moved = told.unit.scaled(value) - told.unit.scaled(was)
    direction = "up" if moved > 0 else "down" if moved < 0 else None
    size = rounded(moved, digits)
    by = f" {direction} by {number(abs(size), digits)}" if direction and size else f" {direction}" if direction else ""
    return plain._replace(
        state="revised", text=text, spoken=f"{text}, revised{by}", change=change(moved, digits), direction=direction
    )


def _withdrawn(was: Number | None, told: _Told, on: str) -> Look:
    """Struck through, where it is known what it was."""
    note = f"withdrawn {on}"
    if was is None:
        return Look("withdrawn", "", note, note=note)
    text = told.text(was, told.digits([was]))
    return Look("withdrawn", text, f"{text}, withdrawn", full(was), note=note)
