"""What a comparison, its panels and its lines are called, and what is said below them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import date
from typing import TypeVar

from almanac.dashboard.explorer.comparing.address import FIRST
from almanac.dashboard.explorer.comparing.reading import ComparedLine, ReadComparison, known_words
from almanac.dashboard.words.captions import NOTHING, Topic, few, line_caption, lines_caption
from almanac.dashboard.words.dates import NBSP, SHORT_MONTHS, day
from almanac.dashboard.words.points import ChartPoint, drawn
from almanac.dashboard.words.transforms import INDEX, LEVEL, TRANSFORMS
from almanac.reports.wording import country, listed, sentence

Named = TypeVar("Named", bound=Hashable)

#: Days from which on a range is told in years.
_YEARS = 1_100


def what(lines: Sequence[ComparedLine]) -> str:
    """What is compared: the one indicator, or the one place, or both in few words."""
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
    shown = [point for line in lines for point in drawn(line.points)]
    if not shown:
        return ""
    first = date.fromordinal(min(point.end if point.start is None else point.start for point in shown))
    last = date.fromordinal(max(point.end for point in shown))
    if (last - first).days > _YEARS:
        return f"{first.year} to {last.year}"
    months = [f"{SHORT_MONTHS[one.month - 1]}{NBSP}{one.year}" for one in (first, last)]
    return months[0] if months[0] == months[1] else " to ".join(months)


def line_name(line: ComparedLine, lines: Sequence[ComparedLine]) -> str:
    """What tells a line from the others: its place, its indicator or both, and its day where that is not today."""
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
    """Whether the same thing is drawn as known on another day too."""
    own = (line.place, line.indicator["id"])
    return any((one.place, one.indicator["id"]) == own and one.known != line.known for one in lines)


def full_name(line: ComparedLine) -> str:
    """Indicator, place and day of a line, whatever the others are."""
    known = known_words(line)
    return f"{line.indicator['name']}, {line.place}{f', {known}' if known else ''}"


def caption(lines: Sequence[ComparedLine], compared: ReadComparison) -> str:
    """The caption of a panel, from the points that are drawn."""
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
    """How the values were made of published ones; empty for levels."""
    formulas = _distinct(line.made.formula for line in compared.shown if line.made and line.made.formula)
    if not formulas:
        return ""
    sources = few(_distinct(line.indicator["name"] for line in compared.shown))
    return sentence(f"computed here from {sources}: {listed(formulas)}")


def _mixed(lines: Sequence[ComparedLine]) -> str:
    """The newest value of each line, and which have none: of several indicators none is the highest."""
    told, empty = [], []
    for line in lines:
        shown = drawn(line.points)
        name = line_name(line, lines)
        if shown:
            told.append(f"{name} at {_write_value(line, shown[-1])} ({shown[-1].period})")
        else:
            empty.append(name)
    first = f"newest: {listed(told)}" if told else ""
    third = f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} no value to draw" if empty else ""
    return " ".join(sentence(part) for part in (first, third) if part) or NOTHING


def _write_value(line: ComparedLine, point: ChartPoint) -> str:
    return line.unit.sentence(point.value or 0.0, line.digits)


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
