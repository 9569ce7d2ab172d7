"""The watchlist: stars on pages, the list with newest values, and the same as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.columns import sparkline
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import SPARK, recent
from almanac.dashboard.explorer.one_series import Series, find
from almanac.dashboard.explorer.places import by_size, called, names
from almanac.dashboard.formatting.dates import of_row
from almanac.dashboard.formatting.numbers import change, distinguish_units, unit_of
from almanac.dashboard.formatting.values import FormattedValue, is_forecast, look, masked, points
from almanac.dashboard.visit import Answer, Download, Html, Page, Redirect, Visit, csv_download, leads_here
from almanac.domain.times import wire_time
from almanac.store.accounts.records import AccountError
from almanac.store.accounts.watchlist import KINDS, MOST_WATCHED, Watched


class Star(NamedTuple):
    """One thing, whether it is watched, and the address that the form leads back to."""

    kind: str
    what: str
    on: bool
    to: str


def star(visit: Visit, kind: str, what: str, path: str = "") -> Star | None:
    """Return the star of a thing, on a page at `path`, else at this one; None while the accounts do not answer."""
    on = visit.people.look_up(lambda lists: lists.watches(visit.who.account, kind, what))
    query = f"?{visit.query_string}" if visit.query_string else ""
    return None if on is None else Star(kind, what, on, f"{path or visit.path}{query}")


Row = Mapping[str, Any]

#: What of a company is watched.
_OF_COMPANY = "revenue_ttm"


class WatchedEntry(NamedTuple):
    """One thing that is watched. `newest` is the interface's own row; None where there is none that may be told."""

    watched: Watched
    title: str
    href: str
    #: What the value is of, where the title does not say it.
    of: str = ""
    newest: Row | None = None
    #: None: there is no such thing any more.
    look: FormattedValue | None = None
    period: str = ""
    unit: str = ""
    #: Against the period before, in words.
    moved: str = ""
    spark: str = ""
    #: Why there is no value.
    why: str = ""


def listed(visit: Visit, watched: Sequence[Watched]) -> list[WatchedEntry]:
    """Each thing as a row, in this order, as it stands today."""
    return [_MAKERS[one.kind](visit, one) for one in watched]


def _series(visit: Visit, one: Watched) -> WatchedEntry:
    found = find(visit, one.what)
    if not isinstance(found, Series):
        return WatchedEntry(one, one.what, series_address(one.what), why="There is no series of this id any more.")
    told = visit.ask(found.list_path, **found.filters, sort="period_end", order="desc", limit=SPARK)
    return _entry(visit, WatchedEntry(one, found.title, found.address), found.own(told.data))


def _company(visit: Visit, one: Watched) -> WatchedEntry:
    told = visit.look_up("/entities/resolve", alias=one.what)
    if told is None or told.data["entityId"] is None:
        return WatchedEntry(one, one.what, f"/companies/{one.what}", why="There is no company of this id any more.")
    entry = WatchedEntry(one, called(told.data), f"/companies/{told.data['slug']}", "Revenue, twelve months")
    found = visit.ask("/observations/latest", indicator_id=_OF_COMPANY, entity_id=told.data["entityId"], limit=1).data
    return _entry(visit, entry, recent(visit, found[0]) if found else [])


def _indicator(visit: Visit, one: Watched) -> WatchedEntry:
    """Return the indicator of the largest economy that has it, else of the first company."""
    told = visit.look_up(f"/indicators/{one.what}")
    if told is None:
        return WatchedEntry(one, one.what, "/indicators", why="There is no indicator of this name any more.")
    entry = WatchedEntry(one, told.data["name"], f"/indicators/{told.data['slug']}")
    rows = visit.ask("/observations/latest", indicator_id=told.data["id"], limit=500).data
    first = by_size(visit, rows, lambda row: row["entityId"])[:1]
    if not first:
        return _entry(visit, entry, [])
    (row,) = first
    place = names(visit, [row["entityId"]]).get(row["entityId"], row["entityId"])
    return _entry(visit, entry._replace(of=place), recent(visit, row))


_MAKERS = {"series": _series, "company": _company, "indicator": _indicator}


