"""One server for one home and one port: a second one is told so before it does anything."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

#: How long the workers of a server that was killed may take to end; see `almanac.hosting`.
_ORPHANS_SECONDS = 15.0
_PID_LENGTH = 20


class TakenError(Exception):
    """The home is served already, or an address cannot be listened on. The message says what to do."""


@contextlib.contextmanager
def home(folder: Path) -> Iterator[None]:
    """
    Hold a home against other servers. Raises TakenError where one has it.

    The lock is one of an open file, which forked workers share: it is free when the last of them has ended, so that no
    server starts beside workers whose own was killed. Those end by themselves, and are waited for.
    """
    path = folder / "run" / "serve.lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + _ORPHANS_SECONDS
        while not _locked(file):
            owner = int(os.pread(file, _PID_LENGTH, 0).strip() or 0)
            if _lives(owner) or time.monotonic() > until:
                raise TakenError(
                    f"{folder} is served already, by process {owner}: stop that one, or choose another ALMANAC_HOME"
                )
            time.sleep(0.1)
        with contextlib.suppress(OSError):  # a full disk: whoever finds the lock cannot say whose it is
            os.pwrite(file, str(os.getpid()).ljust(_PID_LENGTH).encode(), 0)
        yield
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(process: int) -> bool:
    """Whether there is a process of this number; nobody's number is taken for one that is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@contextlib.contextmanager
def address(host: str, port: int, setting: str) -> Iterator[None]:
    """
    Hold an address against other programs while our own processes listen on it. Raises TakenError where it is taken.

    Workers share a port by SO_REUSEPORT, which would let in any other server of the same user that asks for the same. So
    the address is bound without it first, which fails beside anyone; then it is opened, to sockets that share alike.
    A second server binds without it as well, and so finds this one, although it never listens.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as held:
        # Connections that a server before us has just closed are no reason not to start.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((host, port))
        except OSError as error:
            why = "it is in use" if error.errno == errno.EADDRINUSE else (error.strerror or str(error)).lower()
            raise TakenError(f"cannot listen on {host}, port {port}: {why}; choose another with {setting}") from None
        if sys.platform == "linux":
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        else:  # there the server shares one socket among its workers, and finds out by itself
            held.close()
        yield
