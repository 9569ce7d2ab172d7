"""The operations listener: liveness, readiness and metrics. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
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


#: How long a worker may take over the answer that costs nothing, seconds.
_ANSWER_SECONDS = 2.0
#: How often a port that several workers share is asked for each of them. The system chooses whom a connection goes to;
#: that one of four is never met in so many is a matter of 1 in 10^15.
_TRIES = 32


class Workers:
    """
    Asks the workers through the interface's own port, at an address that only this run of the service knows.

    `path` is where they answer with their process number, without a key and without being counted.
    """

    def __init__(self, host: str, port: int, path: str, count: int) -> None:
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (where to ask who listens on all)
        self._port, self._path, self._count = port, path, count

    def answering(self) -> int:
        """How many workers answer. Raises OSError or HTTPException where one that has the port does not, or none has it."""
        met: set[bytes] = set()
        for _ in range(1 if self._count == 1 else self._count * _TRIES):
            met.add(self._ask())
            if len(met) == self._count:
                break
        return len(met)

    def _ask(self) -> bytes:
        with closing(HTTPConnection(self._host, self._port, timeout=_ANSWER_SECONDS)) as connection:
            connection.request("GET", self._path, headers={"connection": "close"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise HTTPException(f"another program answers on port {self._port}")
            return answer.read()


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
    answering: Callable[[], int] | None = None,
    unread: Callable[[], Unread] | None = None,
    multiprocess_dir: Path | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """The application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot;
    so does `unread`, for what was not read of responses that were. `answering` counts the workers that answer, and raises
    OSError or HTTPException where one does not.
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
        found: dict[str, object] = {"ready": True, "dataVersion": version}
        if answering is not None:
            try:
                found["workers"] = answering()
            except (OSError, HTTPException) as error:
                log.error("not ready", reason=f"a worker does not answer: {error}")  # noqa: TRY400  (its stack says no more)
                return JSONResponse({"ready": False, "reason": "a worker does not answer"}, 503)
        return JSONResponse(found)

    def metrics(_: Request) -> Response:
        shown = registry
        if multiprocess_dir is not None and multiprocess_dir.is_dir():
            shown = CollectorRegistry()
            MultiProcessCollector(shown, path=str(multiprocess_dir))  # type: ignore[no-untyped-call]  # the library has no types here
        text = generate_latest(shown)
        if unread is not None:
            own = CollectorRegistry()
            own.register(UnreadCollector(unread))
            text += generate_latest(own)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])
