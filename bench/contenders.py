"""Who is measured, and the requests each is asked."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from almanac.domain.periods import Frequency
from bench.data import ROWS, Page, answer, cursors, day_text, environment, fetch, walk, wide_table
from bench.servers import Server, free_port, interface, running

_PEERS = Path(__file__).parent / "peers"
#: Pages that are compared row by row between Almanac and its peers before anything is measured.
_COMPARED = 20
_WALKED = 2_000
#: Headers that the HTTP server adds by itself.
_SERVERS_OWN = frozenset({"date", "server", "connection", "transfer-encoding"})
#: Connections for who takes a tenth of a second an answer: with many, a turn would be over before the first.
_FEW = 4


class Contender(NamedTuple):
    """One line of the table: a server and what it is asked."""

    name: str
    server: Server
    targets: Sequence[str]
    headers: dict[str, str]
    #: At most so many at a time; None: as many as the run has.
    connections: int | None = None


def almanac_target(page: Page, as_of: date | None = None) -> str:
    """GET /observations of one series from a period on."""
    query = {
        "indicator_id": page.indicator, "entity_id": page.entity, "frequency": page.frequency,
        "period_start": page.start.isoformat(),
    }  # fmt: skip
    if as_of is not None:
        query["as_of"] = as_of.isoformat()
    return f"/observations?{urlencode(query)}"


def fastapi_target(page: Page) -> str:
    """The same page of the wide table."""
    query = {
        "indicator_id": f"indicator_{page.indicator}", "entity_id": page.entity,
        "frequency": Frequency(page.frequency).word, "period_end_from": day_text(page.end), "limit": str(ROWS),
    }  # fmt: skip
    return f"/observations?{urlencode(query)}"


def datasette_target(page: Page, *, lean: bool = True) -> str:
    """The same page, as objects; `lean`: without the count and the suggestions that it gives unless told not to."""
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
    home: Path, key: str, pages: Sequence[Page], as_of: date, peers: Path | None, cpu: int | None
) -> Iterator[list[Contender]]:
    """All servers running, and what to ask each. `peers`: the interpreter that has the peers installed; None: no peers."""
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:

        def start(name: str, command: Sequence[str], port: int, more: dict[str, str]) -> Server:
            return stack.enter_context(running(name, command, port, {**os.environ, **more}, logs, cpu))

        almanac = stack.enter_context(interface("almanac", environment(home), logs, cpu))
        ours = {"x-api-key": key}
        headers, body = answer(almanac.port, almanac_target(pages[0]), ours)
        (home / "page.json").write_bytes(body)
        (home / "headers.json").write_text(
            json.dumps([pair for pair in headers if pair[0].lower() not in _SERVERS_OWN]), "ascii"
        )
        floors = []
        for name, more in (("floor", []), ("floor-in-turns", ["in-turns"])):
            port = free_port()
            command = [sys.executable, str(_PEERS / "serve.py"), "floor", str(port), *more]
            floors.append(start(name, command, port, {"BENCH_ANSWER": str(home)}))
        found = [
            Contender("the same bytes from memory", floors[0], ["/"], {}),
            Contender("the same, threads taking turns", floors[1], ["/"], {}),
            Contender("Almanac, fresh page", almanac, [almanac_target(page) for page in pages], ours),
            Contender("Almanac, next page of a walk", almanac, cursors(almanac.port, key, _WALKED), ours),
            Contender("Almanac, as of a year ago", almanac, [almanac_target(page, as_of) for page in pages], ours),
            Contender("Almanac, repeated page", almanac, [almanac_target(pages[0])], ours),
        ]
        if peers is not None:
            table = home / "wide.db"
            if not table.exists():
                wide_table(table, walk(almanac.port, key))
            port = free_port()
            fastapi = start("fastapi", [str(peers), str(_PEERS / "serve.py"), "fastapi_stack", str(port)], port,
                            {"BENCH_TABLE": str(table)})  # fmt: skip
            port = free_port()
            datasette = start(
                "datasette", [str(peers), "-m", "datasette", "serve", "-i", str(table), "--port", str(port)], port, {}
            )
            found += [
                Contender("FastAPI, SQLAlchemy, pydantic", fastapi, [fastapi_target(page) for page in pages], {}),
                Contender("Datasette", datasette, [datasette_target(page) for page in pages], {}),
                Contender(
                    "Datasette, as it comes",
                    datasette,
                    [datasette_target(page, lean=False) for page in pages],
                    {},
                    _FEW,
                ),
            ]
            for page in pages[:_COMPARED]:
                same_rows(page, almanac.port, key, fastapi.port, datasette.port)
            read_through(table)
        read_through(home / "data.db")
        yield found


def read_through(path: Path) -> None:
    """Have a file in the system's cache, so that nobody's turn is the one that waits for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass


def same_rows(page: Page, almanac: int, key: str, fastapi: int, datasette: int) -> None:
    """Raises RuntimeError where the three do not say the same rows of a page, field by field."""
    ours = json.loads(fetch(almanac, almanac_target(page), {"x-api-key": key}))["data"]
    if len(ours) != ROWS:
        raise RuntimeError(f"{almanac_target(page)}: {len(ours)} rows, not {ROWS}")
    theirs: dict[str, list[dict[str, Any]]] = {
        "FastAPI": json.loads(fetch(fastapi, fastapi_target(page)))["data"],
        "Datasette": json.loads(fetch(datasette, datasette_target(page)))["rows"],
    }
    for name, rows in theirs.items():
        if rows != ours:
            raise RuntimeError(f"{name} does not say the rows that {almanac_target(page)} says")
