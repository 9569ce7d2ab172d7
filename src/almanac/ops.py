"""The operations listener: liveness, readiness, and metrics of requests, store, sources, disk and workers. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

import contextlib
import os
import platform
import threading
import time
from collections import Counter
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
from almanac.pipeline.ingest.liveness import folder_of, signs
from almanac.pipeline.operate.status import SourceVitals, room, vitals
from almanac.store.engine.data_schema import SCHEMA
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.opening import Server, database_bytes, place
from almanac.store.log import payloads
from almanac.store.observations.reading.reader import Reader, View

log = structlog.get_logger("almanac.ops")

#: How long a probe waits for the store, and how long the store may be read for the metrics, seconds.
_PROBE_SECONDS, _LOOK_SECONDS = 1.0, 120.0
#: How long a worker may take over the answer that costs nothing, and a database server over its size, seconds.
_ANSWER_SECONDS, _SERVER_SECONDS = 2.0, 0.5
#: For how long what was measured is shown again; longer where it took long, so that it takes a fiftieth of a core.
_HELD_SECONDS, _SHARE = 5.0, 50


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


def application(settings: Settings, probe: str) -> Starlette:
    """Return the operations listener's application. `probe`: the path at which a worker answers it."""
    reader = Reader(place(settings.data_place))

    @contextlib.contextmanager
    def view(seconds: float) -> Iterator[View]:
        """Open the store anew: what is in memory would hide a file that was damaged in place."""
        try:
            with deadline_scope(Deadline(seconds)), reader.view() as opened:
                yield opened
        finally:
            reader.close()

    def data_version() -> int:
        with view(_PROBE_SECONDS) as opened:
            return opened.version

    return create(
        data_version,
        worker=Worker(settings.host, settings.port, probe),
        collectors=[StoreGauges(lambda: view(_LOOK_SECONDS), settings.clock), HostGauges(settings)],
        multiprocess_dir=os.environ.get("PROMETHEUS_MULTIPROC_DIR"),
    )


def create(
    data_version: Callable[[], int],
    *,
    worker: Worker | None = None,
    collectors: Sequence[Collector] = (),
    multiprocess_dir: str | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """
    Return the application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot.
    `collectors` are asked at a scrape. `multiprocess_dir` is the folder in which the processes keep their counters
    (PROMETHEUS_MULTIPROC_DIR, which prometheus-client wants set before it is imported); without it `registry` is shown.
    """
    measured = [Held(collector) for collector in collectors]

    # Plain functions, so that Starlette runs them in a thread and a slow store does not hold up /healthz.
    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    def readyz(_: Request) -> Response:
        try:
            body: dict[str, object] = {"ready": True, "dataVersion": data_version()}
        except Exception as error:  # whatever is wrong with the store, the answer is the same; the log has the cause
            log.error("not ready", reason=_one_line(error))  # noqa: TRY400  (a line at each probe is enough)
            return JSONResponse({"ready": False, "reason": "the store cannot be read"}, 503)
        try:
            if worker is not None and worker.is_warming():  # no fault: the log has nothing of it
                return JSONResponse({"ready": False, "reason": "a worker is warming"}, 503)
        except (OSError, HTTPException) as error:
            log.error("not ready", reason=f"no worker answers: {error}")  # noqa: TRY400  (as above)
            return JSONResponse({"ready": False, "reason": "no worker answers"}, 503)
        return JSONResponse(body)

    def metrics(_: Request) -> Response:
        shown = registry
        if multiprocess_dir is not None:
            shown = CollectorRegistry()
            MultiProcessCollector(shown, path=multiprocess_dir)  # type: ignore[no-untyped-call]  # the library has no types here
        text = generate_latest(shown)
        for collector in measured:
            by_itself = CollectorRegistry(auto_describe=False)
            by_itself.register(collector)
            text += generate_latest(by_itself)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])


class Held(Collector):
    """A collector whose measurements are shown again for some seconds: many may ask, and the store serves others."""

    def __init__(self, measured: Collector) -> None:
        self._measured = measured
        self._lock = threading.Lock()
        self._metrics: Sequence[Metric] = ()
        self._until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        """Measure, unless that was done a moment ago."""
        with self._lock:
            began = time.monotonic()
            if began >= self._until:
                self._metrics = list(self._measured.collect())
                ended = time.monotonic()
                self._until = ended + max(_HELD_SECONDS, (ended - began) * _SHARE)
            return self._metrics


