"""The processes of the running service: the parent that keeps them, the workers that answer, the operations listener."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from almanac import config, exclusive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from granian.server.mp import MPServer as Granian
    from starlette.types import ASGIApp, Receive, Scope, Send

    from almanac.config import Settings
else:  # the library chooses by the interpreter, which a type checker cannot follow
    from granian import Granian

log = structlog.get_logger("almanac.hosting")

#: Longest request line and header block read from a client, bytes; beyond, the server answers bare.
_REQUEST_HEAD = 128 * 1024
_KILL_AFTER_SECONDS = 10
#: Connections one worker holds at a time. They are cheap; a bound of some hundreds would let as many idle ones shut
#: everybody else out for as long as they like to wait.
_CONNECTIONS = 8_192
#: How long a client may take over a request's head, its first byte included, and how long a connection may idle
#: between two requests.
_HEAD_MILLISECONDS = 10_000
#: How often a process looks whether its parent is still there.
_ORPHAN_SECONDS = 1.0
#: Sizes of the files of each kind of metric. Labels are few: a worker that has met every path, method and status has
#: filled a quarter.
_METRICS = {"counter": 2 << 20, "histogram": 512 << 10}
#: What cannot change while the service runs: where its data are, where it listens, and how many processes answer.
_FIXED = ("home", "database_url", "raw_url", "host", "port", "ops_host", "ops_port", "workers", "http2")


def serve(settings: Settings) -> None:
    """
    Run all listeners until told to stop. The store is made ready first, so an empty home serves too.

    Raises TakenError where the home or an address is another's, and what `_fit` raises.
    """
    from almanac.api.server import logs
    from almanac.pipeline.world import World

    with contextlib.ExitStack() as held:
        held.enter_context(exclusive.home(settings.home.resolve()))
        held.enter_context(exclusive.address(settings.host, settings.port, "ALMANAC_PORT or --port"))
        held.enter_context(exclusive.address(settings.ops_host, settings.ops_port, "ALMANAC_OPS_PORT or --ops-port"))
        _fit(settings)
        with World(settings):
            pass
        logs.configure(settings.log_level)
        folder = _metrics_folder(settings)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        worker = _Worker(settings, folder)
        beside = held.enter_context(_beside(settings, folder, worker.path))
        _take_turns()
        service = _Service(worker)
        service.on_startup(beside)
        service.serve(target_loader=worker, wrap_loader=False)


def _fit(settings: Settings) -> None:
    """What no look at a setting tells: whether this installation can do what it asks for. Raises SettingError."""
    from almanac.serving import limiter

    if settings.redis_url is not None:
        limiter(settings, None)


class _Service(Granian):
    """The interface's listener and its workers. SIGHUP replaces them one by one, if the settings are good."""

    def __init__(self, worker: _Worker) -> None:
        settings = worker.settings
        super().__init__(
            "almanac",
            address=settings.host,
            port=settings.port,
            interface=Interfaces.ASGI,
            workers=settings.workers,
            websockets=False,
            http=_http(settings),
            http1_settings=HTTP1Settings(max_buffer_size=_REQUEST_HEAD, header_read_timeout=_HEAD_MILLISECONDS),
            backlog=4_096,
            backpressure=_connections(),
            log_level=LogLevels.warning,
            respawn_failed_workers=True,
            workers_kill_timeout=_KILL_AFTER_SECONDS,
        )
        self._worker = worker

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """On SIGHUP. Workers of settings that cannot be used would not start, and the service would end with them."""
        try:
            self._worker.settings = _read_again(self._worker.settings)
        except (config.SettingError, OSError) as error:
            log.error("the settings stay as they were", reason=str(error))  # noqa: TRY400  (its stack says no more)
            return
        log.info("new settings, workers are replaced one by one")
        super().signal_handler_reload(*args, **kwargs)  # type: ignore[no-untyped-call]  # the library has no types here


def _read_again(held: Settings) -> Settings:
    """The settings as they are now, but for what holds until the service ends. Raises SettingError and OSError."""
    from almanac.catalog.load import source_ids

    fixed = {name: getattr(held, name) for name in _FIXED}
    fresh = msgspec.structs.replace(config.load(sources=source_ids), **fixed)
    _fit(fresh)
    return fresh


