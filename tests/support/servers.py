"""A running `almanac serve` on ports of the system's choice."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2

from tests.support.processes import command, environment


class Server(NamedTuple):
    """Addresses of the API and of the operations listener, and the process behind them."""

    base: str
    ops: str
    port: int
    process: subprocess.Popen[bytes]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(home: Path, log: Path | None = None, **more: str) -> Iterator[Server]:
    """A server over a home, from its first answer to the end of the block. What it says is in `log`."""
    port, ops = free_port(), free_port()
    said = None if log is None else log.open("wb")
    process = subprocess.Popen(
        command("serve", "--port", port, "--ops-port", ops),
        env=environment(home, **{"LOG_LEVEL": "critical", **more}),
        stdout=subprocess.DEVNULL,
        stderr=said or subprocess.DEVNULL,
        start_new_session=True,
    )
    if said is not None:
        said.close()
    server = Server(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{ops}", port, process)
    try:
        _wait(server)
        yield server
    finally:
        # Its own session, which only it and its workers are in.
        with contextlib.suppress(ProcessLookupError):  # a test may have killed them all
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _wait(server: Server) -> None:
    until = time.monotonic() + 60
    for url, status in ((f"{server.base}/coverage", 401), (f"{server.ops}/healthz", 200)):
        while True:
            assert server.process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server did not start"
            try:
                assert httpx2.get(url).status_code == status
                break
            except httpx2.TransportError:
                time.sleep(0.1)


def until_ready(server: Server) -> None:
    """Wait until a server that was just begun is warm. Raises AssertionError where it never is."""
    until = time.monotonic() + 60
    while httpx2.get(f"{server.ops}/readyz", timeout=30).status_code != 200:
        assert time.monotonic() < until, "the server is never ready"
        time.sleep(0.05)
