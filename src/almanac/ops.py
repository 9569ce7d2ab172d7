"""The operations listener: liveness, readiness, and metrics of requests, store, sources, disk and workers. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple, get_args

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from almanac.config import Settings
from almanac.distribution import version
from almanac.domain.health import Word
from almanac.pipeline.ingest.heartbeat import folder_of, signs
from almanac.pipeline.operate.vitals import SourceVitals, Vitals, room, vitals
from almanac.store.engine.data_schema import SCHEMA
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.opening import Server, database_bytes, place
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.ops")


#: How many names of a source are of a kind (`unknown`, `missing`).
Unread = Mapping[tuple[str, str], int]
#: How long a worker may take over the answer that costs nothing, seconds.
_ANSWER_SECONDS = 2.0
#: For how long what was measured is shown again; longer where it took long, so that it takes a fiftieth of a core.
_HELD_SECONDS, _SHARE = 5.0, 50


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


class Worker(NamedTuple):
    """A worker, asked through the interface's own port at a path that only this run knows, without a key and uncounted."""

    host: str
    port: int
    path: str

    def is_warming(self) -> bool:
        """Ask whichever worker answers. Raises OSError or HTTPException if none does."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  (where to ask who listens on all)
        with closing(HTTPConnection(host, self.port, timeout=_ANSWER_SECONDS)) as connection:
            connection.request("GET", self.path, headers={"connection": "close"})
            answer = connection.getresponse()
            if answer.status not in {202, 204}:
                raise HTTPException(f"another program answers on port {self.port}")
            return answer.status == 202


class Held(Collector):
    """A collector whose measurements are shown again for some seconds: many may ask, and the store serves others."""

    def __init__(self, measured: Collector, clock: Callable[[], float] = time.monotonic) -> None:
        self._measured, self._clock = measured, clock
        self._lock = threading.Lock()
        self._metrics: Sequence[Metric] = ()
        self._until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        """Measure, unless that was done a moment ago."""
        with self._lock:
            began = self._clock()
            if began >= self._until:
                self._metrics = list(self._measured.collect())
                ended = self._clock()
                self._until = ended + max(_HELD_SECONDS, (ended - began) * _SHARE)
            return self._metrics


class UnreadCollector(Collector):
    """The gauge of what was not read of responses that were, looked up when it is asked for."""

    def __init__(self, unread: Callable[[], Unread]) -> None:
        self._unread = unread

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "almanac_unread_names", "Names in responses that were not read.", labels=("source", "kind")
        )
        try:
            found = self._unread()
        except Exception as error:  # as in /readyz: the other metrics are shown all the same
            log.error("not shown", metric="almanac_unread_names", reason=_one_line(error))  # noqa: TRY400  (as in /readyz)
            return
        for labels, count in sorted(found.items()):
            family.add_metric(labels, count)
        yield family


def create(
    data_version: Callable[[], int],
    *,
    worker: Worker | None = None,
    unread: Callable[[], Unread] | None = None,
    beside: Sequence[Collector] = (),
    multiprocess_dir: str | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """
    Return the application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot;
    so does `unread`, for what was not read of responses that were. `beside` are asked at a scrape.
    `multiprocess_dir` is the folder in which the processes keep their counters (PROMETHEUS_MULTIPROC_DIR, which
    prometheus-client wants set before it is imported); without it `registry` is shown.
    """
    collectors: list[Collector] = [Held(collector) for collector in beside]
    if unread is not None:
        collectors.append(Held(UnreadCollector(unread)))

    def unready(reason: str, cause: str | None) -> Response:
        if cause is not None:
            log.error("not ready", reason=cause)
        return JSONResponse({"ready": False, "reason": reason}, 503)

    # Plain functions, so that Starlette runs them in a thread and a slow store does not hold up /healthz.
    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    def readyz(_: Request) -> Response:
        try:
            body: dict[str, object] = {"ready": True, "dataVersion": data_version()}
        except Exception as error:  # whatever is wrong with the store, the answer is the same; the log has the cause
            return unready("the store cannot be read", _one_line(error))
        try:
            if worker is not None and worker.is_warming():
                return unready("a worker is warming", None)  # no fault: the log has nothing of it
        except (OSError, HTTPException) as error:
            return unready("no worker answers", f"no worker answers: {error}")
        return JSONResponse(body)

    def metrics(_: Request) -> Response:
        shown = registry
        if multiprocess_dir is not None:
            shown = CollectorRegistry()
            MultiProcessCollector(shown, path=multiprocess_dir)  # type: ignore[no-untyped-call]  # the library has no types here
        text = generate_latest(shown)
        for collector in collectors:
            own = CollectorRegistry(auto_describe=False)
            own.register(collector)
            text += generate_latest(own)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])


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
            log.error("not shown", metric="almanac_source_health", reason=_one_line(error))  # noqa: TRY400  (as of a failed probe)
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
        """Read the signs that `almanac worker` gives of itself; one that ended as it should left none."""
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
