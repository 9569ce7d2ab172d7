"""How much a database on a server takes, and how much room its disk has, as far as a client is told."""

from __future__ import annotations

import shutil
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from almanac.store.engine.postgres.faults import faults
from almanac.store.engine.postgres.link import opened

#: The folder is there for roles that may read all settings (`pg_monitor`), and else no row.
_ASKED = "SELECT pg_database_size(current_database()), (SELECT setting FROM pg_settings WHERE name = 'data_directory')"


class ServerRoom(NamedTuple):
    """Bytes: of the database; free on the disk of the server's folder, and of that disk, None where nobody tells."""

    database: int
    free: int | None = None
    total: int | None = None


@faults()
def room(url: str, *, prepared: bool) -> ServerRoom:
    """
    Ask the server. PostgreSQL tells of no disk; that of a server on this very machine is looked at, where it says which
    folder is its own. Raises UnavailableError where it cannot be reached.
    """
    with opened(url, prepared=prepared) as link:
        size, folder = link.execute(_ASKED).fetchone() or (0, None)
        here = _is_here(link.info.host)
    if folder is not None and here:
        with suppress(OSError):  # nothing of that name here: it is another machine's, by a tunnel
            used = shutil.disk_usage(Path(folder))
            return ServerRoom(int(size), used.free, used.total)
    return ServerRoom(int(size))


def _is_here(host: str) -> bool:
    """Whether a server is reached by a socket of this machine, or over its loopback."""
    if host.startswith(("/", "@")) or host in {"", "localhost"}:
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False
