"""One series: found by its id, and read at a day, or with all its vintages, through the lists that programs read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.asking import Told
from almanac.dashboard.explorer.event_markers import EventSubject
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.places import called
from almanac.dashboard.formatting.dates import frequency_of, period, years_before
from almanac.dashboard.visit import Visit
from almanac.domain.periods import Frequency

Row = dict[str, Any]

#: Rows of a request, and the most requests that a page makes for one list.
PAGE, MOST_PAGES = 500, 40
#: What a range link or nothing in the address mean: `all` is said where nothing would be a year.
ALL = "all"
_SLUG = "indicator_"
_OFTEN = {Frequency.DAILY, Frequency.WEEKLY}


class Series(msgspec.Struct, frozen=True):
    """A series with what it is of. Records are those of the interface."""

    record: Row
    indicator: Row
    #: Of `/entities/resolve`; None for one that has no name.
    entity: Row | None
    #: Other series of the same indicator, entity and frequency.
    others: tuple[Row, ...] = ()

    @property
    def id(self) -> str:
        found: str = self.record["id"]
        return found

    @property
    def slug(self) -> str:
        found: str = self.indicator["slug"]
        return found

    @property
    def place(self) -> str:
        """Return the name of the entity."""
        found: str = self.record["entityId"] if self.entity is None else called(self.entity)
        return found

    @property
    def title(self) -> str:
        return f"{self.indicator['name']}: {self.place}"

    @property
    def frequency(self) -> Frequency:
        return frequency_of(self.record["frequency"])

    @property
    def often(self) -> bool:
        """Return whether it has so many periods that a page shows a year of them unless asked for more."""
        return self.frequency in _OFTEN

    @property
    def derived(self) -> bool:
        return bool(self.indicator["kind"] == "derived")

    @property
    def subject(self) -> EventSubject:
        """Return the subject of the series' events."""
        company = self.entity is not None and self.entity["type"] == "company"
        return EventSubject(self.slug, self.record["entityId"], self.place, company)

    @property
    def list_path(self) -> str:
        return "/derived-observations" if self.derived else "/observations"

    @property
    def address(self) -> str:
        return series_address(self.id)

    @property
    def filters(self) -> Row:
        """The parameters that select it in a list of observations."""
        asked = {
            "entity_id": self.record["entityId"],
            "indicator_id": self.slug,
            "source_id": self.record["sourceId"],
        }
        if self.frequency is not Frequency.NINE_MONTHS:  # which lists have no name for
            asked["frequency"] = self.frequency.value
        if any(one["sourceId"] == self.record["sourceId"] for one in self.others):
            # One source has it twice (by currency, say): its rows are told apart by the id that each carries.
            asked["sources"] = "all"
        return asked

    def own(self, rows: list[Row]) -> list[Row]:
        """Those of its rows."""
        return [row for row in rows if row["metadata"].get("seriesId") == self.id]


class Missing(msgspec.Struct, frozen=True):
    """There is no such series; addresses and names of what comes nearest."""

    text: str
    nearest: tuple[tuple[str, str], ...] = ()


def find(visit: Visit, name: str) -> Series | str | Missing:
    """Return the series of an id; the right id of one written otherwise; or what is nearest."""
    parts = name.split(":")
    if len(parts) < 4 or not all(parts):
        return Missing(
            f"“{name[:120]}” is no id of a series. One is source:entity:indicator:frequency, like fred:country_usa:real_gdp:Q.",
        )
    source, entity, slug = (part.lower() for part in parts[:3])
    try:
        told = visit.look_up(f"/indicators/{slug}/series", entity_id=entity, limit=100)
        suggested = None
    except ApiError as error:  # too long, or nothing that could be a name
        return Missing(f"There is no series “{name[:120]}”. {error.message}.")
    if told is None:
        told, suggested = _nearest_indicator(visit, slug, entity)
    rows: list[Row] = [] if told is None else told.data
    for row in rows:
        if row["id"] == name:
            return _whole(visit, row, rows)
    for row in rows:
        if row["id"].casefold() == name.casefold():
            found: str = row["id"]
            return found
    nearest = sorted(rows, key=lambda row: (row["sourceId"] != source, row["id"]))[:10]
    text = f"There is no series “{name[:120]}”."
    if nearest and suggested:
        text += f" There is no indicator “{slug[:80]}”; the nearest is “{suggested}”."
    return Missing(text, tuple((series_address(row["id"]), row["id"]) for row in nearest))


def _nearest_indicator(visit: Visit, slug: str, entity: str) -> tuple[Told | None, str | None]:
    """Find the series of the indicator whose name comes nearest, and that name."""
    told = visit.look_up("/observations/latest", indicator=slug, limit=1)
    for warning in [] if told is None else told.meta.get("warnings", []):
        if warning.get("suggestion"):
            near: str = warning["suggestion"]
            return visit.look_up(f"/indicators/{near}/series", entity_id=entity, limit=100), near
    return None, None


def _whole(visit: Visit, row: Row, rows: list[Row]) -> Series:
    indicator = visit.look_up(f"/indicators/{row['indicatorId'].removeprefix(_SLUG)}")
    named = visit.look_up("/entities/resolve", alias=row["entityId"])
    entity = None if named is None or named.data["entityId"] != row["entityId"] else named.data
    others = tuple(one for one in rows if one["id"] != row["id"] and one["frequency"] == row["frequency"])
    return Series(row, {} if indicator is None else indicator.data, entity, others)


# -- reading ------------------------------------------------------------------------------------------------------------


