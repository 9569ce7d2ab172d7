"""The watchlist: its page, its files, and the forms that put things on it and take them off."""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.series import one_series
from almanac.dashboard.explorer.watching.entries import (
    WatchedEntry,
    listed,
    moment,
)
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Download, Html, Redirect, Visit, leads_here
from almanac.dashboard.words.numbers import read_whole
from almanac.store.accounts.records import AccountError
from almanac.store.accounts.watchlist import KINDS, MOST_WATCHED

#: Things of one page, each of which takes a request; and requests that a page shows of these.
_PAGE, _ASKED = 50, 12
_NAME = 80
_COLUMNS = (
    "kind", "id", "name", "of", "seriesId", "periodEnd", "value", "unit", "currency", "observedAt", "withheld", "reason", "addedAt",
)  # fmt: skip
_NOT_SAID = "This form does not say what to do. Nothing was changed"


def page(visit: Visit) -> Answer:
    """Show what is watched."""
    return _page(visit)


def _page(visit: Visit, problem: str = "") -> Answer:
    lists, account = visit.people.watchlist, visit.who.account
    watched = lists.watched(account)
    pages = max(1, -(-len(watched) // _PAGE))
    number = min(max(read_whole(visit.query.get("page")) or 1, 1), pages)
    first = (number - 1) * _PAGE
    visit.query = {name: value for name, value in visit.query.items() if name == "page"}
    values: dict[str, Any] = {
        "entries": listed(visit, watched[first : first + _PAGE]),
        "watched": len(watched),
        "most": MOST_WATCHED,
        "text": f"{first + 1:,}–{min(first + _PAGE, len(watched)):,} of {len(watched):,}",
        "before": visit.here(page=str(number - 1)) if number > 1 else "",
        "after": visit.here(page=str(number + 1)) if number < pages else "",
        "asked": visit.asked[:_ASKED],
        "errors": [{"field": "", "message": f"{problem}."}] if problem else [],
    }
    return Html("explorer/watchlist.html", values, 400 if problem else 200)


def change(visit: Visit) -> Answer:
    """Put a thing on the list, or take it off, as a star says; then back to the page of the star."""
    kind, what, deed = (visit.form.get(name, "") for name in ("kind", "what", "deed"))
    lists, account = visit.people.watchlist, visit.who.account
    if deed == "unwatch":
        lists.unwatch(account, kind, what)
    elif deed == "watch":
        try:
            lists.watch(account, kind, _named(visit, kind, what), now=visit.people.now())
        except AccountError as refused:
            text = str(refused)
            return _page(visit, text[:1].upper() + text[1:])
    else:
        return _page(visit, _NOT_SAID)
    return Redirect(_back(visit))


def _named(visit: Visit, kind: str, what: str) -> str:
    """The thing by the name that it is kept under. Raises AccountError where there is no such thing."""
    found: str | None = None
    told = None
    try:
        if kind == "series":
            one = one_series.find(visit, what)
            found = one.id if isinstance(one, one_series.Series) else None
        elif kind == "company":
            told = visit.look_up("/entities/resolve", alias=what, type="company")
            found = None if told is None or told.data["match"] == "fuzzy" else told.data["entityId"]
        elif kind == "indicator":
            told = visit.look_up(f"/indicators/{what}")
            found = None if told is None else told.data["slug"]
        else:
            raise AccountError(f"only these can be watched: {', '.join(KINDS)}")
    except ApiError:  # nothing that could be a name
        found = None
    if found is None:
        raise AccountError(f"there is no {kind} “{what[:_NAME]}”")
    return found


def _back(visit: Visit) -> str:
    to = visit.form.get("to", "")
    return to if leads_here(to) else "/watchlist"


# -- files --------------------------------------------------------------------------------------------------------------


def as_csv(visit: Visit) -> Answer:
    """Return what is watched as CSV, each with its newest value as the interface gives it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_watched_lines(visit))
    return Download(out.getvalue().encode(), "text/csv; charset=utf-8", "almanac-watchlist.csv")


def as_json(visit: Visit) -> Answer:
    """Return the list for programs."""
    body = msgspec.json.encode({"watched": _watched_lines(visit)})
    return Download(body, "application/json", "almanac-watchlist.json")


def _watched_lines(visit: Visit) -> list[dict[str, Any]]:
    return [_line(entry) for entry in listed(visit, visit.people.watchlist.watched(visit.who.account))]


def _line(one: WatchedEntry) -> dict[str, Any]:
    """An entry as files have it: a value that may not be told is absent, with its reason."""
    row = one.newest or {}
    rights = row.get("rights") or {}
    return {
        "kind": one.watched.kind,
        "id": one.watched.what,
        "name": one.title,
        "of": one.of or None,
        "seriesId": (row.get("metadata") or {}).get("seriesId"),
        "periodEnd": row.get("periodEnd"),
        "value": row.get("valueNumeric"),
        "unit": row.get("unit"),
        "currency": (row.get("metadata") or {}).get("currency"),
        "observedAt": row.get("observedAt"),
        "withheld": rights.get("valueWithheld"),
        "reason": rights.get("reason") or one.why or None,
        "addedAt": moment(one.watched.added),
    }


PAGES = (
    Page("/watchlist", page, change),
    Page("/watchlist.csv", as_csv),
    Page("/watchlist.json", as_json),
)
