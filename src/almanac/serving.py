"""The composition root of the running service: the applications, and the servers that carry them."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from almanac import config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from almanac.api.server.app import App
    from almanac.api.server.limits import Limiter
    from almanac.config import Settings
    from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.serving")

#: Longest request line and header block read from a client, bytes; beyond, the server answers bare.
_REQUEST_HEAD = 128 * 1024
_KILL_AFTER_SECONDS = 10
#: Connections one worker holds at a time. They are cheap; a bound of some hundreds would let as many idle ones shut
#: everybody else out for as long as they like to wait.
_CONNECTIONS = 8_192
#: How long a client may take over a request's head, and how long a connection may idle between two requests.
_HEAD_MILLISECONDS = 10_000
#: How long a worker may go by a key that was revoked elsewhere: asking the file is a tenth of a small request.
_NOTICE_SECONDS = 0.5
#: How long the line and the counts of an answer may wait to be written with others.
_JOURNAL_SECONDS = 0.1
#: How often each worker writes down when keys were last used.
_FLUSH_SECONDS = 60.0


def api() -> App:
    """The HTTP interface of one worker, from the settings of its process."""
    from almanac.api.interface import endpoints
    from almanac.api.server import logs, metrics
    from almanac.api.server.app import App
    from almanac.api.server.journal import Journal
    from almanac.catalog.load import load
    from almanac.pipeline.explain.companies import explain_company
    from almanac.pipeline.explain.macro import Explainer
    from almanac.pipeline.explain.scores import explain_scores
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.observations.reading.reader import Reader

    settings = config.load()
    logs.configure(settings.log_level)
    journal = Journal(_JOURNAL_SECONDS)
    accounts = Accounts(settings.accounts_path, settings.secret, notice_seconds=_NOTICE_SECONDS)
    reader = Reader(settings.data_path, at_turn=at_turn)

    flusher = _Every(_FLUSH_SECONDS, accounts.flush)
    app = App(
        endpoints(Explainer(load(), explain_company), explain_scores),
        accounts,
        limiter(settings, metrics.LIMITER_FALLBACKS.inc),
        reader.view,
        settings,
        clock=settings.clock,
        unavailable=(UnavailableError,),
        journal=journal,
        # Requests need not wait for it: one that comes before it is through makes what it needs itself.
        on_startup=[flusher.start, lambda: threading.Thread(target=app.warm, name="warming", daemon=True).start()],
        on_shutdown=[flusher.stop, accounts.close, journal.flush],
    )
    return app


def at_turn(action: Callable[[], object]) -> bool:
    """Have something done after all that waits in this thread's event loop by now. False where there is no such loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    loop.call_soon(action)
    return True


class _Every:
    """Does something every so often in a thread of its own, and once more when stopped."""

    def __init__(self, seconds: float, action: Callable[[], object]) -> None:
        self._seconds = seconds
        self._action = action
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flusher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._once()
        self._once()

    def _once(self) -> None:
        try:
            self._action()
        except Exception:  # when a key was last used is for the eye only: it must not end the service
            log.exception("last uses not written")


def limiter(settings: Settings, on_fallback: object) -> Limiter:
    """One count for all workers: of this host, or through Redis of all hosts."""
    from almanac.api.server.limits import RedisLimiter, SharedLimiter

    folder = settings.home / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    shared = SharedLimiter(folder / "limits")
    if settings.redis_url is None:
        return shared

    def fell_back(_: str) -> None:
        if callable(on_fallback):
            on_fallback()

    return RedisLimiter(settings.redis_url, shared, fell_back)


def ops(settings: Settings, metrics_folder: Path | None) -> Starlette:
    """The operations listener's application."""
    from almanac import ops as module
    from almanac.store.log import payloads
    from almanac.store.observations.reading.reader import Reader

    reader = Reader(settings.data_path)

    @contextlib.contextmanager
    def looking() -> Iterator[View]:
        # Opened anew for each probe: what is in memory would hide a file that was damaged in place.
        try:
            with reader.view() as view:
                yield view
        finally:
            reader.close()

    def data_version() -> int:
        with looking() as view:
            return view.version

    def unread() -> Counter[tuple[str, str]]:
        with looking() as view:
            return Counter((row.source, row.kind) for row in payloads.unread(view))

    return module.create(data_version, unread=unread, multiprocess_dir=metrics_folder)


def serve(settings: Settings) -> None:
    """Run all listeners until told to stop. The store is made ready first, so an empty home serves too."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    from almanac.pipeline.world import World

    with World(settings):
        pass
    folder = _metrics_folder(settings)
    os.environ.update(_environment(settings), PROMETHEUS_MULTIPROC_DIR=str(folder))
    if settings.database_url is None:
        os.environ.pop("ALMANAC_DATABASE_URL", None)  # the simulated world keeps its own files beside it
    # A process of its own, and spawned: workers are forked from this one, which must have no second thread by then.
    beside = multiprocessing.get_context("spawn").Process(
        target=_serve_ops, args=(settings, folder, os.getpid()), name="operations", daemon=True
    )
    beside.start()
    _take_turns()
    Granian(
        "almanac.serving:api",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        factory=True,
        websockets=False,
        http1_settings=HTTP1Settings(max_buffer_size=_REQUEST_HEAD, header_read_timeout=_HEAD_MILLISECONDS),
        backlog=4_096,
        backpressure=_connections(),
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=_KILL_AFTER_SECONDS,
    ).serve()


def _take_turns() -> None:
    """
    Have the threads of this process and its children wait for their turn on a core, where the system knows of such
    (Linux: SCHED_BATCH), unless the operator has set a policy of their own.

    A worker reads and writes its sockets in one thread and answers in another. On a busy core each woke the other
    several times an answer and threw it off the core at once: a seventh of the work of a page. With an idle core, or one
    that another program keeps busy, answers come as fast as before (docs/performance.md).
    """
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(OSError):  # a sandbox may forbid it: then all goes on as it was
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _connections() -> int:
    """As many connections as a worker may have files, and some to spare, up to our own bound."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS + 512
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return _CONNECTIONS if soft == resource.RLIM_INFINITY else max(128, min(_CONNECTIONS, soft - 512))


def _environment(settings: Settings) -> dict[str, str]:
    """What workers must know of options given on the command line: they read the settings themselves."""
    return {
        "ALMANAC_HOME": str(settings.home.resolve()),
        "ALMANAC_HOST": settings.host,
        "ALMANAC_PORT": str(settings.port),
        "ALMANAC_WORKERS": str(settings.workers),
    }


def _metrics_folder(settings: Settings) -> Path:
    """An empty folder for the workers' counters: those of an earlier run would be added up with ours."""
    folder = settings.home.resolve() / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder


def _serve_ops(settings: Settings, folder: Path, parent: int) -> None:
    import asyncio

    from granian.constants import Interfaces
    from granian.server.embed import Server

    server = Server(
        ops(settings, folder),
        address=settings.ops_host,
        port=settings.ops_port,
        interface=Interfaces.ASGI,
        websockets=False,
        log_enabled=False,
    )

    async def run() -> None:
        serving = asyncio.create_task(server.serve())
        while os.getppid() == parent and not serving.done():
            await asyncio.wait((serving,), timeout=1)
        if not serving.done():
            server.stop()  # type: ignore[no-untyped-call]  # the library has no types here
        await serving

    # The terminal's interrupt reaches the whole group: the parent ends us, so that it may still be probed meanwhile.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(run())
