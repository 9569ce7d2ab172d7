"""The lines of a comparison, read through the lists that programs read: one request for all places of an indicator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from almanac.dashboard.explorer.comparing.address import ALL, FIRST, Comparison, LineKey
from almanac.dashboard.explorer.finding import entity_named, series_address
from almanac.dashboard.explorer.happenings import EventSubject
from almanac.dashboard.explorer.known import FieldProblem
from almanac.dashboard.explorer.places import called
from almanac.dashboard.explorer.series import one_series
from almanac.dashboard.explorer.series.one_series import Missing, Row, Series, walk
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day, day_of
from almanac.dashboard.words.periods import frequency_of
from almanac.dashboard.words.points import ChartPoint, drawn, first_publications, points
from almanac.dashboard.words.transforms import INDEX, Transformed, common_base, transformed
from almanac.dashboard.words.units import UnitWords, computed, unit_of
from almanac.dashboard.words.values import masked
from almanac.domain.periods import Frequency

#: Requests of 500 rows for one group of lines, and for the vintages that first publications are among.
_PAGES, _VINTAGE_PAGES = 40, 24
#: Years that are shown unless the address says otherwise: of days and weeks, of all else.
_YEARS_OFTEN, _YEARS = 1, 10
#: What a value may be compared with lies so long before the range.
_BEFORE = timedelta(days=380)
_OFTEN = {Frequency.DAILY, Frequency.WEEKLY}


class ComparedLine(msgspec.Struct):
    """A line that there is: what it is of, its rows in range, and what is drawn of it."""

    key: LineKey
    indicator: Row
    entity: Row | None
    place: str
    #: The newest reading as known on its day; None where nothing was known.
    newest: Row | None
    #: A day, `first` or empty: what it is known by.
    known: str
    #: Of a line named as a series.
    series: Series | None = None
    rows: list[Row] = []
    level: list[ChartPoint] = []
    made: Transformed | None = None
    complete: bool = True
    #: The day that it is read as of, None for today: of first publications too, those of later days are none.
    as_of: str | None = None

    @property
    def frequency(self) -> Frequency:
        return frequency_of(self.newest["frequency"]) if self.newest is not None else Frequency.MONTHLY

    @property
    def series_id(self) -> str:
        """The series of its newest value, empty where there is none."""
        return self.series.id if self.series else "" if self.newest is None else self.newest["metadata"]["seriesId"]

    @property
    def subject(self) -> EventSubject | None:
        """What its events are of; None where nothing of it is drawn: what may not be shown is not marked either."""
        if not drawn(self.points):
            return None
        if self.series is not None:
            return self.series.subject
        return None if self.entity is None else EventSubject.of(self.indicator["slug"], self.entity)

    @property
    def address(self) -> str:
        """The page of its series on its day, where lineage and revisions are."""
        at = series_address(self.series_id) if self.series_id else f"/indicators/{self.indicator['slug']}"
        return f"{at}?as_of={self.known}" if self.known and self.known != FIRST and self.series_id else at

    @property
    def points(self) -> list[ChartPoint]:
        return [] if self.made is None else self.made.points

    @property
    def unit(self) -> UnitWords:
        return unit_of(self.newest or {}) if self.made is None else self.made.unit

    @property
    def digits(self) -> int:
        return 1 if self.made is None else self.made.digits


class ReadComparison(msgspec.Struct):
    """All lines of a comparison, and the range they are read in: days as the interface takes them, None for no bound."""

    asked: Comparison
    lines: list[ComparedLine]
    first: str | None
    last: str | None
    often: bool
    base: date | None = None
    newest: date | None = None

    @property
    def shown(self) -> list[ComparedLine]:
        """Those that are not hidden."""
        return [line for line in self.lines if not line.key.off]

    @property
    def known_on(self) -> str | None:
        """The past day of the page; without one the latest of its lines' days, where all of them have one. None: today."""
        days = [line.known for line in self.shown]
        if self.asked.as_of is not None or not days or any(one in {"", FIRST} for one in days):
            return self.asked.as_of
        return max(days)


def compared(visit: Visit, asked: Comparison) -> ReadComparison:
    """Reads the lines of a comparison; those that there are not are told in its problems. Raises ApiError as it is refused."""
    lines = [line for key in asked.keys if (line := _found(visit, asked, key)) is not None]
    _newest(visit, lines)
    ends = [day_of(line.newest["periodEnd"]) for line in lines if line.newest is not None]
    newest = max(ends, default=visit.today)
    often = bool(lines) and all(line.frequency in _OFTEN for line in lines if line.newest is not None) and bool(ends)
    first = None if asked.first == ALL else asked.first or _years_before(newest, _YEARS_OFTEN if often else _YEARS)
    result = ReadComparison(asked, lines, first, asked.last, often, newest=newest)
    start = None if first is None else _earlier(first, asked)
    for group in _groups(lines):
        _read(visit, group, start, asked.last)
    for line in lines:
        _level(line)
    if asked.show == INDEX:
        result.base = asked.base or common_base([_within(line.level, first) for line in result.shown])
    for line in lines:
        _make(line, asked, result)
    return result


def _found(visit: Visit, asked: Comparison, key: LineKey) -> ComparedLine | None:
    known = asked.known(key)
    as_of = asked.as_of if known == FIRST else known or None
    if key.series:
        series = one_series.find(visit, key.series)
        if isinstance(series, str):
            series = one_series.find(visit, series)
        if isinstance(series, Series):
            return ComparedLine(key, series.indicator, series.entity, series.place, None, known, series, as_of=as_of)
        words = series.text if isinstance(series, Missing) else f"There is no series “{key.series[:120]}”."
        asked.problems.append(FieldProblem("", words))
        return None
    told = visit.look_up(f"/indicators/{key.indicator.lower()}")
    entity = entity_named(visit, key.entity)
    for name, what, there in (("indicator", key.indicator, told), ("country, region or company", key.entity, entity)):
        problem = FieldProblem("", f"There is no {name} “{what[:80]}”.")
        if there is None and problem not in asked.problems:
            asked.problems.append(problem)
    if told is None or entity is None:
        return None
    return ComparedLine(key, told.data, entity, called(entity), None, known, as_of=as_of)


