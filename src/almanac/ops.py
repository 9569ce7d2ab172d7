"""The operations listener: liveness, readiness and metrics. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

log = structlog.get_logger("almanac.ops")


def create(
    data_version: Callable[[], int],
    *,
    multiprocess_dir: Path | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """The application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot.
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
        return Response(generate_latest(shown), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])
