"""A PgBouncer that a test runs for itself on loopback, in front of the server that tests use: each transaction gets any connection."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from . import postgres

#: Who runs it: it refuses to be run by root.
_USER = "nobody"
#: So few connections to the server that those who ask take turns at each of them.
_CONNECTIONS = 3
_SAID = """
[databases]
* = host={host} port={port} user={user}{password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
logfile = {log}
server_login_retry = {retry}
"""


def why_not() -> str | None:
    """Why there is none to test with; None where there is."""
    return postgres.why_not() or (None if _program() else "PgBouncer is not installed")


def _program() -> str | None:
    # Debian puts it where only root looks.
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def pooling(before: str = postgres.SERVER, retry: int = 1) -> Iterator[str]:
    """
    Run one in the block. Gives the beginning of the addresses of all databases behind it: `postgresql://user@host:port`.

    `before`: the address of the server it stands before. `retry`: seconds until it asks one again that was away.
    """
    server = urlsplit(before)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="almanac-pooler-"))
    as_root = os.geteuid() == 0
    try:
        said = folder / "pgbouncer.ini"
        user = server.username or "postgres"
        said.write_text(
            _SAID.format(
                host=server.hostname, port=server.port or 5432, user=user, password=f" password={server.password}" if server.password else "", own=own,
                connections=_CONNECTIONS, log=folder / "log", retry=retry,
            )
        )  # fmt: skip
        if as_root:
            for one in (folder, said):
                shutil.chown(one, _USER)
        process = subprocess.Popen(
            [str(_program()), "-q", str(said)], user=_USER if as_root else None, cwd="/", stderr=subprocess.DEVNULL
        )
        try:
            _wait(own, process)
            yield f"postgresql://{user}@127.0.0.1:{own}"
        finally:
            process.terminate()
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 30
    while True:
        assert process.poll() is None, "the pooler ended"
        assert time.monotonic() < until, "the pooler did not start"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
