"""The page of a comparison, and the same as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec

from almanac.dashboard.drawing.figure import (
    ChartFigure,
    LegendEntry,
    PicturePanel,
    describe_value,
    lines_readout,
    picture,
)
from almanac.dashboard.drawing.lines import DASHED_FROM, ChartLine, EventMark, Frame, line_chart, room_left
from almanac.dashboard.drawing.svg import MOST_LINES, colour
from almanac.dashboard.explorer import embedding, event_markers
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.event_markers import EventSubject, MarkedEvents
from almanac.dashboard.explorer.finding import SMALL_WORDS, entity_named, found, indicators_of, series_address
from almanac.dashboard.explorer.one_series import Missing, Row, Series, find, range_links, walk
from almanac.dashboard.explorer.places import called, places
from almanac.dashboard.formatting.captions import NOTHING, Topic, few, line_caption, lines_caption
from almanac.dashboard.formatting.dates import NBSP, SHORT_MONTHS, day, day_of, frequency_of, read_day, years_before
from almanac.dashboard.formatting.numbers import UnitWords, computed, full, read_whole, unit_of
from almanac.dashboard.formatting.transforms import INDEX, LEVEL, TRANSFORMS, Transformed, common_base, transformed
from almanac.dashboard.formatting.values import ChartPoint, first_publications, masked, points, with_values
from almanac.dashboard.visit import Answer, Download, FieldProblem, Html, Page, Redirect, Visit, csv_download
from almanac.dashboard.workbook import MEDIA_TYPE, Cell, workbook
from almanac.domain.periods import Frequency
from almanac.reports.wording import country, listed, sentence
from almanac.store.state_memory import Remembered

#: In place of a day: each period as it was first published.
FIRST = "first"
#: In place of the first day of a range: all periods.
ALL = "all"
#: Names of an address that a comparison has; a form keeps those that it does not show.
NAMES = ("indicator", "entities", "series", "off", "known", "as_of", "from", "to", "show", "base", "firsts", "events")


class LineKey(msgspec.Struct, frozen=True):
    """One line as the address names it: a series, or an indicator of an entity."""

    number: int
    series: str = ""
    indicator: str = ""
    entity: str = ""
    #: A day like 2024-04-30, `first`, or empty for what all lines have.
    known: str = ""
    off: bool = False


class Comparison(msgspec.Struct):
    """An address that was read. What could not be read is left out and told in `problems`."""

    keys: list[LineKey]
    as_of: str | None = None
    first: str | None = None
    last: str | None = None
    show: str = LEVEL
    base: date | None = None
    firsts: bool = False
    problems: list[FieldProblem] = []

    def known(self, key: LineKey) -> str:
        """Return what a line is known by: its own day or `first`, else that of all; empty for today."""
        return key.known or (FIRST if self.firsts else self.as_of or "")


def read(visit: Visit) -> Comparison:
    """Return the comparison of an address."""
    query, problems = visit.query, list[FieldProblem]()
    names = _names(query, "series")
    pairs = [(one, entity) for one in _names(query, "indicator") for entity in _names(query, "entities")]
    off = {number for text in _names(query, "off") if (number := read_whole(text))}
    known = _known(visit, problems)
    keys = [
        LineKey(number, indicator=indicator, entity=entity, known=known.get(number, ""), off=number in off)
        for number, (indicator, entity) in enumerate(pairs, 1)
    ]
    keys += [
        LineKey(number, series=name, known=known.get(number, ""), off=number in off)
        for number, name in enumerate(names, len(keys) + 1)
    ]
    if len(keys) > MOST_LINES:
        problems.append(
            FieldProblem(
                "add", f"A chart has {MOST_LINES} lines at most, and {len(keys)} were asked for. Take some out"
            )
        )
    found = Comparison(keys[:MOST_LINES], problems=problems)
    found.as_of = _day(visit, "as_of", problems, past=True)
    first = query.get("from") or None
    found.first = ALL if first == ALL else _day(visit, "from", problems)
    found.last = _day(visit, "to", problems)
    if found.first not in {None, ALL} and found.last is not None and (found.first or "") > found.last:
        problems.append(FieldProblem("to", "The range ends before it begins. Write a later last day"))
        found.last = None
    found.show = query.get("show") or LEVEL
    if found.show not in TRANSFORMS:
        problems.append(FieldProblem("show", f"“{found.show[:40]}” is none of {', '.join(TRANSFORMS)}"))
        found.show = LEVEL
    base = _day(visit, "base", problems) if found.show == INDEX else None
    found.base = None if base is None else date.fromisoformat(base)
    found.firsts = query.get("firsts") == "1"
    return found


def _names(query: Mapping[str, str], name: str) -> list[str]:
    """Return a list of the address, in its order; the same twice is two lines."""
    return [part.strip() for part in query.get(name, "").split(",") if part.strip()]


def _known(visit: Visit, problems: list[FieldProblem]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in _names(visit.query, "known"):
        number, _, text = part.partition(":")
        place = read_whole(number)
        if place is None:
            problems.append(
                FieldProblem("", f"“{part[:40]}” in `known` is no line and its day. Write 2:2024-04-30 or 2:first")
            )
        elif text == FIRST:
            found[place] = FIRST
        else:
            try:
                found[place] = past_day(visit, text)
            except ValueError as refused:
                problems.append(FieldProblem(f"known-{place}", str(refused)))
    return found


def _day(visit: Visit, name: str, problems: list[FieldProblem], *, past: bool = False) -> str | None:
    text = visit.query.get(name)
    if not text:
        return None
    try:
        return past_day(visit, text) if past else read_day(text).isoformat()
    except ValueError as refused:
        problems.append(FieldProblem(name, str(refused)))
        return None


def past_day(visit: Visit, text: str) -> str:
    """Return a day up to today, as addresses have it. Raises ValueError with the sentence for the page."""
    found = read_day(text)
    if found > visit.today:
        raise ValueError(f"{day(found)} is after today, {day(visit.today)}. Write a day up to today")
    return found.isoformat()


def sent(visit: Visit) -> dict[str, str | None]:
    """
    Return what the form sent, as names of the address: boxes that are not ticked are `off`, days beside lines `known`.

    A day that cannot be is left in the address, where it is refused with its sentence.
    """
    query = visit.query
    count = read_whole(query.get("lines")) or 0
    numbers = range(1, min(count, MOST_LINES) + 1)
    off = [str(number) for number in numbers if f"on-{number}" not in query]
    known = [f"{number}:{text}" for number in numbers if (text := query.get(f"known-{number}", "").strip())]
    kept: dict[str, str | None] = {name: query.get(name) or None for name in NAMES}
    kept |= {"off": ",".join(off) or None, "known": ",".join(known) or None}
    if kept["show"] == LEVEL:
        kept["show"] = None
    if kept["show"] != INDEX:
        kept["base"] = None
    return kept


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
        """Return the subject of the line's events; None if nothing is drawn, so that withheld values are not marked either."""
        if not with_values(self.points):
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
    """Read the lines of a comparison; those that there are not are told in its problems. Raises ApiError as it is refused."""
    lines = [line for key in asked.keys if (line := _found(visit, asked, key)) is not None]
    _newest(visit, lines)
    ends = [day_of(line.newest["periodEnd"]) for line in lines if line.newest is not None]
    newest = max(ends, default=visit.today)
    often = bool(lines) and all(line.frequency in _OFTEN for line in lines if line.newest is not None) and bool(ends)
    first = (
        None
        if asked.first == ALL
        else asked.first or (years_before(newest, _YEARS_OFTEN if often else _YEARS) + timedelta(days=1)).isoformat()
    )
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
        series = find(visit, key.series)
        if isinstance(series, str):
            series = find(visit, series)
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
    """Find the newest reading of each line: one request for all places of an indicator on a day."""
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
    """Return the points of a line as they are published, before any transform."""
    if line.known != FIRST:
        line.level = points(line.rows)
        return
    firsts = first_publications(line.rows)
    oldest: dict[tuple[str | None, str], Row] = {}
    for row in sorted(line.rows, key=lambda row: str(row["observedAt"]), reverse=True):
        oldest[row["periodStart"], row["periodEnd"]] = row
    # A period of which only a later state was seen has no first publication that is known.
    line.rows = [row for cell, row in oldest.items() if cell in firsts or masked(row)]
    line.rows.sort(key=lambda row: (row["periodEnd"], row["periodStart"] or ""), reverse=True)
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


