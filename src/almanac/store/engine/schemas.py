"""Schemas of what is kept beside the data: accounts, counts of use; in a file of their own or on the data's server."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from almanac.store.engine.errors import SchemaError
from almanac.store.engine.protocol import Database

_ROWS_AT_ONCE = 1_000


class AuxiliarySchema(NamedTuple):
    """
    One such schema. `name`: what its tables are called together, and what its writers exclude each other by.

    `steps` make schema 1 of nothing, schema 2 of schema 1, and so on. They are never edited: databases of each are everywhere.
    `durable`: a commit is safe on disk before it is answered. `newer`: what to do about a database of a later version.
    `tables`: those of the newest schema, each after those that it refers to; `own`: those of what it makes for itself.
    """

    name: str
    steps: tuple[str, ...]
    tables: tuple[str, ...]
    durable: bool
    newer: str
    own: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """The number of the newest schema."""
        return len(self.steps)

    def upgrade(self, db: Database, place: object) -> None:
        """Bring a database to the newest schema, within the caller's transaction. Raises SchemaError for a later version's."""
        number = db.schema_number()
        if number > self.number:
            raise SchemaError(
                f"{place} has schema {number} of a newer version of Almanac, this one knows {self.number}: {self.newer}"
            )
        for step in self.steps[number:]:
            db.script(step)
        db.set_schema_number(self.number)


def copy_tables(source: Database, target: Database, schema: AuxiliarySchema) -> None:
    """Replace the rows of `target` by those of `source`. Both are open and of today's schema."""
    with source.snapshot(), target.transaction():
        for name in reversed(schema.tables):
            target.execute(f"DELETE FROM {name}")
        for name in schema.tables:
            rows = source.scan(f"SELECT * FROM {name}")
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                target.insert(name, some)


def tables_with_rows(db: Database, schema: AuxiliarySchema) -> list[str]:
    """Return the tables that have rows which are nowhere else: all but those that Almanac fills by itself."""
    asked = [name for name in schema.tables if name not in schema.own]
    return [name for name in asked if db.execute(f"SELECT 1 FROM {name} LIMIT 1").get]
