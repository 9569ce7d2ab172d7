"""
Invented figures of any series, and when each is published: the same for everyone who asks at the same time.

A figure is published some days after its period, at the hour of its publisher. Figures of months, quarters and years are
revised once, when the next one comes. A rehearsal may revise an older one, or retire a series.
"""

import functools
import math
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from almanac.domain.periods import Frequency, add_months
from almanac.domain.reference import SeriesSpec

#: From when on a publisher has figures: short, so that a month of rehearsal ends in minutes.
_BEGINNINGS = {
    Frequency.DAILY: date(2024, 10, 1), Frequency.WEEKLY: date(2025, 1, 4), Frequency.MONTHLY: date(2021, 1, 1),
    Frequency.QUARTERLY: date(2015, 1, 1), Frequency.SEMIANNUAL: date(2015, 1, 1), Frequency.ANNUAL: date(2005, 1, 1),
}  # fmt: skip


#: When the last figure of a series was published that the catalogue calls discontinued.
_ENDED = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Timetable:
    """When a publisher publishes: at that hour (UTC), so many days after a period has ended."""

    hour: float = 9.0
    days: Mapping[Frequency, int] = field(default_factory=dict)

    def released(self, frequency: Frequency, last: date) -> float:
        """Unix seconds at which the figure of the period that ends on that day is published."""
        day = last + timedelta(days=self.days.get(frequency, _LAGS[frequency]))
        while day.weekday() > 4:
            day += timedelta(days=1)
        return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() + self.hour * 3_600


_LAGS = {
    Frequency.DAILY: 0, Frequency.WEEKLY: 5, Frequency.MONTHLY: 14, Frequency.QUARTERLY: 45, Frequency.SEMIANNUAL: 60,
    Frequency.ANNUAL: 90,
}  # fmt: skip


@dataclass(frozen=True)
class Span:
    """A reference period as publishers write it."""

    text: str
    first: date
    last: date


@dataclass(frozen=True)
class Figure:
    """One value as it stands."""

    span: Span
    value: float
    released: float
    #: What it was at first, and when it got the value that it has.
    first: float
    changed: float


@functools.cache
def spans(frequency: Frequency) -> list[Span]:
    """All periods to a year beyond any rehearsal and today, oldest first. Days are those of weeks of work."""
    return list(_spans(frequency, _BEGINNINGS[frequency], date(max(2028, date.today().year + 2), 1, 1)))


def _spans(frequency: Frequency, first: date, end: date) -> Iterator[Span]:
    while first < end:
        if frequency is Frequency.DAILY:
            if first.weekday() < 5:
                yield Span(first.isoformat(), first, first)
            first += timedelta(days=1)
        elif frequency is Frequency.WEEKLY:
            yield Span(first.isoformat(), first - timedelta(days=6), first)
            first += timedelta(days=7)
        else:
            after = add_months(first, frequency.months)
            yield Span(_written(first, frequency), first, after - timedelta(days=1))
            first = after


def _written(first: date, frequency: Frequency) -> str:
    if frequency is Frequency.MONTHLY:
        return f"{first:%Y-%m}"
    if frequency is Frequency.QUARTERLY:
        return f"{first.year}-Q{(first.month + 2) // 3}"
    if frequency is Frequency.SEMIANNUAL:
        return f"{first.year}-S{(first.month + 5) // 6}"
    return str(first.year)


@functools.lru_cache(maxsize=4_096)
def _releases(timetable_hour: float, days: tuple[tuple[Frequency, int], ...], frequency: Frequency) -> list[float]:
    table = Timetable(timetable_hour, dict(days))
    return [table.released(frequency, span.last) for span in spans(frequency)]


class Figures:
    """The figures of all publishers. `revise` and `retire` are what a rehearsal lets happen."""

    def __init__(self) -> None:
        self._revised: dict[tuple[str, str, str], tuple[float, float]] = {}
        self._retired: dict[tuple[str, str], float] = {}

    def revise(self, spec: SeriesSpec, period: str, at: float, by: float = 0.5) -> None:
        """From then on the figure of that period is another one."""
        self._revised[spec.source, spec.code, period] = (at, by)

    def retire(self, spec: SeriesSpec, at: float) -> None:
        """From then on the publisher knows no such series."""
        self._retired[spec.source, spec.code] = at

    def known(self, spec: SeriesSpec, now: float) -> bool:
        """Whether the publisher has the series."""
        return now < self._retired.get((spec.source, spec.code), math.inf)

    def published(self, spec: SeriesSpec, timetable: Timetable, now: float) -> list[Figure]:
        """All that is published of a series by then, oldest first."""
        if not self.known(spec, now):
            return []
        frequency = spec.frequency
        releases = self.releases(frequency, timetable)
        count = bisect_right(releases, min(now, _ENDED) if spec.discontinued else now)
        twice = frequency is not Frequency.DAILY and frequency is not Frequency.WEEKLY
        found = []
        level = _level(spec)
        for place, span in enumerate(spans(frequency)[:count]):
            value, changed = _value(level, place), releases[place]
            first = value
            if twice and place + 1 < count:
                value, changed = round(value + 0.1, 3), releases[place + 1]
            late = self._revised.get((spec.source, spec.code, span.text))
            if late is not None and late[0] <= now:
                value, changed = round(value + late[1], 3), max(changed, late[0])
            found.append(Figure(span, value, releases[place], first, changed))
        return found

    def releases(self, frequency: Frequency, timetable: Timetable) -> list[float]:
        """When each period's figure is published, in the order of the periods."""
        return _releases(timetable.hour, tuple(sorted(timetable.days.items())), frequency)


def _level(spec: SeriesSpec) -> tuple[float, float, int]:
    seed = zlib.crc32(f"{spec.source} {spec.code}".encode())
    middle, swing = (2.0 + seed % 300 / 100, 1.0) if spec.unit == "percent" else (100.0 + seed % 50, 10.0)
    return middle, swing, seed % 97


def _value(level: tuple[float, float, int], place: int) -> float:
    middle, swing, phase = level
    return round(middle + swing * math.sin((place + phase) / 9) + (place * 7 + phase) % 10 / 100, 2)