class StoreGauges(Collector):
    """
    The data version, the sources, and what was not read of responses that were. Where the store cannot be read:
    `almanac_store_readable` 0, nothing else of it.

    `look` opens the store, `now` is the data's clock.
    """

    def __init__(self, look: Callable[[], AbstractContextManager[View]], now: Callable[[], int]) -> None:
        self._look, self._now = look, now

    def collect(self) -> Iterator[Metric]:
        try:
            with self._look() as view:
                store = vitals(view, self._now())
                unread = Counter((row.source, row.kind) for row in payloads.unread(view))
        except Exception as error:  # whatever it is: the other metrics are shown all the same
            log.error("not shown", metric="almanac_source_health", reason=_one_line(error))  # noqa: TRY400  (as of a failed probe)
            yield _gauge("almanac_store_readable", "Whether the data store can be read.", 0)
            return
        yield _gauge("almanac_store_readable", "Whether the data store can be read.", 1)
        yield _gauge("almanac_data_version", "The newest data version.", store.version)
        if store.version_at is not None:
            words = "When the newest data version was written."
            yield _gauge("almanac_data_version_timestamp_seconds", words, store.version_at)
        words = "Kept responses that are not served."
        yield _by_name("almanac_quarantined_responses", words, "source", store.quarantined)
        words = "Those of them that would withdraw much of what is served."
        yield _by_name("almanac_shrunk_responses", words, "source", store.shrunk)
        words = "Names in responses that were not read."
        yield _labelled("almanac_unread_names", words, ("source", "kind"), sorted(unread.items()))
        words = "1 for the word that says how a source does, else 0."
        health = [
            ((source.source.id, word), float(source.health.word == word))
            for source in store.sources
            for word in get_args(Word)
        ]
        yield _labelled("almanac_source_health", words, ("source", "health"), health)
        for name, (words, figure) in _FIGURES.items():
            values = {source.source.id: figure(source) for source in store.sources}
            yield _by_name(f"almanac_source_{name}", words, "source", values)


#: Gauges of a source: what each is, and its value; None: it has none.
_FIGURES: dict[str, tuple[str, Callable[[SourceVitals], float | None]]] = {
    "failures": ("Attempts in a row that failed.", lambda source: source.tried.failures),
    "series": ("Series that should bring new periods.", lambda source: source.feed.series),
    "stale_series": ("Those of them whose newest period is too old.", lambda source: source.feed.stale),
    "last_attempt_timestamp_seconds": ("When it was last asked.", lambda source: source.tried.last_attempt),
    "last_success_timestamp_seconds": ("When it last answered well.", lambda source: source.tried.last_success),
    "newest_period_timestamp_seconds": ("End of its newest period, forecasts aside.", lambda source: source.newest),
}


class HostGauges(Collector):
    """The program, the disk, and the workers that fetch; what has no figure is left out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def collect(self) -> Iterator[Metric]:
        labels = ("version", "schema", "python")
        build = ((version(), SCHEMA, platform.python_version()), 1.0)
        yield _labelled("almanac_build_info", "Which program runs; always 1.", labels, [build])
        yield _gauge("almanac_workers", "Processes that answer requests.", self._settings.workers)
        with suppress(OSError):
            yield from self._room()
        # The signs that `almanac worker` gives of itself; one that ended as it should left none.
        workers = list(signs(folder_of(self._settings.home)))
        lived = {worker.sources: worker.lived for worker in workers}
        words = "When a worker that fetches last said that it lives."
        yield _by_name("almanac_worker_heartbeat_timestamp_seconds", words, "sources", lived)
        went_on = {worker.sources: worker.went_on for worker in workers}
        words = "When it last went on: looked, asked, or took something in."
        yield _by_name("almanac_worker_step_timestamp_seconds", words, "sources", went_on)

    def _room(self) -> Iterator[Metric]:
        disk = room(self._settings)
        at = place(self._settings.data_place)
        if isinstance(at, Server):
            # It is away: `almanac_store_readable` says so.
            with suppress(Exception), deadline_scope(Deadline(_SERVER_SECONDS)):
                disk.databases["data"] = database_bytes(at)
        words = "Size of a database: of its file, or on its server."
        yield _by_name("almanac_database_bytes", words, "database", disk.databases)
        yield _by_name("almanac_database_log_bytes", "Size of its write-ahead log.", "database", disk.logs)
        yield _by_name("almanac_disk_free_bytes", "Room on the disk of a folder.", "folder", disk.free)
        yield _by_name("almanac_disk_bytes", "Size of that disk.", "folder", disk.total)


def _labelled(
    name: str, words: str, labels: Sequence[str], samples: Iterable[tuple[Sequence[str], float]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for values, figure in samples:
        family.add_metric(values, figure)
    return family


def _by_name(name: str, words: str, label: str, values: Mapping[str, float | None]) -> GaugeMetricFamily:
    """Return a gauge of one label, without names that have no value."""
    return _labelled(name, words, (label,), [((key,), value) for key, value in values.items() if value is not None])


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=value)


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
