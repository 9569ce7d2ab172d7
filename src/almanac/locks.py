"""One server for one home and one port: a second one is told so, and what runs where, before it does anything."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

#: How long the workers of a server that was killed may take to end; see `almanac.serving`.
_ORPHANS_SECONDS = 15.0
#: Bytes read of what a server wrote down about itself.
_MOST_WRITTEN = 4_096


class TakenError(Exception):
    """The home is served already, or an address cannot be listened on. The message says what to do."""


class Listener(NamedTuple):
    """What listens where, by its name in a sentence."""

    name: str
    host: str
    port: int


@contextlib.contextmanager
def claimed(folder: Path, listeners: Mapping[str, Listener]) -> Iterator[None]:
    """
    Hold a home, and all addresses of its server, each by the setting that chooses its port.

    Raises TakenError, which says all that is taken at once, and where the server of the home listens.
    """
    with contextlib.ExitStack() as held:
        taken: list[str] = []
        others: list[list[Any]] = []
        try:
            held.enter_context(home(folder, listeners))
        except TakenError as error:
            taken.append(str(error))
            others = _owner(folder)[1]
        for setting, listener in listeners.items():
            try:
                held.enter_context(address(listener.host, listener.port, setting))
            except TakenError as error:
                if [*listener] not in others:  # else that is said already
                    taken.append(str(error))
        if taken:
            raise TakenError("\n  ".join(taken))
        yield


def _owner(folder: Path) -> tuple[int, list[list[Any]]]:
    """Return the process of the last server of a home, and its listeners, as it wrote them down; 0 and none if unknown."""
    try:
        with _lock(folder).open("rb") as file:
            process, listeners = json.loads(file.read(_MOST_WRITTEN))
    except (OSError, ValueError, TypeError):
        return 0, []
    return process, listeners


def _lock(folder: Path) -> Path:
    return folder / "run" / "serve.lock"


@contextlib.contextmanager
def home(folder: Path, listeners: Mapping[str, Listener]) -> Iterator[None]:
    """
    Hold a home against other servers, and write down where this one listens. Raises TakenError where one has it.

    The lock is one of an open file, which forked workers share: it is free when the last of them has ended, so that no
    server starts beside workers whose own was killed. Those end by themselves, and are waited for.
    """
    path = _lock(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + _ORPHANS_SECONDS
        while not _locked(file):
            process, others = _owner(folder)
            if _lives(process) or time.monotonic() > until:
                where = ", ".join(f"{name} on {host} port {port}" for name, host, port in others)
                raise TakenError(
                    f"{folder} is served already, by process {process}{where and f' ({where})'}: stop that one, or choose "
                    "another ALMANAC_HOME"
                )
            time.sleep(0.1)
        with contextlib.suppress(OSError):  # a full disk: whoever finds the lock cannot say whose it is
            os.ftruncate(file, os.pwrite(file, json.dumps([os.getpid(), [*listeners.values()]]).encode(), 0))
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
    """Return whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return process != 0


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
            choice = f"ALMANAC_{setting.upper()} or --{setting.replace('_', '-')}"
            raise TakenError(f"cannot listen on {host}, port {port}: {why}; choose another with {choice}") from None
        if sys.platform == "linux":
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        else:  # there the server shares one socket among its workers, and finds out by itself
            held.close()
        yield
