"""The latest reading of an indicator for an entity: newest period that is no forecast, then the higher frequency,
then the preferred order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from almanac.domain.observations import FORECAST
from almanac.domain.periods import SPAN_BITS, Frequency, end_of
from almanac.store.engine.patience import check
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.selection import NO_COMPANY, Selection


class WantedFreshness(NamedTuple):
    """Which readings are wanted: of series that are `fresh`, `stale` or `unknown` on a day."""

    status: str
    today: date


def latest(
    view: View,
    selection: Selection,
    *,
    version: int,
    as_of: int | None,
    descending: bool,
    after: list[Any] | None,
    limit: int,
    accept: Callable[[ObservationRow], bool] | None = None,
    freshness: WantedFreshness | None = None,
) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    One row per (indicator, entity), in that order, and the pair to go on after (None: that was all).

    Only rows that `accept` takes. `freshness` says which it cannot take: their topics are not looked at.
    """
    rows: list[ObservationRow] = []
    last: list[Any] | None = None
    if selection.empty:
        return rows, None
    current = as_of is None and version == view.version
    hopeful = None if freshness is None else _hopeful(view, freshness, current=current)
    for pair, frequencies in _pairs(view, selection, descending, after, hopeful):
        check()
        row = reading(view, selection, *pair, frequencies, version=version, as_of=as_of)
        if row is None or (accept is not None and not accept(row)):
            continue
        if len(rows) == limit:
            return rows, last
        rows.append(row)
        last = list(pair)
    return rows, None


def reading(
    view: View,
    selection: Selection,
    indicator: str,
    entity: str,
    frequencies: list[str],
    *,
    version: int,
    as_of: int | None,
) -> ObservationRow | None:
    """The latest reading of one indicator for one entity, None where there is none."""
    found = [
        row
        for frequency in frequencies
        if (row := _newest(view, selection, indicator, entity, frequency, version, as_of)) is not None
    ]
    return max(found, key=lambda row: (end_of(row.period), -row.series.spec.frequency.rank), default=None)


def _hopeful(view: View, wanted: WantedFreshness, *, current: bool) -> tuple[str, list[Any]] | None:
    """
    A condition on a topic that has a reading of a freshness: that one of its series may be so. None: any may.

    A series that has a reading is unknown only where it is judged by its source's fetches. Which are fresh and which
    stale is told by the newest periods that are counted of series, where the `current` state is asked for.
    """
    special = view.directory.judged_otherwise()
    marks = ", ".join("?" * len(special))
    if wanted.status == "unknown":
        return f"+topic IN (SELECT s.topic FROM series s WHERE s.series IN ({marks}))", [*special]
    if not current:
        return None
    allowances = " ".join(f"WHEN '{one.value}' THEN {one.allowance_days}" for one in Frequency)
    # A day is fresh that lies no further back than the frequency allows.
    sign = ">=" if wanted.status == "fresh" else "<"
    ends = f"(s.last_period >> {SPAN_BITS}) {sign} ? - CASE frequency {allowances} END"
    return (
        f"EXISTS (SELECT 1 FROM series s WHERE s.topic = topic.topic AND ({ends} OR s.series IN ({marks})))",
        [wanted.today.toordinal(), *special],
    )


def _pairs(
    view: View, selection: Selection, descending: bool, after: list[Any] | None, hopeful: tuple[str, list[Any]] | None
) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """(indicator, entity) in order, with the frequencies there are; those alone of which one is hopeful."""
    conditions: list[str] = ["1"]
    values: list[Any] = []
    for column, names in (("indicator", selection.indicators), ("entity", selection.entities)):
        if names is not None:
            conditions.append(f"{column} IN ({','.join('?' * len(names))})")
            values.extend(names)
    for column, name in (("kind", selection.kind), ("frequency", selection.frequency)):
        if name is not None:
            conditions.append(f"{column} = ?")
            values.append(name)
    if not selection.companies:
        conditions.append(NO_COMPANY.format("entity"))
    if selection.sources is not None:
        marks = ",".join("?" * len(selection.sources))
        conditions.append(f"+topic IN (SELECT s.topic FROM series s WHERE s.source IN ({marks}))")
        values.extend(sorted(selection.sources))
    if hopeful is not None:
        conditions.append("(indicator, entity) IN (SELECT indicator, entity FROM topic WHERE " + hopeful[0] + ")")
        values.extend(hopeful[1])
    if after is not None:
        conditions.append(f"(indicator, entity) {'<' if descending else '>'} (?, ?)")
        values.extend(after)
    way = "DESC" if descending else ""
    sql = f"SELECT indicator, entity, frequency FROM topic WHERE {' AND '.join(conditions)} ORDER BY indicator {way}, entity {way}, frequency"
    for pair, group in groupby(view.execute(sql, values), key=lambda found: (found[0], found[1])):
        yield pair, [found[2] for found in group]


def _newest(
    view: View, selection: Selection, indicator: str, entity: str, frequency: str, version: int, as_of: int | None
) -> ObservationRow | None:
    one = msgspec.structs.replace(selection, indicators=(indicator,), entities=(entity,), frequency=frequency)
    after: list[Any] | None = None
    limit = 1
    while True:
        rows, after = view.page(
            one, version=version, as_of=as_of, every=False, sort="topic", descending=True, after=after, limit=limit
        )
        for row in rows:
            if not row.flags & FORECAST:
                return row
        if after is None:
            return None
        limit = 100  # only forecasts so far: they may go on for years


def frequencies_of(view: View, indicator: str, entity: str) -> list[str]:
    """Frequencies in which an indicator exists for an entity."""
    found = view.execute("SELECT frequency FROM topic WHERE indicator = ? AND entity = ?", (indicator, entity))
    return [row[0] for row in found]
