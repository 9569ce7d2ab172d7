"""
A listener and its bounds, the same for all: how long a head, a body and an idle connection may take, how many connections
there are, and which of them end first when those are nearly all taken.

Nothing of Almanac is needed here: the server for language models, a package of its own, has a copy (`clients/mcp`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

log = logging.getLogger("almanac.listening")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

#: How long a client may take over a request's head, its first byte included, and how long a connection may idle
#: between two requests.
HEAD_MILLISECONDS = 10_000
#: How long a client may take over a request's body.
BODY_SECONDS = 10.0
#: Connections one process holds at a time, and those that may wait to be taken. They are cheap; a bound of some hundreds
#: would let as many idle ones shut everybody else out for as long as they like to wait.
CONNECTIONS, BACKLOG = 8_192, 4_096
#: Files that a process needs beside its connections.
_SPARE = 512
#: From which share of its connections on a process ends some that wait for their clients, and how many it then leaves.
_FULL, _LEFT = 0.75, 0.5
#: How often that is looked at, and how long a connection has waited at least that is ended so: a client that is well
#: sends its request as soon as it is connected. Where looking takes long, it is done for a quarter of the time at most.
_LOOK_SECONDS, _WAITED_SECONDS = 0.25, 0.5
#: In Linux's tcp_info: milliseconds since anything was sent to the client, or since it came.
_TCP_INFO = struct.Struct("=44xI")
#: Where Linux lists the files that this process has open.
_FILES = Path("/proc/self/fd")
#: How often a process is asked whether it is to end.
_STOP_SECONDS = 1.0
_LATE = b"the body of this request did not come in time\n"

Peer = tuple[str, int]


def settings(head_bytes: int) -> HTTP1Settings:
    """How HTTP/1 is read. A head of more bytes is answered bare by the server itself."""
    return HTTP1Settings(max_buffer_size=head_bytes, header_read_timeout=HEAD_MILLISECONDS)


def connections() -> int:
    """Count the connections this process may keep open: as many as files, and some to spare, up to our own bound."""
    import resource  # noqa: PLC0415  (not on every system that clients run on)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + _SPARE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return CONNECTIONS if soft == resource.RLIM_INFINITY else max(128, min(CONNECTIONS, soft - _SPARE))


class Waiting(NamedTuple):
    """
    A connection that waits for its client: its file, whose it is, and for how many seconds nothing was sent to it, since it
    came or since its last answer. What it sends does not count: a letter a second makes no request.
    """

    file: int
    peer: Peer
    waited: float


class BoundedApplication:
    """
    An application behind its listener's bounds. It knows whose requests are being answered; all other connections of this
    process wait for their clients: for a head, for a next request, or for an answer to be fetched.

    A body that does not come in time is answered 408, and its connection ends. When connections are nearly all taken, those
    that wait end: of the addresses that have most of them, the ones that have waited longest. Linux alone tells of
    connections; elsewhere what is silent has its ten seconds.
    """

    def __init__(self, app: Application, port: int, most: int, at_once: int | None = None) -> None:
        """`at_once`: how many plain requests the application is given at a time, where it does not see to that itself."""
        self._app, self._port, self._most = app, port, most
        self._places = None if at_once is None else asyncio.Semaphore(at_once)
        self._busy: Counter[Peer] = Counter()
        self._ended = threading.Event()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer: Peer = scope.get("client") or ("", 0)
        if scope["method"] in {"GET", "HEAD"}:  # whose bodies nobody reads
            self._busy[peer] += 1
            try:
                if self._places is None:
                    await self._app(scope, receive, send)
                else:
                    await self._in_turn(self._places, scope, receive, send)
            finally:
                self._free(peer)
            return
        # Until its body is there, a request waits for its client.
        bodied = _Bodied(receive, send, BODY_SECONDS, functools.partial(self._busy.update, (peer,)))
        try:
            await bodied.serve(self._app, scope)
        finally:
            if bodied.whole:
                self._free(peer)

    async def _in_turn(
        self, places: asyncio.Semaphore, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        """Answer it in its turn, unless its client has gone by then."""
        gone = asyncio.ensure_future(_gone(receive))
        first = [{"type": "http.request", "body": b"", "more_body": False}]

        async def hear() -> Message:
            return first.pop() if first else await asyncio.shield(gone)

        try:
            async with places:
                await asyncio.sleep(0)  # what came of it meanwhile is heard first
                if not gone.done():
                    await self._app(scope, hear, send)
        finally:
            gone.cancel()

    def _free(self, peer: Peer) -> None:
        self._busy[peer] -= 1
        if not self._busy[peer]:
            del self._busy[peer]

    def watch(self) -> None:
        """Begin to look after the connections of this process, in a thread of its own."""
        if _FILES.is_dir():
            threading.Thread(target=self._watch, name="door", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._ended.set()

    def _watch(self) -> None:
        took = 0.0
        while not self._ended.wait(max(_LOOK_SECONDS, 3 * took)):
            begun = time.monotonic()
            try:
                self.look()
            except Exception:  # whatever it is, what comes next is to be looked at too
                log.exception("connections were not looked after")
            took = time.monotonic() - begun

    def look(self) -> int:
        """End connections where they are nearly all taken. Returns how many were."""
        if len(_open_files()) < self._most * _FULL:
            return 0
        waiting = self.waiting()
        if len(waiting) + len(self._busy) < self._most * _FULL:
            return 0
        chosen = over(waiting, max(0, int(self._most * _LEFT) - len(self._busy)))
        return sum(self._end(one) for one in chosen if one.waited >= _WAITED_SECONDS)

    def waiting(self) -> list[Waiting]:
        """The connections of this listener that wait for their clients."""
        found = []
        for file in _open_files():
            with contextlib.suppress(OSError), _duplicate(file) as connection:
                here = connection.getsockname()
                if isinstance(here, tuple) and here[1] == self._port and (peer := _peer(connection)) not in self._busy:
                    found.append(Waiting(file, peer, _waited(connection)))
        return found

    def _end(self, one: Waiting) -> bool:
        """End a connection, unless its file is another's by now or a request of it is being answered."""
        with contextlib.suppress(OSError), _duplicate(one.file) as connection:
            if _peer(connection) == one.peer and one.peer not in self._busy:
                connection.shutdown(socket.SHUT_RDWR)
                return True
        return False


