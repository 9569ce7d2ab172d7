"""
Official events of what a series is of, as marks under the time axis of its chart: none unless the address asks.

`events=own` marks releases of the series and of what it is computed from; `events=all` every event of its country, region or
company. An event that was not known on the day of the page is not among them: the interface is asked as of that day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.dashboard.drawing.happenings import EventMark
from almanac.dashboard.explorer.calendar import targets
from almanac.dashboard.explorer.series.one_series import Row, Series
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day, day_of
from almanac.dashboard.words.periods import event_title
from almanac.reports.wording import country

OWN, ALL = "own", "all"
#: Marks of one chart: more are no calm picture, and a page is not to grow with them.
MOST = 120
#: Inputs of a computed series whose releases are its own; and states of events that need no word.
_INPUTS = 10
_HAPPENED = {"released", "revised"}


class MarkedEvents(msgspec.Struct, frozen=True):
    """Events of a chart, oldest first: marks to draw, and the same as texts with where each leads, newest first."""

    chosen: str = ""
    marks: Sequence[EventMark] = ()
    listed: Sequence[tuple[str, str]] = ()
    #: A sentence on what is marked, or on what was asked for and is none.
    words: str = ""
    #: Other choices: words and address.
    links: Sequence[tuple[str, str]] = ()


def related(series: Series) -> list[str]:
    """Indicators whose releases change a series: its own, and those it is computed from."""
    return [series.slug, *(name.removeprefix("indicator_") for name in series.indicator["inputs"][:_INPUTS])]


def marked(visit: Visit, series: Series, first: date, known_to: str | None) -> MarkedEvents:
    """
    The events from a day on, up to `known_to` (a time as the interface writes it; None: today), as known then. Raises ApiError
    as the interface refuses it.
    """
    chosen = visit.query.get("events", "")
    place = series.place
    if series.entity is not None and series.entity["type"] != "company":
        place = country(place)
    names = {
        OWN: ("release of this series", "releases of this series"),
        ALL: (f"event of {place}", f"events of {place}"),
    }
    links = [
        (f"Mark {'all ' if name == ALL else ''}{several}", visit.here(events=name))
        for name, (_, several) in names.items()
        if name != chosen
    ]
    if chosen not in names:
        wrong = f"“{chosen[:40]}” in `events` is neither {OWN} nor {ALL}." if chosen else ""
        return MarkedEvents(words=wrong, links=links)
    asked: dict[str, Any] = {"indicator_id": related(series)} if chosen == OWN else {}
    told = visit.ask(
        "/events",
        entity_id=series.record["entityId"],
        start_date=first,
        end_date=known_to or visit.today,
        order="desc",
        limit=MOST,
        as_of=visit.as_of,
        **asked,
    )
    rows = [row for row in told.data if row["status"] != "canceled"]
    leads = targets(visit, rows)
    listed = [(_words(row, series.place), leads.get(row["id"], "")) for row in rows]
    marks = [
        EventMark(day_of(row["occurredAt"]).toordinal(), words) for row, (words, _) in zip(rows, listed, strict=True)
    ]
    links.append(("Mark none", visit.here(events=None)))
    return MarkedEvents(
        chosen, marks[::-1], listed, _sentence(*names[chosen], len(rows), more=told.next_cursor is not None), links
    )


def _words(row: Row, place: str) -> str:
    """`16 Nov 2026: Consumer prices, October 2026`; the place is the page's, and a state is named where nothing came out."""
    title = event_title(row["title"]).removeprefix(f"{place}: ")
    state = "" if row["status"] in _HAPPENED else f" ({row['status']})"
    return f"{day(row['occurredAt'])}: {title}{state}"


def _sentence(one: str, several: str, count: int, *, more: bool) -> str:
    if not count:
        return f"No {several} are known in this range."
    if more:
        return f"The newest {count} {several} are marked under the axis; there are more in this range."
    return f"{count} {one if count == 1 else several} {'is' if count == 1 else 'are'} marked under the axis."
