"""All rows of one data database copied into another, of either engine: tests compare what both answer."""

from itertools import islice

from almanac.store.engine.data_schema import statements, tables_of
from almanac.store.engine.protocol import Database

_ROWS = 20_000


def move(source: Database, target: Database) -> None:
    """Replace the rows of `target`, which has the tables of this schema, by those of `source`."""
    with source.snapshot(), target.transaction():
        for table in [name for part in statements() for name in tables_of(part)]:
            target.execute(f"DELETE FROM {table}")
            rows = source.scan(f"SELECT * FROM {table}")
            while some := list(islice(rows, _ROWS)):
                target.executemany(f"INSERT INTO {table} VALUES({','.join('?' * len(some[0]))})", some)
