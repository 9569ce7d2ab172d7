"""One indicator over all its entities: ranked, on a map, as small multiples, and in a table that sorts and leads to comparing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from statistics import median
from typing import Any

import msgspec
from markupsafe import Markup

from almanac.dashboard.drawing.marks import bar
from almanac.dashboard.drawing.multiples import multiple, span_of
from almanac.dashboard.drawing.world import CLASSES, Kind, MapPlace, classes, without_outline, world_map
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import histories
from almanac.dashboard.explorer.places import entity_page, names, places
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.captions_across import across_caption
from almanac.dashboard.words.dates import day_of
from almanac.dashboard.words.periods import of_row
from almanac.dashboard.words.points import ChartPoint, drawn
from almanac.dashboard.words.units import UnitWords, computed, unit_of
from almanac.dashboard.words.values import Look, look, masked
from almanac.reports.wording import country

#: Readings that are ranked: as many as one request tells.
MOST = 500
#: Rows of a page of the table, and small multiples of a page.
TABLE, MULTIPLES = 100, 48
#: What the table is sorted by, and which way each begins.
SORTS = {"value": "desc", "name": "asc", "period": "desc"}


class ReadingRow(msgspec.Struct, frozen=True):
    """
    The latest reading of one entity, as it is listed. `value` None: there is none in the unit of the others that may be
    shown and is not stale; `look` says which.
    """

    entity: str
    name: str
    page: str
    href: str
    value: float | None
    look: Look
    unit: str
    period: str
    ends: date
    known: str
    source: str
    frequency: str
    series: str
    #: Place among the ranked, 1 the highest, `tied` if another has the same.
    rank: int | None = None
    tied: bool = False
    #: Class of the map.
    kind: Kind | None = None
    bar: Markup = Markup()


class LegendClass(msgspec.Struct, frozen=True):
    """A colour of the map in words: `1.2 to 1.9%`, and of how many places."""

    kind: str
    text: str
    count: int


class SmallMultiple(msgspec.Struct, frozen=True):
    """One small line with what it says in words."""

    name: str
    href: str
    look: Look
    period: str
    drawing: Markup
    #: Lowest and highest of the line, in words.
    range: str


class Across(msgspec.Struct, frozen=True):
    """What a page of an indicator shows of its readings on one day."""

    rows: list[ReadingRow]
    unit: UnitWords
    digits: int
    #: How many are ranked, in one unit and none of them stale or withheld.
    ranked: int
    #: Whether entities publish it in units of their own, so that nothing is ranked.
    units_differ: bool
    map: Markup
    legend: list[LegendClass]
    caption: str
    #: Names of ranked places that the map has no outline of.
    not_drawn: list[str]


def across(visit: Visit, found: Sequence[Mapping[str, Any]]) -> Across:
    """Readings of one indicator (rows of /observations/latest), ranked: highest first, then what is not ranked, by name."""
    called = names(visit, {row["entityId"] for row in found})
    areas = {row["id"] for row in places(visit) if row["kind"] == "region"}
    unit = _common_unit(found)
    # An area is made of countries: beside them it would be counted twice.
    comparable = [row for row in found if unit is not None and _comparable(row, unit) and row["entityId"] not in areas]
    shared = unit or (unit_of(found[0]) if found else unit_of({}))
    digits = shared.digits([row["valueNumeric"] for row in comparable], computed=any(map(computed, comparable)))
    values = [float(row["valueNumeric"]) for row in comparable]
    grades = {row["id"]: grade for row, grade in zip(comparable, classes(values), strict=True)}
    counts = Counter(values)
    rows = []
    for row in found:
        ranked = row["id"] in grades
        beside = row["entityId"] in areas and unit is not None and _comparable(row, unit)
        value = float(row["valueNumeric"]) if ranked or beside else None
        told = look(
            row, digits=digits if unit is not None and unit_of(row).head == unit.head else None, today=visit.today
        )
        kind: Kind | None = None
        if masked(row):
            kind = "withheld"
        elif ranked:
            kind = f"q{grades[row['id']]}"  # type: ignore[assignment]  # one of the five
        elif told.state == "stale":
            kind = "old"
        rows.append(
            ReadingRow(
                row["entityId"],
                called.get(row["entityId"], row["entityId"]),
                entity_page(row["entityId"]),
                series_address(row["metadata"]["seriesId"]) + (f"?as_of={visit.as_of}" if visit.as_of else ""),
                value,
                told,
                unit_of(row).head,
                of_row(row),
                day_of(row["periodEnd"]),
                row["observedAt"],
                row["sourceId"],
                row["frequency"],
                row["metadata"]["seriesId"],
                1 + sum(other > value for other in values) if ranked and value is not None else None,
                ranked and value is not None and counts[value] > 1,
                kind,
                Markup() if value is None else bar(value, min(values, default=value), max(values, default=value)),
            )
        )
    rows.sort(key=lambda row: (row.value is None, -(row.value or 0.0), row.name.casefold()))
    codes = {row["id"]: row["isoAlpha3"] for row in places(visit) if row["isoAlpha3"]}
    return Across(
        rows,
        shared,
        digits,
        len(values),
        unit is None and len(found) > 1,
        _map(rows, codes),
        _legend(rows, shared, digits),
        across_caption(
            [(_in_text(row), row.value) for row in rows if row.value is not None and row.rank], shared, digits
        ),
        without_outline({codes[row.entity]: row.name for row in rows if row.entity in codes and row.rank}),
    )


def sorted_rows(rows: Sequence[ReadingRow], by: str, *, ascending: bool) -> list[ReadingRow]:
    """Rows by `value`, `name` or `period`; those without a value last either way."""
    if by == "name":
        return sorted(rows, key=lambda row: row.name.casefold(), reverse=not ascending)
    if by == "period":
        named = sorted(rows, key=lambda row: row.name.casefold())
        return sorted(named, key=lambda row: row.ends, reverse=not ascending)
    ranked = [row for row in rows if row.value is not None]
    return (ranked[::-1] if ascending else ranked) + [row for row in rows if row.value is None]


def multiples(
    visit: Visit, found: Sequence[Mapping[str, Any]], across: Across, *, derived: bool
) -> list[SmallMultiple]:
    """Small lines of the ranked, highest first, over the same days."""
    chosen = [row for row in across.rows if row.look.shown][:MULTIPLES]
    wanted = {row.series for row in chosen}
    readings = [row for row in found if row["metadata"]["seriesId"] in wanted]
    their_ids = {row["indicatorId"] for row in readings} if derived else ()
    lines = histories(visit, readings, derived=their_ids, as_of=visit.as_of)
    lines = {series: points for series, points in lines.items() if len(drawn(points)) > 1}
    if not lines:
        return []
    span = span_of(list(lines.values()))
    return [
        SmallMultiple(row.name, row.href, row.look, row.period, multiple(lines[row.series], span),
                      _range(lines[row.series], across.unit if row.unit == across.unit.head else None, across.digits))
        for row in chosen
        if row.series in lines
    ]  # fmt: skip


def middle(across: Across) -> float | None:
    """The median of the ranked; None for fewer than three."""
    values = [row.value for row in across.rows if row.value is not None and row.rank]
    return median(values) if len(values) > 2 else None


def _common_unit(found: Sequence[Mapping[str, Any]]) -> UnitWords | None:
    """The unit that most readings are in; None where no two share one, or most are in units of their own."""
    heads = Counter(unit_of(row).head for row in found if not masked(row) and row["valueNumeric"] is not None)
    if not heads:
        return None
    head, count = heads.most_common(1)[0]
    if count * 2 < heads.total() or (count < 2 and heads.total() > 1):
        return None
    return next(unit_of(row) for row in found if unit_of(row).head == head)


def _comparable(row: Mapping[str, Any], unit: UnitWords) -> bool:
    """Whether a reading is ranked: a number that may be shown, in the unit of most, and not behind."""
    shown = not masked(row) and row["valueNumeric"] is not None and row["freshnessStatus"] != "stale"
    return shown and not row["metadata"].get("discontinued") and unit_of(row).head == unit.head


def _in_text(row: ReadingRow) -> str:
    return country(row.name) if row.page.startswith("/countries/") else row.name


def _map(rows: Sequence[ReadingRow], codes: Mapping[str, str]) -> Markup:
    return world_map(
        {
            codes[row.entity]: MapPlace(row.kind, f"{row.name}: {row.look.spoken}, {row.period}", row.href)
            for row in rows
            if row.kind is not None and row.entity in codes
        }
    )


def _legend(rows: Sequence[ReadingRow], unit: UnitWords, digits: int) -> list[LegendClass]:
    """Lowest class first; classes that nobody is in are left out."""
    found = []
    for grade in range(1, CLASSES + 1):
        values = [row.value for row in rows if row.kind == f"q{grade}" and row.value is not None]
        if values:
            low, high = unit.cell(min(values), digits), unit.cell(max(values), digits)
            told = unit.sentence(max(values), digits)
            found.append(LegendClass(f"q{grade}", told if low == high else f"{low} to {told}", len(values)))
    for kind, word in (("old", "Stale"), ("withheld", "Withheld")):
        count = sum(row.kind == kind for row in rows)
        if count:
            found.append(LegendClass(kind, word, count))
    return found


def _range(points: Sequence[ChartPoint], unit: UnitWords | None, digits: int) -> str:
    if unit is None:
        return ""
    values = [point.value or 0.0 for point in drawn(points)]
    return f"{unit.cell(min(values), digits)} to {unit.cell(max(values), digits)}"
