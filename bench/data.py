"""The data of the benchmarks: a store of the simulated world, the same rows as a wide table, and a list of pages."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import add_months, end_of, start_of
from almanac.domain.times import DAY_SECONDS, end_of_day, wire_time
from almanac.store.engine import opening, sqlite
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import SeriesClaim

#: Rows of a page, and the distance between page starts in one series, so that no two pages are the same.
ROWS, STEP = 100, 20
EMAIL, PLAN = "bench@example.org", "bench"
#: The fields of a row of GET /observations, which are the columns of the wide table.
COLUMNS = (
    "id", "entityId", "indicatorId", "sourceId", "providerId", "valueNumeric", "valueText", "unit", "frequency",
    "periodStart", "periodEnd", "observedAt", "releasedAt", "ingestedAt", "revisionStatus", "sourceUrl", "attribution",
    "freshnessStatus", "metadata", "rights",
)  # fmt: skip
_TYPES = {"id": "TEXT PRIMARY KEY", "valueNumeric": "REAL"}
_SEED = 20_260_101


class Page(NamedTuple):
    """One hundred consecutive rows of one series: its topic, and the first and last day of the first row's period."""

    indicator: str
    entity: str
    frequency: str
    start: date
    end: date


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the settings of every Almanac process here, with a plan whose limits don't disturb a measurement."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}
    limit = {f"ALMANAC_PLANS__{PLAN.upper()}__REQUESTS_PER_MINUTE": "1000000000"}
    return {**kept, "ALMANAC_HOME": str(home), **limit, **more}


def almanac(home: Path, *words: str, **settings: str) -> str:
    """Run one command of Almanac and return its output. Raises CalledProcessError."""
    command = [sys.executable, "-m", "almanac", *words]
    environ = environment(home, **settings)
    return subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_once(home: Path, state: str, fill: Callable[[], None]) -> None:
    """
    Fill a folder unless it was filled in this state. Raises RuntimeError for a folder that no measurement created.

    An unfinished folder, or one of another state, is made anew.
    """
    made = home / "made"
    if home.exists() and not made.exists():
        raise RuntimeError(f"{home} was not made by a measurement and is left alone; choose another --folder")
    if not home.exists() or made.read_text("ascii") != state:
        if home.exists():
            shutil.rmtree(home)
        home.mkdir(parents=True)
        made.write_text("unfinished", "ascii")
        fill()
        made.write_text(state, "ascii")


def prepare(folder: Path, size: int | None, say: Callable[[str], None], what: str = "observations") -> tuple[Path, str]:
    """
    Create a store with about `size` observations or companies in a folder, unless it exists, and a new key.

    Without a size it is the simulated world as it is. Returns home and key. Raises RuntimeError for a folder that no
    measurement created.
    """
    home = folder / ("simulated" if size is None else f"home-{size}" if what == "observations" else f"{what}-{size}")

    def fill() -> None:
        say(f"making a store of {f'about {size:,} {what}' if size else 'the simulated world'} in {home} …")
        almanac(home, "sandbox", *([] if size is None else [f"--{what}", str(size)]))
        almanac(home, "accounts", "create", EMAIL, "--plan", PLAN)

    make_once(home, schema(), fill)
    return home, new_key(home)


def new_key(home: Path, **settings: str) -> str:
    """Return a new key of the benchmark's account."""
    return str(json.loads(almanac(home, "keys", "create", "--account", EMAIL, "--json", **settings))["key"])


