"""Figures of the store and the formulas, measured in process on a copy of the store, with a single thread."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.input_series import NO_RELEASE, Arrays, Cells, NumberRow
from almanac.derived.macro.operators import Operator, operator
from almanac.domain.memory import uncollected
from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period, key_at
from almanac.domain.reference import SeriesSpec
from almanac.store.engine import opening
from almanac.store.engine.protocol import Database
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch

#: Number of added series, their initial rows, following days, revisions of each series, and cells of a revision.
SERIES, ROWS, DAYS, REVISIONS, CELLS = 40, 5_000, 25, 2, 100
#: Cells of a derived series, and how often it is computed.
VALUES, TRIES = 10_000, 15
_FIRST = date(1990, 1, 1).toordinal()
#: Knowledge times of the added payloads: later than anything in the store.
_LATER = 2_000_000_000
_DAILY = Frequency.DAILY

#: One payload: the values stated for each series, by the series' index.
Said = list[tuple[int, list[ReportedValue]]]


class Figure(NamedTuple):
    """The result of one kind of work: its amount, seconds by the clock, CPU seconds, and number of steps."""

    name: str
    unit: str
    number: int
    seconds: float
    cpu: float
    steps: int


def copied(home: Path, folder: Path) -> Path:
    """Copy the data database, so that the measurement leaves the store unchanged."""
    target = folder / "copy.db"
    target.unlink(missing_ok=True)
    source = apsw.Connection(str(home / "data.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    source.pragma("wal_checkpoint(TRUNCATE)")
    source.close()
    shutil.copyfile(home / "data.db", target)
    return target


def appending(home: Path, folder: Path) -> list[Figure]:
    """Measure appending of vintages to a copy of the store."""
    path = copied(home, folder)
    database = opening.create(path)
    try:
        return appended(database)
    finally:
        database.close()
        for part in folder.glob(f"{path.name}*"):
            part.unlink()


def appended(database: Database) -> list[Figure]:
    """Measure appending of vintages to a store: new series, a new day, revisions, and values already known."""
    generator = np.random.default_rng(1)
    values = np.round(generator.normal(3.0, 1.0, (SERIES, ROWS)), 3).tolist()
    keys = [_day(place).key for place in range(ROWS + DAYS)]
    times = iter(range(_LATER, _LATER + 1_000_000))

    def said(series: int, first: int, last: int, more: float) -> list[ReportedValue]:
        return [ReportedValue(keys[place], values[series][place] + more) for place in range(first, last)]

    def figure(name: str, payloads: Sequence[Said]) -> Figure:
        return _appended(database, name, payloads, times)

    return [
        figure(f"new series of {ROWS:,} rows", [[(one, said(one, 0, ROWS, 0.0))] for one in range(SERIES)]),
        figure("the same once more, nothing new", [[(one, said(one, 0, ROWS, 0.0))] for one in range(SERIES)]),
        figure(
            f"a new day of {SERIES} series",
            [
                [(one, [ReportedValue(keys[ROWS + day], 1.0 + one)]) for one in range(SERIES)] for day in range(DAYS)
            ],
        ),
        figure(
            f"revisions of {CELLS} neighbouring cells",
            [
                [(one, said(one, turn * CELLS, (turn + 1) * CELLS, 1.0))]
                for turn in range(REVISIONS)
                for one in range(SERIES)
            ],
        ),
    ]  # fmt: skip


def _appended(database: Database, name: str, payloads: Sequence[Said], times: Iterator[int]) -> Figure:
    count = 0
    began, cpu = time.perf_counter(), time.process_time()
    for said in payloads:
        now = next(times)
        payload = PayloadRef(now, now, (now, f"{now:064x}"))
        with Batch(database, now, "bench") as batch:
            for place, statements in said:
                batch.append(batch.series(_spec(place), "raw"), payload, statements, None)
                count += len(statements)
    return Figure(name, "vintages", count, time.perf_counter() - began, time.process_time() - cpu, len(payloads))


def _spec(place: int) -> SeriesSpec:
    return SeriesSpec(
        source="sandbox-fred", native=f"BENCH{place}", indicator=f"bench_{place}", entity="country_usa",
        frequency=_DAILY, unit="percent", name=f"Invented for measuring, {place}",
    )  # fmt: skip


def _day(place: int) -> Period:
    day = date.fromordinal(_FIRST + place)
    return Period(day, day)


def deriving() -> list[Figure]:
    """Measure the derivation of all values from columns of single vintages, without reading or writing."""
    yearly = operator("growth", {"lag": "1y"}, _DAILY)
    difference = operator("difference", {}, _DAILY)
    first, second = _rows(1), _rows(2)
    return [
        _derived("year on year, days, with look-back", yearly, [first]),
        _derived("difference of two series of days", difference, [first, second]),
    ]


def _rows(seed: int) -> list[NumberRow]:
    """Return a series as the store gives it to formulas, with one vintage for each weekday."""
    values = np.round(np.random.default_rng(seed).normal(3.0, 1.0, VALUES), 3).tolist()
    weekdays = (day for day in range(_FIRST, _FIRST + 2 * VALUES) if date.fromordinal(day).weekday() < 5)
    known = 1_770_000_000
    return [
        (key_at(day, _DAILY), known, value, NO_RELEASE, known, UNKNOWN)
        for day, value in zip(weekdays, values, strict=False)
    ]


def _no_cells() -> Cells:
    raise AssertionError("a cell was looked at by itself, so this is not what it says")


def _derived(name: str, formula: Operator, series: Sequence[list[NumberRow]]) -> Figure:
    count = 0
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(TRIES):
        inputs = [[InputSeries(_DAILY, _no_cells, arrays=Arrays.of_rows(rows, _DAILY))] for rows in series]
        with uncollected():  # as in the batch that formulas are computed in
            began, cpu = time.perf_counter(), time.process_time()
            made = derive(formula, _DAILY, inputs, _DAILY.allowance_days)
            walls.append(time.perf_counter() - began)
            cpus.append(time.process_time() - cpu)
            count = sum(map(bool, made.values()))
            del made
    return Figure(name, "values", count, statistics.median(walls), statistics.median(cpus), 1)


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    rows = ["| | number | per second | per CPU second | ms each |", "| --- | --: | --: | --: | --: |"]
    rows += [
        f"| {one.name} | {one.number:,} {one.unit} | {one.number / one.seconds:,.0f} | {one.number / one.cpu:,.0f}"
        f" | {one.seconds / one.steps * 1000:.1f} |"
        for one in figures
    ]
    return "\n".join(rows)


def measure(home: Path, folder: Path, say: Callable[[str], None]) -> str:
    """Measure appending and derivation, and return a table."""
    say("appending to a copy of the store")
    figures = appending(home, folder)
    say("deriving")
    return table([*figures, *deriving()])
