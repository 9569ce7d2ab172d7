"""The history of runs and the outcome of each source's latest ones."""

from __future__ import annotations

from typing import NamedTuple

from almanac.domain.health import Tried
from almanac.store.engine.protocol import Queryable
from almanac.store.log.payloads import HELD


class RunRow(NamedTuple):
    """
    One run of a connector. Times are unix seconds. `finished_at` and `outcome` are None while it runs, or if it was
    killed.
    """

    run: str
    source: str
    connector: str
    version: int
    started_at: int
    finished_at: int | None
    outcome: str | None


def runs(db: Queryable, limit: int, *, source: str | None = None, before: int | None = None) -> list[RunRow]:
    """Return the latest runs, newest first, optionally of one source or started before a moment (unix seconds)."""
    sql = (
        "SELECT run, source, connector, connector_version, started_at, finished_at, outcome FROM run"
        " WHERE source = coalesce(?1, source) AND started_at < coalesce(?2, started_at + 1)"
        " ORDER BY started_at DESC, source, run LIMIT ?3"
    )
    return [RunRow(*row) for row in db.execute(sql, (source, before, limit))]


def tried(db: Queryable) -> dict[str, Tried]:
    """Return the outcome of each source's runs, by source. A source that was never asked is absent."""
    unreadable = {source: (count, held) for source, count, held in db.execute(_UNREADABLE)}
    rows = db.execute(
        "SELECT source, last_attempt_at, last_success_at, last_ingested_at, failures, last_error FROM source_state",
    )
    return {
        source: Tried(attempt, success, ingested, failures, error, *unreadable.get(source, (0, 0)))
        for source, attempt, success, ingested, failures, error in rows
    }


def begun(db: Queryable) -> dict[str, Tried]:
    """Return the sources whose newest run has no end, for operators' views. It reads the whole log of runs."""
    return {source: Tried(unended=began) for source, began in db.execute(_UNENDED)}


_UNREADABLE = (
    f"SELECT source, count(DISTINCT url), count(DISTINCT CASE WHEN substr(reason, 1, {len(HELD)}) = '{HELD}' THEN url END)"
    " FROM payload p WHERE state = 'quarantined' AND NOT EXISTS"
    " (SELECT 1 FROM payload q WHERE q.source = p.source AND q.state = 'folded' AND q.url = p.url"
    " AND (q.fetched_at, q.sha256) > (p.fetched_at, p.sha256)) GROUP BY source"
)
#: The newest run of each source, if it has no end.
_UNENDED = (
    "SELECT r.source, r.started_at FROM run r WHERE r.finished_at IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM run q WHERE q.source = r.source AND q.started_at > r.started_at)"
)
