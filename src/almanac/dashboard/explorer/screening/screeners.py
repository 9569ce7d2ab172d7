"""The screeners: a builder of filters that says what passes each, and what passes them all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.asking import Told
from almanac.dashboard.explorer.known import FieldProblem, day_asked
from almanac.dashboard.explorer.screening import filters, screens
from almanac.dashboard.explorer.screening.fields import listed_fields
from almanac.dashboard.explorer.screening.filters import EQUITY, MACRO, Screener
from almanac.dashboard.explorer.screening.screened import lines
from almanac.dashboard.explorer.screening.screener_page import FieldsPage, FilterExample, ScreenerPage, ScreenersPage
from almanac.dashboard.explorer.stars import screen_star
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Download, Html, NotFound, Redirect, Visit
from almanac.dashboard.words.numbers import read_whole

_PAGE = 50
#: A file holds at most so many rows, more than there are listed companies.
_FILE_ROWS = 10_000
_STEP = 200
_FORM = ("was", "remove", "add", "apply", "operator", "field", "value")
_EXAMPLES = {
    "macro": (
        FilterExample("Inflation above 3%", "cpi_inflation_yoy:gt:3"),
        FilterExample("Growing, with inflation at most 3%", "gdp_growth_yoy:gt:1,cpi_inflation_yoy:lte:3"),
    ),
    "equity": (
        FilterExample("Piotroski F of at least 8", "piotroski_f:gte:8"),
        FilterExample("Margins above 20%, and growing", "net_margin:gt:0.2,revenue_growth_yoy:gt:0"),
        FilterExample(
            "Return on equity of at least 15%, with little debt", "return_on_equity:gte:0.15,debt_to_equity:lte:0.5"
        ),
    ),
}


def start(_: Visit) -> Answer:
    """Which screener, and examples of each."""
    page = ScreenersPage((MACRO, EQUITY), _EXAMPLES)
    return Html("explorer/screeners.html", msgspec.structs.asdict(page))


def look(screener: Screener, visit: Visit) -> Answer:
    """The builder and what its filter finds. A form that was sent goes on at the address of the filter it means."""
    clean = _clean(visit)
    if clean is not None:
        return Redirect(clean)
    others, refused = _others(screener, visit)
    known, syntax = _fields(screener, visit)
    text = visit.query.get("filter", "").strip()
    rows = filters.judged(visit, screener, filters.rows_of(text, known), others)
    bad = [row for row in rows if row.error]
    told, problems = (None, {}) if bad or not rows else _found(screener, visit, text, others)
    if bad and (down_to := [row.down_to for row in rows if row.whole]):
        # The counts of what can be read are shown, so their request is too.
        visit.ask(screener.path, filter=down_to[-1], limit=1, **others)
    errors = [FieldProblem(f"filter{row.number}", row.error) for row in bad] + refused
    if "sort" in problems:
        errors.append(FieldProblem("", problems["sort"]))
    falling = visit.query.get("order") == "desc"
    page = ScreenerPage(
        screener=screener,
        text=text,
        clauses=len(rows),
        as_of=others["as_of"],
        errors=errors,
        rows=screens.dressed(visit, screener, rows, known),
        keep={
            name: visit.query[name] for name in ("filter", *screener.narrows, "sort", "order") if visit.query.get(name)
        },
        order="desc" if falling else "asc",
        order_words="descending" if falling else "ascending",
        syntax=syntax,
        examples=_EXAMPLES[screener.name],
        warnings=[] if told is None else told.meta.get("warnings", []),
        found=None if told is None else screens.results(screener, visit, told, rows, known, others),
        cursor_error=problems.get("cursor", ""),
        foreign=screens.foreign(rows, known) if screener is EQUITY else False,
        star=None if told is None else screen_star(visit, screener.name),
    )
    return Html("explorer/screener.html", msgspec.structs.asdict(page))


def count(screener: Screener, visit: Visit) -> Answer:
    """What passes the filter that a form holds, for the script: in all, and row by row."""
    others, refused = _others(screener, visit)
    known, _ = _fields(screener, visit)
    text = filters.text_of(visit.query, patient=True)
    rows = filters.judged(visit, screener, filters.rows_of(text, known), others)
    error = next((row.error for row in rows if row.error), refused[0].message if refused else None)
    total = filters.passing(visit, screener, text, others) if rows and error is None else None
    shown = ("number", "field", "operator", "value", "aside", "said", "error")
    answer = {
        "filter": text,
        "total": total,
        "words": screens.words(screener, total) if total is not None else "",
        "error": error,
        "rows": [{name: getattr(row, name) for name in shown} for row in rows],
    }
    return Download(msgspec.json.encode(answer), "application/json")


def file(screener: Screener, visit: Visit) -> Answer:
    """All rows of the filter as CSV, by the interface's own walk."""
    others, _ = _others(screener, visit)
    asked = {
        **others,
        "filter": visit.query.get("filter", ""),
        "sort": visit.query.get("sort"),
        "order": visit.query.get("order"),
    }
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        told = visit.ask(
            screener.path, **{name: value or None for name, value in asked.items()}, limit=_STEP, cursor=cursor
        )
        if (told.total or 0) > _FILE_ROWS:
            raise ApiError(
                400, f"a file holds at most {_FILE_ROWS:,} rows and the filter finds {told.total:,}; narrow it"
            )
        rows += told.data
        cursor = told.next_cursor
        if cursor is None:
            break
    known, _ = _fields(screener, visit)
    shown = screens.names(filters.rows_of(asked["filter"] or "", known), visit, known)
    return Download(lines(screener, rows, shown), "text/csv; charset=utf-8", f"{screener.name}-screen.csv")


