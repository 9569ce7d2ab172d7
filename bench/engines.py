"""
Comparison of both engines: the same store in a file and on a PostgreSQL server, with the same pages requested from both
in turns.

The database belongs to this run's role on the given server, and is kept for the next run as the store is. The server's
CPU use is read from /proc, so it must be on this host.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from almanac.store.engine import opening, sqlite
from bench import data
from bench.contenders import Contender, almanac_target
from bench.report import Round
from bench.servers import Server, interface, ticks
from bench.store import Figure, appended, copied

#: Numbers of workers of each service.
_WORKERS = (1, 2)
_WALKED = 500
_WARM_SECONDS = 2.0
#: How often new vintages are written to each store.
_TURNS = 3

Load = Callable[..., tuple[Round, int]]
Say = Callable[[str], None]


class _OnServer:
    """A service with its data on a server. The server's CPU use for it counts as its own."""

    def __init__(self, service: Server, backends: Callable[[], float]) -> None:
        self.port = service.port
        self._service, self._backends = service, backends
        #: CPU seconds that the server has used so far, and at the measurement before.
        self.there = self.before = 0.0

    def cpu(self) -> float | None:
        own = self._service.cpu()
        self.before, self.there = self.there, self._backends()
        return None if own is None else own + self.there


class _Compared(NamedTuple):
    """One round of the same requests on file and server, and the CPU microseconds of the server's backends."""

    file: Round
    server: Round
    backends: float


class Database:
    """A database on a server. `server` is the address of another database there, whose role may create databases."""

    def __init__(self, server: str, name: str) -> None:
        self._server, self.name = server, name
        self.url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))

    def make(self, template: str | None = None) -> None:
        """Create it, empty or as a copy of another. An existing one of this name is dropped."""
        self.drop()
        said = sql.SQL("CREATE DATABASE {} TEMPLATE {}" + ("" if template else " ENCODING 'UTF8'"))
        self._tell(said.format(sql.Identifier(self.name), sql.Identifier(template or "template0")))

    def drop(self) -> None:
        self._tell(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self.name)))

    def note(self, text: str) -> None:
        """Record what it holds."""
        self._tell(sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(self.name), sql.Literal(text)))

    def noted(self) -> str | None:
        """Return the recorded text, or None if the database or the record doesn't exist."""
        asked = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        with psycopg.connect(self._server) as server:
            row = server.execute(asked, (self.name,)).fetchone()
        return None if row is None else row[0]

    def seconds(self) -> float:
        """Return the CPU seconds of the processes behind its current connections."""
        with psycopg.connect(self._server) as server:
            asked = server.execute("SELECT pid FROM pg_stat_activity WHERE datname = %s", (self.name,))
            return ticks([number for (number,) in asked.fetchall()])

    def _tell(self, words: sql.Composed) -> None:
        with psycopg.connect(self._server, autocommit=True) as server:
            server.execute(words)


def prepare(folder: Path, home: Path, server: str, say: Say) -> tuple[Database, dict[str, str], str]:
    """Move the store of a home to a server, unless it is there. Returns the database, its settings and a key."""
    database = Database(server, f"almanac_bench_{home.name.replace('-', '_')}")
    place = folder / f"{home.name}-server"
    environment = {**data.environment(place), "ALMANAC_DATABASE_URL": database.url}
    with contextlib.closing(sqlite.connect(home / "data.db", read_only=True)) as db:
        state = json.dumps(db.execute("SELECT k, v FROM meta WHERE k IN ('epoch', 'version') ORDER BY k").fetchall())
    if database.noted() != state:
        say(f"moving the store to {opening.Server(database.url)} …")
        database.make()
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(mode=0o700)
        moving = {**data.environment(home)}
        _almanac(moving, "migrate", "--to", database.url)
        _almanac(environment, "accounts", "create", data.EMAIL, "--plan", data.PLAN)
        database.note(state)
    place.mkdir(mode=0o700, exist_ok=True)
    key = json.loads(_almanac(environment, "keys", "create", "--account", data.EMAIL, "--json"))["key"]
    return database, environment, key


