"""The contenders of the comparison, and the requests sent to each."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from almanac.domain.periods import Frequency
from bench import postgrest
from bench.data import ROWS, Page, answer, cursors, day_text, environment, fetch, walk, wide_table
from bench.servers import Server, free_port, interface, running

_PEERS = Path(__file__).parent / "peers"
#: Pages that are compared row by row between Almanac and its peers before anything is measured.
_COMPARED = 20
_WALKED = 2_000
#: Prefixes of contenders' names (of the floor, of Almanac), and the name of one of Almanac's.
FLOOR, OURS = "the same", "Almanac"
FRESH = "Almanac, fresh page"
#: Headers that the HTTP server adds by itself.
_SERVERS_OWN = frozenset({"date", "server", "connection", "transfer-encoding"})
#: Connections for contenders that take a tenth of a second per answer: with many, a turn would end before the first
#: answer.
_FEW = 4

#: Returns a peer's rows of a page.
Theirs = Callable[[Page], list[dict[str, Any]]]


class Contender(NamedTuple):
    """One line of the table: a server and the requests sent to it."""

    name: str
    server: Server
    targets: Sequence[str]
    headers: dict[str, str]
    #: Highest number of connections; None: as many as the run has.
    connections: int | None = None
    #: The status that every answer must have.
    status: int = 200


class Peers(NamedTuple):
    """The installed peers: the interpreter with the Python ones, the PostgREST program, and a PostgreSQL server for it."""

    interpreter: Path
    postgrest: Path
    postgres: str


def almanac_target(page: Page, as_of: date | None = None) -> str:
    """Return the address of one series from a period on, in GET /observations."""
    query = {
        "indicator_id": page.indicator, "entity_id": page.entity, "frequency": page.frequency,
        "period_start": page.start.isoformat(),
    }  # fmt: skip
    if as_of is not None:
        query["as_of"] = as_of.isoformat()
    return f"/observations?{urlencode(query)}"


def fastapi_target(page: Page) -> str:
    """Return the address of that page in the wide table of FastAPI."""
    query = {
        "indicator_id": f"indicator_{page.indicator}", "entity_id": page.entity,
        "frequency": Frequency(page.frequency).word, "period_end_from": day_text(page.end), "limit": str(ROWS),
    }  # fmt: skip
    return f"/observations?{urlencode(query)}"


def datasette_target(page: Page, *, lean: bool = True) -> str:
    """
    Return the address of that page in Datasette, as objects. `lean` switches off the count, facets and suggestions that
    it gives by default.
    """
    query = {
        "indicatorId": f"indicator_{page.indicator}", "entityId": page.entity,
        "frequency": Frequency(page.frequency).word, "periodEnd__gte": day_text(page.end), "_sort": "periodEnd",
        "_size": str(ROWS), "_shape": "objects",
    }  # fmt: skip
    if lean:
        query |= {"_nocount": "1", "_nofacet": "1", "_nosuggest": "1"}
    more = urlencode([("_json", "metadata"), ("_json", "rights")])
    return f"/wide/observations.json?{urlencode(query)}&{more}"


@contextlib.contextmanager
def contenders(
    home: Path,
    key: str,
    pages: Sequence[Page],
    as_of: date,
    peers: Peers | None,
    cpu: int | None,
    revised: tuple[Path, str],
    say: Callable[[str], None],
) -> Iterator[list[Contender]]:
    """
    Start all servers and yield them with the requests for each. `revised` is home and key of the store in which half of
    the values were revised since `as_of`.
    """
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:

        def start(name: str, command: Sequence[str], port: int, more: dict[str, str]) -> Server:
            return stack.enter_context(running(name, command, port, {**os.environ, **more}, logs, cpu))

        almanac = stack.enter_context(interface("almanac", environment(home), logs, cpu))
        ours = {"x-api-key": key}
        since = stack.enter_context(interface("almanac-revised", environment(revised[0]), logs, cpu))
        headers, body = answer(almanac.port, almanac_target(pages[0]), ours)
        etag = next(value for name, value in headers if name.lower() == "etag")
        (home / "page.json").write_bytes(body)
        (home / "headers.json").write_text(
            json.dumps([pair for pair in headers if pair[0].lower() not in _SERVERS_OWN]), "ascii"
        )
        port = free_port()
        floor = start(
            "floor", [sys.executable, str(_PEERS / "serve.py"), "floor", str(port)], port, {"BENCH_ANSWER": str(home)}
        )
        first, past = [almanac_target(pages[0])], [almanac_target(page, as_of) for page in pages]
        unchanged = ours | {"if-none-match": etag}
        every = [
            Contender(f"{FLOOR} bytes from memory", floor, ["/"], {}),
            Contender(FRESH, almanac, [almanac_target(page) for page in pages], ours),
            Contender("Almanac, next page of a walk", almanac, cursors(almanac.port, key, _WALKED), ours),
            Contender("Almanac, as of a year ago", almanac, past, ours),
            Contender("Almanac, as of a year ago, half revised since", since, past, {"x-api-key": revised[1]}),
            Contender("Almanac, repeated page", almanac, first, ours),
            Contender("Almanac, unchanged page (304)", almanac, first, unchanged, status=304),
        ]
        if peers is not None:
            table = home / "wide.db"
            if not table.exists():
                wide_table(table, walk(almanac.port, key))
            serve, port = [str(peers.interpreter), str(_PEERS / "serve.py")], free_port()
            fastapi = start("fastapi", [*serve, "fastapi_stack", str(port)], port, {"BENCH_TABLE": str(table)})
            serve, port = [str(peers.interpreter), "-m", "datasette", "serve"], free_port()
            datasette = start("datasette", [*serve, "-i", str(table), "--port", str(port)], port, {})
            lean, full = ([datasette_target(page, lean=lean) for page in pages] for lean in (True, False))
            every += [
                Contender("FastAPI, SQLAlchemy, pydantic", fastapi, [fastapi_target(page) for page in pages], {}),
                Contender("Datasette", datasette, lean, {}),
                Contender("Datasette, as it comes", datasette, full, {}, _FEW),
            ]
            theirs: dict[str, Theirs] = {
                "FastAPI": lambda page: rows_of(fetch(fastapi.port, fastapi_target(page)), "data"),
                "Datasette": lambda page: rows_of(fetch(datasette.port, datasette_target(page)), "rows"),
            }
            lacking = postgrest.lacking(peers.postgrest, peers.postgres)
            if lacking is None:
                address = stack.enter_context(postgrest.database(peers.postgres, table))
                port = free_port()
                other = start("postgrest", [str(peers.postgrest)], port, postgrest.environment(address, port))
                postgrest.wait(port, pages[0])
                other.helpers = functools.partial(postgrest.backends, address, cpu)
                theirs["PostgREST"] = lambda page: rows_of(fetch(other.port, postgrest.target(page)))
                every.append(Contender("PostgREST", other, [postgrest.target(page) for page in pages], {}))
            else:
                say(f"without PostgREST: {lacking}")
            for page in pages[:_COMPARED]:
                same_rows(page, rows_of(fetch(almanac.port, almanac_target(page), ours), "data"), theirs)
            read_through(table)
        read_through(home / "data.db")
        read_through(revised[0] / "data.db")
        yield every


def read_through(path: Path) -> None:
    """Load a file into the system's cache, so that no contender's turn is the one that waits for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass


def rows_of(body: bytes, member: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of an answer, which are a member of it or the whole answer."""
    found = json.loads(body)
    rows: list[dict[str, Any]] = found if member is None else found[member]
    return rows


def same_rows(page: Page, ours: list[dict[str, Any]], theirs: Mapping[str, Theirs]) -> None:
    """Compare the rows of a page field by field. Raises RuntimeError if a peer's rows differ from Almanac's."""
    if len(ours) != ROWS:
        raise RuntimeError(f"{almanac_target(page)}: {len(ours)} rows, not {ROWS}")
    for name, rows in theirs.items():
        if rows(page) != ours:
            raise RuntimeError(f"{name} does not say the rows that {almanac_target(page)} says")
