"""What is measured when somebody asks for metrics: the store and its sources, the disk, the processes, the build."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import get_args

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from almanac.config import Settings
from almanac.distribution import version
from almanac.domain.health import Word
from almanac.pipeline.ingest.heartbeat import folder_of, signs
from almanac.pipeline.operate.vitals import SourceVitals, Vitals, room, vitals
from almanac.store.engine.data_schema import SCHEMA
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.opening import Server, database_bytes, place
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.gauges")

#: How long a server is waited for that is asked for its room.
_SERVER_SECONDS = 0.5


class StoreGauges(Collector):
    """
    The data version and the sources. Where the store cannot be read: `almanac_store_readable` 0, nothing else of it.

    `look` opens the store, `now` is the data's clock.
    """

    def __init__(self, look: Callable[[], AbstractContextManager[View]], now: Callable[[], int]) -> None:
        self._look, self._now = look, now

    def _found(self) -> Vitals:
        with self._look() as view:
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


class HostGauges(Collector):
    """The program, the disk, and the workers that fetch; what has no figure is left out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def collect(self) -> Iterator[Metric]:
        yield _build()
        yield _gauge("almanac_workers", "Processes that answer requests.", self._settings.workers)
        with suppress(OSError):
            yield from self._room()
        yield from self._fetching()

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
        at = place(self._settings.data_place)
        if isinstance(at, Server):
            # It is away: `almanac_store_readable` says so.
            with suppress(Exception), deadline_scope(Deadline(_SERVER_SECONDS)):
                found.databases["data"] = database_bytes(at)
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


def _build() -> Metric:
    family = _family("almanac_build_info", "Which program runs; always 1.", "version", "schema", "python")
    family.add_metric((version(), SCHEMA, platform.python_version()), 1)
    return family


def _family(name: str, words: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, labels=labels)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=value)
