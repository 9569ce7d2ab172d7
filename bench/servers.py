"""Servers under test. Each is a process tree of its own on its own port, and is stopped by its process id."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

_START_SECONDS, _STOP_SECONDS = 60.0, 15.0


class Server:
    """A running server. `cpu()` returns the CPU time that its processes have used."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.name = name
        self.port = port
        #: Processes that work for this server without being its children, such as those of a database.
        self.helpers: Callable[[], Sequence[int]] = tuple
        self._process = process
        self._log = log

    def wait(self) -> None:
        """Wait until it accepts connections. Raises RuntimeError with the end of its log if it doesn't."""
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        end = self._log.read_text("utf-8", errors="replace")[-2_000:]
        raise RuntimeError(f"{self.name} does not listen:\n{end}")

    def cpu(self) -> float | None:
        """Return the CPU seconds used by it and its children, or None without /proc."""
        if not Path("/proc/self/stat").exists():
            return None
        return ticks((*family(self._process.pid), *self.helpers()))

    def stop(self) -> None:
        """Ask it to stop. If it doesn't within some seconds, kill it and its children."""
        children = family(self._process.pid)
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                for process in children:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                self._process.wait()


def free_port() -> int:
    """Return a port that the system has just offered."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def running(
    name: str, command: Sequence[str], port: int, environment: dict[str, str], folder: Path, cpu: int | None
) -> Iterator[Server]:
    """Run a server for the time of a block, with its output in a log file, pinned to one core if possible."""
    log = folder / f"{name}.log"
    own = None if cpu is None else os.sched_getaffinity(0)
    with log.open("wb") as out:
        try:
            # A child inherits its parent's cores, so this process's cores are restricted while the child starts.
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        finally:
            if own is not None:
                os.sched_setaffinity(0, own)
    server = Server(name, process, port, log)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def interface(
    name: str, environment: dict[str, str], folder: Path, cpu: int | None
) -> contextlib.AbstractContextManager[Server]:
    """Run Almanac's interface for the time of a block, as an operator does but without the dashboard."""
    port = free_port()
    words = ["serve", "--port", str(port), "--ops-port", str(free_port()), "--no-dashboard"]
    return running(name, [sys.executable, "-m", "almanac", *words], port, environment, folder, cpu)


def family(root: int) -> list[int]:
    """Return a process and all its descendants, or only the process without /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            parents[int(entry.parent.name)] = int(fields[1])
    found = [root]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found


def ticks(processes: Iterable[int]) -> float:
    """Return the CPU seconds that processes have used. Ended processes count zero, and so do all without /proc."""
    return sum(map(_ticks, processes)) / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0