def _newest(visit: Visit, lines: Sequence[ComparedLine]) -> None:
    """Finds the newest reading of each line: one request for all places of an indicator on a day."""
    groups: dict[tuple[str, str | None], list[ComparedLine]] = {}
    for line in lines:
        if line.series is None:
            groups.setdefault((line.indicator["id"], line.as_of), []).append(line)
        else:
            asked = {"limit": 1, "order": "desc", "as_of": line.as_of, **line.series.filters}
            line.newest = next(iter(line.series.own(visit.look_up(line.series.list_path, **asked).data)), None)  # type: ignore[union-attr]  # a list is never 404
    for (indicator, as_of), some in groups.items():
        ids = sorted({line.entity["entityId"] for line in some if line.entity})
        told = visit.ask("/observations/latest", indicator_id=indicator, entity_id=ids, as_of=as_of, limit=len(ids))
        found = {row["entityId"]: row for row in told.data}
        for line in some:
            line.newest = None if line.entity is None else found.get(line.entity["entityId"])


def _groups(lines: Sequence[ComparedLine]) -> list[list[ComparedLine]]:
    """Lines that one request gives: of one indicator and frequency, known by the same."""
    groups: dict[Any, list[ComparedLine]] = {}
    for line in lines:
        if line.newest is not None:
            alike = line.series_id if line.series else (line.indicator["id"], line.frequency)
            groups.setdefault((alike, line.known), []).append(line)
    return list(groups.values())


def _read(visit: Visit, group: Sequence[ComparedLine], first: str | None, last: str | None) -> None:
    one = group[0]
    filters: dict[str, Any]
    if one.series is not None:
        path, filters = one.series.list_path, dict(one.series.filters)
    else:
        path = "/derived-observations" if one.indicator["kind"] == "derived" else "/observations"
        ids = sorted({line.entity["entityId"] for line in group if line.entity})
        filters = {"indicator_id": one.indicator["slug"], "entity_id": ids, "frequency": one.frequency.value}
    filters |= {"as_of": one.as_of, "period_start": first, "period_end": last}
    if one.known == FIRST:
        rows, complete = walk(visit, "/observations/vintages", _VINTAGE_PAGES, order="desc", **filters)
    else:
        # Newest first over all of them: what a page does not read is old, and no line is cut off alone.
        several = {"sort": "period_end"} if len(group) > 1 else {}
        rows, complete = walk(visit, path, _PAGES, order="desc", **several, **filters)
    for line in group:
        own = rows if line.series is None else line.series.own(rows)
        entity = None if line.entity is None else line.entity["entityId"]
        line.rows = [row for row in own if entity is None or row["entityId"] == entity]
        line.complete = complete


def _level(line: ComparedLine) -> None:
    """The points of a line as they are published, before any transform."""
    if line.known != FIRST:
        line.level = points(line.rows)
        return
    firsts = first_publications(line.rows)
    oldest: dict[tuple[str | None, str], Row] = {}
    for row in sorted(line.rows, key=_observed, reverse=True):
        oldest[row["periodStart"], row["periodEnd"]] = row
    # A period of which only a later state was seen has no first publication that is known.
    line.rows = [row for cell, row in oldest.items() if cell in firsts or masked(row)]
    line.rows.sort(key=_end, reverse=True)
    line.level = points(line.rows)


def _make(line: ComparedLine, asked: Comparison, result: ReadComparison) -> None:
    unit = unit_of(line.rows[0] if line.rows else line.newest or {})
    stated = [row["valueNumeric"] for row in line.rows if not masked(row)]
    digits = unit.digits(stated, computed=any(computed(row) for row in line.rows))
    if asked.show == INDEX and result.base is None:
        line.made = Transformed([], unit, digits)
        return
    made = transformed(asked.show, line.level, unit, digits, base=result.base)
    line.made = made._replace(points=_within(made.points, result.first))


def _within(found: Sequence[ChartPoint], first: str | None) -> list[ChartPoint]:
    """Points of periods that begin in the range, as the interface cuts it."""
    if first is None:
        return list(found)
    begin = date.fromisoformat(first).toordinal()
    return [point for point in found if (point.end if point.start is None else point.start) >= begin]


def _earlier(first: str, asked: Comparison) -> str:
    """From when on rows are read: what a value is compared with lies before the range."""
    begin = date.fromisoformat(first)
    if asked.show in {"change", "percent", "year"}:
        begin = max(begin, date.min + _BEFORE) - _BEFORE
    elif asked.show == INDEX and asked.base is not None:
        begin = min(begin, max(asked.base, date.min + _BEFORE) - _BEFORE)
    return begin.isoformat()


def _years_before(newest: date, years: int) -> str:
    try:
        begin = newest.replace(year=max(1, newest.year - years))
    except ValueError:  # 29 February
        begin = newest.replace(year=max(1, newest.year - years), day=28)
    return (begin + timedelta(days=1)).isoformat()


def known_words(line: ComparedLine) -> str:
    """`known on 30 Apr 2024`, `as first published`; empty for today."""
    return "as first published" if line.known == FIRST else f"known on {day(line.known)}" if line.known else ""


def _observed(row: Row) -> str:
    found: str = row["observedAt"]
    return found


def _end(row: Row) -> tuple[str, str]:
    return row["periodEnd"], row["periodStart"] or ""
