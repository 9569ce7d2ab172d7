"""Recent histories of many series at once: what sparklines and small multiples are drawn of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from almanac.dashboard.formatting.dates import day_of, frequency_of
from almanac.dashboard.formatting.values import ChartPoint, points
from almanac.dashboard.visit import Visit
from almanac.domain.periods import Frequency
from almanac.reports.wording import listed

Row = Mapping[str, Any]

#: How many years of a series a small drawing shows, about as many points of each; and how many there are in a year.
_YEARS = {Frequency.DAILY: 1.0, Frequency.WEEKLY: 2.0, Frequency.MONTHLY: 5.0}
_YEARS_SELDOM = 12.0
_IN_A_YEAR = {Frequency.DAILY: 261, Frequency.WEEKLY: 53, Frequency.MONTHLY: 12}
_IN_A_YEAR_SELDOM = 4
#: The part of these years that is shown where there are more series than requests tell all of.
_OF_MANY = 0.25
#: Said below small drawings.
SPANS = (
    "a year of daily data (three months where there is much of it), two of weekly, five of monthly, twelve of what comes "
    "less often"
)
#: How these are called.
_LONG = {0.25: "three months", 0.5: "six months", 1.0: "a year", 1.25: "fifteen months", 2.0: "two years", 3.0: "three years", 5.0: "five years", 12.0: "twelve years"}  # fmt: skip
#: Values of a sparkline of one series.
SPARK = 60
#: Rows of a request, requests that follow each other, and entities or indicators that one may name.
_PAGE, _PAGES, _NAMED = 500, 8, 100


def histories(
    visit: Visit, readings: Iterable[Row], *, derived: Iterable[str], as_of: str | None, failed_too: bool = True
) -> dict[str, list[ChartPoint]]:
    """
    Points of the series that readings (rows of /observations/latest) are of, by the series' id, up to each reading.

    `derived`: ids of the indicators among them that are computed, which have a list of their own. `as_of`: the day that the
    readings are of, None for today. `failed_too`: whether values count that rest on a statement which fails a grave check.
    Series of which there is more than some requests tell are left out rather than cut: a drawing shows all of its years or
    is not there.
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
        days = round(365.25 * _years(frequency, len(rows)))
        for some in _portions(rows, days):
            found |= _read(visit, path, frequency, some, days, as_of, failed_too=failed_too)
    return found


def spans(readings: Iterable[Row]) -> str:
    """Return what drawings of readings of one indicator are of, as `SPANS` says it of any: `five years of monthly data`."""
    counts = Counter(frequency_of(row["frequency"]) for row in readings)
    told: dict[str, list[str]] = defaultdict(list)
    for frequency in sorted(counts, key=lambda one: one.rank):
        told[_LONG[_years(frequency, counts[frequency])]].append(frequency.word.replace("_", " "))
    return "; ".join(f"{long} of {listed(words)} data" for long, words in told.items())


def recent(visit: Visit, newest: Row, most: int = SPARK) -> list[Row]:
    """Return the last rows of the series that a reading is of, the newest first; of one request that is none of the page's own."""
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


def _years(frequency: Frequency, series: int) -> float:
    """Return how many years are shown of each of so many series."""
    years = _YEARS.get(frequency, _YEARS_SELDOM)
    fit = series * years * _IN_A_YEAR.get(frequency, _IN_A_YEAR_SELDOM) <= _PAGE * _PAGES
    return years if fit else years * _OF_MANY


def _portions(rows: Iterable[Row], days: int) -> Iterator[Sequence[Row]]:
    """
    Return readings in as many parts as requests can name, the newest first. Those of a part end about as late: it is read from
    where the first of them begins, and one that its publisher ended long ago would have years read of all others.
    """
    part: list[Row] = []
    for row in sorted(rows, key=lambda row: str(row["periodEnd"]), reverse=True):
        if part and (len(part) == _NAMED or (day_of(part[0]["periodEnd"]) - day_of(row["periodEnd"])).days * 4 > days):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def _read(
    visit: Visit,
    path: str,
    frequency: Frequency,
    rows: Sequence[Row],
    days: int,
    as_of: str | None,
    *,
    failed_too: bool,
) -> dict[str, list[ChartPoint]]:
    wanted = {row["metadata"]["seriesId"] for row in rows}
    since = (min(day_of(row["periodEnd"]) for row in rows) - timedelta(days)).isoformat()
    asked: dict[str, Any] = {
        "entity_id": sorted({row["entityId"] for row in rows}),
        "indicator_id": sorted({row["indicatorId"] for row in rows}),
        "source_id": sorted({row["sourceId"] for row in rows}),
        "frequency": frequency.value,
        "period_end": max(row["periodEnd"] for row in rows)[:10],
        "period_start": since,
        "sources": "all",
        "as_of": as_of,
    }
    told: dict[str, list[Row]] = defaultdict(list)
    cursor: str | None = None
    # Not among the requests of the page: the readings themselves are, and each series has a page that shows its own.
    for answer in islice(visit.pages(path, limit=_PAGE, **asked), _PAGES):
        for row in answer.data:
            series = row["metadata"].get("seriesId")
            if series in wanted and (failed_too or row["metadata"].get("quality") != "failed"):
                told[series].append(row)
        cursor = answer.next_cursor
    # Lists come by topic: of what was not read to its end, the last one begun may go on.
    if cursor is not None and told:
        told.popitem()
    ends = {row["metadata"]["seriesId"]: day_of(row["periodEnd"]) for row in rows}
    found = {}
    for series, some in told.items():
        end = ends[series].toordinal()
        found[series] = [point for point in points(some) if end - days <= point.end <= end]
    return found
