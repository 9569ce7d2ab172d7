"""The history of runs, for operators."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Queryable


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