def known_words(line: ComparedLine) -> str:
    """`known on 30 Apr 2024`, `as first published`; empty for today."""
    return "as first published" if line.known == FIRST else f"known on {day(line.known)}" if line.known else ""


Named = TypeVar("Named", bound=Hashable)

#: Days from which on a range is told in years.
_NAMED_YEARS = 1_100


def what(lines: Sequence[ComparedLine]) -> str:
    """Return what is compared: the one indicator, or the one place, or both in few words."""
    indicators = _distinct(line.indicator["name"] for line in lines)
    places = _distinct(line.place for line in lines)
    if len(indicators) > 1 and len(places) == 1:
        return few(places)
    return few(indicators) if indicators else "Compare"


def chart_name(lines: Sequence[ComparedLine], compared: ReadComparison) -> str:
    """`Consumer price inflation, Germany and Japan, 2016 to 2026`: what a chart shows, of where and of when."""
    indicators = _distinct(line.indicator["name"] for line in lines)
    places = _distinct(line.place for line in lines)
    words = TRANSFORMS[compared.asked.show].words
    if compared.asked.show == INDEX and compared.base is not None:
        words = f"index with {day(compared.base)} at 100"
    parts = [few(indicators), words, few(places), span_words(lines)]
    known = _distinct(line.known for line in lines)
    if len(known) == 1 and known[0]:
        parts.append(known_words(lines[0]))
    return ", ".join(part for part in parts if part)


