"""The operations listener: liveness, readiness and metrics. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

log = structlog.get_logger("almanac.ops")


#: How many names of a source are of a kind (`unknown`, `missing`).
Unread = Mapping[tuple[str, str], int]


class UnreadCollector:
    """The gauge of what was not read of responses that were, looked up when it is asked for."""

    def __init__(self, unread: Callable[[], Unread]) -> None:
        self._unread = unread

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "almanac_unread_names", "Names in responses that were not read.", labels=("source", "kind")
        )
        try:
            found = self._unread()
        except Exception:  # as in /readyz: the other metrics are shown all the same
            log.exception("what was not read cannot be looked up")
            return
        for labels, count in sorted(found.items()):
            family.add_metric(labels, count)
        yield family


def create(
    data_version: Callable[[], int],
    *,
    unread: Callable[[], Unread] | None = None,
    multiprocess_dir: Path | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """The application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot;
    so does `unread`, for what was not read of responses that were.
    `multiprocess_dir` is the folder in which several workers keep their counters (PROMETHEUS_MULTIPROC_DIR, which
    prometheus-client wants set before it is imported); without it `registry` is shown.
    """

    # Plain functions, so that Starlette runs them in a thread and a slow store does not hold up /healthz.
    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    def readyz(_: Request) -> Response:
        try:
            version = data_version()
        except Exception:  # whatever is wrong with the store, the answer is the same; the log has the cause
            log.exception("not ready")
            return JSONResponse({"ready": False, "reason": "the store cannot be read"}, 503)
        return JSONResponse({"ready": True, "dataVersion": version})

    def metrics(_: Request) -> Response:
        shown = registry
        if multiprocess_dir is not None:
            shown = CollectorRegistry()
            MultiProcessCollector(shown, path=str(multiprocess_dir))  # type: ignore[no-untyped-call]  # the library has no types here
        text = generate_latest(shown)
        if unread is not None:
            own = CollectorRegistry()
            own.register(UnreadCollector(unread))
            text += generate_latest(own)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])
