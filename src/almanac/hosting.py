"""The processes of the running service: the parent that keeps them, and the workers that answer."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import contextlib
import functools
import logging.config
import multiprocessing
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from almanac import config, locks
from almanac.counting import reserve_metrics
from almanac.distribution import version
from almanac.ending import Ending, announcing, wants_no_wait
from almanac.side_processes import (
    CONNECTIONS,
    KILL_AFTER_SECONDS,
    REQUEST_HEAD,
    SideProcess,
    end_with,
    http1,
    serve_dashboard,
    serve_ops,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    from granian.server.mp import MPServer as Granian
    from starlette.types import ASGIApp, Receive, Scope, Send

    from almanac.config import Settings
else:  # the library chooses by the interpreter, which a type checker cannot follow
    from granian import Granian

log = structlog.get_logger("almanac.hosting")

#: How long a new worker is waited for at a reload before the one it replaces ends: until it is warm, and no longer than
#: this. A worker waits for its warm-up no longer than a minute; then it has to begin.
_BEGIN_SECONDS = 90.0
#: What it takes after that to listen. On a busy machine it took no tenth of this.
_OVERLAP_SECONDS = 3.0
#: What cannot change while the service runs: where its data are, where it listens, and how many processes answer.
_FIXED = (
    "home",
    "database_url",
    "raw_url",
    "host",
    "port",
    "dashboard",
    "dashboard_port",
    "ops_host",
    "ops_port",
    "workers",
    "http2",
    "verify_hours",
)


def serve(settings: Settings) -> None:
    """Run all listeners until told to stop. Raises what `claimed` raises."""
    with claimed(settings):
        run(settings)


@contextlib.contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """
    Hold the home and every address for a service, before anything is changed for it.

    Raises TakenError where one of them is another's, and what `_fit` raises.
    """
    for told in settings.clashes():
        raise config.SettingError(told)
    host, ops_host = settings.host, settings.ops_host
    listeners = [
        locks.Listener("interface", host, settings.port, "ALMANAC_PORT", "--port"),
        locks.Listener("operations", ops_host, settings.ops_port, "ALMANAC_OPS_PORT", "--ops-port"),
    ]
    if settings.dashboard:
        port = settings.dashboard_port
        listeners.insert(1, locks.Listener("dashboard", host, port, "ALMANAC_DASHBOARD_PORT", "--dashboard-port"))
    with locks.claimed(settings.home.resolve(), listeners):
        _fit(settings)
        yield


def run(settings: Settings) -> None:
    """What `serve` does once home and addresses are held. The store is made ready first, so an empty home serves too."""
    from almanac.api.server import logs
    from almanac.pipeline import belonging
    from almanac.pipeline.workplace import Workplace

    with contextlib.ExitStack() as held:
        logs.configure(settings.log_level)
        logging.config.dictConfig(logs.standard())
        _look_at_raw(settings)
        with Workplace(settings, tell=lambda reason: log.info("the store needs time to open", reason=reason)) as world:
            told = belonging.explain_other_store(world.db, world.raw, settings)
        if told is not None:
            log.warning("the raw store is not the one the data came from", reason=told)
        _note_place(settings)
        folder = _metrics_folder(settings)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        ending = Ending()
        worker = _Worker(settings, folder, ending)
        processes = [SideProcess("operations", serve_ops, settings, folder, worker.path, os.getpid(), ending)]
        if settings.dashboard:
            processes.append(SideProcess("dashboard", serve_dashboard, settings, folder, os.getpid(), ending))
        if settings.verify_hours:
            processes.append(SideProcess("verification", verify, settings, os.getpid()))
        for one in processes:
            held.enter_context(one.running())
        _take_turns()
        service = _Service(worker, ending)
        for one in processes:
            service.on_startup(one)
        with _logging_the_run(settings):
            service.serve(target_loader=worker, wrap_loader=False)


@contextlib.contextmanager
def _logging_the_run(settings: Settings) -> Iterator[None]:
    """The first line of a run in the log, and the last one."""
    began = time.monotonic()
    log.info(
        "service started",
        version=version(),
        process=os.getpid(),
        home=str(settings.home.resolve()),
        interface=f"{settings.host} port {settings.port}",
        operations=f"{settings.ops_host} port {settings.ops_port}",
        dashboard=f"{settings.host} port {settings.dashboard_port}" if settings.dashboard else None,
        workers=settings.workers,
        settings=config.list_settings(),
    )
    warning = config.exposed()
    if warning is not None:
        log.warning("others may read the settings", reason=warning)
    code: object = 0
    try:
        yield
    except SystemExit as ending:
        code = ending.code
        raise
    except BaseException as error:
        code = type(error).__name__
        raise
    finally:
        log.info("service stopped", process=os.getpid(), exit=code, seconds=round(time.monotonic() - began, 1))


def _note_place(settings: Settings) -> None:
    """Note from which server the data of this home are served: a command that is not told of it is refused (`config.load`)."""
    from almanac.store.engine.opening import Server, place

    at, note = place(settings.data_place), settings.served_from_path
    with contextlib.suppress(OSError):  # a full disk: the note is a help, and the service needs none
        if isinstance(at, Server) and settings.database_url:
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.write_text(f"{at}\n", "utf-8")
        else:
            note.unlink(missing_ok=True)


def _look_at_raw(settings: Settings) -> None:
    """
    Raises OSError for a bucket that is not there, or not for us. One that cannot be reached is told only: what is served
    does not need it, and the verification waits for it.
    """
    from almanac.store.raw.blobs import blobs_at

    try:
        blobs_at(settings.raw_place).check()
    except ConnectionError as error:
        log.warning("the raw store cannot be reached", reason=str(error))


def _fit(settings: Settings, *, begun: bool = False) -> None:
    """
    What no look at a setting tells: whether this installation can do what it asks for. Raises SettingError and AccountError,
    and what `missing_plans` raises where a service has `begun`.
    """
    from almanac.serving import limiter, missing_plans, plans_told

    if settings.redis_url is not None:
        limiter(settings, None)
    missing = missing_plans(settings, begun=begun)
    if missing:
        raise config.SettingError(plans_told(missing))


class _Service(Granian):
    """
    The interface's listener and its workers. SIGHUP replaces them one by one, if the settings are good. On SIGTERM all go on for
    a while, and say that they will not for long.
    """

    def __init__(self, worker: _Worker, ending: Ending) -> None:
        from almanac.api.server import logs

        settings = worker.settings
        super().__init__(
            "almanac",
            address=settings.host,
            port=settings.port,
            interface=Interfaces.ASGI,
            workers=settings.workers,
            websockets=False,
            http=_http(settings),
            http1_settings=http1(REQUEST_HEAD),
            backpressure=CONNECTIONS,
            log_level=LogLevels.warning,
            log_dictconfig=logs.standard(),
            respawn_failed_workers=True,
            respawn_interval=_OVERLAP_SECONDS,
            workers_kill_timeout=KILL_AFTER_SECONDS,
        )
        self._worker, self._ending = worker, ending
        self._process = os.getpid()
        #: Whether workers are replaced that still answer.
        self._reloading = False

    def _respawn_workers(self, workers: list[int], spawn_target: Any, target_loader: Any, delay: float = 0) -> None:
        """
        Replace workers: with a delay at a reload, without where they died. One that others stand in for is warm before it
        listens; one that is alone answers at once what needs no warmth.
        """
        self._reloading = delay > 0
        others = any(one.inner.is_alive() for one in self.wrks if one.idx not in workers)
        self._worker.warm_first = self._reloading or others
        try:
            super()._respawn_workers(workers, spawn_target, target_loader, delay)
        finally:
            self._reloading = self._worker.warm_first = False

    def _spawn_worker(self, *args: Any, **kwargs: Any) -> Any:
        """At a reload one whose `start` returns when it is about to listen: the library ends the old one some time after."""
        made: Any = super()._spawn_worker(*args, **kwargs)
        if self._reloading:
            made.start = functools.partial(self._begin, made.start)
        return made

    def _begin(self, start: Callable[[], None]) -> None:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        with ours, theirs:
            self._worker.begins = theirs
            start()
            self._worker.begins = None
            theirs.close()  # so that the end of the worker is heard too
            until = time.monotonic() + _BEGIN_SECONDS
            while not ours.poll(0.1) and not self.interrupt_signal and time.monotonic() < until:
                pass

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        """On SIGTERM and SIGINT: the end, after a while in which whoever shares requests out can learn of it; the second time at once."""
        number, seconds = args[0] if args else signal.SIGTERM, self._worker.settings.drain_seconds
        ours = os.getpid() == self._process  # a worker that is just begun has this handler too
        if ours and seconds and not self._ending() and not wants_no_wait(number):
            self._ending.say()
            log.info("the service ends", seconds=seconds)
            end = threading.Timer(seconds, super().signal_handler_interrupt)
            end.daemon = True
            end.start()
            return
        if ours:
            self._ending.say()
        super().signal_handler_interrupt(*args, **kwargs)  # type: ignore[no-untyped-call]  # the library has no types here

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        """On SIGHUP. Workers of settings that cannot be used would not start, and the service would end with them."""
        from almanac.store.accounts.accounts import AccountError
        from almanac.store.engine.errors import UnavailableError

        if self._ending():
            return
        try:
            self._worker.settings = _read_again(self._worker.settings)
        except (config.SettingError, AccountError, UnavailableError, OSError) as error:
            log.error("the settings stay as they were", reason=str(error))  # noqa: TRY400  (its stack says no more)
            return
        log.info("new settings, workers are replaced one by one", settings=config.list_settings())
        super().signal_handler_reload(*args, **kwargs)  # type: ignore[no-untyped-call]  # the library has no types here


def _read_again(held: Settings) -> Settings:
    """The settings as they are now, but for what holds until the service ends. Raises what `config.load` and `_fit` raise."""
    from almanac.catalog.load import source_ids

    fixed = {name: getattr(held, name) for name in _FIXED}
    fresh = msgspec.structs.replace(config.load(sources=source_ids), **fixed)
    _fit(fresh, begun=True)
    return fresh


class _Worker:
    """What a new worker runs, with the settings that were last found good: it reads none itself."""

    def __init__(self, settings: Settings, metrics: Path, ending: Ending) -> None:
        self.settings = settings
        self._ending = ending
        #: Whether others answer while it begins; and where it says that it is about to, if somebody waits for that.
        self.warm_first = False
        self.begins: Connection | None = None
        self._metrics = metrics
        #: Where a worker answers the operations listener, and nobody else: no client can guess it.
        self.path = f"/{secrets.token_hex(16)}"
        self._parent = os.getpid()

    def __call__(self) -> ASGIApp:
        """The application, in the worker's own process."""
        reserve_metrics(self._metrics)
        from almanac.api.server.warming import Warming
        from almanac.serving import api, ready

        threading.Thread(target=end_with, args=(self._parent,), name="parent", daemon=True).start()
        warming = Warming(lambda: ready(app))
        app = api(self.settings, warming, self._begun if self.warm_first else None)
        return announcing(_answering(app, self.path, lambda: warming.holds_back), self._ending)

    def _begun(self) -> None:
        if self.begins is not None:
            with contextlib.suppress(OSError):  # nobody waits for it any more
                self.begins.send_bytes(b"begun")


def _answering(app: ASGIApp, path: str, warming: Callable[[], bool]) -> ASGIApp:
    """The application, which says at one address which process it runs in: with 202 while that had better get no requests yet."""
    number = str(os.getpid()).encode()
    headers = [(b"content-length", b"%d" % len(number))]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != path:
            await app(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 202 if warming() else 200, "headers": headers})
            await send({"type": "http.response.body", "body": number})

    return answer


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


def _metrics_folder(settings: Settings) -> Path:
    """An empty folder for the workers' counters: those of an earlier run would be added up with ours."""
    folder = settings.home.resolve() / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # a full disk: the workers say so, and serve
        folder.mkdir(mode=0o700, parents=True)
    return folder
