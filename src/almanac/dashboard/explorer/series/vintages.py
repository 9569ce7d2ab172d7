"""Every state of every period of a series, in the order it became known: what the slider, the triangle and first publications are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import Any

import msgspec

from almanac.dashboard.explorer.series.one_series import Row, Series, walk
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.periods import period

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
            states.sort(key=_known)
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
        """Whether the source publishes vintages: of one that does not, only what we saw ourselves is known."""
        return any(row["revisionStatus"] != "unknown" for row in self.rows)


def cell_of(row: Row) -> Cell:
    """The cell of a row: its period as the interface writes it."""
    return row["periodStart"], row["periodEnd"]


def read(visit: Visit, series: Series, **asked: Any) -> Vintages:
    """The vintages of a series, those of its newest periods where it has too many."""
    pages = _PAGES_OFTEN if series.often else _PAGES
    rows, complete = walk(visit, "/observations/vintages", pages, order="desc", **series.filters, **asked)
    return Vintages(series.own(rows), complete=complete)


def in_brief(series: Series, vintages: Vintages) -> Row:
    """The vintages for scripts: each cell with its states, as the interface gave their values."""
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


def _known(row: Row) -> str:
    found: str = row["observedAt"]
    return found