def span_words(lines: Sequence[ComparedLine]) -> str:
    """`2016 to 2026`, or months where it is short; empty without a value."""
    shown = [point for line in lines for point in with_values(line.points)]
    if not shown:
        return ""
    first = date.fromordinal(min(point.end if point.start is None else point.start for point in shown))
    last = date.fromordinal(max(point.end for point in shown))
    if (last - first).days > _NAMED_YEARS:
        return f"{first.year} to {last.year}"
    months = [f"{SHORT_MONTHS[one.month - 1]}{NBSP}{one.year}" for one in (first, last)]
    return months[0] if months[0] == months[1] else " to ".join(months)


def line_name(line: ComparedLine, lines: Sequence[ComparedLine]) -> str:
    """Return what tells a line from the others: its place, its indicator or both, and its day where that is not today."""
    parts = _told_apart(line, lines)
    if known_words(line):
        parts.append(known_words(line))
    elif _of_several_days(line, lines):
        parts.append("known today")
    return ", ".join(parts)


def line_label(line: ComparedLine, lines: Sequence[ComparedLine]) -> str:
    """Names a line in few letters, for its end: of one thing on several days by the day alone."""
    alone = len(_distinct((one.place, one.indicator["id"]) for one in lines)) == 1 and len(lines) > 1
    when = "first" if line.known == FIRST else day(line.known) if line.known else ""
    if not when and _of_several_days(line, lines):
        when = "today"
    parts = [] if alone and when else _told_apart(line, lines)
    return ", ".join([*parts, when] if when and len(_distinct(one.known for one in lines)) > 1 else parts)


def _of_several_days(line: ComparedLine, lines: Sequence[ComparedLine]) -> bool:
    """Return whether the same thing is drawn as known on another day too."""
    own = (line.place, line.indicator["id"])
    return any((one.place, one.indicator["id"]) == own and one.known != line.known for one in lines)


def full_name(line: ComparedLine) -> str:
    """Return indicator, place and day of a line, whatever the others are."""
    known = known_words(line)
    return f"{line.indicator['name']}, {line.place}{f', {known}' if known else ''}"


def caption(lines: Sequence[ComparedLine], compared: ReadComparison) -> str:
    """Return the caption of a panel, from the points that are drawn."""
    name = few(_distinct(line.indicator["name"] for line in lines))
    made = compared.asked.show != LEVEL
    words = TRANSFORMS[compared.asked.show].words
    one = lines[0]
    if len(_distinct(line.indicator["id"] for line in lines)) > 1 and len(lines) > 1:
        return _mixed(lines)
    place = one.place if one.entity is None or one.entity["type"] == "company" else country(one.place)
    topic = Topic(
        f"{name}, {words}," if made else name,
        "" if made else one.indicator["slug"],
        place if len(lines) == 1 else "",
        one.unit,
        max(line.digits for line in lines),
    )
    if len(lines) == 1:
        return line_caption(topic, one.points, bounded=compared.last is not None) if one.points else NOTHING
    if len(_distinct(line.place for line in lines)) == 1:
        return _mixed(lines)
    return lines_caption(topic, [(line_name(line, lines), line.points) for line in lines])


def computed_words(compared: ReadComparison) -> str:
    """Return a sentence on how the values were computed from published ones; empty for levels."""
    formulas = _distinct(line.made.formula for line in compared.shown if line.made and line.made.formula)
    if not formulas:
        return ""
    sources = few(_distinct(line.indicator["name"] for line in compared.shown))
    return sentence(f"computed here from {sources}: {listed(formulas)}")


def _mixed(lines: Sequence[ComparedLine]) -> str:
    """Return the newest value of each line, and which have none: of several indicators none is the highest."""
    told, empty = [], []
    for line in lines:
        shown = with_values(line.points)
        name = line_name(line, lines)
        if shown:
            told.append(f"{name} at {line.unit.sentence(shown[-1].value or 0.0, line.digits)} ({shown[-1].period})")
        else:
            empty.append(name)
    first = f"newest: {listed(told)}" if told else ""
    third = f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} no value to draw" if empty else ""
    return " ".join(sentence(part) for part in (first, third) if part) or NOTHING


