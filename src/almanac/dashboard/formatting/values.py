"""Values as text and as points of charts, with the reason where one may not be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal, NamedTuple

from almanac.dashboard.formatting.dates import day, day_of, frequency_of, notation, noun, period
from almanac.dashboard.formatting.numbers import UnitWords, change, computed, full, number, unit_of
from almanac.domain.numbers import Number, rounded
from almanac.domain.periods import Frequency, Period

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


class FormattedValue(NamedTuple):
    """
    A record's value as it is shown.

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
        """Return whether a number or a text of the record is on screen."""
        return self.state not in {"withheld", "outside_plan", "none"} and bool(self.text)


#: How a value looks that there is not.
ABSENT = FormattedValue("none", NO_DATA, NO_DATA)


def plain_text(text: str) -> FormattedValue:
    """Return how a text looks."""
    return FormattedValue("plain", text, text)


def masked(row: Row) -> bool:
    """Return whether the value of a record may not be shown, whatever stands in it."""
    rights = row.get("rights")
    return bool(row.get("valueWithheld") or (rights or {}).get("valueWithheld"))


def is_forecast(row: Row) -> bool:
    """Return whether the period had not begun when the value was known, or the publisher calls the value a projection."""
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
) -> FormattedValue:
    """
    Format an observation.

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
        # Struck through, where it is known what it was.
        note = f"withdrawn {day(row['observedAt'])}"
        if was is None:
            return FormattedValue("withdrawn", "", note, note=note)
        before = told.text(was, told.digits([was]))
        return FormattedValue("withdrawn", before, f"{before}, withdrawn", full(was), note=note)
    if value is None:
        return ABSENT if text is None else plain_text(str(text))
    plain = _plain(value, told)._replace(forecast=is_forecast(row))
    if not history:
        old = _old(plain, row, today)
        if old is not None:
            return old
    if row.get("revisionStatus") == "revised":
        return _revised(plain, value, was, told)
    return plain


def look_column(rows: Iterable[Row], **arguments: Any) -> list[FormattedValue]:
    """Observations of one column, all to one precision: `look` of each as one of many periods."""
    rows = list(rows)
    shown = [row.get("valueNumeric") for row in rows if not masked(row)]
    digits = unit_of(rows[0]).digits(shown, computed=any(computed(row) for row in rows)) if rows else None
    return [look(row, digits=digits, history=True, **arguments) for row in rows]


def look_reading(
    row: Row, *, digits: int | None = None, today: date | None = None, figure: bool = False
) -> FormattedValue:
    """Format a reading of a brief, a match of the macro screener (`value`) or a key figure."""
    return _look_value(row, row.get("value"), digits, today, figure=figure)


def look_release(row: Row, key: str = "actual", *, digits: int | None = None, figure: bool = False) -> FormattedValue:
    """Format a number of a release's reading or of an event: actual, previous, revisedPrevious or revisedActual."""
    return _look_value(row, row.get(key), digits, None, figure=figure)


def look_yield(row: Row | None, *, digits: int | None = None) -> FormattedValue:
    """Format a point of a curve; None: the tenor is absent."""
    if row is None:
        return ABSENT
    return _look_value({"unit": "percent", "indicatorId": "gov_yield", **row}, row.get("yield"), digits, None)


def look_field(
    value: Number | str | None, unit: UnitWords, *, digits: int | None = None, figure: bool = False
) -> FormattedValue:
    """Format a number or text that has no record around it: of an equity screen, a statement's item or a score."""
    if value is None or isinstance(value, str):
        return ABSENT if value is None else plain_text(value)
    return _plain(value, _Told(unit, digits, computed=False, figure=figure))


def look_input(row: Row, unit: UnitWords, *, digits: int | None = None) -> FormattedValue:
    """Format an input of a provenance: masked, outside the plan, or its number or text."""
    shut = _shut(row)
    if shut is not None:
        return shut
    return look_field(row["valueText"] if row["valueNumeric"] is None else row["valueNumeric"], unit, digits=digits)


# -- the looks ----------------------------------------------------------------------------------------------------------


class _Told(NamedTuple):
    """The format of a record's numbers: its unit, and the precision of its column, else its own."""

    unit: UnitWords
    column: int | None
    computed: bool
    figure: bool

    def digits(self, values: Iterable[Number]) -> int:
        return self.unit.digits(values, computed=self.computed) if self.column is None else self.column

    def text(self, value: Number, digits: int) -> str:
        return self.unit.figure(value, digits) if self.figure else self.unit.cell(value, digits)