def revised(home: Path, as_of: date, say: Callable[[str], None]) -> tuple[Path, str]:
    """
    Return a copy of a store in which half of the values known by the end of a day have been revised since.

    Replaced vintages are removed, as the daily clean-up does. Derived series stay as they were. Returns its home and a
    new key.
    """
    other = home.with_name(f"{home.name}-revised")

    def fill() -> None:
        say(f"making the same store with half its values revised in {other} …")
        source = apsw.Connection(str(home / "data.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        source.pragma("wal_checkpoint(TRUNCATE)")
        source.close()
        shutil.copyfile(home / "data.db", other / "data.db")
        _revise(other / "data.db", as_of)
        almanac(other, "accounts", "create", EMAIL, "--plan", PLAN)

    make_once(other, f"{schema()} {as_of:%Y-%m}", fill)
    return other, new_key(other)


def _revise(path: Path, as_of: date) -> None:
    """Revise every second number known by the end of a day, from thirty days after it."""
    known, now = end_of_day(as_of), int(time.time())
    since = known + 30 * DAY_SECONDS
    payload = PayloadRef(1 << 40, now, (now, f"{now:064x}"))
    with contextlib.closing(opening.create(path)) as database:
        series = database.execute(
            "SELECT s.series, s.id, s.topic FROM series s JOIN topic t ON t.topic = s.topic"
            " WHERE t.kind = 'raw' AND t.entity NOT BETWEEN 'company_' AND 'company_~'"
        ).fetchall()
        with Batch(database, now, "bench") as batch:
            for number, identifier, topic in series:
                rows = database.execute(
                    "SELECT period, value FROM vintages WHERE topic = ? AND series = ?"
                    f" GROUP BY period HAVING max(known_at) <= ? AND value IS NOT NULL AND to_version = {sqlite.OPEN}",
                    (topic, number, known),
                ).fetchall()
                stated = [ReportedValue(period, round(value + 0.01, 6), since) for period, value in rows[::2]]
                batch.append(payload, [SeriesClaim(batch.existing(identifier), stated)])


def schema() -> str:
    """Return a hash of the schema. It distinguishes stores of other versions of Almanac, whose tables may differ."""
    return hashlib.sha256(files("almanac.store.engine").joinpath("schema/data.sql").read_bytes()).hexdigest()


def year_ago(now: int) -> date:
    """Return the day one year before a moment, for pages as of then."""
    return add_months(datetime.fromtimestamp(now, UTC).date(), -12)


def pages(home: Path, as_of: date) -> list[Page]:
    """Return pages of raw series that were complete by the end of a day, in a fixed shuffled order."""
    found: list[Page] = []
    database = apsw.Connection(str(home / "data.db"), flags=apsw.SQLITE_OPEN_READWRITE)
    topics = database.execute(
        "SELECT topic, indicator, entity, frequency FROM topic WHERE kind = 'raw' ORDER BY indicator, entity, frequency"
    ).fetchall()
    for topic, indicator, entity, frequency in topics:
        periods = [
            row[0]
            for row in database.execute(
                "SELECT DISTINCT period FROM vintages WHERE topic = ? AND known_at <= ? AND value IS NOT NULL ORDER BY 1",
                (topic, end_of_day(as_of)),
            )
        ]
        for key in periods[: max(0, len(periods) - ROWS + 1) : STEP]:
            start = start_of(key)
            if start is not None:
                found.append(Page(str(indicator), str(entity), str(frequency), start, end_of(key)))
    database.close()
    random.Random(_SEED).shuffle(found)
    return found


def fetch(port: int, target: str, headers: dict[str, str] | None = None) -> bytes:
    """Return the body of one answer. Raises RuntimeError for a status other than 200."""
    return answer(port, target, headers)[1]


def answer(port: int, target: str, headers: dict[str, str] | None = None) -> tuple[list[tuple[str, str]], bytes]:
    """Return headers and body of one answer. Raises RuntimeError for a status other than 200."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", target, headers=headers or {})
        found = connection.getresponse()
        body = found.read()
    if found.status != 200:
        raise RuntimeError(f"{target.partition('?')[0]}: {found.status} {body[:300]!r}")
    return found.getheaders(), body


def walk(port: int, key: str) -> Iterator[list[dict[str, Any]]]:
    """Yield all raw observations of the interface, 500 at a time."""
    target = "/observations?limit=500"
    while True:
        page = msgspec.json.decode(fetch(port, target, {"x-api-key": key}))
        yield page["data"]
        following = page["meta"]["pagination"]["next_cursor"]
        if following is None:
            return
        target = f"/observations?limit=500&cursor={following}"


def cursors(port: int, key: str, count: int) -> list[str]:
    """Return the addresses of consecutive pages of a walk over everything, from its second page on."""
    found: list[str] = []
    target = "/observations"
    while len(found) < count:
        tail = fetch(port, target, {"x-api-key": key})[-2_000:]
        _, mark, rest = tail.partition(b'"next_cursor":"')
        if not mark:
            break
        cursor = rest.partition(b'"')[0].decode()
        target = f"/observations?cursor={cursor}"
        found.append(target)
    return found


def wide_table(path: Path, rows: Iterator[list[dict[str, Any]]]) -> int:
    """Write rows as a table of twenty columns, with an index in the order of the lists. Returns their number."""
    part = path.with_suffix(".unfinished")
    part.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(part)) as table:
        columns = ", ".join(f"{name} {_TYPES.get(name, 'TEXT')}" for name in COLUMNS)
        table.execute("PRAGMA journal_mode=OFF")
        table.execute(f"CREATE TABLE observations({columns})")
        statement = f"INSERT INTO observations VALUES({','.join('?' * len(COLUMNS))})"
        count = 0
        for some in rows:
            for row in some:
                texts = [msgspec.json.encode(row[name]).decode() for name in COLUMNS[-2:]]
                table.execute(statement, [*(row[name] for name in COLUMNS[:-2]), *texts])
            count += len(some)
        table.execute("CREATE INDEX in_order ON observations(indicatorId, entityId, frequency, periodEnd)")
        table.execute("ANALYZE")
        table.commit()
    part.replace(path)
    return count


def day_text(day: date) -> str:
    """Format a day as the interface does."""
    return wire_time(end_of_day(day) - 86_399)
