"""Figures of writing to the store, measured in process on a copy of it, with a single thread."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.engine import opening
from almanac.store.engine.protocol import Database
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import SeriesClaim

#: Number of added series, their initial rows, following days, revisions of each series, and cells of a revision.
SERIES, ROWS, DAYS, REVISIONS, CELLS = 40, 5_000, 25, 2, 100
_FIRST = date(1990, 1, 1).toordinal()
#: Knowledge times of the added payloads: later than anything in the store.
_LATER = 2_000_000_000

#: One payload: the values stated for each series, by the series' index.
Said = list[tuple[int, list[ReportedValue]]]


class Figure(NamedTuple):
    """The result of one kind of work: vintages, seconds by the clock, CPU seconds, and payloads."""

    name: str
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


def appended(database: Database) -> list[Figure]:
    """Measure appending of vintages to a store: new series, a new day, revisions, and values already known."""
    generator = np.random.default_rng(1)
    values = np.round(generator.normal(3.0, 1.0, (SERIES, ROWS)), 3).tolist()
    days = [date.fromordinal(_FIRST + place) for place in range(ROWS + DAYS)]
    keys = [Period(day, day).key for day in days]
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
                spec = SeriesSpec(
                    source="sandbox-fred", native=f"BENCH{place}", indicator=f"bench_{place}", entity="country_usa",
                    frequency=Frequency.DAILY, unit="percent", name=f"Invented for measuring, {place}",
                )  # fmt: skip
                batch.append(payload, [SeriesClaim(batch.series(spec, "raw"), statements)])
                count += len(statements)
    return Figure(name, count, time.perf_counter() - began, time.process_time() - cpu, len(payloads))


def measure(home: Path, folder: Path, say: Callable[[str], None]) -> str:
    """Measure appending of vintages to a copy of the store, and return a table."""
    say("appending to a copy of the store")
    path = copied(home, folder)
    try:
        with contextlib.closing(opening.create(path)) as database:
            figures = appended(database)
    finally:
        for part in folder.glob(f"{path.name}*"):
            part.unlink()
    rows = ["| | vintages | per second | per CPU second | ms each |", "| --- | --: | --: | --: | --: |"]
    rows += [
        f"| {figure.name} | {figure.number:,} | {figure.number / figure.seconds:,.0f} | {figure.number / figure.cpu:,.0f}"
        f" | {figure.seconds / figure.steps * 1000:.1f} |"
        for figure in figures
    ]
    return "\n".join(rows)