def _entry(visit: Visit, entry: WatchedEntry, rows: Sequence[Row]) -> WatchedEntry:
    """Return the entry with its newest value, of rows with the newest first."""
    known = [row for row in rows if not is_forecast(row)]
    if not known:
        plan = visit.api.plan(visit.who.plan)
        why = "No value is known." if plan.history_months is None else "No value is within your plan's reach."
        return entry._replace(why=why)
    newest, moved = known[0], ""
    # The change on the period before, with its unit; nothing where one of the two may not be told.
    if len(known) > 1 and not any(masked(row) or row["valueNumeric"] is None for row in known[:2]):
        now, before = (row["valueNumeric"] for row in known[:2])
        unit, digits = distinguish_units(newest, now, before)
        moved = f"{change(unit.scaled(now) - unit.scaled(before), digits)} {unit.moves}".strip()
    return entry._replace(
        newest=newest,
        look=look(newest, today=visit.today),
        period=of_row(newest),
        unit=unit_of(newest).head,
        moved=moved,
        spark="" if masked(newest) else sparkline(points(known)),
    )


#: Things of one page, each of which takes a request; and requests that a page shows of these.
_PAGE, _ASKED = 50, 12
_NAME = 80
_COLUMNS = (
    "kind", "id", "name", "of", "seriesId", "periodEnd", "value", "unit", "currency", "observedAt", "withheld", "reason", "addedAt",
)  # fmt: skip
_NOT_SAID = "This form does not say what to do. Nothing was changed"


def page(visit: Visit, problem: str = "") -> Answer:
    """Show what is watched, and what could not be done."""
    lists, account = visit.people.watchlist, visit.who.account
    watched = lists.watched(account)
    visit.query = visit.kept("page")
    pager = visit.pager(len(watched), _PAGE)
    values: dict[str, Any] = {
        "entries": listed(visit, watched[pager.rows]),
        "watched": len(watched),
        "most": MOST_WATCHED,
        "pages": pager,
        "asked": visit.shown_requests[:_ASKED],
        "errors": [{"field": "", "message": f"{problem}."}] if problem else [],
    }
    return Html("explorer/watchlist.html", values, 400 if problem else 200)


def change_watched(visit: Visit) -> Answer:
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
            return page(visit, text[:1].upper() + text[1:])
    else:
        return page(visit, _NOT_SAID)
    to = visit.form.get("to", "")
    return Redirect(to if leads_here(to) else "/watchlist")


def _named(visit: Visit, kind: str, what: str) -> str:
    """Return the thing by the name that it is kept under. Raises AccountError where there is no such thing."""
    found: str | None = None
    told = None
    try:
        if kind == "series":
            one = find(visit, what)
            found = one.id if isinstance(one, Series) else None
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


# -- files --------------------------------------------------------------------------------------------------------------


def as_csv(visit: Visit) -> Answer:
    """Return what is watched as CSV, each with its newest value as the interface gives it."""
    rows = ([line[name] for name in _COLUMNS] for line in _watched_lines(visit))
    return csv_download("almanac-watchlist.csv", _COLUMNS, rows)


def as_json(visit: Visit) -> Answer:
    """Return the list for programs."""
    body = msgspec.json.encode({"watched": _watched_lines(visit)})
    return Download(body, "application/json", "almanac-watchlist.json")


def _watched_lines(visit: Visit) -> list[dict[str, Any]]:
    """Return entries as files have them: a value that may not be told is absent, with its reason."""
    lines = []
    for one in listed(visit, visit.people.watchlist.watched(visit.who.account)):
        row = one.newest or {}
        rights, metadata = row.get("rights") or {}, row.get("metadata") or {}
        line = {"kind": one.watched.kind, "id": one.watched.what, "name": one.title, "of": one.of or None}
        line |= {
            "seriesId": metadata.get("seriesId"),
            "periodEnd": row.get("periodEnd"),
            "value": row.get("valueNumeric"),
            "unit": row.get("unit"),
            "currency": metadata.get("currency"),
            "observedAt": row.get("observedAt"),
            "withheld": rights.get("valueWithheld"),
            "reason": rights.get("reason") or one.why or None,
            "addedAt": wire_time(one.watched.added),
        }
        lines.append(line)
    return lines


PAGES = (
    Page("/watchlist", page, change_watched),
    Page("/watchlist.csv", as_csv),
    Page("/watchlist.json", as_json),
)
