"""What is measured when somebody asks for metrics: the store and its sources, the disk, the processes, the build."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import structlog
from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from almanac.config import Settings
from almanac.domain.health import Word
from almanac.pipeline.operate.vitals import SourceVitals, Vitals, room, vitals
from almanac.store.engine.data_schema import SCHEMA
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.gauges")

#: For how long what was measured is shown again; longer where it took long, so that it takes a fiftieth of a core.
_HELD_SECONDS, _SHARE = 5.0, 50
Role = str
#: Those beside the workers, which call themselves so.
BESIDE = ("operations", "dashboard", "verification")


class Held(Collector):
    """A collector whose measurements are shown again for some seconds: many may ask, and the store serves others."""

    def __init__(self, measured: Collector, clock: Callable[[], float] = time.monotonic) -> None:
        self._measured, self._clock = measured, clock
        self._lock = threading.Lock()
        self._found: Sequence[Metric] = ()
        self._until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            began = self._clock()
            if began >= self._until:
                self._found = list(self._measured.collect())
                ended = self._clock()
                self._until = ended + max(_HELD_SECONDS, (ended - began) * _SHARE)
            return self._found


class StoreGauges(Collector):
    """
    The data version and the sources. Where the store cannot be read: `almanac_store_readable` 0, nothing else of it.

    `look` opens the store, `now` is the data's clock. All looking is done in one thread: a reader remembers for each
    what it learnt of a state, and of one that nobody has written to since there is little to learn again.
    """

    def __init__(self, look: Callable[[], AbstractContextManager[View]], now: Callable[[], int]) -> None:
        self._look, self._now = look, now
        self._thread = ThreadPoolExecutor(1, "gauges")

    def _found(self) -> Vitals:
        with self._look() as view:
            return vitals(view, self._now())

    def collect(self) -> Iterator[Metric]:
        try:
            found = self._thread.submit(self._found).result()
        except Exception as error:  # whatever it is: the other metrics are shown all the same
            told = " ".join(f"{type(error).__name__}: {error}".split())
            log.error("not shown", metric="almanac_source_health", reason=told)  # noqa: TRY400  (as of a failed probe)
            yield _gauge("almanac_store_readable", "Whether the data store can be read.", 0)
            return
        yield _gauge("almanac_store_readable", "Whether the data store can be read.", 1)
        yield _gauge("almanac_data_version", "The newest data version.", found.version)
        if found.version_at is not None:
            words = "When the newest data version was written."
            yield _gauge("almanac_data_version_timestamp_seconds", words, found.version_at)
        quarantined = _family("almanac_quarantined_responses", "Kept responses that cannot be read.", "source")
        for name in sorted(found.quarantined):
            quarantined.add_metric((name,), found.quarantined[name])
        yield quarantined
        yield from _of_sources(found.sources)


def _of_sources(sources: Iterable[SourceVitals]) -> Iterator[Metric]:
    health = _family("almanac_source_health", "1 for the word that says how a source does, else 0.", "source", "health")
    figures: list[tuple[GaugeMetricFamily, Callable[[SourceVitals], float | None]]] = [
        (_family(f"almanac_source_{name}", words, "source"), figure)
        for name, words, figure in (
            ("failures", "Attempts in a row that failed.", lambda one: one.tried.failures),
            ("series", "Series that should bring new periods.", lambda one: one.feed.series),
            ("stale_series", "Those of them whose newest period is too old.", lambda one: one.feed.stale),
            ("last_attempt_timestamp_seconds", "When it was last asked.", lambda one: one.tried.last_attempt),
            ("last_success_timestamp_seconds", "When it last answered well.", lambda one: one.tried.last_success),
            ("newest_period_timestamp_seconds", "End of its newest period, forecasts aside.", lambda one: one.newest),
        )
    ]
    for one in sources:
        for word in get_args(Word):
            health.add_metric((one.source.id, word), float(one.health.word == word))
        for family, figure in figures:
            value = figure(one)
            if value is not None:
                family.add_metric((one.source.id,), value)
    yield health
    for family, _ in figures:
        yield family


class HostGauges(Collector):
    """The disk, and the processes of the service whose parent has this number; what has no figure is left out."""

    def __init__(self, settings: Settings, parent: int, answering: Callable[[], int] | None) -> None:
        self._settings, self._parent, self._answering = settings, parent, answering

    def collect(self) -> Iterator[Metric]:
        yield _build()
        yield _gauge("almanac_workers", "Processes that should answer requests.", self._settings.workers)
        if self._answering is not None:
            count = 0
            with suppress(Exception):  # one that has the port does not answer: /readyz says so, and logs it
                count = self._answering()
            yield _gauge(
                "almanac_workers_answering", "Processes that answer; 0 where one has the port and does not.", count
            )
        with suppress(OSError):
            yield from self._room()
        yield from self._processes()

    def _room(self) -> Iterator[Metric]:
        found = room(self._settings)
        for name, words, label, figures in (
            ("almanac_database_bytes", "Size of a database file.", "database", found.databases),
            ("almanac_database_log_bytes", "Size of its write-ahead log.", "database", found.logs),
            ("almanac_disk_free_bytes", "Room on the disk of a folder.", "folder", found.free),
            ("almanac_disk_bytes", "Size of that disk.", "folder", found.total),
        ):
            family = _family(name, words, label)
            for key, value in figures.items():
                family.add_metric((key,), value)
            yield family

    def _processes(self) -> Iterator[Metric]:
        """What the library tells of each process, added up by role; when the first of a role began."""
        sums: dict[str, dict[Role, float]] = {}
        words: dict[str, str] = {}
        count: dict[Role, float] = {}
        for number, role in processes(self._parent):
            count[role] = count.get(role, 0) + 1
            for metric in ProcessCollector("almanac", lambda number=number: number, registry=None).collect():  # type: ignore[misc]  # mypy infers no lambda with a default
                words[metric.name] = metric.documentation
                held = sums.setdefault(metric.name, {})
                (sample,) = metric.samples
                begins = metric.name.endswith("start_time_seconds") and role in held
                held[role] = min(held[role], sample.value) if begins else held.get(role, 0) + sample.value
        sums["almanac_processes"], words["almanac_processes"] = count, "Processes that run."
        for name, by_role in sums.items():
            kind = CounterMetricFamily if name.endswith("cpu_seconds") else GaugeMetricFamily
            family = kind(name, words[name], labels=("role",))
            for role, value in by_role.items():
                family.add_metric((role,), value)
            yield family


def processes(parent: int) -> Iterator[tuple[int, Role]]:
    """The processes of a service by their numbers: the parent, the workers it forked, those it spawned. Linux only."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):  # it ended meanwhile
            number, above = int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])
            if number == parent:
                yield number, "parent"
            elif above == parent:
                if b"multiprocessing" not in stat.with_name("cmdline").read_bytes():
                    yield number, "worker"
                elif (name := stat.with_name("comm").read_text().strip()) in BESIDE:
                    yield number, name


def _build() -> Metric:
    family = _family("almanac_build_info", "Which program runs; always 1.", "version", "schema", "python")
    family.add_metric((version("almanac"), SCHEMA, platform.python_version()), 1)
    return family


def _family(name: str, words: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, labels=labels)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=value)
