"""Errors of PostgreSQL as errors of ours, and in words for people. No message shows a password."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg.conninfo import conninfo_to_dict

from almanac.store.engine.errors import (
    BusyError,
    ConflictError,
    DamagedError,
    DatabaseError,
    FullError,
    SilentError,
    StoppedError,
    UnavailableError,
    UnfitError,
)

#: By the first characters of SQLSTATE, the longest that fits.
_BY_STATE: dict[str, type[DatabaseError]] = {
    "08": UnavailableError,  # the connection
    "25006": UnavailableError,  # read-only: a replica, or a primary that is none any more
    "28": UnavailableError,  # not let in
    "3D": UnavailableError,  # no such database
    "3F": UnavailableError,  # no such schema
    "22": UnfitError,  # a character or a number that no column takes
    "23": ConflictError,
    "40": BusyError,  # serialization, deadlock
    "42501": UnavailableError,  # not allowed
    "42P01": UnavailableError,  # no such table: nobody has made them yet, or they were taken away
    "53": UnavailableError,
    "53100": FullError,
    "53200": FullError,
    "54000": UnfitError,  # a value too long for its index
    "55P03": BusyError,  # a lock could not be had in time
    "55006": BusyError,
    "57": UnavailableError,  # the server shuts down, or starts
    "57014": StoppedError,
    "58": UnavailableError,
    "P0001": ConflictError,  # a trigger said no
    "XX001": DamagedError,
    "XX002": DamagedError,
}


class SilentServerError(psycopg.OperationalError):
    """A server that does not answer, for longer than anybody waits. The connection was given up."""


def of(error: psycopg.Error) -> DatabaseError:
    """An error of the driver as one of ours."""
    state = error.sqlstate
    told = str(error).strip() or type(error).__name__
    if isinstance(error, SilentServerError):
        return SilentError(told)
    if state is None:
        # The driver's own: it refuses what it cannot send, before the server sees it.
        if isinstance(error, psycopg.DataError):
            return UnfitError(told)
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return UnavailableError(told) if lost else DatabaseError(told)
    for length in (5, 2):
        kind = _BY_STATE.get(state[:length])
        if kind is not None:
            return kind(told)
    return DatabaseError(told)


def fault(error: BaseException | None) -> DatabaseError | None:
    """An error of the database as one of ours; None for any other."""
    if isinstance(error, DatabaseError):
        return error
    return of(error) if isinstance(error, psycopg.Error) else None


@contextlib.contextmanager
def faults() -> Iterator[None]:
    """Let errors of the database leave the block as errors of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise of(error) from error


def shown(url: str) -> str:
    """Which database an address means: host, port and name, and never who comes with which password."""
    try:
        said = conninfo_to_dict(url)
    except psycopg.Error:
        return "the database of ALMANAC_DATABASE_URL"
    host = said.get("host") or said.get("hostaddr") or "the local socket"
    port = f":{said['port']}" if said.get("port") else ""
    return f"the PostgreSQL database {said.get('dbname') or said.get('user') or ''} at {host}{port}"


def advice(error: UnavailableError, url: str) -> str:
    """An error in words for people: which database, what is wrong with it, and what to do."""
    where = shown(url)
    if isinstance(error, BusyError):
        return f"{where} is held by another writer: run the command again when that one has ended"
    if isinstance(error, DamagedError):
        return f"{where} is damaged ({error}): restore it, or run `almanac rebuild`, which makes it anew from the raw store"
    if isinstance(error, FullError):
        return f"{where} has no room left ({error}): make room and run the command again; nothing is half-written"
    return f"{where} cannot be used ({error}): nothing is half-written; run the command again when the cause is gone"
