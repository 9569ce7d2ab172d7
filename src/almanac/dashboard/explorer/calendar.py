"""The calendar of official events: what came out, what was expected to, and what comes next."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby
from typing import Any

from almanac.dashboard.explorer.places import places
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Visit
from almanac.dashboard.words.dates import read_day

#: Days of one page, and events of one page.
_DAYS, _EVENTS = 8, 200
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
    today = _today(visit)
    try:
        first = read_day(typed) if typed else today - timedelta(days=1)
    except ValueError as error:
        errors.append({"field": "from", "message": str(error)})
        first = today - timedelta(days=1)
    asked: dict[str, Any] = {
        "category": visit.query.get("category") or None,
        "country": visit.query.get("country") or None,
        "as_of": visit.as_of,
    }
    last = first + timedelta(days=_DAYS - 1)
    told = visit.ask("/events", start_date=first, end_date=last, order="asc", limit=_EVENTS, **asked)
    following = None
    if not told.data:
        later = visit.ask("/events", start_date=last + timedelta(days=1), order="asc", limit=1, **asked).data
        following = later[0] if later else None
    days = [(day, list(rows)) for day, rows in groupby(told.data, key=lambda row: row["occurredAt"][:10])]
    values = {
        "days": days,
        "first": first,
        "last": last,
        "typed": typed,
        "today": today.isoformat(),
        "earlier": visit.here(**{"from": (first - timedelta(days=_DAYS)).isoformat()}),
        "later": visit.here(**{"from": (last + timedelta(days=1)).isoformat()}),
        "more": told.next_cursor is not None,
        "following": following,
        "asked": asked,
        "categories": CATEGORIES,
        "places": places(visit),
        "errors": errors,
        "warnings": told.meta.get("warnings", []),
    }
    return Html("explorer/calendar.html", values, 400 if errors else 200)


def _today(visit: Visit) -> date:
    return date.fromisoformat(visit.as_of[:10]) if visit.as_of and visit.as_of[:10].count("-") == 2 else visit.today


PAGES = (Page("/calendar", calendar),)
