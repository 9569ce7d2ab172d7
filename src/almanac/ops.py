"""The operations listener: liveness, readiness and metrics. No key, so it listens on loopback unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from almanac.domain.times import wire_time
from almanac.looks import BoundedLook, Held

log = structlog.get_logger("almanac.ops")


#: How many names of a source are of a kind (`unknown`, `missing`).
Unread = Mapping[tuple[str, str], int]


#: How long a worker may take over the answer that costs nothing, seconds.
_ANSWER_SECONDS = 2.0
#: How often a port that several workers share is asked for each of them. The system chooses whom a connection goes to;
#: that one of four is never met in so many is a matter of 1 in 10^15.
_TRIES = 32


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


class Answering(NamedTuple):
    """How many workers answer, and how many of them are still warming."""

    workers: int
    warming: int = 0


class Workers:
    """
    Asks the workers through the interface's own port, at an address that only this run of the service knows.

    `path` is where they answer with their process number, without a key and without being counted.
    """

    def __init__(self, host: str, port: int, path: str, count: int) -> None:
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (where to ask who listens on all)
        self._port, self._path, self._count = port, path, count

    def answering(self) -> Answering:
        """Which workers answer. Raises OSError or HTTPException where one that has the port does not, or none has it."""
        met: dict[bytes, bool] = {}
        for _ in range(1 if self._count == 1 else self._count * _TRIES):
            number, warming = self._ask()
            met[number] = warming
            if len(met) == self._count:
                break
        return Answering(len(met), sum(met.values()))

    def _ask(self) -> tuple[bytes, bool]:
        """Who answered, and whether it is still warming: it then says 202."""
        with closing(HTTPConnection(self._host, self._port, timeout=_ANSWER_SECONDS)) as connection:
            connection.request("GET", self._path, headers={"connection": "close"})
            answer = connection.getresponse()
            if answer.status not in {200, 202}:
                raise HTTPException(f"another program answers on port {self._port}")
            return answer.read(), answer.status == 202


class SeenDatabase(NamedTuple):
    """One of the databases that hold the data, as it may be shown; `version` None: it cannot be read."""

    name: str
    role: str
    version: int | None
    state: str


class Verified(NamedTuple):
    """What the verification in the background found: problems, the end of its last whole round (unix seconds; None: none yet), and how many seconds that took."""

    problems: int
    completed_at: int | None
    took: int | None


class VerifiedCollector(Collector):
    """The gauges of the verification in the background, looked up when they are asked for."""

    def __init__(self, verified: Callable[[], Verified | None]) -> None:
        self._verified = verified

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self._verified()
        if found is None:
            return
        told = (
            "Damaged places of the store found in the last whole round of verification, or in the present one if more."
        )
        yield GaugeMetricFamily("almanac_verify_problems", told, found.problems)
        # Without a value until a round is through: that there are such is said from the beginning.
        for name, told, value in (
            (
                "almanac_verify_last_completed_timestamp_seconds",
                "When the last whole round of verification was completed.",
                found.completed_at,
            ),
            ("almanac_verify_last_duration_seconds", "How many seconds it took.", found.took),
        ):
            family = GaugeMetricFamily(name, told, labels=())
            if value is not None:
                family.add_metric((), value)
            yield family


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
    answering: Callable[[], Answering] | None = None,
    unread: Callable[[], Unread] | None = None,
    beside: Sequence[Collector] = (),
    verified: Callable[[], Verified | None] | None = None,
    databases: Callable[[], Sequence[SeenDatabase]] | None = None,
    ending: Callable[[], bool] = lambda: False,
    multiprocess_dir: Path | None = None,
    registry: CollectorRegistry = REGISTRY,
) -> Starlette:
    """The application.

    `data_version` reads the newest data version from the store, and raises whatever the store raises when it cannot;
    so does `unread`, for what was not read of responses that were. `beside` are asked at each scrape. `answering` counts
    the workers that answer and those that are warming, and raises OSError or HTTPException where one does not. `verified` tells of the verification
    in the background, None where there is none; damage makes nothing unready, for all else is served as well as ever.
    `databases` are those of a store that has several, as they were seen last. `ending`: whether the service was told to end.
    Each of them may take as long as it takes: what is asked here is answered within a second, from what is known then.
    `multiprocess_dir` is the folder in which several workers keep their counters (PROMETHEUS_MULTIPROC_DIR, which
    prometheus-client wants set before it is imported); without it `registry` is shown.
    """
    version_look = BoundedLook(data_version, "version")
    answering_look = None if answering is None else BoundedLook(answering, "answering")
    looked_up: list[Collector] = [one if isinstance(one, Held) else Held(one) for one in beside]
    if unread is not None:
        looked_up.append(Held(UnreadCollector(unread)))
    if verified is not None:
        looked_up.append(VerifiedCollector(verified))

    def unready(reason: str, cause: str | None, **known: object) -> Response:
        if cause is not None:
            log.error("not ready", reason=cause)
        return JSONResponse({"ready": False, "reason": reason, **known}, 503)

    # Plain functions, so that Starlette runs them in a thread and a slow store does not hold up /healthz.
    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    def readyz(_: Request) -> Response:
        if ending():
            return unready("the service ends", None)
        for look in (version_look, answering_look):
            if look is not None:
                look.begin()  # both at once: a probe waits for the slower one
        try:
            found: dict[str, object] = {"ready": True, "dataVersion": version_look.take()}
        except TimeoutError:
            return unready("the store does not answer", "the store does not answer")
        except Exception as error:  # whatever is wrong with the store, the answer is the same; the log has the cause
            return unready("the store cannot be read", _one_line(error))
        if databases is not None:
            found["databases"] = [one._asdict() for one in databases()]
        if answering_look is not None:
            try:
                asked = answering_look.take()
            except (OSError, HTTPException) as error:  # a TimeoutError is one
                return unready("a worker does not answer", f"a worker does not answer: {error}")
            if asked.warming:  # no fault: the log has nothing of it
                return unready("a worker is warming", None, workers=asked.workers)
            found["workers"] = asked.workers
        state = None if verified is None else verified()
        if state is not None:
            at = None if state.completed_at is None else wire_time(state.completed_at)
            found["verify"] = {"lastCompletedAt": at, "problems": state.problems}
        return JSONResponse(found)

    def metrics(_: Request) -> Response:
        shown = registry
        if multiprocess_dir is not None and multiprocess_dir.is_dir():
            shown = CollectorRegistry()
            MultiProcessCollector(shown, path=str(multiprocess_dir))  # type: ignore[no-untyped-call]  # the library has no types here
        for collector in looked_up:
            if isinstance(collector, Held):
                collector.begin()
        text = generate_latest(shown)
        for collector in looked_up:
            own = CollectorRegistry(auto_describe=False)
            own.register(collector)
            text += generate_latest(own)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])
