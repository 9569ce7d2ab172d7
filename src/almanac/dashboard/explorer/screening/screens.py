"""A screen as its page has it: rows of the builder with what they may choose from, and the results with their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from almanac.dashboard.asking import Told
from almanac.dashboard.explorer.screening import filters
from almanac.dashboard.explorer.screening.fields import OptionGroup, groups
from almanac.dashboard.explorer.screening.filters import FilterRow, Option, Screener
from almanac.dashboard.explorer.screening.screened import ValueColumn, value_columns
from almanac.dashboard.explorer.screening.sparklines import Sparklines, sparklines
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.numbers import read_whole


class BuilderRow(msgspec.Struct, frozen=True):
    """A row of the form: one clause as it is typed, and what may be chosen in it."""

    number: int
    field: str
    operator: str
    value: str
    #: What stands beside the value: 0.15 is 15%.
    aside: str
    #: What is left after it, or what is wrong with it.
    count: str
    error: str
    groups: list[OptionGroup]
    operators: list[Option]


class Remedy(msgspec.Struct, frozen=True):
    """What to leave out of a filter that nothing passes: the name of its field, how many pass then, and where they are."""

    name: str
    total: int
    href: str


class ScreenResults(msgspec.Struct, frozen=True):
    """One page of what passes a filter."""

    #: Records of the interface; of `total` that pass.
    rows: list[dict[str, Any]]
    total: int
    #: `12 companies`.
    words: str
    #: Values beside the names, a cell for each row; and the small lines, where there are some.
    columns: list[ValueColumn]
    lines: Sparklines | None
    #: Of a filter that nothing passes.
    remedy: Remedy | None
    #: What the list may be sorted by, and what it is.
    sorts: list[Option]
    sort: str
    #: Addresses of the first page and the next, empty where there is none; and of the file.
    first: str
    next: str
    file: str


def results(
    screener: Screener,
    visit: Visit,
    found: Told,
    rows: list[FilterRow],
    known: filters.Fields,
    others: Mapping[str, str | None],
) -> ScreenResults:
    """The table, its order and its pages."""
    total = found.total or 0
    shown = names(rows, visit, known)
    sort = visit.query.get("sort", "").lower()
    keep = {
        name: value
        for name, value in visit.query.items()
        if name in {"filter", "sort", "order", "as_of", *screener.narrows} and value
    }
    first = [name for name in shown if name in known]
    ordered = [*first, *(name for name in known if name not in first)]
    return ScreenResults(
        rows=found.data,
        total=total,
        words=words(screener, total),
        columns=value_columns(screener, known, found.data, shown, others["as_of"]),
        lines=sparklines(visit, screener, known, found.data, shown, others["as_of"]),
        remedy=None if total else _remedy(screener, visit, rows, known, others),
        sorts=[Option(*one) for one in screener.identity] + [Option(name, known[name]["name"]) for name in ordered],
        sort=sort or "name",
        first=visit.here(cursor=None) if visit.query.get("cursor") else "",
        next=visit.here(cursor=found.next_cursor) if found.next_cursor else "",
        file=f"/screeners/{screener.name}.csv?{urlencode(keep, safe=':,')}",
    )


def _remedy(
    screener: Screener,
    visit: Visit,
    rows: list[FilterRow],
    known: filters.Fields,
    others: Mapping[str, str | None],
) -> Remedy | None:
    blame = filters.without(visit, screener, rows, others)
    if blame is None:
        return None
    return Remedy(_field_name(blame.row.field, known), blame.total, visit.here(filter=blame.text, cursor=None))


def _field_name(field: str, known: filters.Fields) -> str:
    """What a field is called; of one that there is not, as it was written."""
    return known[field]["name"] if field in known else field


def dressed(visit: Visit, screener: Screener, rows: list[FilterRow], known: filters.Fields) -> list[BuilderRow]:
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
            written = OptionGroup("As written", [Option(row.field, _field_name(row.field, known))])
            rest = [
                OptionGroup(one.title, [option for option in one.options if option.value != row.field])
                for one in all_groups
            ]
            offered = [written, *rest]
        verbs = [*filters.OPERATORS]
        if row.operator not in {verb.value for verb in verbs}:
            verbs.append(Option(row.operator, row.operator))
        dressed.append(
            BuilderRow(
                number=row.number,
                field=row.field,
                operator=row.operator,
                value=row.value,
                aside=row.aside,
                count=row.said,
                error=row.error,
                groups=offered,
                operators=verbs,
            )
        )
    return dressed


def names(rows: list[FilterRow], visit: Visit, known: filters.Fields) -> list[str]:
    """The fields that rows of results have a value of: those filtered, then the one sorted by."""
    names = dict.fromkeys(row.field for row in rows if row.field in known)
    sort = visit.query.get("sort", "").lower()
    if sort in known:
        names[sort] = None
    return list(names)


def foreign(rows: list[FilterRow], known: filters.Fields) -> bool:
    """Whether companies are left out because they report in another currency."""
    named = {row.field for row in rows if row.whole}
    return "currency" not in named and any(filters.is_money(known.get(name)) for name in named)


def words(screener: Screener, total: int) -> str:
    return f"{total:,} {screener.what[total != 1]}"