def fields(screener: Screener, visit: Visit) -> Answer:
    """All fields that a filter may name, by group: what each is, its bounds, how many have it."""
    words = " ".join(visit.query.get("q", "").split())[:80]
    found = listed_fields(visit, screener, words)
    page = FieldsPage(screener, found, words, visit.query.get("filter", ""))
    return Html("explorer/screener_fields.html", msgspec.structs.asdict(page))


# -- the pieces ---------------------------------------------------------------------------------------------------------


def _fields(screener: Screener, visit: Visit) -> tuple[filters.Fields, str]:
    """The fields by name, and the syntax of a filter in a sentence."""
    told = visit.look_up(f"{screener.path}/filters")
    if told is None:
        raise NotFound("There is no such screener.")
    return {field["field"]: field for field in told.data["fields"]}, told.data["syntax"]


def _clean(visit: Visit) -> str | None:
    """Where a form that was sent goes on: the filter it means as one text; None: the address is clean already."""
    if not any(name.startswith(_FORM) for name in visit.query):
        return None
    kept = {
        name: value for name, value in visit.query.items() if not name.startswith(_FORM) and name != "filter" and value
    }
    kept.pop("cursor", None)
    text = filters.text_of(visit.query)
    query = {"filter": text, **kept} if text else kept
    if "add" in visit.query:
        query["rows"] = str(min(read_whole(kept.get("rows"), 2) or 0, 29) + 1)
    return f"{visit.path}?{urlencode(query, safe=':,')}" if query else visit.path


def _others(screener: Screener, visit: Visit) -> tuple[dict[str, str | None], list[FieldProblem]]:
    """What else the interface is asked: narrowing and the day. What it refuses of these is said, and left out."""
    as_of, refused = day_asked(visit)
    others = {name: visit.query.get(name) or None for name in screener.narrows} | {"as_of": as_of}
    example = _EXAMPLES[screener.name][0].filter
    for name in screener.narrows:
        try:
            filters.passing(visit, screener, example, {name: others[name]})
        except ApiError as error:
            refused.append(FieldProblem(name, f"{error.message}."))
            others[name] = None
    return others, refused


def _found(
    screener: Screener, visit: Visit, text: str, others: Mapping[str, str | None]
) -> tuple[Told | None, dict[str, str]]:
    """The page of results, and what of the request was refused: then the first page in the usual order."""
    asked = {name: visit.query.get(name) or None for name in ("sort", "order", "cursor")}
    problems: dict[str, str] = {}
    for _ in asked:
        try:
            return visit.ask(screener.path, filter=text, limit=_PAGE, **others, **asked), problems
        except ApiError as error:
            details = error.details or {}
            name = str(details.get("parameter"))
            if name not in asked:
                raise
            expired = f"This list is older than {visit.settings.cursor_days} days."
            problems[name] = expired if details.get("reason") == "expired" else f"{error.message}."
            asked[name] = None
            if name == "cursor":
                return None, problems
    return None, problems


PAGES = (
    Page("/screeners", start),
    *(
        page
        for one in (MACRO, EQUITY)
        for page in (
            Page(f"/screeners/{one.name}", partial(look, one)),
            Page(f"/screeners/{one.name}.json", partial(count, one)),
            Page(f"/screeners/{one.name}.csv", partial(file, one)),
            Page(f"/screeners/{one.name}/fields", partial(fields, one)),
        )
    ),
)
