"""A screen as its page has it: rows of the builder with what they may choose from, and the results with their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from almanac.dashboard.asking import Told
from almanac.dashboard.explorer.screening import filters
from almanac.dashboard.explorer.screening.fields import groups
from almanac.dashboard.explorer.screening.filters import EQUITY, FilterRow, Screener
from almanac.dashboard.explorer.screening.screened import value_columns
from almanac.dashboard.explorer.screening.sparklines import sparklines
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.numbers import read_whole
from almanac.reports.filter_text import AT


def results(
    screener: Screener,
    visit: Visit,
    found: Told | None,
    rows: list[FilterRow],
    known: filters.Fields,
    others: Mapping[str, str | None],
) -> dict[str, Any]:
    """The table, its order and its pages."""
    if found is None:
        return {
            "columns": [],
            "lines": None,
            "blame": None,
            "total": None,
            "words": "",
            "sorts": [],
            "sort": "",
            "next": "",
            "first": "",
            "file": "",
        }
    total = found.total or 0
    shown = names(rows, visit, known)
    sort = visit.query.get("sort", "").lower()
    keep = {
        name: value
        for name, value in visit.query.items()
        if name in {"filter", "sort", "order", "as_of", *screener.narrows} and value
    }
    options = [{"value": name, "label": title} for name, title in screener.identity]
    first = [name for name in shown if name in known]
    options += [
        {"value": name, "label": known[name]["name"]} for name in [*first, *(n for n in known if n not in first)]
    ]
    return {
        "columns": value_columns(screener, known, found.data, shown, others["as_of"]),
        "lines": sparklines(visit, screener, known, found.data, shown, others["as_of"]),
        "blame": filters.without(visit, screener, rows, others) if total == 0 else None,
        "known": known,
        "total": total,
        "words": words(screener, total),
        "sorts": options,
        "sort": sort or "name",
        "next": visit.here(cursor=found.next_cursor) if found.next_cursor else "",
        "first": visit.here(cursor=None) if visit.query.get("cursor") else "",
        "file": f"/screeners/{screener.name}.csv?{urlencode(keep, safe=':,')}",
    }


def dressed(visit: Visit, screener: Screener, rows: list[FilterRow], known: filters.Fields) -> list[dict[str, Any]]:
    """The rows as the form shows them, each with the fields it may choose from."""
    more = visit.query.get("rows", "")
    new = visit.query.get("new", "")
    all_groups = groups(visit, screener, known)
    dressed = []
    for row in filters.padded(rows, read_whole(more, 2) or 0):
        if new in known and not row.clause:
            row, new = row._replace(field=new), ""
        offered = all_groups
        if row.field and (row.field not in known or not known[row.field]["entityCount"]):
            label = known[row.field]["name"] if row.field in known else row.field
            offered = [{"title": "As written", "options": [{"value": row.field, "label": label}]}, *all_groups]
            offered = [
                {**one, "options": [o for o in one["options"] if i == 0 or o["value"] != row.field]}
                for i, one in enumerate(offered)
            ]
        verbs = [*filters.OPERATORS]
        if row.operator not in {verb["value"] for verb in verbs}:
            verbs.append({"value": row.operator, "label": row.operator})
        dressed.append({"row": row._asdict() | {"count": row.said}, "groups": offered, "operators": verbs})
    return dressed


def names(rows: list[FilterRow], visit: Visit, known: filters.Fields) -> list[str]:
    """The fields that rows of results have a value of: those filtered, then the one sorted by."""
    names = dict.fromkeys(name for row in rows for name in row.fields if name in known)
    sort = visit.query.get("sort", "").lower()
    if sort in known:
        names[sort] = None
    return list(names)


def comparable(screener: Screener, known: filters.Fields) -> list[dict[str, str]]:
    """Fields that may stand in place of a value, as they are written there: numbers that somebody has, and no scores."""
    return [
        {"value": f"{AT}{name}", "label": one["name"]}
        for name, one in known.items()
        # A number of companies without a unit is a score; of places it is money, each in its own currency.
        if one["type"] == "number" and one["entityCount"] and (one["unit"] or screener is not EQUITY)
    ]


def foreign(rows: list[FilterRow], known: filters.Fields) -> bool:
    """Whether companies are left out because they report in another currency."""
    named = {row.field for row in rows if row.whole}
    return "currency" not in named and any(filters.is_money(known.get(name)) for name in named)


def words(screener: Screener, total: int) -> str:
    return f"{total:,} {screener.what[total != 1]}"
