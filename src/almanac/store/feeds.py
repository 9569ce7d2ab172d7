"""What is known of each source's health: how asking it went, and how old its series are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from almanac.domain.health import Feed, Tried
from almanac.store import sqlite
from almanac.store.directory import SeriesInfo
from almanac.store.reading import View


def tried(db: apsw.Connection) -> dict[str, Tried]:
    """Source → how asking it went. A source that was never asked is not there."""
    unreadable: dict[str, int] = dict(db.execute(_UNREADABLE))
    rows = sqlite.rows(
        db,
        "SELECT source, last_attempt_at, last_success_at, last_ingested_at, failures, last_error FROM source_state",
    )
    return {
        source: Tried(attempt, success, ingested, failures, error, unreadable.get(source, 0))
        for source, attempt, success, ingested, failures, error in rows
    }


def observed(view: View) -> Iterator[SeriesInfo]:
    """
    Series as sources publish them that have rows, by source and id.

    Those of companies are left out: they come and go with their companies, and a source may have a million.
    """
    for (number,) in sqlite.rows(view.db, _OBSERVED):
        yield view.directory.series(number)


def feeds(view: View, freshness: Callable[[SeriesInfo], str]) -> dict[str, Feed]:
    """Source → its series by freshness. A source without any is not there."""
    found: dict[str, Feed] = {}
    for series in observed(view):
        found.setdefault(series.source.id, Feed()).count(series.spec, freshness(series))
    return found


_UNREADABLE = (
    "SELECT source, count(DISTINCT url) FROM payload p WHERE state = 'quarantined' AND NOT EXISTS"
    " (SELECT 1 FROM payload q WHERE q.source = p.source AND q.state = 'folded' AND q.url = p.url"
    " AND (q.fetched_at, q.sha256) > (p.fetched_at, p.sha256)) GROUP BY source"
)
#: Ids of companies begin alike.
_OBSERVED = (
    "SELECT series FROM series JOIN topic USING(topic) WHERE kind = 'raw' AND rows > 0"
    " AND NOT (entity >= 'company_' AND entity < 'company`') ORDER BY source, id"
)
