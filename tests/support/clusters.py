"""Servers of PostgreSQL that a test makes for itself on loopback, and may kill: a primary and its streaming replica."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

#: Who runs the servers: they refuse to be run by root.
_USER = "postgres"


@cache
def programs() -> Path | None:
    """The folder of the server's programs, None where there are none."""
    found = shutil.which("pg_basebackup")
    held = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup"), key=lambda at: int(at.parts[-3]))
    return held[-1].parent if held else Path(found).resolve().parent if found else None


@cache
def why_not() -> str | None:
    """Why no server can be made here; None where one can."""
    if programs() is None:
        return "the programs of PostgreSQL's server are not installed"
    if os.geteuid() == 0 and not any(one.pw_name == _USER for one in pwd.getpwall()):
        return f"a server is not run by root, and there is no user {_USER}"
    return None


def run(program: str, *args: object) -> str:
    """Run one of the server's programs. Raises CalledProcessError."""
    user = _USER if os.geteuid() == 0 else None
    found = subprocess.run(
        [str(programs() / program), *map(str, args)],  # type: ignore[operator]  # whoever comes here asked `why_not`
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, user=user, cwd="/", timeout=120,
    )  # fmt: skip
    return found.stdout


class Cluster:
    """One server in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"postgresql://{_USER}@127.0.0.1:{self.port}/postgres"
        self._log = folder.with_suffix(".log")

    def make(self, **conf: str) -> Cluster:
        """A new one, and started."""
        run("initdb", "-D", self.folder, "-A", "trust", "-U", _USER, "-E", "UTF8", "--locale=C", "-N")
        self._say(unix_socket_directories="", listen_addresses="127.0.0.1", fsync="off", **conf)
        return self.start()

    def follow(self, primary: Cluster) -> Cluster:
        """A replica of another one, and started."""
        run("pg_basebackup", "-d", primary.url, "-D", self.folder, "-R", "-c", "fast")
        return self.start()

    def _say(self, **conf: str) -> None:
        with (self.folder / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in conf.items())

    def start(self) -> Cluster:
        run("pg_ctl", "-D", self.folder, "-l", self._log, "-o", f"-p {self.port}", "-w", "start")
        return self

    def promote(self) -> None:
        """Let a replica be a primary that waits for no replica of its own."""
        self._say(synchronous_standby_names="")
        run("pg_ctl", "-D", self.folder, "-w", "promote")
        run("pg_ctl", "-D", self.folder, "reload")

    def kill(self) -> None:
        """End it as the power does: whoever it answers, too, who would go on until they notice."""
        first = int((self.folder / "postmaster.pid").read_text().split()[0])
        every = [first, *_children(first)]
        for one in every:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        until = time.monotonic() + 10
        while any(Path(f"/proc/{one}").exists() for one in every) and time.monotonic() < until:
            time.sleep(0.01)

    def stop(self) -> None:
        """End it, whether it runs or not."""
        with suppress(subprocess.CalledProcessError):
            run("pg_ctl", "-D", self.folder, "-m", "immediate", "-w", "stop")


def _children(parent: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for one in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            told = one.read_text().rpartition(")")[2].split()
            if int(told[1]) == parent:
                found.append(int(one.parent.name))
    return found


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in which the servers' user may write, and to which it can come: folders of tests are their owner's alone."""
    with tempfile.TemporaryDirectory(prefix="almanac-servers-") as made:
        if os.geteuid() == 0:
            shutil.chown(made, _USER)
        yield Path(made)
