"""The age of each source's series and of its newest answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from almanac.domain.health import Feed
from almanac.domain.times import DAY_SECONDS
from almanac.store.engine.protocol import Queryable
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered


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