def _told_apart(line: ComparedLine, lines: Sequence[ComparedLine]) -> list[str]:
    places, indicators = _distinct(one.place for one in lines), _distinct(one.indicator["name"] for one in lines)
    sources = _distinct(
        one.series_id for one in lines if (one.place, one.indicator["id"]) == (line.place, line.indicator["id"])
    )
    parts = [line.indicator["name"]] if len(indicators) > 1 else []
    if len(places) > 1 or not parts:
        parts.insert(0, line.place)
    if len(sources) > 1 and line.series is not None:
        parts.append(line.series_id.partition(":")[0])
    return parts


def _distinct(values: Iterable[Named]) -> list[Named]:
    """Each once, in their order."""
    return list(dict.fromkeys(values))


_Row = dict[str, Any]
#: Words that are looked at, and the most that the name of a place has.
_WORDS, _NAME = 24, 4
#: Places that have data, by each of their names and codes in small letters.
_PLACES_BY_NAME: Remembered[dict[str, _Row]] = Remembered("places by name", lambda _: {})
#: Stand between what is compared.
_BETWEEN = {"vs", "versus", "against", "with", "compare", "compared"}
#: Words that are ISO codes too: of Peru and of the Emirates.
_NO_CODES = {"per", "are"}


class WantedComparison(msgspec.Struct, frozen=True):
    """An indicator and at least two places."""

    indicator: _Row
    places: list[_Row]

    @property
    def address(self) -> str:
        """The page that shows it."""
        entities = ",".join(row["slug"] for row in self.places)
        return f"/compare?indicator={self.indicator['slug']}&entities={entities}"

    @property
    def title(self) -> str:
        """`Consumer price inflation: Germany and Japan`."""
        return f"{self.indicator['name']}: {listed([row['name'] for row in self.places])}"


def wanted_comparison(visit: Visit, words: str) -> WantedComparison | None:
    """Return the comparison that words ask for; None where they name fewer than two places, or nothing to compare them by."""
    parts = words.replace(",", " ").split()[:_WORDS]
    if len(parts) < 3:
        return None
    named = _named(visit)
    found: dict[str, _Row] = {}
    rest: list[str] = []
    at = 0
    while at < len(parts):
        for length in range(min(_NAME, len(parts) - at), 0, -1):
            text = " ".join(parts[at : at + length]).casefold()
            row = None if text in SMALL_WORDS | _NO_CODES else named.get(text)
            if row is not None:
                found[row["id"]] = row
                at += length
                break
        else:
            rest.append(parts[at])
            at += 1
    left = [word for word in rest if word.casefold() not in SMALL_WORDS | _BETWEEN]
    if len(found) < 2 or not left:
        return None
    served = next((row for row in indicators_of(visit, " ".join(left)) if row["entityCount"]), None)
    return None if served is None else WantedComparison(served, list(found.values())[:MOST_LINES])


def _named(visit: Visit) -> dict[str, _Row]:
    """Places that have data, by each of their names and codes in small letters; the same for everybody."""
    kept = visit.api.remembered(_PLACES_BY_NAME)
    if not kept:
        for row in places(visit):
            codes = [row["isoAlpha2"], row["isoAlpha3"], row["slug"]]
            for name in (row["name"], *row["aliases"], *codes):
                if name:
                    kept.setdefault(name.casefold(), row)
    return kept


#: Rows of a page of the table, and its cells.
_ROWS, _CELLS = 60, 360
#: Beyond so many lines no sentence says since when a value is known: the page of each series does.
_DATED_LINES = 6
_WITHHELD = "Withheld. The licence of these sources forbids passing their values on. Periods and times are shown."


def events(visit: Visit, compared: ReadComparison) -> MarkedEvents | None:
    """Return what is marked below the panels, or may be; None where nothing is drawn."""
    charts = [_subjects(lines) for lines in _panels(compared).values()]
    if not any(charts):
        return None
    points = [point for line in compared.shown for point in with_values(line.points)]
    oldest = min(point.end if point.start is None else point.start for point in points)
    return event_markers.marked(visit, charts, date.fromordinal(oldest), as_of=compared.known_on)


def _subjects(lines: Sequence[ComparedLine]) -> list[EventSubject]:
    return [subject for line in lines if (subject := line.subject) is not None]


