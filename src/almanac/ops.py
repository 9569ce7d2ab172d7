"""The operations listener: liveness, readiness and metrics. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

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