def _look_value(
    row: Row, value: Any, digits: int | None, today: date | None, *, figure: bool = False
) -> FormattedValue:
    shut = _shut(row)
    if shut is not None:
        return shut
    plain = look_field(value, unit_of(row), digits=digits, figure=figure)
    return _old(plain, row, today) or plain if plain.shown else plain


def _shut(row: Row) -> FormattedValue | None:
    """Return the look of what may not be shown; None: it may."""
    if not masked(row):
        return None
    rights = row.get("rights") or {}
    reason = rights.get("reason") or row.get("reason")
    if reason == OUTSIDE_PLAN:
        return FormattedValue("outside_plan", NOT_IN_PLAN, NOT_IN_PLAN)
    why = _FORBIDS.get(rights.get("exposure", ""), "licence forbids redistribution")
    chip = Chip("withheld", "crossed", why)
    return FormattedValue(
        "withheld", WITHHELD, f"withheld, {why}", chip=chip, reason=reason, source=row.get("sourceId")
    )


def _plain(value: Number, told: _Told) -> FormattedValue:
    text = told.text(value, told.digits([value]))
    return FormattedValue("plain", text, text, full(value))


def _old(plain: FormattedValue, row: Row, today: date | None) -> FormattedValue | None:
    """Of a series that ended, or is behind; None: neither."""
    if (row.get("metadata") or {}).get("discontinued"):
        ended = f"ended {period(row.get('periodStart'), row['periodEnd'], row.get('frequency'))}"
        return plain._replace(state="discontinued", spoken=f"{plain.text}, {ended}", chip=Chip("plain", "disc", ended))
    if row.get("freshnessStatus") != "stale":
        return None
    end = row.get("periodEnd")
    days = "" if today is None or end is None else f", {(today - day_of(end)).days} days"
    return plain._replace(state="stale", spoken=f"{plain.text}, stale", chip=Chip("warn", "half", f"stale{days}"))


def _revised(plain: FormattedValue, value: Number, was: Number | None, told: _Told) -> FormattedValue:
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


#: How the names of settings begin.
_SETTING: Final = "ALMANAC_"
#: Letters of the code of a scope.
_CODE: Final = 3


def reason_for(text: str, *, operator: bool) -> str:
    """
    Return a reason without its sentences that name settings, unless an operator reads it.

    >>> reason_for("It may not be passed on. Once it may, set ALMANAC_X and ALMANAC_Y.", operator=False)
    'It may not be passed on.'
    """
    if operator or _SETTING not in text:
        return text
    # Names of settings have no full stop in them.
    left = ".".join(part for part in text.split(".") if _SETTING not in part).strip()
    left = left if left.endswith(".") or not left else f"{left}."
    # A reason in brackets loses its end with its last sentence.
    return f"{left})." if left.count("(") > left.count(")") else left


def notes_for(notes: Iterable[str], *, operator: bool) -> list[str]:
    """Return notes on comparing yields; those that differ by the tenor alone (`GBR 2y: …`, `GBR 5y: …`) as one."""
    found: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        text = reason_for(note, operator=operator)
        head, colon, rest = text.partition(": ")
        scope, _, tenor = head.partition(" ")
        alike = colon and tenor and len(scope) == _CODE and scope.isupper()
        found.setdefault((scope, rest) if alike else (text, ""), []).append(tenor)
    return [f"{scope} {', '.join(tenors)}: {rest}" if rest else scope for (scope, rest), tenors in found.items()]


#: Days between neighbours of a daily or weekly series beyond which something is missing, not a holiday.
_LONGEST_BREAK = {Frequency.DAILY: 10, Frequency.WEEKLY: 10}
#: A fiscal quarter of whole weeks ends in one month or the next.
_SHIFT = 1
#: Statuses of a first vintage that is the first publication, and not only the first state that we saw.
_PUBLISHED = frozenset({"initial", "final"})

Cell = tuple[str | None, str]


class ChartPoint(NamedTuple):
    """
    One period of a chart. Days are ordinals; `start` None for an instant.

    `at` is the day it is drawn at. `value` is None where there is none to draw; `state` says why. `first`: what it was at
    its first publication.
    """

    at: int
    start: int | None
    end: int
    frequency: Frequency
    value: float | None
    state: Literal["shown", "withheld", "none"] = "shown"
    forecast: bool = False
    first: float | None = None

    @property
    def period(self) -> str:
        """Its period in our notation."""
        start = None if self.start is None else date.fromordinal(self.start)
        return notation(Period(start, date.fromordinal(self.end)), self.frequency)

    @property
    def revised(self) -> bool:
        """Return whether it differs from its first publication."""
        return self.value is not None and self.first is not None and self.first != self.value