def _panels(compared: ReadComparison) -> dict[tuple[str, bool], list[ComparedLine]]:
    groups: dict[tuple[str, bool], list[ComparedLine]] = {}
    for line in compared.shown:
        groups.setdefault((line.unit.head, line.unit.fraction), []).append(line)
    return groups


def draw_panels(visit: Visit, compared: ReadComparison, marked: MarkedEvents | None = None) -> list[ChartFigure]:
    """
    Return a figure for each unit, in the order of the lines; all have one time axis and one column of labels. `marked`: under the axis
    of each panel that has a line the event is of.
    """
    groups = _panels(compared)
    marks = [[] if marked is None else marked.marks_of(_subjects(lines)) for lines in groups.values()]
    # A label says what tells a line from those beside it, its name what tells it from all.
    charts = [
        [
            ChartLine(
                line_name(line, compared.shown),
                line.points,
                line.key.number,
                line_label(line, lines),
            )
            for line in lines
        ]
        for lines in groups.values()
    ]
    places = [(points[0].at, points[-1].at) for line in compared.shown if (points := line.points)]
    places += [(some[0].at, some[-1].at) for some in marks if some]
    frame = None
    if places:
        rooms = [room_left(lines, fraction=fraction) for (_, fraction), lines in zip(groups, charts, strict=True)]
        frame = Frame(
            (min(first for first, _ in places), max(last for _, last in places)),
            [line.label for lines in charts for line in lines],
            max(rooms),
        )
    found = []
    for number, (lines, chart, marked_here) in enumerate(zip(groups.values(), charts, marks, strict=True), 1):
        found.append(_figure(number, lines, chart, compared, frame, marked_here))
    return found


def _figure(
    number: int,
    lines: list[ComparedLine],
    drawn: list[ChartLine],
    compared: ReadComparison,
    frame: Frame | None,
    marks: list[EventMark],
) -> ChartFigure:
    drawing = None
    if frame is not None:
        drawing = line_chart(drawn, fraction=lines[0].unit.fraction, frame=frame, events=marks)
    legend = [LegendEntry(name="Event", kind="event")] if marks else []
    if any(line.newest is not None for line in compared.shown):
        nothing = "No period of these lines lies in this range."
    elif compared.asked.as_of:
        nothing = f"Nothing of these lines was known on {day(compared.asked.as_of)}."
    else:
        nothing = "There are no values of these lines."
    shut = any(line.rows for line in lines) and all(p.state == "withheld" for line in lines for p in line.points)
    dated = len(compared.shown) <= _DATED_LINES
    told = [_told(line, states(line) if dated else {}) for line in lines]
    return ChartFigure(
        id=f"chart-{number}",
        title=chart_name(lines, compared),
        unit=lines[0].unit.head,
        caption=caption(lines, compared),
        drawing=drawing,
        legend=legend,
        readout=lines_readout(drawn, told, events=marks),
        events=bool(marks),
        empty=_WITHHELD if shut else nothing,
    )


def _told(line: ComparedLine, known: Mapping[tuple[str, str], Row]) -> list[str]:
    """Return what is read out of each point, with the day since when its value is known, if its row is among `known`."""
    since = "first published" if line.known == FIRST else "known since"
    told = []
    for point in line.points:
        row = None if point.value is None else known.get(_days(point))
        words = describe_value(point, line.unit, line.digits)
        told.append(words if row is None else f"{words}, {since} {day(row['observedAt'])}")
    return told


def _bounds(point: ChartPoint) -> tuple[date, date]:
    """Return the first and the last day of a point's period; of an instant twice the same."""
    end = date.fromordinal(point.end)
    return end if point.start is None else date.fromordinal(point.start), end


def _days(point: ChartPoint) -> tuple[str, str]:
    start, end = _bounds(point)
    return start.isoformat(), end.isoformat()


def states(line: ComparedLine) -> dict[tuple[str, str], Row]:
    """Its rows by the first and last day of their periods; none where values were computed of several."""
    if line.made is None or line.made.formula:
        return {}
    return {((row["periodStart"] or row["periodEnd"])[:10], row["periodEnd"][:10]): row for row in line.rows}


# -- table --------------------------------------------------------------------------------------------------------------


def table(compared: ReadComparison) -> list[dict[int, ChartPoint]]:
    """Return the rows of the table, newest period first: the points of the lines by their places."""
    rows: dict[tuple[int, int], dict[int, ChartPoint]] = {}
    for place, line in enumerate(compared.shown):
        for point in line.points:
            rows.setdefault((point.end, point.end if point.start is None else point.start), {})[place] = point
    return [row for _, row in sorted(rows.items(), reverse=True)]


