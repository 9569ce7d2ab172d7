"""The health of each source: the outcome of its runs and the age of its series."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from almanac.domain.health import Feed, Tried
from almanac.domain.times import DAY_SECONDS
from almanac.store.engine.protocol import Queryable
from almanac.store.log.payloads import HELD
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered


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


def days_read(db: Queryable) -> tuple[tuple[str, int | None], ...]:
    """
    Return each source and the day of its newest answer, in days since 1970, sorted by source. It is not tied to a data
    version.
    """
    return tuple(db.execute(f"SELECT source, fetched_at / {DAY_SECONDS} FROM source_state ORDER BY source"))


def observed(view: View) -> Iterator[SeriesInfo]:
    """
    Yield the published series that have rows, by source and id.

    Series of companies are left out: they come and go with their companies, and a source may have a million.
    """
    for number, _, _ in sorted(view.execute(_OBSERVED), key=itemgetter(1, 2)):
        yield view.directory.series(number)


def feeds(view: View, freshness: Callable[[SeriesInfo], str]) -> dict[str, Feed]:
    """
    Count each source's series by freshness. A source without series is absent.

    Of companies only the newest series of each frequency is judged: if it is stale, so is every other.
    """
    found: dict[str, Feed] = {}
    for series in observed(view):
        found.setdefault(series.source.id, Feed()).count(series.spec, freshness(series))
    for number, source, _, _ in _COMPANIES.of(view):
        found.setdefault(source, Feed()).words.add(freshness(view.directory.series(number)))
    return found


def newest_of_companies(view: View) -> dict[str, int]:
    """Return the key of each source's newest period of any company."""
    found: dict[str, int] = {}
    for _, source, _, period in _COMPANIES.of(view):
        found[source] = max(found.get(source, period), period)
    return found


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
#: Company ids share a prefix. By topic first, because a source may have a million series of companies.
_OBSERVED = (
    "SELECT series, source, id FROM topic CROSS JOIN series USING(topic) WHERE kind = 'raw' AND rows > 0"
    " AND NOT (entity >= 'company_' AND entity < 'company`')"
)
#: The series with the newest period for each source and frequency.
_OF_COMPANIES = (
    "SELECT series, source, frequency, last_period FROM (SELECT series, source, frequency, last_period,"
    " row_number() OVER (PARTITION BY source, frequency ORDER BY last_period DESC NULLS LAST, series) AS place"
    " FROM topic JOIN series USING(topic) WHERE kind = 'raw' AND rows > 0"
    " AND entity >= 'company_' AND entity < 'company`') AS placed WHERE place = 1"
)
#: Its rows: to read them is slow with many companies.
_COMPANIES: Remembered[list[Any]] = Remembered("newest of companies", lambda view: list(view.execute(_OF_COMPANIES)))