def _almanac(environment: dict[str, str], *words: str) -> str:
    command = [sys.executable, "-m", "almanac", *words]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(
    folder: Path, home: Path, key: str, server: str, as_of: date, say: Say, load: Load,
    *, rounds: int, seconds: float, connections: int,
) -> str:  # fmt: skip
    """Measure both engines. Returns two tables: pages, and writing of new vintages."""
    database, environment, own = prepare(folder, home, server, say)
    pages = data.pages(home, as_of)
    lines = [
        "| pages | of SQLite's rate | least to most | by CPU | answers/s: SQLite | PostgreSQL | CPU µs: SQLite | client | server |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for workers in _WORKERS:
        both = ((data.environment(home), key), (environment, own))
        with _running(both, workers, database, folder) as (file, there):
            for name, targets in _kinds(pages, as_of, file.port, key):
                contenders = [
                    Contender(name, one, list(said), {"x-api-key": text})
                    for one, text, said in (
                        (file, key, targets(file.port, key)),
                        (there, own, targets(there.port, own)),
                    )
                ]
                say(f"{name}, {workers} workers")
                found = _rounds(contenders, there, folder, load, rounds, seconds, connections)
                lines.append(_line(f"{name}, {'a worker' if workers == 1 else f'{workers} workers'}", found))
    return "\n".join([*lines, "", *_writing(home, folder, database, server, say)])


def _of_workers(count: int) -> dict[str, str]:
    """Return the settings for `count` workers. Several of them share their counts in Redis."""
    return {"ALMANAC_WORKERS": str(count)} | ({"ALMANAC_REDIS_URL": "redis://127.0.0.1:6379/0"} if count > 1 else {})


@contextlib.contextmanager
def _running(
    both: Sequence[tuple[dict[str, str], str]], workers: int, database: Database, folder: Path
) -> Iterator[tuple[Any, Any]]:
    """Run a service on each engine, without choosing cores."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        file, there = [
            stack.enter_context(interface(f"engine-{number}", {**one, **_of_workers(workers)}, logs, None))
            for number, (one, _) in enumerate(both)
        ]
        yield file, _OnServer(there, database.seconds)


def _kinds(
    pages: Sequence[data.Page], as_of: date, port: int, key: str
) -> list[tuple[str, Callable[[int, str], Sequence[str]]]]:
    """Return the kinds of requests. Each service has its own cursors for walks."""
    fresh = [almanac_target(page) for page in pages]
    past = [almanac_target(page, as_of) for page in pages]
    return [
        ("fresh page", lambda _, __: fresh),
        ("next page of a walk", lambda port, key: data.cursors(port, key, _WALKED)),
        ("as of a year ago", lambda _, __: past),
        ("repeated page", lambda _, __: fresh[:1]),
    ]


def _rounds(
    contenders: Sequence[Contender], there: _OnServer, folder: Path, load: Load, rounds: int, seconds: float, connections: int
) -> list[_Compared]:  # fmt: skip
    """Measure both in turns, with the order swapped each round. A short first round isn't counted."""
    found = []
    first = 0
    for number in range(rounds + 1):
        made: dict[int, Round] = {}
        for place in (0, 1) if number % 2 else (1, 0):
            made[place], following = load(
                contenders[place], folder, seconds=seconds if number else min(_WARM_SECONDS, seconds),
                connections=connections, first=first, cpu=None,
            )  # fmt: skip
            if place:
                backends = (there.there - there.before) / len(made[place].latencies) * 1e6
            else:
                behind = following
        first = behind
        if number:
            found.append(_Compared(made[0], made[1], backends))
    return found


def _line(name: str, found: Sequence[_Compared]) -> str:
    ratios = sorted(one.server.rate / one.file.rate for one in found)
    shares = [
        one.file.server_cpu / one.server.server_cpu for one in found if one.file.server_cpu and one.server.server_cpu
    ]
    middle = statistics.median
    cpus = ["", "", ""]
    if shares:
        backends = middle(one.backends for one in found)
        whole = middle(one.server.server_cpu or 0 for one in found)
        cpus = [
            f"{middle(one.file.server_cpu or 0 for one in found):,.0f}",
            f"{whole - backends:,.0f}",
            f"{backends:,.0f}",
        ]
    return (
        f"| {name} | {middle(ratios):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} | {f'{middle(shares):.2f}' if shares else ''}"
        f" | {middle(one.file.rate for one in found):,.0f} | {middle(one.server.rate for one in found):,.0f} | {' | '.join(cpus)} |"
    )


def _writing(home: Path, folder: Path, database: Database, server: str, say: Say) -> list[str]:
    """Write new vintages to copies of both stores, in turns. For each kind of work the fastest turn counts."""
    found: list[tuple[list[Figure], list[Figure]]] = []
    copy = Database(server, f"{database.name}_copy")
    for number in range(_TURNS):
        say(f"writing, turn {number + 1} of {_TURNS}")
        path = copied(home, folder)
        try:
            with contextlib.closing(opening.create(path)) as db:
                file = appended(db)
        finally:
            for part in folder.glob(f"{path.name}*"):
                part.unlink()
        copy.make(database.name)
        try:
            with contextlib.closing(opening.create(opening.Server(copy.url))) as db:
                found.append((file, appended(db)))
        finally:
            copy.drop()
    lines = [
        "| vintages written | per second, SQLite | PostgreSQL | per CPU second, SQLite | PostgreSQL's client |",
        "| --- | --: | --: | --: | --: |",
    ]
    for place, one in enumerate(found[0][0]):
        each = [[turn[engine][place] for turn in found] for engine in (0, 1)]
        rates = [max(step.number / step.seconds for step in own) for own in each]
        cpus = [max(step.number / step.cpu for step in own) for own in each]
        lines.append(f"| {one.name} | " + " | ".join(f"{rate:,.0f}" for rate in (*rates, *cpus)) + " |")
    return lines