# -- form ---------------------------------------------------------------------------------------------------------------


def listed_lines(visit: Visit, compared: ReadComparison) -> list[dict[str, Any]]:
    """Return the lines of the form, the hidden ones too."""
    units = Counter(line.unit.head for line in compared.shown)
    dashed = {line.key.number for line in compared.shown if units[line.unit.head] >= DASHED_FROM}
    typed = dict(part.split(":", 1) for part in visit.query.get("known", "").split(",") if ":" in part)
    found = []
    for line in compared.lines:
        newest = next((p for p in reversed(line.points) if p.value is not None and not p.forecast), None)
        note = ""
        if newest is not None and newest.value is not None:
            note = f"{line.unit.figure(newest.value, line.digits)} {newest.period}"
        found.append(
            {
                "key": line.key,
                "name": line_name(line, compared.lines),
                "known": typed.get(str(line.key.number), ""),
                "note": _why_empty(line) or note,
                "href": line.address,
                "sign": f"{colour(line.key.number)}{' dash' if line.key.number in dashed else ''}",
                "remove": _without(visit, compared, line),
            }
        )
    return found


def _why_empty(line: ComparedLine) -> str:
    if line.points:
        return "Withheld" if all(point.state == "withheld" for point in line.points) else ""
    if line.newest is None:
        return f"Nothing was known on {day(line.known)}" if line.known not in {"", FIRST} else "No data"
    return "No value in this range"


def _without(visit: Visit, compared: ReadComparison, line: ComparedLine) -> str:
    """Return the address without a line; empty where it is one of several that an indicator or a place stands for."""
    key, keys = line.key, compared.asked.keys
    if len(keys) == 1:
        return ""
    pairs = [one for one in keys if not one.series]
    if key.series:
        name, left = "series", [one.series for one in keys if one.series and one is not key]
    elif len({one.indicator for one in pairs}) == 1:
        name, left = "entities", [one.entity for one in pairs if one is not key]
    elif len({one.entity for one in pairs}) == 1 and len({one.indicator for one in pairs}) == len(pairs):
        name, left = "indicator", [one.indicator for one in pairs if one is not key]
    else:
        return ""
    off = [_moved(one.number, key.number) for one in keys if one.off and one is not key]
    known = [f"{_moved(one.number, key.number)}:{one.known}" for one in keys if one.known and one is not key]
    return visit.here(**{name: ",".join(left), "off": ",".join(map(str, off)), "known": ",".join(known), "page": None})


def _moved(number: int, gone: int) -> int:
    return number - (number > gone)


def ranges(visit: Visit, compared: ReadComparison) -> tuple[Row, ...]:
    """Return links to ranges, the one that is shown marked."""
    newest = compared.newest or visit.today
    usual = 1 if compared.often else 10
    asked = None if compared.last is not None else compared.asked.first or usual
    spans: list[tuple[int, str | None, bool]] = [(usual, None, asked == usual)]
    for years in {1, 5, 10, 25} - {usual}:
        start = (newest - timedelta(days=round(365.25 * years) - 1)).isoformat()
        spans.append((years, start, asked == start))
    return range_links(visit, sorted(spans), (ALL, asked == ALL))


def notes(compared: ReadComparison) -> list[str]:
    """Sentences below the charts: how values were computed, what is of another frequency, what was not read."""
    found = [words for words in (computed_words(compared),) if words]
    slow: dict[str, list[str]] = {}
    for line in compared.shown:
        if line.newest is not None:
            slow.setdefault(line.frequency.word, []).append(line_name(line, compared.shown))
    if len(slow) > 1:
        found.append("; ".join(f"{word}: {', '.join(names)}" for word, names in slow.items()) + ".")
    if any(not line.complete for line in compared.shown):
        found.append("There are more rows than a page reads: the oldest are left out. Choose a shorter range.")
    if compared.asked.show != LEVEL and any(p.forecast for line in compared.shown for p in line.points):
        found.append("What is computed from a forecast is dotted as one.")
    return found


def sources(lines: Sequence[ComparedLine]) -> list[tuple[str, str]]:
    """Attribution and licence of what is shown, each pair once."""
    pairs = [(row["rights"]["attribution"], row["rights"]["license"]) for line in lines for row in line.rows[:1]]
    return list(dict.fromkeys(pairs))


_COLUMNS = (
    "line", "seriesId", "indicator", "place", "knownOn", "frequency", "periodStart", "periodEnd", "value", "unit", "transform", "withheld",
)  # fmt: skip


