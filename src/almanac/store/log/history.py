"""What was done and how it went, for those who run the service: runs, and what each source said last."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Queryable


class RunRow(NamedTuple):
    """One run of a connector. Times in unix seconds; `finished_at` and `outcome` None: it is under way, or was killed."""

    run: str
    source: str
    connector: str
    version: int
    started_at: int
    finished_at: int | None
    outcome: str | None


class LastWord(NamedTuple):
    """How asking a source went last. `failures`: askings in a row that failed."""

    attempt: int | None
    failures: int
    error: str | None


def runs(db: Queryable, limit: int, *, source: str | None = None, before: int | None = None) -> list[RunRow]:
    """The latest runs first, of one source or all, those begun before a moment where one is given."""
    sql = (
        "SELECT run, source, connector, connector_version, started_at, finished_at, outcome FROM run"
        " WHERE source = coalesce(?1, source) AND started_at < coalesce(?2, started_at + 1)"
        " ORDER BY started_at DESC, source, run LIMIT ?3"
    )
    return [RunRow(*row) for row in db.execute(sql, (source, before, limit))]


def last_words(db: Queryable) -> dict[str, LastWord]:
    """Source → how asking it went last. One that was never asked is not there."""
    rows = db.execute("SELECT source, last_attempt_at, failures, last_error FROM source_state")
    return {source: LastWord(attempt, failures, error) for source, attempt, failures, error in rows}