def place_of(start: int | None, end: int, frequency: Frequency) -> int:
    """Return the day a period is drawn at: its first, so that 2016 Q1 stands at 2016; of a day, a week or an instant its last."""
    return end if start is None or frequency.months == 0 else start


def points(rows: Iterable[Mapping[str, Any]], firsts: Mapping[Cell, float] | None = None) -> list[ChartPoint]:
    """
    Observations of one series (or one topic under `sources=preferred`), as points from the oldest on.

    `firsts`: first publications, of `first_publications`.
    """
    firsts, found = firsts or {}, []
    frequencies: dict[str, Frequency] = {}
    for row in rows:
        start, end, name = row["periodStart"], row["periodEnd"], row["frequency"]
        frequency = frequencies.get(name)
        if frequency is None:
            frequency = frequencies[name] = frequency_of(name)
        shut = masked(row)
        number = None if shut else row["valueNumeric"]
        # A whole number may have come as an integer.
        value = None if number is None else float(number)
        begins, ends = None if start is None else _ordinal(start), _ordinal(end)
        found.append(
            ChartPoint(
                place_of(begins, ends, frequency),
                begins,
                ends,
                frequency,
                value,
                "withheld" if shut else "none" if value is None else "shown",
                is_forecast(row),
                None if value is None else firsts.get((start, end)),
            )
        )
    found.sort(key=lambda point: (point.end, point.end if point.start is None else point.start))
    return found


def first_publications(vintages: Iterable[Mapping[str, Any]]) -> dict[Cell, float]:
    """
    Return what each cell of a series was when it was first published, from rows of /observations/vintages in any order.

    A cell of which only a later state was seen is not in it, nor is a withheld one.
    """
    oldest: dict[Cell, Mapping[str, Any]] = {}
    for row in vintages:
        cell = (row["periodStart"], row["periodEnd"])
        if cell not in oldest or row["observedAt"] < oldest[cell]["observedAt"]:
            oldest[cell] = row
    return {
        cell: float(row["valueNumeric"])
        for cell, row in oldest.items()
        if row["revisionStatus"] in _PUBLISHED and not masked(row) and row["valueNumeric"] is not None
    }


def with_values(points: Iterable[ChartPoint], *, forecasts: bool = False) -> list[ChartPoint]:
    """Points with a value: what captions, ranges and axes are made of."""
    return [point for point in points if point.value is not None and (forecasts or not point.forecast)]


def runs(points: Sequence[ChartPoint]) -> Iterator[list[ChartPoint]]:
    """Points to be joined: neighbours with values and no period between them missing or withheld. Some are of one point."""
    begin = 0
    for index in breaks(points):
        if index > begin:
            yield list(points[begin:index])
        begin = index + (index < len(points) and points[index].value is None)


def breaks(points: Sequence[ChartPoint]) -> Iterator[int]:
    """Places before which a line breaks: of points without a value, of those behind a missing period, and the end."""
    frequency, longest = None, None
    before: ChartPoint | None = None
    for index, point in enumerate(points):
        if point.value is None:
            yield index
            before = None
            continue
        # Ten thousand days are looked at for a page, and a look into a table by frequency is what costs.
        if point.frequency is not frequency:
            frequency = point.frequency
            longest = _LONGEST_BREAK.get(frequency)
        if before is not None and (point.end - before.end > longest if longest else parted(before, point)):
            yield index
        before = point
    yield len(points)


def missing(points: Sequence[ChartPoint]) -> int:
    """Return how many breaks a line has that no withheld value explains."""
    found, none = 0, False
    for index in breaks(points):
        if index < len(points):
            state = points[index].state
            # Neighbours without a value are one gap.
            after_none = none and index > 0 and points[index - 1].state == "none"
            found += state != "withheld" and not (state == "none" and after_none)
            none = state == "none"
    return found


def parted(before: ChartPoint, after: ChartPoint) -> bool:
    """Return whether a period between two neighbours is missing."""
    months = after.frequency.months
    if not months:
        return after.end - before.end > _LONGEST_BREAK[after.frequency]
    slack = _SHIFT if months > 1 else 0
    return _month(after.end) - _month(before.end) > months + slack


def counted(count: int, frequency: Frequency) -> str:
    """`43 quarters`, `1 month`."""
    return f"{count:,} {noun(frequency, count)}"


def _month(end: int) -> int:
    day = date.fromordinal(end)
    return day.year * 12 + day.month


def _ordinal(time: str) -> int:
    return date.fromisoformat(time[:10]).toordinal()
