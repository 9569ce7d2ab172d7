"""
Comparison of both engines: the same store in a file and on a PostgreSQL server, with the same pages requested from both
in turns.

The database belongs to this run's role on the given server, and is kept for the next run as the store is. The CPU use of
the server's processes is read from /proc, so it must be on this host.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from almanac.store.engine import opening, sqlite
from bench import data, report
from bench.contenders import Contender, almanac_target
from bench.postgrest import backends
from bench.rounds import Load
from bench.rounds import measure as measure_rounds
from bench.servers import interface
from bench.store import appended, copied

_WALKED = 500
#: How often new vintages are written to each store.
_TURNS = 3

Say = Callable[[str], None]


class Database:
    """A database on a server. `server` is the address of another database there, whose role may create databases."""

    def __init__(self, server: str, name: str) -> None:
        self._server, self.name = server, name
        self.url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))

    def make(self, template: str | None = None) -> None:
        """Create it, empty or as a copy of another. An existing one of this name is dropped."""
        self.drop()
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}" + ("" if template else " ENCODING 'UTF8'"))
        self._execute(statement.format(sql.Identifier(self.name), sql.Identifier(template or "template0")))

    def drop(self) -> None:
        """Drop it if it exists."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self.name)))

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self._server, autocommit=True) as server:
            server.execute(statement)


def prepare(folder: Path, home: Path, server: str, say: Say) -> tuple[Database, Path, dict[str, str]]:
    """Move the store of a home to a server, unless it is there. Returns the database, a home for it and its settings."""
    database = Database(server, f"almanac_bench_{home.name.replace('-', '_')}")
    place = folder / f"{home.name}-server"
    settings = {"ALMANAC_DATABASE_URL": database.url}
    with contextlib.closing(sqlite.connect(home / "data.db", read_only=True)) as db:
        state = json.dumps(db.execute("SELECT k, v FROM meta WHERE k IN ('epoch', 'version') ORDER BY k").fetchall())

    def move() -> None:
        say(f"moving the store to {opening.Server(database.url)} …")
        database.make()
        backup = folder / "moving.backup"
        backup.unlink(missing_ok=True)
        data.almanac(home, "backup", str(backup), "--without-data")
        data.almanac(place, "restore", str(backup), **settings)
        data.almanac(place, "rebuild", **settings)

    data.make_once(place, state, move)
    return database, place, settings


def measure(folder: Path, home: Path, key: str, server: str, as_of: date, load: Load, say: Say) -> str:
    """Measure both engines. Returns a table for each kind of page, and one of writing new vintages."""
    database, place, settings = prepare(folder, home, server, say)
    other_key = data.new_key(place, **settings)
    pages = data.pages(home, as_of)
    fresh = [almanac_target(page) for page in pages]
    past = [almanac_target(page, as_of) for page in pages]
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    tables = []
    with (
        interface("sqlite", data.environment(home), logs, None) as file,
        interface("postgresql", data.environment(place, **settings), logs, None) as there,
    ):
        # The database's processes work for the service: their CPU counts as its own.
        there.helpers = functools.partial(backends, database.url)
        engines = (("SQLite", file, key), ("PostgreSQL", there, other_key))
        walks = {name: data.cursors(service.port, text, _WALKED) for name, service, text in engines}
        for kind, targets in (
            ("fresh page", dict.fromkeys(walks, fresh)), ("next page of a walk", walks),
            ("as of a year ago", dict.fromkeys(walks, past)), ("repeated page", dict.fromkeys(walks, fresh[:1])),
        ):  # fmt: skip
            contenders = [
                Contender(f"{kind}, {name}", service, targets[name], {"x-api-key": text})
                for name, service, text in engines
            ]
            tables.append(report.table(report.lines(measure_rounds(contenders, load, folder, None, say))))
    return "\n\n".join([*tables, _writing(home, folder, database, server, say)])


def _writing(home: Path, folder: Path, database: Database, server: str, say: Say) -> str:
    """Write new vintages to copies of both stores, in turns. For each kind of work the fastest turn counts."""
    turns = []
    copy = Database(server, f"{database.name}_copy")
    for number in range(_TURNS):
        say(f"writing, turn {number + 1} of {_TURNS}")
        path = copied(home, folder)
        try:
            with contextlib.closing(opening.create(path)) as db:
                file = appended(db)
            copy.make(database.name)
            with contextlib.closing(opening.create(opening.Server(copy.url))) as db:
                turns.append((file, appended(db)))
        finally:
            copy.drop()
            for part in folder.glob(f"{path.name}*"):
                part.unlink()
    lines = ["| vintages written per second | SQLite | PostgreSQL |", "| --- | --: | --: |"]
    for place, figure in enumerate(turns[0][0]):
        rates = [max(turn[engine][place].number / turn[engine][place].seconds for turn in turns) for engine in (0, 1)]
        lines.append(f"| {figure.name} | {rates[0]:,.0f} | {rates[1]:,.0f} |")
    return "\n".join(lines)
