"""One server for one home and one port: a second one is told so, and what runs where, before it does anything."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from almanac.domain.errors import UserError
from almanac.load_state import try_lock

#: How long the workers of a server that was killed may take to end; see `almanac.serving`.
_ORPHANS_SECONDS = 15.0
#: Bytes read of what a server wrote down about itself.
_MOST_WRITTEN = 4_096


class TakenError(UserError):
    """The home is served already, or an address cannot be listened on. The message says what to do."""


#: The name of a listener in a sentence, its address and its port.
Listener = tuple[str, str, int]


@contextlib.contextmanager
def claimed(folder: Path, listeners: Mapping[str, Listener]) -> Iterator[None]:
    """
    Hold a home against other servers, and all addresses of this one, each by the setting that chooses its port. Write down
    where it listens.

    Raises TakenError, which says all that is taken at once, and where the server of the home listens.

    The lock is one of an open file, which forked workers share: it is free when the last of them has ended, so that no
    server starts beside workers whose own was killed. Those end by themselves, and are waited for.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "run" / "serve.lock"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as held:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        held.callback(os.close, file)
        taken: list[str] = []
        others: list[list[Any]] = []
        until = time.monotonic() + _ORPHANS_SECONDS
        while not try_lock(file):
            # The process of the server that has it, and its listeners, as it wrote them down.
            process, others = 0, []
            with contextlib.suppress(ValueError, TypeError):
                process, others = json.loads(os.pread(file, _MOST_WRITTEN, 0))
            if _lives(process) or time.monotonic() > until:
                where = ", ".join(f"{name} on {host} port {port}" for name, host, port in others)
                taken.append(
                    f"{folder} is served already, by process {process}{where and f' ({where})'}: stop that one, or choose "
                    "another ALMANAC_HOME"
                )
                break
            time.sleep(0.1)
        for setting, listener in listeners.items():
            problem = _bind(held, listener, setting)
            if problem is not None and not (taken and [*listener] in others):  # else that is said already
                taken.append(problem)
        if taken:
            raise TakenError("\n  ".join(taken))
        with contextlib.suppress(OSError):  # a full disk: whoever finds the lock cannot say whose it is
            os.ftruncate(file, os.pwrite(file, json.dumps([os.getpid(), [*listeners.values()]]).encode(), 0))
        yield


def _lives(process: int) -> bool:
    """Return whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return process != 0


def _bind(held: contextlib.ExitStack, listener: Listener, setting: str) -> str | None:
    """
    Hold an address against other programs while our own processes listen on it. Return why it cannot be.

    Workers share a port by SO_REUSEPORT, which would let in any other server of the same user that asks for the same. So
    the address is bound without it first, which fails beside anyone; then it is opened, to sockets that share alike.
    A second server binds without it as well, and so finds this one, although it never listens.
    """
    _, host, port = listener
    bound = held.enter_context(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET))
    # Connections that a server before us has just closed are no reason not to start.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        why = "it is in use" if error.errno == errno.EADDRINUSE else (error.strerror or str(error)).lower()
        choice = f"ALMANAC_{setting.upper()} or --{setting.replace('_', '-')}"
        return f"cannot listen on {host}, port {port}: {why}; choose another with {choice}"
    if sys.platform == "linux":
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    else:  # there the server shares one socket among its workers, and finds out by itself
        bound.close()
    return None
