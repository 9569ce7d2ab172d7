"""
A small HTTP load generator: keep-alive connections, each of which sends its next request after its answer.

It runs in a process of its own (`python -m bench.load`, with a job as JSON on standard input and the outcome as JSON on
standard output), so that it takes no time of the server's core. To be cheap it knows just enough of HTTP/1.1: a status
line, headers, and a body with a stated length or in chunks. Anything else is an error, never a number.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

_BUFFER = 1 << 18
_LENGTH, _CODING = b"content-length:", b"transfer-encoding:"
#: The end of a chunked body. JSON contains no bare CR and a connection has one request at a time, so nothing else
#: matches.
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_CHUNKED = -1
#: The status that never has a body, whatever its headers say.
_UNCHANGED = 304
#: Seconds after the planned end of a run before missing answers make it fail.
_PATIENCE = 30.0


class LoadError(Exception):
    """The server misbehaved: another status, a body without an end, or a closed connection."""


class Outcome(NamedTuple):
    """The outcome of one run. Latencies are in microseconds; the others in seconds by the clock and of the client's CPU."""

    seconds: float
    client_cpu: float
    bytes: int
    latencies: list[int]


class Work:
    """Requests in turn, from a position in the list, until a time is reached."""

    def __init__(self, requests: Sequence[bytes], first: int, until: float) -> None:
        self._requests = requests
        self._next = first
        self._until = until

    def take(self) -> bytes | None:
        """Return the next request, or None if the time is over."""
        if time.perf_counter() >= self._until:
            return None
        request = self._requests[self._next % len(self._requests)]
        self._next += 1
        return request


class Connection(asyncio.BufferedProtocol):
    """One keep-alive connection. Bodies are counted and discarded; only the head of an answer is parsed."""

    def __init__(self, work: Work, latencies: list[int], done: asyncio.Future[None], status: int) -> None:
        self._work = work
        self._latencies = latencies
        self._done = done
        self._status = status
        self._buffer = bytearray(_BUFFER)
        self._view = memoryview(self._buffer)
        self._held = 0
        #: Bytes of the body still to come, or `_CHUNKED`.
        self._left = 0
        self._tail = b""
        self._sent = 0.0
        self.received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._send()

    def _send(self) -> None:
        request = self._work.take()
        if request is None:
            self._finish(None)
            return
        self._sent = time.perf_counter()
        self._transport.write(request)

    def get_buffer(self, _hint: int) -> memoryview:
        return self._view[self._held :]

    def buffer_updated(self, count: int) -> None:
        self.received += count
        if self._left == _CHUNKED:
            self._chunk(self._view[:count])
        elif self._left:
            self._counted(self._left - count)
        else:
            self._head(count)

    def _head(self, count: int) -> None:
        """Process bytes of the headers. The bytes after them belong to the body."""
        self._held += count
        end = self._buffer.find(b"\r\n\r\n", 0, self._held)
        if end < 0:
            if self._held == _BUFFER:
                self._finish(LoadError("an answer's headers do not end"))
            return
        try:
            length = body_length(bytes(self._buffer[: end + 2]), self._status)
        except LoadError as error:
            self._finish(error)
            return
        body, self._held = self._view[end + 4 : self._held], 0
        if length == _CHUNKED:
            self._left, self._tail = _CHUNKED, b"\r\n"
            self._chunk(body)
        else:
            self._counted(length - len(body))

    def _counted(self, left: int) -> None:
        self._left = left
        if left < 0:
            self._finish(LoadError("an answer is longer than its content-length"))
        elif not left:
            self._answered()

    def _chunk(self, some: memoryview) -> None:
        self._tail = (self._tail + bytes(some[-len(_LAST_CHUNK) :]))[-len(_LAST_CHUNK) :]
        if self._tail == _LAST_CHUNK:
            self._left = 0
            self._answered()

    def _answered(self) -> None:
        self._latencies.append(round((time.perf_counter() - self._sent) * 1e6))
        self._send()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def _finish(self, error: Exception | None) -> None:
        if not self._done.done():
            if error is None:
                self._done.set_result(None)
            else:
                self._done.set_exception(error)
        self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(LoadError(f"the server closed a connection: {error}"))


def body_length(head: bytes, status: int = 200) -> int:
    """
    Return the length of the body from status line and headers, or -1 for a chunked one. Raises LoadError for an
    unexpected status, and for a body whose length is unclear.
    """
    if not head.startswith(b"HTTP/1.1 %d " % status):
        raise LoadError(f"an answer other than {status}: {head.split(bytes((13, 10)), 1)[0].decode('latin-1')}")
    if status == _UNCHANGED:
        return 0
    lower = head.lower()
    length, coding = _value(lower, _LENGTH), _value(lower, _CODING)
    if coding == b"chunked":
        return _CHUNKED
    if length is None or coding is not None:
        raise LoadError("an answer whose end cannot be told")
    return int(length)


def _value(lower: bytes, name: bytes) -> bytes | None:
    start = lower.find(b"\r\n" + name)
    if start < 0:
        return None
    start += 2 + len(name)
    return lower[start : lower.index(b"\r\n", start)].strip()


async def run(
    port: int,
    requests: Sequence[bytes],
    *,
    connections: int,
    seconds: float,
    first: int = 0,
    status: int = 200,
) -> Outcome:
    """Load a server on this host. Raises LoadError at the first answer with an unexpected status."""
    loop = asyncio.get_running_loop()
    latencies: list[int] = []
    began, cpu = time.perf_counter(), time.process_time()
    work = Work(requests, first, began + seconds)
    made: list[Connection] = []
    waiting: list[asyncio.Future[None]] = []
    for _ in range(connections):
        done = loop.create_future()
        waiting.append(done)
        connect = functools.partial(Connection, work, latencies, done, status)
        _, connection = await loop.create_connection(connect, "127.0.0.1", port)
        made.append(connection)
    try:
        async with asyncio.timeout(seconds + _PATIENCE):
            await asyncio.gather(*waiting)
    except TimeoutError:
        raise LoadError(f"answers did not come within {_PATIENCE:g} s of the end of the run") from None
    finally:
        for connection in made:
            connection.close()
    return Outcome(time.perf_counter() - began, time.process_time() - cpu, sum(one.received for one in made), latencies)


def encode(targets: Sequence[str], port: int, headers: dict[str, str]) -> list[bytes]:
    """Encode requests as bytes for the wire."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return [f"GET {target} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{lines}\r\n".encode() for target in targets]


def main() -> None:
    """Read a job, run it and write the outcome. Exits with 1 and a line on standard error if the server misbehaves."""
    job = json.load(sys.stdin)
    if job["cpu"] is not None:
        os.sched_setaffinity(0, {job["cpu"]})
    requests = encode(Path(job["targets"]).read_text("ascii").splitlines(), job["port"], job["headers"])
    import uvloop  # noqa: PLC0415  (only this process needs it)

    work = run(
        job["port"], requests, connections=job["connections"], seconds=job["seconds"], first=job["first"],
        status=job["status"],
    )  # fmt: skip
    try:
        outcome = uvloop.run(work)
    except LoadError as error:
        sys.exit(f"load: {error}")
    json.dump(outcome._asdict(), sys.stdout)


if __name__ == "__main__":
    main()
