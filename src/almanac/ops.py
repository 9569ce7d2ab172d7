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
from typing import Any, get_args

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from almanac.config import Settings, met_at
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


def is_warming(settings: Settings, probe: str) -> bool:
    """
    Ask whichever worker answers, through the interface's own port at a path that only this run knows, without a key and
    uncounted. Raises OSError or HTTPException if none does.
    """
    with closing(HTTPConnection(met_at(settings.host), settings.port, timeout=_ANSWER_SECONDS)) as connection:
        connection.request("GET", probe, headers={"connection": "close"})
        answer = connection.getresponse()
        if answer.status not in {202, 204}:
            raise HTTPException(f"another program answers on port {settings.port}")
        return answer.status == 202


def application(settings: Settings, probe: str | None = None, registry: CollectorRegistry = REGISTRY) -> Starlette:
    """
    Return the operations listener's application. `probe`: the path at which a worker answers it; None: no worker is asked.

    Counters of processes are read from the folder PROMETHEUS_MULTIPROC_DIR, which prometheus-client wants set before it is
    imported; without it `registry` is shown.
    """
    reader = Reader(place(settings.data_place))

    @contextlib.contextmanager
    def view(seconds: float) -> Iterator[View]:
        """Open the store anew: what is in memory would hide a file that was damaged in place."""
        try:
            with deadline_scope(Deadline(seconds)), reader.view() as opened:
                yield opened
        finally:
            reader.close()

    # Measured at a scrape, beside what processes count.
    measured = CollectorRegistry(auto_describe=False)
    measured.register(Held(lambda: store_gauges(view(_LOOK_SECONDS), settings.clock())))
    measured.register(Held(lambda: host_gauges(settings)))

    # Plain functions, so that Starlette runs them in a thread and a slow store does not hold up /healthz.
    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    def readyz(_: Request) -> Response:
        try:
            with view(_PROBE_SECONDS) as opened:
                data_version = opened.version
        except Exception as error:  # whatever is wrong with the store, the answer is the same; the log has the cause
            log.error("not ready", reason=_one_line(error))  # noqa: TRY400  (a line at each probe is enough)
            return JSONResponse({"ready": False, "reason": "the store cannot be read"}, 503)
        try:
            if probe is not None and is_warming(settings, probe):  # no fault: the log has nothing of it
                return JSONResponse({"ready": False, "reason": "a worker is warming"}, 503)
        except (OSError, HTTPException) as error:
            log.error("not ready", reason=f"no worker answers: {error}")  # noqa: TRY400  (as above)
            return JSONResponse({"ready": False, "reason": "no worker answers"}, 503)
        return JSONResponse({"ready": True, "dataVersion": data_version})

    def metrics(_: Request) -> Response:
        counted, folder = registry, os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder is not None:
            counted = CollectorRegistry()
            MultiProcessCollector(counted, path=folder)  # type: ignore[no-untyped-call]  # the library has no types here
        text = generate_latest(counted) + generate_latest(measured)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])


class Held(Collector):
    """Measurements that are shown again for some seconds: many may ask, and the store serves others."""

    def __init__(self, measure: Callable[[], Iterable[Metric]]) -> None:
        self._measure = measure
        self._lock = threading.Lock()
        self._metrics: Sequence[Metric] = ()
        self._until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        """Measure, unless that was done a moment ago."""
        with self._lock:
            began = time.monotonic()
            if began >= self._until:
                self._metrics = list(self._measure())
                ended = time.monotonic()
                self._until = ended + max(_HELD_SECONDS, (ended - began) * _SHARE)
            return self._metrics


def store_gauges(look: AbstractContextManager[View], now: int) -> Iterator[Metric]:
    """
    Yield the data version, the sources, and what was not read of responses that were. Where the store cannot be read:
    `almanac_store_readable` 0, nothing else of it.

    `look` opens the store, `now` is by the data's clock.
    """
    try:
        with look as view:
            store = vitals(view, now)
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
    yield _gauge("almanac_quarantined_responses", words, store.quarantined, "source")
    words = "Those of them that would withdraw much of what is served."
    yield _gauge("almanac_shrunk_responses", words, store.shrunk, "source")
    words = "Names in responses that were not read."
    yield _gauge("almanac_unread_names", words, dict(sorted(unread.items())), "source", "kind")
    words = "1 for the word that says how a source does, else 0."
    health = {
        (source.source.id, word): source.health.word == word for source in store.sources for word in get_args(Word)
    }
    yield _gauge("almanac_source_health", words, health, "source", "health")
    for name, (words, figure) in _FIGURES.items():
        values = {source.source.id: figure(source) for source in store.sources}
        yield _gauge(f"almanac_source_{name}", words, values, "source")


#: Gauges of a source: what each is, and its value; None: it has none.
_FIGURES: dict[str, tuple[str, Callable[[SourceVitals], float | None]]] = {
    "failures": ("Attempts in a row that failed.", lambda source: source.tried.failures),
    "series": ("Series that should bring new periods.", lambda source: source.feed.series),
    "stale_series": ("Those of them whose newest period is too old.", lambda source: source.feed.stale),
    "last_attempt_timestamp_seconds": ("When it was last asked.", lambda source: source.tried.last_attempt),
    "last_success_timestamp_seconds": ("When it last answered well.", lambda source: source.tried.last_success),
    "newest_period_timestamp_seconds": ("End of its newest period, forecasts aside.", lambda source: source.newest),
}


def host_gauges(settings: Settings) -> Iterator[Metric]:
    """Yield the program, the disk, and the workers that fetch; what has no figure is left out."""
    labels = ("version", "schema", "python")
    build = {(version(), SCHEMA, platform.python_version()): 1}
    yield _gauge("almanac_build_info", "Which program runs; always 1.", build, *labels)
    yield _gauge("almanac_workers", "Processes that answer requests.", settings.workers)
    with suppress(OSError):
        disk = room(settings)
        at = place(settings.data_place)
        if isinstance(at, Server):
            # It is away: `almanac_store_readable` says so.
            with suppress(Exception), deadline_scope(Deadline(_SERVER_SECONDS)):
                disk.databases["data"] = database_bytes(at)
        words = "Size of a database: of its file, or on its server."
        yield _gauge("almanac_database_bytes", words, disk.databases, "database")
        yield _gauge("almanac_database_log_bytes", "Size of its write-ahead log.", disk.logs, "database")
        yield _gauge("almanac_disk_free_bytes", "Room on the disk of a folder.", disk.free, "folder")
        yield _gauge("almanac_disk_bytes", "Size of that disk.", disk.total, "folder")
    # The signs that `almanac worker` gives of itself; one that ended as it should left none.
    workers = list(signs(folder_of(settings.home)))
    lived = {worker.sources: worker.lived for worker in workers}
    words = "When a worker that fetches last said that it lives."
    yield _gauge("almanac_worker_heartbeat_timestamp_seconds", words, lived, "sources")
    went_on = {worker.sources: worker.went_on for worker in workers}
    words = "When it last went on: looked, asked, or took something in."
    yield _gauge("almanac_worker_step_timestamp_seconds", words, went_on, "sources")


def _gauge(name: str, words: str, figures: float | Mapping[Any, float | None], *labels: str) -> GaugeMetricFamily:
    """Return a gauge of one figure, or of those that there are by the values of its labels."""
    family = GaugeMetricFamily(name, words, labels=labels)
    for key, figure in figures.items() if isinstance(figures, Mapping) else [((), figures)]:
        if figure is not None:
            family.add_metric((key,) if isinstance(key, str) else key, figure)
    return family


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
