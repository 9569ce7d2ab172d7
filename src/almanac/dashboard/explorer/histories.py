"""Recent histories of many series at once: what sparklines and small multiples are drawn of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day_of
from almanac.dashboard.words.periods import frequency_of
from almanac.dashboard.words.points import ChartPoint, points
from almanac.domain.periods import Frequency

Row = Mapping[str, Any]

#: How many years of a series a small drawing shows: about as many points of each.
_YEARS = {Frequency.DAILY: 1, Frequency.WEEKLY: 2, Frequency.MONTHLY: 5}
_YEARS_SELDOM = 12
#: Said below small drawings.
SPANS = "a year of daily data, two of weekly, five of monthly, twelve of what comes less often"
#: Values of a sparkline of one series.
SPARK = 60
#: Rows of a request, requests that follow each other, and entities or indicators that one may name.
_PAGE, _PAGES, _NAMED = 500, 8, 100


def histories(visit: Visit, readings: Iterable[Row], *, derived: Iterable[str]) -> dict[str, list[ChartPoint]]:
    """
    Points of the series that readings (rows of /observations/latest) are of, by the series' id, up to each reading.

    `derived`: ids of the indicators among them that are computed, which have a list of their own. As known on the day of the
    address. Series of which there is more than some requests tell are left out rather than cut: a drawing shows all of its
    years or is not there.
    """
    computed = set(derived)
    groups: dict[tuple[str, Frequency], list[Row]] = defaultdict(list)
    for row in readings:
        frequency = frequency_of(row["frequency"])
        if frequency is Frequency.NINE_MONTHS or row["rights"]["valueWithheld"]:
            continue  # lists have no name for the first, and of the second there is nothing to draw
        path = "/derived-observations" if row["indicatorId"] in computed else "/observations"
        groups[path, frequency].append(row)
    found: dict[str, list[ChartPoint]] = {}
    for (path, frequency), rows in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1].rank)):
        for some in _portions(rows):
            found |= _read(visit, path, frequency, some)
    return found


def recent(visit: Visit, newest: Row, most: int = SPARK) -> list[Row]:
    """The last rows of the series that a reading is of, the newest first; of one request that is none of the page's own."""
    path = "/derived-observations" if newest["derivedFrom"] else "/observations"
    frequency = frequency_of(newest["frequency"])
    if frequency is Frequency.NINE_MONTHS:
        return [newest]  # lists have no name for it
    told = visit.follow(
        path,
        indicator_id=newest["indicatorId"],
        entity_id=newest["entityId"],
        source_id=newest["sourceId"],
        frequency=frequency.value,
        sources="all",
        sort="period_end",
        order="desc",
        limit=most,
    )
    return [row for row in told.data if row["metadata"].get("seriesId") == newest["metadata"]["seriesId"]]


def _portions(rows: Sequence[Row]) -> Iterable[Sequence[Row]]:
    """Readings in as many parts as requests can name."""
    for start in range(0, len(rows), _NAMED):
        yield rows[start : start + _NAMED]


def _read(visit: Visit, path: str, frequency: Frequency, rows: Sequence[Row]) -> dict[str, list[ChartPoint]]:
    wanted = {row["metadata"]["seriesId"] for row in rows}
    asked: dict[str, Any] = {
        "entity_id": sorted({row["entityId"] for row in rows}),
        "indicator_id": sorted({row["indicatorId"] for row in rows}),
        "source_id": sorted({row["sourceId"] for row in rows}),
        "frequency": frequency.value,
        "period_end": max(row["periodEnd"] for row in rows)[:10],
        "period_start": _since(min(day_of(row["periodEnd"]) for row in rows), frequency).isoformat(),
        "sources": "all",
        "as_of": visit.as_of,
    }
    told: dict[str, list[Row]] = defaultdict(list)
    cursor: str | None = None
    for _ in range(_PAGES):
        # Not among the requests of the page: the readings themselves are, and each series has a page that shows its own.
        answer = visit.follow(path, limit=_PAGE, cursor=cursor, **asked)
        for row in answer.data:
            series = row["metadata"].get("seriesId")
            if series in wanted:
                told[series].append(row)
        cursor = answer.next_cursor
        if cursor is None:
            break
    # Lists come by topic: of what was not read to its end, the last one begun may go on.
    if cursor is not None and told:
        told.popitem()
    ends = {row["metadata"]["seriesId"]: day_of(row["periodEnd"]) for row in rows}
    found = {}
    for series, some in told.items():
        since = _since(ends[series], frequency).toordinal()
        found[series] = [point for point in points(some) if since <= point.end <= ends[series].toordinal()]
    return found


def _since(end: date, frequency: Frequency) -> date:
    return end - timedelta(days=round(365.25 * _YEARS.get(frequency, _YEARS_SELDOM)))
