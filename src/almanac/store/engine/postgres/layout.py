"""What the database says of its tables: their keys and columns, asked once for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class TablesOfSchema:
    """The tables of the schema that is current."""

    def __init__(self, ask: Callable[[str, Sequence[Any]], Sequence[Sequence[Any]]]) -> None:
        self._ask = ask
        self._keys: dict[str, list[str]] = {}
        self._columns: dict[str, list[str]] = {}
        self._numbers: dict[str, str | None] = {}

    def forget(self) -> None:
        """Ask again: tables were made or changed."""
        for known in (self._keys, self._columns, self._numbers):
            known.clear()

    def key(self, table: str) -> Sequence[str]:
        """Columns of the primary key, in order."""
        if table not in self._keys:
            self._keys[table] = [name for (name,) in self._ask(_KEY, (table,))]
        return self._keys[table]

    def columns(self, table: str) -> Sequence[str]:
        """All columns, in order."""
        if table not in self._columns:
            self._columns[table] = [name for (name,) in self._ask(_COLUMNS, (table,))]
        return self._columns[table]

    def number(self, table: str) -> str | None:
        """The column that the engine gives a number: the key, where it is one whole number."""
        if table not in self._numbers:
            key = [name for (name,) in self._ask(_NUMBER, (table,))]
            self._numbers[table] = key[0] if len(key) == 1 == len(self.key(table)) else None
        return self._numbers[table]


_TABLE = "(quote_ident(current_schema()) || '.' || quote_ident($1))::regclass"
_KEY = (
    "SELECT a.attname::text FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(number, place), pg_attribute a"
    f" WHERE i.indrelid = {_TABLE} AND i.indisprimary AND a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place"
)
_NUMBER = (
    "SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
    f" WHERE i.indrelid = {_TABLE} AND i.indisprimary AND a.atttypid = 'bigint'::regtype"
)
_COLUMNS = f"SELECT attname::text FROM pg_attribute WHERE attrelid = {_TABLE} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
