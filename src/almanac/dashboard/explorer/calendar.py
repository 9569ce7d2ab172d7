"""The calendar of official events: what came out, what was expected to, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.places import entity_page, places
from almanac.dashboard.formatting.dates import days_from, read_day
from almanac.dashboard.visit import Answer, FieldProblem, Html, Page, Visit, csv_download

#: Days of one page, and events of one page.
_DAYS, _EVENTS = 8, 200
#: Names that one parameter may have.
_NAMED = 100
#: Columns of the table, as the interface has them.
COLUMNS = (
    "occurredAt", "timePrecision", "title", "category", "status", "entityId", "indicatorId", "period", "actual", "revisedActual",
    "previous", "revisedPrevious", "unit", "url", "id",
)  # fmt: skip
CATEGORIES = (
    "macro_release",
    "central_bank",
    "issuer_filing",
    "issuer_disclosure",
    "regulator_notice",
    "corporate_action",
    "other",
)


def calendar(visit: Visit) -> Answer:
    """Eight days from a day: today's week where none is named."""
    errors = []
    typed = visit.query.get("from", "")
    today = visit.known_on or visit.today
    try:
        first = _first(visit)
    except ValueError as error:
        errors.append(FieldProblem("from", str(error)))
        first = days_from(today, -1)
    asked = _read_form(visit)
    last = days_from(first, _DAYS - 1)
    told = visit.ask("/events", start_date=first, end_date=last, order="asc", limit=_EVENTS, **asked)
    following = None
    if not told.data:
        later = visit.ask("/events", start_date=days_from(last, 1), order="asc", limit=1, **asked).data
        following = later[0] if later else None
    days = [(day, list(rows)) for day, rows in groupby(told.data, key=lambda row: row["occurredAt"][:10])]
    page = {
        # The days that have events, as the interface has these; and the first and the last of the eight.
        "days": days,
        "first": first,
        "last": last,
        # The first day as it was typed.
        "typed": typed,
        "today": today.isoformat(),
        # Addresses of the eight days before and after.
        "earlier": visit.here(**{"from": days_from(first, -_DAYS).isoformat()}),
        "later": visit.here(**{"from": days_from(last, 1).isoformat()}),
        # Where events lead, by their ids.
        "targets": targets(visit, told.data, visit.as_of),
        # The query of the files that say the same.
        "query": urlencode({name: value for name, value in visit.query.items() if value}, safe=":,"),
        # Whether there are more events in these days than the page has; the next one after them, where there is none in them.
        "more": told.next_cursor is not None,
        "following": following,
        # What was chosen, and what there is to choose from.
        "asked": asked,
        "categories": CATEGORIES,
        "places": places(visit),
        "errors": errors,
        "warnings": told.meta.get("warnings", []),
    }
    return Html("explorer/calendar.html", page, 400 if errors else 200)


def _first(visit: Visit) -> date:
    """Return the first day of the page. Raises ValueError with the sentence for it."""
    typed = visit.query.get("from", "")
    return read_day(typed) if typed else days_from(visit.known_on or visit.today, -1)


def _read_form(visit: Visit) -> dict[str, Any]:
    return {
        "category": visit.query.get("category") or None,
        "country": visit.query.get("country") or None,
        "as_of": visit.as_of,
    }


def targets(visit: Visit, rows: Sequence[Mapping[str, Any]], as_of: str | None) -> dict[str, str]:
    """
    Return the link of each event, by its id: to its series, else to its indicator, company or country, else to its announcement.

    A link shows the state known on `as_of` (None: today).
    """
    pairs = {(row["indicatorId"], row["entityId"]) for row in rows if row["indicatorId"] and row["entityId"]}
    series: dict[tuple[str, str], str] = {}
    if pairs:
        told = visit.look_up(
            "/observations/latest",
            indicator_id=sorted({indicator for indicator, _ in pairs})[:_NAMED],
            entity_id=sorted({entity for _, entity in pairs})[:_NAMED],
            as_of=as_of,
            limit=500,
        )
        for row in [] if told is None else told.data:
            series[row["indicatorId"], row["entityId"]] = row["metadata"]["seriesId"]
    then = f"?as_of={as_of}" if as_of else ""
    found = {}
    for row in rows:
        indicator, entity = row["indicatorId"], row["entityId"]
        if (indicator, entity) in series:
            found[row["id"]] = series_address(series[indicator, entity]) + then
        elif indicator:
            found[row["id"]] = f"/indicators/{indicator.removeprefix('indicator_')}{then}"
        elif entity:
            found[row["id"]] = entity_page(entity) + then
        elif row["url"]:
            found[row["id"]] = row["url"]
    return found


def _shown(visit: Visit) -> list[dict[str, Any]]:
    """Return the events of the page at this address. Raises ApiError for a day that is none, as the interface would."""
    try:
        first = _first(visit)
    except ValueError as error:
        raise ApiError(400, str(error), {"parameter": "from"}) from None
    last = days_from(first, _DAYS - 1)
    found: list[dict[str, Any]] = visit.ask(
        "/events", start_date=first, end_date=last, order="asc", limit=_EVENTS, **_read_form(visit)
    ).data
    return found


def table(visit: Visit) -> Answer:
    """Return the events of the page as CSV. What may not be shown is empty, and `withheld` says so."""
    rows = (
        [*("" if row[name] is None else row[name] for name in COLUMNS), str(row["rights"]["valueWithheld"]).lower()]
        for row in _shown(visit)
    )
    return csv_download("almanac-events.csv", [*COLUMNS, "withheld"], rows)


PAGES = (Page("/calendar", calendar), Page("/calendar.csv", table))
