"""Indicators: the list of them, and one over all its entities."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from almanac.dashboard.drawing.outlines import SOURCE
from almanac.dashboard.explorer.across import (
    MOST,
    SORTS,
    TABLE,
    Across,
    ReadingRow,
    SmallMultiple,
    across,
    middle,
    multiples,
    sorted_rows,
)
from almanac.dashboard.explorer.histories import SPANS
from almanac.dashboard.explorer.past import PastSlider, past_slider
from almanac.dashboard.explorer.stars import Star, star
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit
from almanac.dashboard.words.dates import day_of
from almanac.dashboard.words.numbers import read_whole

#: Indicators on a page: a phone shows three of them at a time.
_LISTED = 50


class SortedHead(msgspec.Struct, frozen=True):
    """The head of a column: where it leads, and which way the table is sorted by it, empty where it is not."""

    sort: str
    sorted: str


class IndicatorPage(msgspec.Struct, frozen=True):
    """One indicator: what it means, and its latest reading everywhere."""

    #: As the interface has it; and the records of what it is computed from.
    record: dict[str, Any]
    inputs: list[dict[str, Any]]
    star: Star | None
    there: Across
    #: Whether these are all readings there are: of fewer no rank is known, and no map is drawn.
    whole: bool
    middle: float | None
    multiples: list[SmallMultiple]
    #: How far small lines go back, in words; and where the outlines of the map are from.
    spans: str
    map_source: str
    #: Heads of the table that sort it, in the order of `SORTS`.
    columns: list[SortedHead]
    #: One page of the table, which rows of it these are, and the addresses of the pages beside it.
    rows: list[ReadingRow]
    text: str
    before: str
    after: str
    slider: PastSlider
    #: What the form for another day keeps of the address.
    keep: dict[str, str]


def listing(visit: Visit) -> Answer:
    """All indicators; `category`, `kind` and `q` narrow them as they do for programs."""
    asked = {name: visit.query.get(name) or None for name in ("category", "kind", "q")}
    rows = _all(visit, **asked)
    every = rows if not asked["category"] else _all(visit, kind=asked["kind"], q=asked["q"])
    counts = sorted(Counter(row["category"] for row in every).items(), key=lambda pair: (-pair[1], pair[0]))
    rows.sort(key=lambda row: (row["entityCount"] == 0, row["name"].lower()))
    number = visit.query.get("page", "1")
    page = read_whole(number) or 1
    pages = max(1, -(-len(rows) // _LISTED))
    page = min(max(page, 1), pages)
    values = {
        "rows": rows[(page - 1) * _LISTED : page * _LISTED],
        "counts": counts,
        "asked": asked,
        "every": len(every),
        "total": len(rows),
        "first": (page - 1) * _LISTED + 1,
        "before": visit.here(page=str(page - 1)) if page > 1 else "",
        "after": visit.here(page=str(page + 1)) if page < pages else "",
    }
    return Html("explorer/indicators.html", values)


def _all(visit: Visit, **asked: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        told = visit.ask("/indicators", limit=500, cursor=cursor, **asked)
        rows += told.data
        cursor = told.next_cursor
        if cursor is None:
            return rows


def indicator(visit: Visit) -> Answer:
    """One indicator: what it means, and its latest reading everywhere."""
    slug = visit.values["slug"]
    told = visit.ask_known(f"/indicators/{slug}")
    if told is None:
        raise NotFound(f"There is no indicator “{slug[:80]}”.")
    record = told.data
    if record["slug"] != slug:
        return Redirect(f"/indicators/{record['slug']}", 301)
    if visit.query.get("compare"):
        return Redirect(_comparison(visit, slug))
    found = visit.ask(
        "/observations/latest",
        indicator_id=record["id"],
        limit=MOST,
        as_of=visit.as_of,
        cursor=visit.query.get("cursor") or None,
    )
    there = across(visit, found.data)
    # Of more readings than one request tells no rank is known, and so no map is drawn.
    whole = found.next_cursor is None and not visit.query.get("cursor")
    by = visit.query.get("sort", "value")
    by = by if by in SORTS else "value"
    order = visit.query.get("order", SORTS[by])
    rows = sorted_rows(there.rows, by, ascending=order == "asc")
    number = min(max(read_whole(visit.query.get("page")) or 1, 1), max(1, -(-len(rows) // TABLE)))
    first = (number - 1) * TABLE
    inputs = [visit.look_up(f"/indicators/{one.removeprefix('indicator_')}") for one in record["inputs"]]
    since = next((told.history_from for told in visit.told if told.history_from), None)
    shown = rows[first : first + TABLE]
    before = after = ""
    if number > 1:
        before = visit.here(page=str(number - 1))
    elif visit.query.get("cursor"):
        before = visit.here(cursor=None)
    if first + TABLE < len(rows):
        after = visit.here(page=str(number + 1))
    elif found.next_cursor:
        after = visit.here(cursor=found.next_cursor, page=None)
    page = IndicatorPage(
        record=record,
        inputs=[one.data for one in inputs if one is not None],
        star=star(visit, "indicator", record["slug"]),
        there=there,
        whole=whole,
        middle=middle(there) if whole else None,
        multiples=multiples(visit, found.data, there, derived=record["kind"] == "derived"),
        spans=SPANS,
        map_source=SOURCE,
        columns=[_head(visit, title, by, order) for title in SORTS],
        rows=shown,
        text=f"{first + 1:,}–{first + len(shown):,} of {len(rows):,}",
        before=before,
        after=after,
        slider=past_slider(visit, None if since is None else day_of(since)),
        keep={name: visit.query[name] for name in ("sort", "order") if visit.query.get(name)},
    )
    return Html("explorer/indicator.html", msgspec.structs.asdict(page))


def _comparison(visit: Visit, slug: str) -> str:
    """The address that compares the ticked: a form sends each by itself, an address has them as one list."""
    ticked = [value for name, value in parse_qsl(visit.query_string) if name == "entities"]
    asked = [("indicator", slug), ("entities", ",".join(dict.fromkeys(ticked))), ("as_of", visit.as_of or "")]
    return f"/compare?{urlencode([(name, value) for name, value in asked if value], safe=',:')}"


def _head(visit: Visit, name: str, by: str, order: str) -> SortedHead:
    """Where the head of a column leads: to the table sorted by it, and of the one it is sorted by to the other way round."""
    turned = {"asc": "desc", "desc": "asc"}.get(order, "asc")
    wanted = turned if name == by else SORTS[name]
    address = visit.here(
        sort=None if name == "value" else name, order=None if wanted == SORTS[name] else wanted, page=None, cursor=None
    )
    return SortedHead(address, "" if name != by else "ascending" if order == "asc" else "descending")


def every_indicator(visit: Visit) -> list[dict[str, Any]]:
    """Every indicator, for names and categories of rows that have ids alone."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        told = visit.look_up("/indicators", limit=500, cursor=cursor)
        if told is None:
            return found
        found += told.data
        cursor = told.next_cursor
        if cursor is None:
            return found


PAGES = (Page("/indicators", listing), Page("/indicators/{slug}", indicator))