def as_csv(compared: ReadComparison) -> Download:
    """
    Return a row for each value, unrounded, by line and then by period, oldest first. A withheld value is empty and `withheld`
    says so.
    """
    rows = (
        [
            full_name(line).replace(NBSP, " "), line.series_id, line.indicator["slug"], line.place, line.known, line.frequency.word,
            "" if point.start is None else date.fromordinal(point.start).isoformat(), date.fromordinal(point.end).isoformat(),
            "" if point.value is None else full(point.value), line.unit.head, compared.asked.show, str(point.state == "withheld").lower(),
        ]
        for line in compared.shown
        for point in line.points
    )  # fmt: skip
    return csv_download("comparison.csv", _COLUMNS, rows)


def as_workbook(visit: Visit, compared: ReadComparison) -> bytes:
    """Return a column for each line, newest period first, and the sheet that says what they are."""
    columns = ["Period", "First day", "Last day"]
    columns += [f"{full_name(line)} ({line.unit.head})" for line in compared.shown]
    alone = states(compared.shown[0]) if len(compared.shown) == 1 else {}
    if alone:
        columns += ["Known since", "Revision status"]
    rows: list[list[Cell]] = []
    for values in table(compared):
        there = [values.get(place) for place in range(len(compared.shown))]
        point = next(iter(values.values()))
        start, end = _bounds(point)
        row: list[Cell] = [point.period, start, end]
        row += [None if one is None else "withheld" if one.state == "withheld" else one.value for one in there]
        state = alone.get(_days(point))
        if state is not None:
            row += [day_of(state["observedAt"]), state["revisionStatus"]]
        rows.append(row)
    return workbook(columns, rows, _about(visit, compared))


def _about(visit: Visit, compared: ReadComparison) -> list[list[Cell]]:
    asked = compared.asked
    title = chart_name(compared.shown, compared)
    found: list[list[Cell]] = [
        ["Title", title],
        ["As of", date.fromisoformat(asked.as_of) if asked.as_of else visit.today],
        ["Shown", TRANSFORMS[asked.show].title],
    ]
    if asked.show != LEVEL:
        found.append(["How computed", computed_words(compared)])
    found.append(["Address", _address(visit)])
    for number, one in enumerate(visit.shown_requests, 1):
        found.append([f"Request {number}", f"{visit.settings.api_address}{one.path_and_query}"])
    found += [
        [],
        ["Line", "Series", "Known", "Unit", "Source", "Licence", "Licence class", "Attribution", "Lineage"],
    ]
    for line in compared.shown:
        rights: dict[str, str] = next((row["rights"] for row in (*line.rows, line.newest) if row is not None), {})
        found.append(
            [
                full_name(line),
                line.series_id,
                known_words(line) or "known today",
                line.unit.head,
                line.series_id.partition(":")[0],
                rights.get("license", ""),
                rights.get("licenseClass", ""),
                rights.get("attribution", ""),
                f"{visit.settings.dashboard_address}{line.address}#lineage",
            ]
        )
    return found


def as_picture(visit: Visit, compared: ReadComparison) -> bytes:
    """Return the charts as one picture, at their widest."""
    marked = events(visit, compared)
    shown = draw_panels(visit, compared, marked)
    panels = [PicturePanel(figure.unit, figure.drawing, figure.empty) for figure in shown]
    known = day(compared.asked.as_of or visit.today)
    foot = [f"Source: {attribution}. Licence: {terms}." for attribution, terms in sources(compared.shown)]
    if computed_words(compared):
        foot.append(computed_words(compared))
    if marked is not None and marked.words:
        foot.append(marked.words)
    foot.append(f"{'As first published, known' if compared.asked.firsts else 'As known'} on {known}. {_address(visit)}")
    return picture(chart_name(compared.shown, compared), panels, foot)


def _address(visit: Visit) -> str:
    """Return the page that shows the same."""
    return f"{visit.settings.dashboard_address}{visit.here(page=None)}"