class _Worker:
    """What a new worker runs, with the settings that were last found good: it reads none itself."""

    def __init__(self, settings: Settings, metrics: Path) -> None:
        self.settings = settings
        self._metrics = metrics
        #: Where a worker answers the operations listener, and nobody else: no client can guess it.
        self.path = f"/{secrets.token_hex(16)}"
        self._parent = os.getpid()

    def __call__(self) -> ASGIApp:
        """The application, in the worker's own process."""
        _reserve_metrics(self._metrics)
        from almanac.serving import api

        threading.Thread(target=_end_with, args=(self._parent,), name="parent", daemon=True).start()
        return _answering(api(self.settings), self.path)


def _answering(app: ASGIApp, path: str) -> ASGIApp:
    """The application, which says at one address which process it runs in."""
    number = str(os.getpid()).encode()
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(number))]}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != path:
            await app(scope, receive, send)
        else:
            await send(start)
            await send({"type": "http.response.body", "body": number})

    return answer


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, however that came about: politely first."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_KILL_AFTER_SECONDS)
    os._exit(1)


def _http(settings: Settings) -> HTTPModes:
    """HTTP/1 alone, unless asked for: where both are spoken, the first bytes are waited for without end."""
    return HTTPModes.auto if settings.http2 else HTTPModes.http1


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


def _metrics_folder(settings: Settings) -> Path:
    """An empty folder for the workers' counters: those of an earlier run would be added up with ours."""
    folder = settings.home.resolve() / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # a full disk: the workers say so, and serve
        folder.mkdir(mode=0o700, parents=True)
    return folder


def _reserve_metrics(folder: Path) -> None:
    """
    Make the files in which prometheus-client keeps this process's counts, with blocks on disk for all they may hold.

    It would make them with holes, and a write into one on a full disk ends the process with SIGBUS. Without room this
    process keeps its counts to itself. Called before the library is loaded, which then looks where to keep them.
    """
    from almanac.api.server.counters import reserve

    made: list[Path] = []
    try:
        for kind, size in _METRICS.items():
            made.append(folder / f"{kind}_{os.getpid()}.db")
            with made[-1].open("xb") as file:
                reserve(file.fileno(), size)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
        log.error("this worker's metrics are not shown", reason=error.strerror)  # noqa: TRY400  (its stack says no more)


@contextlib.contextmanager
def _beside(settings: Settings, folder: Path, path: str) -> Iterator[_Beside]:
    beside = _Beside(settings, folder, path)
    beside.start()
    try:
        yield beside
    finally:
        beside.stop()


class _Beside:
    """The operations listener's process, started anew when it ends before the service does: there is none without it."""

    def __init__(self, settings: Settings, folder: Path, path: str) -> None:
        self._arguments = (settings, folder, path, os.getpid())
        self._stopping = threading.Event()

    def start(self) -> None:
        # A process of its own, and spawned: it needs nothing of this one, and its port is held against others.
        spawning = multiprocessing.get_context("spawn")
        self._process = spawning.Process(target=_serve_ops, args=self._arguments, name="operations", daemon=True)
        self._process.start()

    def __call__(self) -> None:
        """Begin to watch. Called when all else is ready: workers are forked from this process."""
        threading.Thread(target=self._watch, name="operations", daemon=True).start()

    def _watch(self) -> None:
        while True:
            wait([self._process.sentinel])
            if self._stopping.wait(_ORPHAN_SECONDS):
                return
            log.error("the operations listener ended and is started anew")
            self.start()

    def stop(self) -> None:
        self._stopping.set()
        self._process.terminate()
        self._process.join(_KILL_AFTER_SECONDS)


def _serve_ops(settings: Settings, folder: Path, path: str, parent: int) -> None:
    import asyncio

    from granian.server.embed import Server

    from almanac.api.server import logs
    from almanac.ops import Workers
    from almanac.serving import ops

    logs.configure(settings.log_level)
    workers = Workers(settings.host, settings.port, path, settings.workers)
    server = Server(
        ops(settings, folder, workers.answering),
        address=settings.ops_host,
        port=settings.ops_port,
        interface=Interfaces.ASGI,
        websockets=False,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(max_buffer_size=_REQUEST_HEAD, header_read_timeout=_HEAD_MILLISECONDS),
        log_enabled=False,
    )

    async def run() -> None:
        serving = asyncio.create_task(server.serve())
        while os.getppid() == parent and not serving.done():
            await asyncio.wait((serving,), timeout=_ORPHAN_SECONDS)
        if not serving.done():
            server.stop()  # type: ignore[no-untyped-call]  # the library has no types here
        await serving

    # The terminal's interrupt reaches the whole group: the parent ends us, so that it may still be probed meanwhile.
    # So does a hangup, which is for the parent alone.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(run())
