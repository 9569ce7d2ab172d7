"""The processes beside the workers: the operations listener, the dashboard, and the verification that goes round."""
# ruff: noqa: PLC0415  (a process loads what it runs: the metrics folder is set first, and the parent needs no interface)

from __future__ import annotations

import asyncio
import contextlib
import logging.config
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from almanac.counting import reserve_metrics
from almanac.ending import announcing

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from almanac.config import Settings
    from almanac.ending import Ending

log = structlog.get_logger("almanac.hosting")

#: Longest request line and header block read from a client, bytes; beyond, the server answers bare. Of the interface:
#: filters and lists of names make long addresses. Of the dashboard, which browsers send what all services of a machine
#: have them keep. Of operations, which are asked for three short paths.
REQUEST_HEAD, _DASHBOARD_HEAD, _OPS_HEAD = 128 * 1024, 64 * 1024, 16 * 1024
#: How long a client may take over the head of a request, and how long a connection may idle between two requests.
_HEAD_MILLISECONDS = 10_000
#: Connections that a process which listens takes at a time.
CONNECTIONS = 1_024
KILL_AFTER_SECONDS = 10
#: How often a process looks whether its parent is still there.
ORPHAN_SECONDS = 1.0


def end_with(parent: int) -> None:
    """End this process when its parent is gone, however that came about: politely first."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(KILL_AFTER_SECONDS)
    os._exit(1)


class SideProcess:
    """A process beside the workers, started anew when it ends before the service does: there is none without it."""

    def __init__(self, name: str, target: Callable[..., None], *arguments: object) -> None:
        self._name, self._target, self._arguments = name, target, arguments
        self._stopping = threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """For the length of a block."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        # A process of its own, and spawned: it needs nothing of this one, and its port is held against others.
        spawning = multiprocessing.get_context("spawn")
        self._process = spawning.Process(target=self._target, args=self._arguments, name=self._name, daemon=True)
        self._process.start()

    def __call__(self) -> None:
        """Begin to watch. Called when all else is ready: workers are forked from this process."""
        threading.Thread(target=self._watch, name=self._name, daemon=True).start()

    def _watch(self) -> None:
        while True:
            wait([self._process.sentinel])
            if self._stopping.wait(ORPHAN_SECONDS):
                return
            log.error("a process beside the workers ended and is started anew", process=self._name)
            self.start()

    def stop(self) -> None:
        self._stopping.set()
        self._process.terminate()
        self._process.join(KILL_AFTER_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def serve_ops(settings: Settings, folder: Path, path: str, parent: int, ending: Ending) -> None:
    """
    The operations listener. `folder` and `path`: where workers count, and where they answer us; `parent`: its process; `ending`:
    whether the service was told to end.
    """
    from almanac.ops import Workers
    from almanac.serving import ops

    _listening(settings, "operations")
    workers = Workers(settings.host, settings.port, path, settings.workers)
    app = ops(settings, folder, workers.answering, parent, ending)
    _serve(announcing(app, ending), settings.ops_host, settings.ops_port, _OPS_HEAD, parent)


def serve_dashboard(settings: Settings, folder: Path, parent: int, ending: Ending) -> None:
    """
    The dashboard. `folder`: where it counts, with the workers: passwords that are guessed, say; `ending`: whether the service
    was told to end.
    """
    reserve_metrics(folder)
    from almanac.serving import dashboard

    _listening(settings, "dashboard")
    app = announcing(dashboard(settings), ending)
    _serve(app, settings.host, settings.dashboard_port, _DASHBOARD_HEAD, parent)


def _listening(settings: Settings, name: str) -> None:
    from almanac.api.server import logs

    _call_itself(name)
    logs.configure(settings.log_level)
    logging.config.dictConfig(logs.standard())


def _call_itself(name: str) -> None:
    """Under which name the system lists this process, and the metrics count it."""
    with contextlib.suppress(OSError):  # not Linux
        Path("/proc/self/comm").write_text(name)


def http1(head_bytes: int) -> HTTP1Settings:
    """Return how HTTP/1 is read: a head of more bytes is answered bare by the server itself."""
    return HTTP1Settings(max_buffer_size=head_bytes, header_read_timeout=_HEAD_MILLISECONDS)


def _serve(app: ASGIApp, host: str, port: int, head_bytes: int, parent: int) -> None:
    """Listen in this process until it is told to end or `parent` is gone."""
    _leave_signals_to_parent()
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        websockets=False,
        http=HTTPModes.http1,
        http1_settings=http1(head_bytes),
        backpressure=CONNECTIONS,
        log_enabled=False,
    )

    async def run() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
        await server.serve()

    threading.Thread(target=end_with, args=(parent,), name="parent", daemon=True).start()
    asyncio.run(run())
    # The server's threads may still be on their way out: one that asks for the interpreter while it is taken down panics.
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def _leave_signals_to_parent() -> None:
    """
    The terminal's interrupt reaches the whole group: the parent ends us, so that it may still be probed meanwhile. So does a
    hangup, which is for the parent alone.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def verify(settings: Settings, parent: int) -> None:
    """Go round the store, after everything else that runs on this machine. It writes nothing there, so it may end at any time."""
    from almanac.api.server import logs
    from almanac.pipeline.operate.patrol import Patrol

    os.nice(19)
    _call_itself("verification")
    _leave_signals_to_parent()
    logs.configure(settings.log_level)
    threading.Thread(target=end_with, args=(parent,), name="parent", daemon=True).start()
    Patrol(settings, threading.Event()).run()
