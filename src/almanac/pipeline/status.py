"""How the service does: what it holds, how its sources are, what it could not read or does not map."""

from __future__ import annotations

import apsw
import msgspec

from almanac.domain.health import health
from almanac.domain.observations import wire_time
from almanac.domain.reference import Source
from almanac.store import sqlite
from almanac.store.coverage import Coverage, coverage


class SourceHealth(msgspec.Struct, frozen=True, rename="camel"):
    """One source. `health`: ok, late, failing, never_run. `unreadable`: addresses whose newest answer is quarantined."""

    id: str
    health: str
    last_attempt_at: str | None
    last_success_at: str | None
    last_ingested_at: str | None
    unreadable: int
    last_error: str | None


class Quarantined(msgspec.Struct, frozen=True, rename="camel"):
    """A kept response that could not be read, and why."""

    source: str
    url: str
    fetched_at: str
    reason: str


class Unmapped(msgspec.Struct, frozen=True, rename="camel"):
    """A native series that the catalogue does not map, with the most rows one response had of it."""

    source: str
    native_id: str
    rows: int


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """Everything `almanac status` tells. Lists are by source, then by address or native id."""

    coverage: Coverage
    sources: list[SourceHealth]
    quarantine: list[Quarantined]
    unmapped: list[Unmapped]


def status(db: apsw.Connection, now: int) -> Status:
    """
    Read the state in one transaction; `now` in unix seconds.

    A source is failing while its last attempt failed or the newest answer of one of its addresses cannot be read.
    """
    with sqlite.reading(db):
        unreadable: dict[str, int] = dict(db.execute(_UNREADABLE))
        return Status(
            coverage=coverage(db),
            sources=[_health(row, unreadable, now) for row in sqlite.rows(db, _SOURCES)],
            quarantine=[Quarantined(s, url, wire_time(at), why) for s, url, at, why in db.execute(_QUARANTINE)],
            unmapped=[Unmapped(*row) for row in db.execute(_UNMAPPED)],
        )


def _health(
    row: tuple[str, int | None, int | None, int | None, int, str | None], unreadable: dict[str, int], now: int
) -> SourceHealth:
    body, attempt, success, ingested, failures, error = row
    source = msgspec.json.decode(body, type=Source)
    shut = unreadable.get(source.id, 0)
    times = [None if at is None else wire_time(at) for at in (attempt, success, ingested)]
    word = health(attempt, success, failures + shut, source.frequencies, now)
    return SourceHealth(source.id, word, times[0], times[1], times[2], shut, error)


#: What the service computes itself has no connector and never runs.
_SOURCES = (
    "SELECT body, last_attempt_at, last_success_at, last_ingested_at, coalesce(failures, 0), last_error FROM record"
    " LEFT JOIN source_state ON source = record.id"
    " WHERE kind = 'source' AND json_extract(body, '$.connector') <> '' ORDER BY record.id"
)
_QUARANTINE = (
    "SELECT source, url, fetched_at, reason FROM payload WHERE state = 'quarantined' ORDER BY source, url, fetched_at"
)
_UNREADABLE = (
    "SELECT source, count(DISTINCT url) FROM payload p WHERE state = 'quarantined' AND NOT EXISTS"
    " (SELECT 1 FROM payload q WHERE q.source = p.source AND q.state = 'folded' AND q.url = p.url"
    " AND (q.fetched_at, q.sha256) > (p.fetched_at, p.sha256)) GROUP BY source"
)
_UNMAPPED = "SELECT source, native, rows FROM unmapped ORDER BY source, native"
