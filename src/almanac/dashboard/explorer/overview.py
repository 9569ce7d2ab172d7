"""
The first page: what was published since the last visit, what was revised by it, what comes, and the curves of all scopes.

The day of the last visit is kept by the browser, as two days and nothing else: the one before, and today. `since` in the
address is another day.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from almanac.dashboard.cookies import VISIT
from almanac.dashboard.drawing.columns import sparkline
from almanac.dashboard.drawing.curves import small_curve
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import recent
from almanac.dashboard.explorer.places import names
from almanac.dashboard.explorer.rates import Yields, scopes, yields
from almanac.dashboard.explorer.watchlist import listed
from almanac.dashboard.formatting.dates import day, read_day
from almanac.dashboard.formatting.numbers import change, distinguish_units, unit_of
from almanac.dashboard.formatting.values import look_release, masked, points
from almanac.dashboard.visit import Answer, Cookie, FieldProblem, Html, Page, Visit
from almanac.reports.rates import TENORS

Row = dict[str, Any]
#: Days that the page looks back where nobody came before, and at most.
_USUAL, _LONGEST = 7, 31
#: Releases that are read, those that are shown, revisions, and events of today and tomorrow.
_READ, _SHOWN, _REVISED, _EVENTS = 100, 12, 10, 20
#: Things watched that are shown, the last added first.
_WATCHED = 8
_KEPT_SECONDS = 400 * 86_400


class Since(msgspec.Struct, frozen=True):
    """The day from which on things are new, what is typed for it, and why that is none."""

    day: date
    visited: bool
    typed: str = ""
    error: str = ""


def overview(visit: Visit) -> Answer:
    """Show the first page."""
    since = _since(visit)
    releases = visit.ask("/release-summaries", start_date=since.day, limit=_READ).data
    earlier = []
    if not releases:
        earlier = visit.ask("/release-summaries", limit=_SHOWN).data
    coming = visit.ask(
        "/events",
        status="scheduled",
        start_date=visit.today,
        end_date=visit.today + timedelta(days=1),
        order="asc",
        limit=_EVENTS,
    ).data
    shown = (releases or earlier)[:_SHOWN]
    heads = [(row["readings"][0]["indicatorId"], row["entityId"]) for row in shown if row["readings"]]
    heads += [(row["indicatorId"], row["entityId"]) for row in coming if row["indicatorId"] and row["entityId"]]
    latest = _latest(visit, heads)
    curves = _curves(visit)
    watched = visit.people.look_up(lambda lists: lists.watched(visit.who.account)) or []
    page = {
        # What is watched, and whether there is more than is shown.
        "watched": listed(visit, watched[:_WATCHED]),
        "more_watched": len(watched) > _WATCHED,
        "since": since,
        # Releases that are shown, of `count` (`more`: at least) since then; or, where there were none, the last ones before.
        "released": [_release(visit, row, latest) for row in shown],
        "count": len(releases),
        "more": len(releases) == _READ,
        "earlier": bool(earlier),
        "revised": _revised(visit, releases),
        "coming": [_event(row, latest) for row in coming],
        "curves": curves,
        "errors": [FieldProblem("since", since.error)] if since.error else [],
        # Whether nothing was taken in yet.
        "empty": not visit.ask("/coverage").data["series"],
    }
    return Html("explorer/overview.html", page, 400 if since.error else 200)


def _since(visit: Visit) -> Since:
    """Return the day of the address, else of the last visit, else a week ago; and today kept for the next visit."""
    today = visit.today
    before, last = None, None
    with contextlib.suppress(ValueError):  # a browser that kept something else
        before, last = (read_day(part) if part else None for part in visit.cookies.get(VISIT, "_").split("_"))
    if last is not None and last < today:
        before = last
    visit.set_cookies.append(
        Cookie(VISIT, f"{before.isoformat() if before else ''}_{today.isoformat()}", _KEPT_SECONDS)
    )
    usual = today - timedelta(days=_USUAL)
    visited = before is not None and before < today
    first = max(before, today - timedelta(days=_LONGEST)) if before is not None and visited else usual
    typed = visit.query.get("since", "")
    if not typed:
        return Since(first, visited)
    try:
        chosen = read_day(typed)
    except ValueError as refused:
        return Since(first, visited, typed, str(refused))
    if not today - timedelta(days=366) <= chosen <= today:
        return Since(
            first, visited, typed, f"{day(chosen)} is not within the last year. Write a day of it, up to today"
        )
    return Since(chosen, visited=False, typed=typed)


def _latest(visit: Visit, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
    """Return the newest readings of indicators of entities: one request for all."""
    if not pairs:
        return {}
    indicators, entities = sorted({one for one, _ in pairs}), sorted({one for _, one in pairs})
    told = visit.ask("/observations/latest", indicator_id=indicators, entity_id=entities, limit=500)
    return {(row["indicatorId"], row["entityId"]): row for row in told.data}


def _release(visit: Visit, row: Row, latest: dict[tuple[str, str], Row]) -> dict[str, Any]:
    shown = {"name": row["name"], "headline": row["headline"], "released": row["releasedAt"]}
    shown |= dict.fromkeys(("number", "before", "moved", "href", "spark"), "")
    if not row["readings"]:
        return shown
    reading = row["readings"][0]
    newest = latest.get((reading["indicatorId"], row["entityId"]))
    if newest is not None:
        shown["href"] = series_address(newest["metadata"]["seriesId"])
        # The line that a reading ends: its number stands beside it.
        shown["spark"] = "" if masked(newest) else sparkline(points(recent(visit, newest)))
    past = reading["previous"] if reading["revisedPrevious"] is None else reading["revisedPrevious"]
    if masked(reading) or reading["actual"] is None or past is None:
        return shown | {"number": look_release(reading, figure=True).text}
    unit, digits = distinguish_units(reading, reading["actual"], past)
    by = change(unit.scaled(reading["actual"]) - unit.scaled(past), digits)
    return shown | {
        "number": unit.sentence(reading["actual"], digits),
        "before": unit.sentence(past, digits),
        "moved": f"{by} {unit.moves}".strip(),
    }


def _revised(visit: Visit, releases: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what releases made of the period before, the largest move of each first in their order."""
    found = []
    places = names(visit, {row["entityId"] for row in releases})
    for release in releases:
        for reading in release["readings"]:
            was, now = reading["previous"], reading["revisedPrevious"]
            if masked(reading) or was is None or now is None or was == now:
                continue
            unit, digits = distinguish_units(reading, was, now)
            told = visit.look_up(f"/indicators/{reading['indicatorId'].removeprefix('indicator_')}")
            name = reading["indicatorId"] if told is None else told.data["name"]
            found.append(
                {
                    "name": f"{name}: {places.get(release['entityId'], release['entityId'])}",
                    "before": release["period"],
                    "was": unit.sentence(was, digits),
                    "now": unit.sentence(now, digits),
                    "moved": change(unit.scaled(now) - unit.scaled(was), digits),
                    "up": now > was,
                    "href": f"/observations/{reading['observationId']}",
                }
            )
            if len(found) == _REVISED:
                return found
    return found


def _event(row: Row, latest: dict[tuple[str, str], Row]) -> dict[str, Any]:
    newest = latest.get((row["indicatorId"], row["entityId"]))
    href = series_address(newest["metadata"]["seriesId"]) if newest is not None else ""
    if not href and row["indicatorId"]:
        href = f"/indicators/{row['indicatorId'].removeprefix('indicator_')}"
    previous = "" if row["previous"] is None else look_release(row, "previous", figure=True).text
    return {"row": row, "href": href, "previous": previous}


def _curves(visit: Visit) -> list[dict[str, Any]]:
    of = scopes(visit)
    if not of:
        return []
    found: Yields = yields(visit, of, None)
    rows = []
    for one in of:
        steps, ten = found.steps(one), found.of(one, "10y")
        told = None if ten is None or masked(ten) else unit_of(ten).figure(ten["valueNumeric"], found.digits())
        if any(step.value is not None for step in steps):
            drawing = small_curve(steps, TENORS)
            rows.append(
                {
                    "name": one.name,
                    "href": f"/rates/{one.code}",
                    "drawing": drawing,
                    "ten": told,
                    "day": found.newest(one),
                }
            )
    return rows


PAGES = (Page("/", overview),)