def compare_page(visit: Visit, one: ReadComparison) -> dict[str, Any]:
    """Return the page of a comparison that was read."""
    rows = table(one)
    # Of many lines there are fewer rows, for a page is not to grow with them.
    pager = visit.pager(len(rows), min(_ROWS, _CELLS // max(len(one.shown), 1)))
    marked = events(visit, one)
    query = visit.here(page=None).partition("?")[2]
    return {
        "one": one,
        "title": what(one.shown or one.lines) if one.lines else "Compare",
        "panels": draw_panels(visit, one, marked),
        "marked": marked,
        # Every line that there is; `count` is of those that the address asks for, of which some may be none.
        "lines": listed_lines(visit, one),
        "count": len(one.asked.keys),
        "ranges": ranges(visit, one) if one.lines else [],
        # Sentences below the panels, and pairs of attribution and licence.
        "notes": notes(one),
        "sources": sources(one.shown),
        # What the form keeps of the address and shows no field for.
        "kept": visit.kept("indicator", "entities", "series", "events"),
        "transforms": [{"value": each.name, "label": each.title} for each in TRANSFORMS.values()],
        # Whether lines begin at 100, and on which day, empty where none is common to them.
        "indexed": one.asked.show == INDEX,
        "base": "" if one.base is None else one.base.isoformat(),
        "columns": [{"name": line_name(line, one.shown), "href": line.address} for line in one.shown],
        # One page of the table.
        "rows": rows[pager.rows],
        "pages": pager,
        "downloads": [{"kind": kind.upper(), "href": f"/compare.{kind}?{query}"} for kind in ("csv", "xlsx", "svg")],
        # The picture that a script makes a PNG of.
        "picture": f"/compare.svg?{query}",
        # The HTML that shows the panels elsewhere; empty where that is allowed nowhere.
        "embed": embedding.frame_markup(visit, "/compare", chart_name(one.shown, one)) if one.shown else "",
        "errors": one.asked.problems,
    }


_LONGEST = 200


def page(visit: Visit) -> Answer:
    """Show the comparison of the address, or the way to the one that its form asks for."""
    if "lines" in visit.query or visit.query.get("add"):
        to, problem = _changed(visit)
        if problem is None:
            return Redirect(to)
    else:
        problem = None
    asked = read(visit)
    if problem is not None:
        asked.problems.append(problem)
    if visit.as_of is not None and asked.as_of is None:
        # A page that was refused a day is of today, and its frame says so.
        visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
    one = compared(visit, asked)
    return Html("explorer/compare.html", compare_page(visit, one), 400 if asked.problems else 200)


def _changed(visit: Visit) -> tuple[str, FieldProblem | None]:
    """Return the address that a form leads to, and the problem of a line that cannot be added."""
    words = " ".join(visit.query.get("add", "").split())[:_LONGEST]
    changes = sent(visit) if "lines" in visit.query else {name: visit.query.get(name) for name in NAMES}
    problem = None
    if words:
        added = _added(visit, words, changes)
        if added is None:
            problem = FieldProblem("add", f"Nothing that can be drawn matches “{words}”. Name an indicator and a place")
        else:
            changes |= added
    visit.query = {}
    to = visit.here(**changes)
    visit.query = {name: value for name, value in changes.items() if value}
    visit.responses.clear()
    return to, problem


def _added(visit: Visit, words: str, query: dict[str, str | None]) -> dict[str, str | None] | None:
    """Return what is added to an address for a few words: a place to the one indicator, else the best series."""
    result = found(visit, words)
    if not result.series:
        return None
    row = result.series[0]
    slug = row["indicatorId"].removeprefix("indicator_")
    if query.get("indicator") == slug and not query.get("series"):
        entities = [one for one in (query.get("entities") or "").split(",") if one]
        return {"entities": ",".join([*entities, row["entityId"]])}
    return {"series": ",".join([one for one in (query.get("series"), row["metadata"]["seriesId"]) if one])}


def _file(visit: Visit, ending: str) -> ReadComparison:
    """Return the comparison that a file is of: of the whole range, and without what could not be read."""
    visit.path = visit.path.removesuffix(ending)
    return compared(visit, read(visit))


def csv_file(visit: Visit) -> Answer:
    """Show the rows."""
    return as_csv(_file(visit, ".csv"))


def workbook_file(visit: Visit) -> Answer:
    """Show the rows for a spreadsheet."""
    one = _file(visit, ".xlsx")
    return Download(as_workbook(visit, one), MEDIA_TYPE, "comparison.xlsx")


def picture_file(visit: Visit) -> Answer:
    """Show the charts."""
    one = _file(visit, ".svg")
    return Download(as_picture(visit, one), "image/svg+xml", "comparison.svg")


def _embedded(visit: Visit) -> EmbeddedChart:
    one = compared(visit, read(visit))
    return EmbeddedChart(
        chart_name(one.shown, one) if one.shown else "Compare",
        draw_panels(visit, one, events(visit, one)),
        sources(one.shown),
        one.asked.as_of,
        [f"{each.message.rstrip('.')}." for each in one.asked.problems],
    )


PAGES = (
    Page("/compare", page),
    Page(f"{embedding.PREFIX}/compare", partial(embedding.framed, make=_embedded), who="anyone"),
    Page("/compare.csv", csv_file),
    Page("/compare.xlsx", workbook_file),
    Page("/compare.svg", picture_file),
)
