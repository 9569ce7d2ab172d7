"""The running service: its three listeners, and the processes that answer. Granian's workers answer the interface."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging.config
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import structlog
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from almanac import config, locks
from almanac.distribution import version
from almanac.store.engine.deadline import Deadline, deadline_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.process import BaseProcess

    from starlette.types import ASGIApp, Receive, Scope, Send

    from almanac.config import Settings

log = structlog.get_logger("almanac.serving")

#: How long is waited at a start to learn which plans accounts are on.
_PLANS_SECONDS = 10.0
#: Longest request line and header block read from a client, bytes; beyond, the server answers bare. Of the interface:
#: filters and lists of names make long addresses. Of the dashboard: browsers send what all services of a machine have them keep.
_API_HEAD, _DASHBOARD_HEAD, _OPS_HEAD = 128 * 1024, 64 * 1024, 16 * 1024
#: How long a client may take over the head of a request, and how long a connection may idle between two requests.
_HEAD_MILLISECONDS = 10_000
#: Connections that a process which listens takes at a time.
_CONNECTIONS = 1_024
#: How long a process that was told to end may take before it is killed.
_KILL_AFTER_SECONDS = 10
#: At SIGHUP: how long an old worker answers beside the new one, which must listen by then.
_BESIDE_SECONDS = 10.0
#: How often a process looks whether its parent is still there, and how long one that ended waits to be started anew.
_LOOK_SECONDS = 1.0


def serve(settings: Settings) -> None:
    """Run all listeners until told to stop. Raises what `claimed` raises."""
    with claimed(settings):
        run(settings)


@contextlib.contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """
    Hold the home and every address for a service, before anything is changed for it.

    Raises TakenError if one of them is another's, and what `_check_fit` raises.
    """
    if settings.workers > 1 and settings.redis_url is None:
        raise config.SettingError(
            f"ALMANAC_WORKERS or --workers: {settings.workers} processes count the requests of an account together in Redis only:"
            " set ALMANAC_REDIS_URL, or serve with one"
        )
    listeners = {"port": ("interface", settings.host, settings.port)}
    if settings.dashboard:
        listeners["dashboard_port"] = ("dashboard", settings.host, settings.dashboard_port)
    listeners["ops_port"] = ("operations", settings.ops_host, settings.ops_port)
    with locks.claimed(settings.home.resolve(), listeners):
        _configure_logs(settings)
        _check_fit(settings)
        yield


def _configure_logs(settings: Settings) -> None:
    from almanac.api.server import logs

    logs.configure(settings.log_level)
    logging.config.dictConfig(logs.standard())


def run(settings: Settings) -> None:
    """Do what `serve` does once home and addresses are held. The store is made ready first, so an empty home serves too."""
    from almanac.api.server import logs
    from almanac.pipeline import raw_store_binding
    from almanac.pipeline.context import PipelineContext
    from almanac.store.engine.opening import Server, place

    check_raw(settings)
    with PipelineContext(
        settings, tell=lambda reason: log.info("the store needs time to open", reason=reason)
    ) as world:
        problem = raw_store_binding.explain_other_store(world.db, world.raw, settings)
    if problem is not None:
        log.warning("the raw store is not the one the data came from", reason=problem)
    # From which server the data of this home are served: a command that is not told of it is refused (`config.load`).
    at, note = place(settings.data_place), settings.served_from_path
    with contextlib.suppress(OSError):  # a full disk: the note is a help, and the service needs none
        if isinstance(at, Server) and settings.database_url:
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.write_text(f"{at}\n", "utf-8")
        else:
            note.unlink(missing_ok=True)
    began = time.monotonic()
    with contextlib.ExitStack() as held:
        # Counters are memory-mapped by prometheus-client: on a full disk of the data a write to them would end the process.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = held.enter_context(
            tempfile.TemporaryDirectory(prefix="almanac-metrics-")
        )
        probe = f"/{secrets.token_hex(16)}"
        server = Granian(
            "almanac",
            **_listening(settings.host, settings.port, _API_HEAD),
            workers=settings.workers,
            log_level=LogLevels.warning,
            log_dictconfig=logs.standard(),
            respawn_failed_workers=True,
            respawn_interval=_BESIDE_SECONDS,
            workers_kill_timeout=_KILL_AFTER_SECONDS,
        )
        for name in ("operations", "dashboard") if settings.dashboard else ("operations",):
            server.on_startup(_begin_beside(held, name, settings, probe))
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
        code: object = 0
        try:
            server.serve(target_loader=functools.partial(_worker, settings, probe, os.getpid()), wrap_loader=False)
        except BaseException as error:
            code = error.code if isinstance(error, SystemExit) else type(error).__name__
            raise
        finally:
            seconds = round(time.monotonic() - began, 1)
            log.info("service stopped", process=os.getpid(), exit=code, seconds=seconds)


def check_raw(settings: Settings) -> None:
    """
    Raise OSError for a bucket that is not there, or not for us. One that cannot be reached is only logged: what is served
    does not need it, and the verification waits for it.
    """
    from almanac.store.raw.blobs import blobs_at

    try:
        blobs_at(settings.raw_place).check()
    except ConnectionError as error:
        log.warning("the raw store cannot be reached", reason=str(error))


def _worker(settings: Settings, probe: str, parent: int) -> ASGIApp:
    """
    Return the application of one worker, in its own process.

    It answers the operations listener too, at an address that no client can guess: 204, or 202 while requests had better wait.
    """
    from almanac.applications import api

    _end_with(parent)
    app = api(settings, warms=True)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != probe:
            await app(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 202 if app.is_warming else 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    return answer


def _begin_beside(held: contextlib.ExitStack, name: str, settings: Settings, probe: str) -> Callable[[], None]:
    """
    Serve a listener in a process beside the workers, until `held` ends.

    What is given back begins to watch it, in a thread: one that ends before is started anew, as Granian does with workers.
    """
    stopping = threading.Event()

    def start() -> BaseProcess:
        # Spawned: it needs nothing of this process.
        spawning = multiprocessing.get_context("spawn")
        begun = spawning.Process(target=_listen, args=(name, settings, probe, os.getpid()), name=name, daemon=True)
        begun.start()
        return begun

    process = start()

    def watch() -> None:
        nonlocal process
        while True:
            wait([process.sentinel])
            if stopping.wait(_LOOK_SECONDS):
                return
            log.error("a process beside the workers ended and is started anew", process=name)
            process = start()

    def stop() -> None:
        stopping.set()
        process.terminate()
        process.join(_KILL_AFTER_SECONDS)
        process.kill()
        process.join()

    held.callback(stop)
    return threading.Thread(target=watch, name=name, daemon=True).start


def _listen(name: str, settings: Settings, probe: str, parent: int) -> None:
    """Serve one listener in this process, until it is told to end or its parent is gone."""
    from granian.server.embed import Server

    # The terminal's interrupt and hangup reach the whole group, and are for the parent, which ends us.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _configure_logs(settings)
    _end_with(parent)
    app: ASGIApp
    if name == "operations":
        from almanac import ops

        app, host, port, head = ops.application(settings, probe), settings.ops_host, settings.ops_port, _OPS_HEAD
    else:
        from almanac.applications import dashboard

        app, host, port, head = dashboard(settings), settings.host, settings.dashboard_port, _DASHBOARD_HEAD
    server = Server(app, **_listening(host, port, head), log_enabled=False)

    async def serving() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
        await server.serve()

    asyncio.run(serving())
    # The server's threads may still be on their way out: one that asks for the interpreter while it is taken down panics.
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, however that came about: politely first."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_KILL_AFTER_SECONDS)
        os._exit(1)

    threading.Thread(target=look, name="parent", daemon=True).start()


def _listening(host: str, port: int, head_bytes: int) -> dict[str, Any]:
    """Return what all listeners tell Granian."""
    return {
        "address": host,
        "port": port,
        "interface": Interfaces.ASGI,
        "websockets": False,
        # Where HTTP/2 is spoken too, the first bytes of a connection are waited for without end.
        "http": HTTPModes.http1,
        "http1_settings": HTTP1Settings(max_buffer_size=head_bytes, header_read_timeout=_HEAD_MILLISECONDS),
        "backpressure": _CONNECTIONS,
    }


def _check_fit(settings: Settings) -> None:
    """
    Check that this installation can do what its settings ask for. Raises SettingError and AccountError.

    Where the accounts cannot be read just now, on a full disk, the service starts, and answers when there is room.
    """
    from almanac.api.use.limits import open_limiter
    from almanac.store.accounts.accounts import Accounts
    from almanac.store.engine.errors import StoppedError, UnavailableError
    from almanac.store.engine.opening import place

    open_limiter(settings).close()
    try:
        with (
            deadline_scope(Deadline(_PLANS_SECONDS)),
            contextlib.closing(Accounts(place(settings.accounts_place), settings.secret)) as accounts,
        ):
            missing = sorted({account.plan for account in accounts.list_accounts()} - set(settings.plans))
    except (UnavailableError, StoppedError, OSError) as error:
        log.warning("whether all accounts have a plan is not known", reason=str(error))
        return
    if missing:
        raise config.SettingError(
            f"accounts are on plans that are not in the settings: {', '.join(missing)} (`almanac accounts list` says"
            " which); add ALMANAC_PLANS__NAME__REQUESTS_PER_MINUTE for each, or move the accounts to another plan"
        )
