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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

#: How long the workers of a server that was killed may take to end; see `almanac.serving`.
_ORPHANS_SECONDS = 15.0
_PID_LENGTH = 20
#: Bytes read of what a server wrote down about itself.
_MOST_TOLD = 4_096
#: How far above a taken port a free one is looked for.
_PORTS_TRIED = 200


class TakenError(Exception):
    """The home is served already, or an address cannot be listened on. The message says what to do."""


class Listener(NamedTuple):
    """What listens where: what it is called in a sentence, and the setting and the option that choose its port."""

    name: str
    host: str
    port: int
    setting: str
    option: str


@contextlib.contextmanager
def claimed(folder: Path, listeners: Sequence[Listener]) -> Iterator[None]:
    """
    Hold a home, and all addresses of its server. Raises TakenError, which says all that is taken at once, where the server
    of the home listens, and which ports are free instead.
    """
    with contextlib.ExitStack() as held:
        taken: list[str] = []
        blocked: list[Listener] = []
        told: dict[str, list[object]] = {}
        try:
            held.enter_context(home(folder, listeners))
        except TakenError as error:
            taken.append(str(error))
            told = _listens(folder)
        for one in listeners:
            try:
                held.enter_context(address(one.host, one.port, f"{one.setting} or {one.option}"))
            except TakenError as error:
                blocked.append(one)
                if [one.host, one.port] not in told.values():  # else that is said already
                    taken.append(str(error))
        if taken:
            raise TakenError("\n  ".join((*taken, *_free(blocked, listeners))))
        yield


def _free(blocked: Sequence[Listener], every: Sequence[Listener]) -> Iterator[str]:
    """Name a free port for each listener whose own is taken, and that none of the others is to have."""
    chosen = {one.port for one in every}
    found = []
    for one in blocked:
        for port in range(one.port + 1, min(one.port + _PORTS_TRIED, 65_536)):
            if port not in chosen:
                with contextlib.suppress(TakenError), address(one.host, port, one.setting):
                    chosen.add(port)
                    found.append(f"{one.setting}={port}")
                    break
    if found:
        yield f"these ports are free: {' '.join(found)}"


def _listens(folder: Path) -> dict[str, list[object]]:
    """Where the last server of a home said that it listens: host and port of each listener by its name."""
    try:
        with _lock(folder).open("rb") as file:
            told = json.loads(file.read(_MOST_TOLD)[_PID_LENGTH:])
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _lock(folder: Path) -> Path:
    return folder / "run" / "serve.lock"


@contextlib.contextmanager
def home(folder: Path, listeners: Sequence[Listener] = ()) -> Iterator[None]:
    """
    Hold a home against other servers, and write down where this one listens. Raises TakenError where one has it.

    The lock is one of an open file, which forked workers share: it is free when the last of them has ended, so that no
    server starts beside workers whose own was killed. Those end by themselves, and are waited for.
    """
    path = _lock(folder)
    for one in (folder, path.parent):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + _ORPHANS_SECONDS
        while not _locked(file):
            owner = int(os.pread(file, _PID_LENGTH, 0).strip() or 0)
            if _lives(owner) or time.monotonic() > until:
                where = ", ".join(f"{name} on {host} port {port}" for name, (host, port) in _listens(folder).items())
                raise TakenError(
                    f"{folder} is served already, by process {owner}{where and f' ({where})'}: stop that one, or choose "
                    "another ALMANAC_HOME"
                )
            time.sleep(0.1)
        with contextlib.suppress(OSError):  # a full disk: whoever finds the lock cannot say whose it is
            told = json.dumps({one.name: (one.host, one.port) for one in listeners})
            os.ftruncate(file, os.pwrite(file, f"{os.getpid():<{_PID_LENGTH}}{told}".encode(), 0))
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
