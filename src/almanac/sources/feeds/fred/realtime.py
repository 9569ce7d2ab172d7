"""FRED's real-time periods: what a response of observations states, and when each value could be known.

Judge the response, never the row:

- `realtime_start` = `realtime_end`: a *snapshot*. Its date is the request's, stamped on every row, and says nothing of
  a release: known when fetched, status unknown. It lists all that was asked for, so what it leaves out behind its first
  value is withdrawn: a series may be cut to its last years.
- anything else: an *archive*. Each row's `realtime_start` is its release date, the row holds to its `realtime_end`, and
  the day after, without a successor, there is no value. It makes no claim to be complete.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta

from almanac.domain.observations import DAY, UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period, highest_key, lowest_key
from almanac.domain.reference import SeriesSpec
from almanac.domain.times import end_of_day, midnight
from almanac.sources.base import Block, Parsed, SourceChanged
from almanac.sources.feeds.fred.responses import Observations, RealtimeRow
from almanac.sources.formats import strict

#: A bound on knowledge from before there were statistics of this kind is no bound but the API's word for "ever".
_FIRST_BOUND = date(1900, 1, 1)
#: In place of a value: there is none.
_ABSENT = "."


def block(native: str, spec: SeriesSpec, response: Observations, where: str, parsed: Parsed) -> Block:
    """All that a response of `output_type` 1 in levels says of one series. Raises SourceChanged naming the date."""
    rows: dict[date, list[RealtimeRow]] = {}
    for row in response.observations:
        rows.setdefault(row.day, []).append(row)
    for day, versions in rows.items():
        versions.sort(key=lambda row: row.start)
        for row in versions:
            if row.start > row.end:
                raise SourceChanged(f"{where}: {day} has real time from {row.start} back to {row.end}")
        for row, after in itertools.pairwise(versions):
            if after.start <= row.end:
                raise SourceChanged(f"{where}: {day} is there twice in real time {after.start}")
    doubtful = {
        row.day
        for row in response.observations
        if row.value != _ABSENT and strict.value(row.value, f"{where}: {row.day}", parsed) is None
    }
    # What stood there before and after it is told by its neighbours in real time, so all of the day is left out.
    rows = {day: versions for day, versions in rows.items() if day not in doubtful}
    if response.realtime_start != response.realtime_end:
        return Block(native, list(_archive(spec, response, rows, where)))
    found = _snapshot(native, spec, response, rows, where)
    return replace(found, complete=None) if doubtful else found


def _snapshot(
    native: str, spec: SeriesSpec, response: Observations, rows: Mapping[date, list[RealtimeRow]], where: str
) -> Block:
    statements: list[ReportedValue] = []
    complete: tuple[int, int] | None
    for day, versions in sorted(rows.items()):
        if len(versions) > 1:
            raise SourceChanged(f"{where}: {day} is there twice")
        statements.append(ReportedValue(_period(day, spec.frequency, where), _value(versions[0], where), flags=UNKNOWN))
    complete = _span(response.observation_start, response.observation_end, spec.frequency)
    if not response.whole:  # one page of several: complete between its own ends only
        complete = (statements[0].period, statements[-1].period) if statements else None
    return Block(native, statements, complete, midnight(response.realtime_start.toordinal()))


def _archive(
    spec: SeriesSpec, response: Observations, rows: Mapping[date, list[RealtimeRow]], where: str
) -> Iterator[ReportedValue]:
    earliest = min((row.start for row in response.observations), default=None)
    # The first and the last date of a page may have a successor on another page.
    cut = set() if response.whole or not rows else {min(rows), max(rows)}
    for day, versions in sorted(rows.items()):
        period = _period(day, spec.frequency, where)
        for row, after in zip(versions, [*versions[1:], None], strict=True):
            ends = row.end < response.realtime_end
            if row.start == response.realtime_start:
                yield ReportedValue(period, _value(row, where), _bound(row, ends=ends), flags=UNKNOWN)
            else:
                known = end_of_day(row.start)
                yield ReportedValue(
                    period, _value(row, where), known, known, DAY | UNKNOWN if row.start == earliest else DAY
                )
            if spec.based_from is not None and row.start < spec.based_from <= row.end:
                # The number stayed the same; what it is 100 in, or in whose prices, did not.
                rebased = end_of_day(spec.based_from)
                yield ReportedValue(period, _value(row, where), rebased, rebased, DAY)
            if not ends or (after is None and day in cut):
                continue
            next_day = row.end + timedelta(days=1)
            if after is None or after.start != next_day:
                yield ReportedValue(period, None, end_of_day(next_day), end_of_day(next_day), DAY)


def _bound(row: RealtimeRow, *, ends: bool) -> int | None:
    """Return the latest time by which a value was known, for a response that does not reach back to its release.

    At the start of the response's real time, if that is a real day; else when the value was replaced (stated at
    the fetch, an old value would win over its successor); else when it was fetched.
    """
    if row.start > _FIRST_BOUND:
        return end_of_day(row.start)
    return end_of_day(row.end) if ends else None


def _value(row: RealtimeRow, where: str) -> float | None:
    return None if row.value == _ABSENT else strict.number(row.value, f"{where}: {row.day}")


def _period(day: date, frequency: Frequency, where: str) -> int:
    """Key of the period FRED dates so: by its first day, but a week by its last."""
    if frequency is Frequency.WEEKLY:
        return Period.ending(day, frequency).key
    if not _first_day(day, frequency):
        raise SourceChanged(f"{where}: {day} is not the first day of a period of a {frequency.word} series")
    return _around(day, frequency) if frequency.months else Period.starting(day, frequency).key


def _first_day(day: date, frequency: Frequency) -> bool:
    return not frequency.months or (day.day == 1 and (day.month - 1) % frequency.months == 0)


def _span(first: date, last: date, frequency: Frequency) -> tuple[int, int]:
    """Keys between which lie exactly the periods that FRED dates from `first` to `last`."""
    if not frequency.months:
        return lowest_key(first), highest_key(last)
    lower = _around(first, frequency)
    # A period begun before `first` is not listed: one above its key is below every later period's.
    return lower if _first_day(first, frequency) else lower + 1, _around(last, frequency)


def _around(day: date, frequency: Frequency) -> int:
    """Key of the period of a calendar frequency that holds the day."""
    months = frequency.months
    return Period.ending(day.replace(month=(day.month - 1) // months * months + months, day=1), frequency).key
