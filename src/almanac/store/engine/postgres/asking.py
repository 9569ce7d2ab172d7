"""
Statements that read, asked by libpq directly: a page is a few short ones, and the driver's own way takes longer than they do.

What they give is read by psycopg's loaders. A statement that comes a second time is prepared on the server.
"""

from __future__ import annotations

import select
import struct
import time
from collections.abc import Sequence
from typing import Any

from psycopg import errors, pq
from psycopg.adapt import Transformer

from almanac.store.engine.deadline import add_database_time, has_deadline
from almanac.store.engine.postgres.link import LOOK, PostgresLink, StatementEnd

#: Statements prepared in one connection, and met once without being prepared, at most.
_PREPARED, _MET = 1_000, 4_000
_WHOLE, _REAL = struct.Struct("!q").pack, struct.Struct("!d").pack
#: No text that is stored has a NUL; so one with this in its place is none of them either.
_NO_CHARACTER = "\U0010ffff"


class Asking:
    """What one connection is asked. Errors leave as the driver's."""

    def __init__(self, link: PostgresLink) -> None:
        self._link, self._libpq = link, link.pgconn
        self._loaders = Transformer(link)
        self._prepares = link.prepare_threshold is not None
        self._names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._met: set[tuple[str, tuple[int, ...]]] = set()
        self._poll = select.poll()
        self._poll.register(self._libpq.socket, select.POLLIN)

    def first(self, sql: bytes) -> bytes | None:
        """What the last of some short statements gives: the first value of its first row."""
        self._libpq.send_query(sql)
        result = self._checked(self.result())
        return result.get_value(0, 0) if result.ntuples else None

    def rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """All rows of a statement, whose values are `$1`, `$2`, …"""
        self._send(sql, values)
        return self._loaded(self.result())

    def _send(self, sql: str, values: Sequence[Any]) -> None:
        types, bound = _bound(values)
        formats = [1] * len(bound)
        key = (sql, types)
        name = self._names.get(key) if self._prepares else None
        if name is None and self._prepares and len(self._names) < _PREPARED:
            if key in self._met:
                name = f"almanac_{len(self._names)}".encode()
                self._libpq.send_prepare(name, sql.encode(), types)
                self._checked(self.result())
                self._names[key] = name
            elif len(self._met) < _MET:
                self._met.add(key)
        if name is None:
            self._libpq.send_query_params(sql.encode(), bound, types, formats, 1)
        else:
            self._libpq.send_query_prepared(name, bound, formats, 1)

    def _loaded(self, result: Any) -> list[Any]:
        """The rows of a result. Raises where it is an error."""
        if not self._checked(result).nfields:
            return []
        self._loaders.set_pgresult(result)
        return self._loaders.load_rows(0, result.ntuples, tuple)

    def result(self) -> Any:
        """
        The result of what was sent first; the server is told to end it when nobody waits for it any more. Raises
        SilentServerError where it does not.
        """
        libpq, ending, last = self._libpq, StatementEnd(self._link), None
        began = time.perf_counter()
        look = LOOK if has_deadline() else None
        try:
            while libpq.flush():
                self._poll.modify(libpq.socket, select.POLLIN | select.POLLOUT)
                self._came(look, ending)
                self._poll.modify(libpq.socket, select.POLLIN)
                libpq.consume_input()
            while True:
                while libpq.is_busy():
                    self._came(look, ending)
                    libpq.consume_input()
                found = libpq.get_result()
                if found is None:
                    ending.through()
                    return last
                last = found
        except errors.Error:
            raise
        except BaseException:  # a signal: what the server still does is for nobody
            libpq.finish()
            raise
        finally:
            add_database_time(time.perf_counter() - began)

    def _came(self, look: int | None, ending: StatementEnd) -> None:
        if not self._poll.poll(look):
            ending.look()

    def _checked(self, result: Any) -> Any:
        if result is None or result.status not in _GOOD:
            if result is None or self._libpq.status != pq.ConnStatus.OK:
                raise errors.OperationalError("the connection to the server was lost")
            raise errors.error_from_result(result, "utf-8")
        return result


def asking_of(link: PostgresLink) -> Asking:
    """What asks by a connection: one for each, which knows what the server has prepared in it."""
    if link.asking is None:
        link.asking = Asking(link)
    found: Asking = link.asking
    return found


_GOOD = {pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK}


def _bound(values: Sequence[Any]) -> tuple[tuple[int, ...], list[bytes | None]]:
    """Values as the server reads them, and their types: one for each kind, whatever the size."""
    types: list[int] = []
    bound: list[bytes | None] = []
    for value in values:
        if isinstance(value, int):
            types.append(20)
            bound.append(_WHOLE(value))
        elif isinstance(value, str):
            types.append(25)
            bound.append((value.replace("\0", _NO_CHARACTER) if "\0" in value else value).encode())
        elif value is None:
            types.append(0)
            bound.append(None)
        elif isinstance(value, float):
            types.append(701)
            bound.append(_REAL(value))
        else:
            types.append(17)
            bound.append(bytes(value))
    return tuple(types), bound
