"""What is measured when somebody asks for metrics: the store and its sources, the disk, the processes, the build."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import get_args

import structlog
from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from almanac.config import Settings
from almanac.distribution import version
from almanac.domain.health import Word
from almanac.pipeline.ingest.heartbeat import folder_of, signs
from almanac.pipeline.operate.vitals import SourceVitals, Vitals, room, vitals
from almanac.store.engine.data_schema import SCHEMA
from almanac.store.engine.opening import Server, place, server_room
from almanac.store.engine.patience import Patience, patiently
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.gauges")

#: How long a store may take to be opened, and to be looked through: then it is one that cannot be read.
_OPEN_SECONDS, _LOOK_SECONDS = 5.0, 120.0
#: How long a server is waited for that is asked for its room.
_SERVER_SECONDS = 0.5
Role = str
#: Those beside the workers, which call themselves so.
BESIDE = ("operations", "dashboard", "verification")


class StoreGauges(Collector):
    """
    The data version and the sources. Where the store cannot be read: `almanac_store_readable` 0, nothing else of it.

    `look` opens the store, `now` is the data's clock. Let all looking be done in one thread, as `Held` does: a reader
    remembers for each what it learnt of a state, and of one that nobody has written to since there is little to learn again.
    """

    def __init__(self, look: Callable[[], AbstractContextManager[View]], now: Callable[[], int]) -> None:
        self._look, self._now = look, now

    def _found(self) -> Vitals:
        with ExitStack() as held:
            with patiently(Patience(_OPEN_SECONDS)):
                view = held.enter_context(self._look())
            with patiently(Patience(_LOOK_SECONDS)):
                return vitals(view, self._now())

    def collect(self) -> Iterator[Metric]:
        try:
            found = self._found()
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
        for name, words, counts in (
            ("quarantined", "Kept responses that are not served.", found.quarantined),
            ("shrunk", "Those of them that would withdraw much of what is served.", found.shrunk),
        ):
            family = _family(f"almanac_{name}_responses", words, "source")
            for source in sorted(counts):
                family.add_metric((source,), counts[source])
            yield family
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


class _ServerRoom:
    """
    What a server's database takes, asked in a thread: a server that does not answer keeps nobody waiting longer than a moment,
    and what it said last is shown meanwhile.
    """

    def __init__(self, at: Server) -> None:
        self._at = at
        self._thread = ThreadPoolExecutor(1, "server room")
        self._asked: Future[tuple[int, int | None, int | None]] | None = None
        self._told: tuple[int, int | None, int | None] | None = None

    def latest(self) -> tuple[int, int | None, int | None] | None:
        if self._asked is None:
            self._asked = self._thread.submit(server_room, self._at)
        wait((self._asked,), _SERVER_SECONDS)
        if self._asked.done():
            with suppress(Exception):  # it is away: `almanac_store_readable` says so
                self._told = self._asked.result()
            self._asked = None
        return self._told


class HostGauges(Collector):
    """The disk, and the processes of the service whose parent has this number; what has no figure is left out."""

    def __init__(self, settings: Settings, parent: int, answering: Callable[[], int] | None) -> None:
        self._settings, self._parent, self._answering = settings, parent, answering
        at = place(settings.data_place)
        self._server = _ServerRoom(at) if isinstance(at, Server) else None

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
        yield from self._fetching()
        yield from self._processes()

    def _fetching(self) -> Iterator[Metric]:
        """The signs that `almanac worker` gives of itself; of one that ended as it should there are none."""
        found = list(signs(folder_of(self._settings.home)))
        for name, words, times in (
            ("heartbeat", "When a worker that fetches last said that it lives.", [one.lived for one in found]),
            ("step", "When it last went on: looked, asked, or took something in.", [one.went_on for one in found]),
        ):
            family = _family(f"almanac_worker_{name}_timestamp_seconds", words, "sources")
            for one, at in zip(found, times, strict=True):
                family.add_metric((one.sources,), at)
            yield family

    def _room(self) -> Iterator[Metric]:
        found = room(self._settings)
        told = None if self._server is None else self._server.latest()
        if told is not None:
            found.databases["data"], free, total = told
            if free is not None and total is not None:
                found.free["server"], found.total["server"] = free, total
        for name, words, label, figures in (
            (
                "almanac_database_bytes",
                "Size of a database: of its file, or on its server.",
                "database",
                found.databases,
            ),
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
    family.add_metric((version(), SCHEMA, platform.python_version()), 1)
    return family


def _family(name: str, words: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, labels=labels)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=value)
