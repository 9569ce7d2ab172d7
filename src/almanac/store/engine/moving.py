"""
All that one data database holds written into another, of either engine, and compared.

Table by table, each in a transaction of its own that says so, so that a move which was ended goes on where it was. The
target is no store of a world until the last of them: only then it gets the data version, and whoever reads it is served.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from almanac.store.engine.data_schema import LASTING, meta, set_meta, statements, tables_of
from almanac.store.engine.errors import StoreError
from almanac.store.engine.protocol import Database

#: Rows written at once.
_ROWS = 20_000
_UNDER_WAY = "move"
#: What each database says of itself.
_OWN = ("schema", _UNDER_WAY)
#: Tables that change without a data version: they are written last, with it.
_RESTLESS = ("meta", *(name for name in LASTING if name != "version"))


class Moved(NamedTuple):
    """One table that was moved: how many rows, and a sum over them that no order changes."""

    table: str
    rows: int
    checksum: str


def move(source: Database, target: Database, say: Callable[[Moved], object] = lambda _: None) -> list[Moved]:
    """
    Write all of a data database into another one, which must be empty, or hold the beginning of this very move.

    Raises StoreError for a target that holds something else, and where what it got is not what was sent. The source is read
    in one snapshot; what is written to it meanwhile stays behind, so writers should rest.
    """
    tables = [name for part in statements() for name in tables_of(part)]
    with source.snapshot():
        state = f"{meta(source, 'epoch')} {meta(source, 'version')}"
        done = _begun(target, state, tables)
        moved = []
        for table in tables:
            if table in _RESTLESS:
                continue
            if table in done:
                told = Moved(table, *done[table])
            else:
                with target.transaction():
                    told = _table(source, target, table)
                    done[table] = told[1:]
                    set_meta(target, _UNDER_WAY, json.dumps([state, done]))
            say(told)
            moved.append(told)
        with target.transaction():
            for table in _RESTLESS:
                told = _table(source, target, table)
                say(told)
                moved.append(told)
            target.execute("DELETE FROM meta WHERE k = ?", (_UNDER_WAY,))
    return moved


def _begun(target: Database, state: str, tables: Sequence[str]) -> dict[str, tuple[int, str]]:
    """The tables that an earlier run has moved of this very state. Whatever else it had written is taken away."""
    noted = meta(target, _UNDER_WAY)
    if noted is not None:
        held, done = json.loads(noted)
        if held == state:
            return {name: (rows, checksum) for name, (rows, checksum) in done.items()}
    elif meta(target, "version") != "0" or any(
        target.execute(f"SELECT 1 FROM {name} LIMIT 1").get for name in tables if name != "meta"
    ):
        raise StoreError("the database to move to is not empty: name one that nothing was written to")
    with target.transaction():
        for name in tables:
            if name != "meta":
                target.execute(f"DELETE FROM {name}")
        set_meta(target, _UNDER_WAY, json.dumps([state, {}]))
    return {}


def _table(source: Database, target: Database, table: str) -> Moved:
    """One table, inside the caller's transaction."""
    own = table == "meta"
    target.execute(f"DELETE FROM {table}" + (f" WHERE k NOT IN {_OWN!r}" if own else ""))
    sent, got = _Sum(), _Sum()
    columns = 0
    rows = source.scan(f"SELECT * FROM {table}" + (f" WHERE k NOT IN {_OWN!r}" if own else ""))
    for some in _chunks(sent.seen(rows)):
        columns = len(some[0])
        target.executemany(f"INSERT INTO {table} VALUES({','.join('?' * columns)})", some)
    for _ in got.seen(target.scan(f"SELECT * FROM {table}" + (f" WHERE k NOT IN {_OWN!r}" if own else ""))):
        pass
    if (sent.rows, sent.digest) != (got.rows, got.digest):
        raise StoreError(f"table {table} did not arrive as it was sent: {sent.rows} rows went, {got.rows} came")
    return Moved(table, sent.rows, sent.digest)


def _chunks(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while some := list(islice(rows, _ROWS)):
        yield some


class _Sum:
    """A sum over rows, whatever their order."""

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    def seen(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The rows, each counted as it passes."""
        for row in rows:
            self.rows += 1
            self._total += int.from_bytes(hashlib.blake2b(repr(tuple(row)).encode(), digest_size=16).digest(), "big")
            yield row

    @property
    def digest(self) -> str:
        return f"{self._total & (1 << 128) - 1:032x}"