def read(visit: Visit, series: Series, **asked: Any) -> list[Row]:
    """Its observations, newest period first. Parameters are those of `/observations`."""
    rows, _ = walk(visit, series.list_path, MOST_PAGES, order="desc", **series.filters, **asked)
    return series.own(rows)


def walk(visit: Visit, path: str, pages: int, **asked: Any) -> tuple[list[Row], bool]:
    """Return rows of a list, so many pages at most; and whether these are all."""
    rows: list[Row] = []
    complete = False
    for response in islice(visit.pages(path, shown=1, limit=PAGE, **asked), pages):
        rows += response.data
        complete = response.next_cursor is None
    return rows, complete


class Range(msgspec.Struct, frozen=True):
    """The range of periods that a page shows: bounds as the interface takes them, None for none."""

    first: str | None
    last: str | None
    #: Links: title, value of `from` (None: none in the address), whether it is this one, and aloud.
    options: tuple[Row, ...]


def range_of(visit: Visit, series: Series, newest: date | None) -> Range:
    """Return the range in the address. `newest`: the last day there can be a period of."""
    chosen, last = visit.query.get("from") or None, visit.query.get("to") or None
    end = newest or visit.today
    starts = {years: (years_before(end, years) + timedelta(days=1)).isoformat() for years in (1, 5, 10)}
    usual = starts[1] if series.often else None
    first = usual if chosen is None else None if chosen == ALL else chosen
    spans = [
        (years, None if start == usual else start, first == start and last is None) for years, start in starts.items()
    ]
    whole = (ALL if series.often else None, first is None and last is None)
    return Range(first, last, range_links(visit, spans, whole))


def range_links(
    visit: Visit, spans: Sequence[tuple[int, str | None, bool]], whole: tuple[str | None, bool]
) -> tuple[Row, ...]:
    """
    Return links to ranges of some years, and to all periods. Each span has its years, `from` in its address (None: none) and
    whether it is shown; `whole` the last two for all periods.
    """
    links = [
        (f"{years}Y", "one year" if years == 1 else f"{years} years", first, current) for years, first, current in spans
    ]
    return tuple(
        {
            "title": title,
            "aloud": aloud,
            "href": visit.here(to=None, page=None, period=None, **{"from": first}),
            "current": current,
        }
        for title, aloud, first, current in (*links, ("All", "all periods", *whole))
    )


#: Requests of 500 rows that a page makes for vintages; of a series with a value for each day, one.
_PAGES, _PAGES_OFTEN = 4, 1

Cell = tuple[str | None, str]


class ReleaseDay(msgspec.Struct, frozen=True):
    """A day on which something of the series became known, by UTC."""

    day: str
    #: Periods whose first state or a new one became known then.
    periods: int


class Vintages:
    """States of cells, as rows of the interface. `complete`: none was left out."""

    def __init__(self, rows: Sequence[Row], *, complete: bool) -> None:
        self.rows, self.complete = rows, complete

    def known_by(self, end: str | None) -> Vintages:
        """Those known by a moment as the interface writes it; None: all."""
        if end is None:
            return self
        return Vintages([row for row in self.rows if row["observedAt"] <= end], complete=self.complete)

    @cached_property
    def cells(self) -> dict[Cell, list[Row]]:
        """States by cell, newest period first, oldest state first."""
        found: dict[Cell, list[Row]] = {}
        for row in self.rows:
            found.setdefault(cell_of(row), []).append(row)
        for states in found.values():
            states.sort(key=lambda row: str(row["observedAt"]))
        return dict(sorted(found.items(), key=lambda item: (item[0][1], item[0][0] or ""), reverse=True))

    @cached_property
    def releases(self) -> list[ReleaseDay]:
        """Days of releases, oldest first."""
        counts: dict[str, set[Cell]] = {}
        for row in self.rows:
            counts.setdefault(row["observedAt"][:10], set()).add(cell_of(row))
        return [ReleaseDay(day, len(cells)) for day, cells in sorted(counts.items())]

    @property
    def published(self) -> bool:
        """Return whether the source publishes vintages: of one that does not, only what we saw ourselves is known."""
        return any(row["revisionStatus"] != "unknown" for row in self.rows)


def cell_of(row: Row) -> Cell:
    """Return the cell of a row: its period as the interface writes it."""
    return row["periodStart"], row["periodEnd"]


def read_vintages(visit: Visit, series: Series, **asked: Any) -> Vintages:
    """Return the vintages of a series, those of its newest periods where it has too many."""
    pages = _PAGES_OFTEN if series.often else _PAGES
    rows, complete = walk(visit, "/observations/vintages", pages, order="desc", **series.filters, **asked)
    return Vintages(series.own(rows), complete=complete)


def in_brief(series: Series, vintages: Vintages) -> Row:
    """Return the vintages for scripts: each cell with its states, as the interface gave their values."""
    return {
        "seriesId": series.id,
        "complete": vintages.complete,
        "releases": [release.day for release in vintages.releases],
        "cells": [
            {
                "periodStart": cell[0],
                "periodEnd": cell[1],
                "period": period(cell[0], cell[1], series.record["frequency"]),
                "states": [[row["observedAt"], row["valueNumeric"], row["revisionStatus"]] for row in states],
            }
            for cell, states in vintages.cells.items()
        ],
    }


def first_days_of_years(releases: list[ReleaseDay]) -> list[int]:
    """Places of the first release of each year, for the marks of a slider."""
    years: dict[int, int] = {}
    for place, release in enumerate(releases):
        years.setdefault(date.fromisoformat(release.day).year, place)
    return list(years.values())
