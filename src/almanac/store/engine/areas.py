"""
What is kept beside the data: accounts, counts of use. Each kind has its tables, in a file of its own or in the data's server.

The statements that make its tables are SQLite's, as everywhere; a server's are made of them.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from almanac.store.engine.errors import SchemaError
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable

_AT_ONCE = 1_000
_TABLE = re.compile(r"^(CREATE|DROP) TABLE (\w+)", re.MULTILINE)


class Area(NamedTuple):
    """
    One kind. `name`: what its tables are called together, and what its writers exclude each other by.

    `steps`: what makes schema 1 of nothing, schema 2 of schema 1, and so on. They are never edited: databases of each are
    everywhere. `lasting`: a commit is safe on disk before it is answered. `newer`: what to do about a database of a later
    version. `own`: tables of what it makes for itself.
    """

    name: str
    steps: tuple[str, ...]
    lasting: bool
    newer: str
    own: frozenset[str] = frozenset()

    @property
    def schema(self) -> int:
        """The number of the newest schema."""
        return len(self.steps)

    @property
    def tables(self) -> list[str]:
        """Its tables, each after those that it refers to."""
        found: dict[str, None] = {}
        for verb, name in (pair for step in self.steps for pair in _TABLE.findall(step)):
            found.pop(name, None)
            if verb == "CREATE":
                found[name] = None
        return list(found)

    def bring(self, db: Queryable, found: int, where: object) -> bool:
        """
        Bring a database to the newest schema, within the caller's transaction. False: it has it already.

        Raises SchemaError for one of a later version.
        """
        if found > self.schema:
            raise SchemaError(
                f"{where} has schema {found} of a newer version of Almanac, this one knows {self.schema}: {self.newer}"
            )
        for step in self.steps[found:]:
            db.execute(step)
        return found < self.schema


def carry(source: Database, target: Database, area: Area) -> None:
    """Replace what `target` holds of an area by what `source` holds. Both are open and of today's schema."""
    with source.snapshot(), target.transaction():
        for name in reversed(area.tables):
            target.execute(f"DELETE FROM {name}")
        for name in area.tables:
            rows = source.scan(f"SELECT * FROM {name}")
            while some := list(islice(rows, _AT_ONCE)):
                target.executemany(f"INSERT INTO {name} VALUES({', '.join('?' * len(some[0]))})", some)


def holdings(db: Database, area: Area) -> list[str]:
    """Tables that hold what is nowhere else: all with rows, but for what the area makes for itself."""
    asked = [name for name in area.tables if name not in area.own]
    return [name for name in asked if db.execute(f"SELECT 1 FROM {name} LIMIT 1").get]