def over(waiting: Sequence[Waiting], room: int) -> list[Waiting]:
    """
    Which of them go where only so many may stay: each address keeps as many as any other does, or all if it has fewer, and
    those that have waited longest go first. An IPv6 address counts by its first 64 bits: whoever has one has all of those.
    """
    by: dict[str, list[Waiting]] = {}
    for one in waiting:
        by.setdefault(_network(one.peer[0]), []).append(one)
    gone: list[Waiting] = []
    for place, held in enumerate(sorted(by.values(), key=len)):
        share = room // (len(by) - place)
        held.sort(key=lambda one: one.waited)
        gone += held[share:]
        room -= min(share, len(held))
    return gone


def _open_files() -> list[int]:
    return [int(name) for name in os.listdir(_FILES)]  # noqa: PTH208  (thousands of paths would cost more than all else)


def _network(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if not isinstance(found, IPv6Address) or found.ipv4_mapped else str(int(found) >> 64)


@contextlib.contextmanager
def _duplicate(file: int) -> Any:
    """A socket of ours for a connection of the server: a file of its own, so that no other takes its number meanwhile."""
    copy = os.dup(file)
    try:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=copy)
    except OSError:
        os.close(copy)
        raise
    with connection:
        yield connection


def _peer(connection: socket.socket) -> Peer:
    """Whose it is, as the server tells the application. Raises OSError for what is no connection."""
    host, port, *_ = connection.getpeername()
    return host.partition("%")[0], port


def _waited(connection: socket.socket) -> float:
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    return float(_TCP_INFO.unpack(told)[0] / 1000)


async def _gone(receive: Receive) -> Message:
    """What says that the client has gone. A body that nobody reads comes before it."""
    while (message := await receive())["type"] != "http.disconnect":
        pass
    return message


class _Bodied:
    """One request that may have a body, which has to come in time: else the application finds its client gone."""

    def __init__(self, receive: Receive, send: Send, seconds: float, when_whole: Callable[[], object]) -> None:
        self._receive, self._send, self._when_whole = receive, send, when_whole
        self._until = time.monotonic() + seconds
        #: Whether all of the body is there, or is no more to come.
        self.whole = False
        self._late = self._begun = False

    async def serve(self, app: Application, scope: MutableMapping[str, Any]) -> None:
        try:
            await app(scope, self._hear, self._say)
        except Exception:  # whatever an application makes of a body that ended early: what was wrong is answered below
            if not self._late:
                raise
        if self._late and not self._begun:
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", b"%d" % len(_LATE)),
                (b"connection", b"close"),
            ]
            await self._send({"type": "http.response.start", "status": 408, "headers": headers})
            await self._send({"type": "http.response.body", "body": _LATE})

    async def _hear(self) -> Message:
        if self.whole:
            return await self._receive()
        if not self._late:
            try:
                async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                    message = await self._receive()
            except TimeoutError:
                self._late = True
            else:
                if not message.get("more_body", False):
                    self.whole = True
                    self._when_whole()
                return message
        return {"type": "http.disconnect"}

    async def _say(self, message: Message) -> None:
        if self._late and not self._begun:
            return  # nobody is there to hear it; the end of `serve` says what was wrong
        self._begun = True
        await self._send(message)


def serve(
    app: Application,
    host: str,
    port: int,
    *,
    head_bytes: int,
    at_once: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    signals: Iterable[signal.Signals] = (),
) -> None:
    """Listen in this process until `stop` says so, which is asked every second, or one of the signals comes; see `BoundedApplication`."""
    most = connections()
    door = BoundedApplication(app, port, most, at_once)
    server = Server(
        door,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        websockets=False,
        http=HTTPModes.http1,
        http1_settings=settings(head_bytes),
        backlog=BACKLOG,
        backpressure=most,
        log_enabled=False,
    )

    async def run() -> None:
        for number in signals:
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
        serving = asyncio.create_task(server.serve())
        while not serving.done() and not stop():
            await asyncio.wait((serving,), timeout=_STOP_SECONDS)
        if not serving.done():
            server.stop()  # type: ignore[no-untyped-call]  # the library has no types here
        await serving

    door.watch()
    try:
        asyncio.run(run())
    finally:
        door.close()


def leave() -> NoReturn:
    """
    End this process once it has listened, without taking the interpreter down first. The server's threads may still be on
    their way out, and one that then asks for the interpreter ends the process with a panic, as it did now and then on a busy
    machine.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
