"""The screeners: a builder of filters that says what passes each, and what passes them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from almanac.api.contract.errors import ApiError, refuse
from almanac.dashboard.asking import Told
from almanac.dashboard.drawing.columns import sparkline
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import histories, spans
from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.explorer.past import day_asked
from almanac.dashboard.formatting.dates import day
from almanac.dashboard.formatting.numbers import (
    NO_SCALE,
    UnitWords,
    fraction,
    full,
    in_scale,
    number,
    read_whole,
    table_scale,
    unit_of,
)
from almanac.dashboard.formatting.values import ABSENT, FormattedValue, look_field, look_reading, masked, plain_text
from almanac.dashboard.visit import Answer, Download, FieldProblem, Html, NotFound, Page, Redirect, Visit, csv_download
from almanac.domain.numbers import rounded
from almanac.reports.filter_text import LONGEST, MOST_CLAUSES, value_written, written

#: Titles, each with what holds of the units of its fields; the first that holds.
_EQUITY_GROUPS: tuple[tuple[str, Callable[[str | None], bool]], ...] = (
    ("About the company", lambda unit: unit == "text"),
    ("Scores", lambda unit: unit in {"points", None}),
    ("Ratios and growth", lambda unit: unit == "ratio"),
    ("Per share", lambda unit: str(unit).endswith("_per_share")),
    ("Shares", lambda unit: unit == "shares"),
    ("Amounts of money", lambda _: True),
)
_OTHERS = "Others"
_NOTHING = "no value that may be shown"


class OptionGroup(msgspec.Struct, frozen=True):
    """Fields to choose from, under what they have in common."""

    title: str
    options: list[Option]


def groups(visit: Visit, screener: Screener, known: Fields) -> list[OptionGroup]:
    """Return groups of options for a row. A field without a value that may be shown is there, and cannot be chosen."""
    return [
        OptionGroup(
            title,
            [
                Option(
                    one["field"],
                    one["name"] if one["entityCount"] else f"{one['name']} ({_NOTHING})",
                    disabled=not one["entityCount"],
                )
                for one in fields
            ],
        )
        for title, fields in _grouped(visit, screener, known.values())
    ]


def listed_fields(visit: Visit, screener: Screener, words: str) -> list[dict[str, Any]]:
    """Return groups of fields that have all these words in name, slug or description; with a reason where one has no value."""
    asked = words.casefold().split()
    told = visit.ask(f"{screener.path}/filters").data["fields"]
    fields = [
        one
        for one in told
        if all(word in f"{one['field']} {one['name']} {one['description']}".casefold() for word in asked)
    ]
    empty = [one["field"] for one in fields if not one["entityCount"]]
    shut = _withheld(visit, empty)
    return [
        {
            "title": title,
            "fields": [
                {
                    "record": one,
                    "unit": _unit(one),
                    "reason": "" if one["entityCount"] else shut.get(one["field"], "No value yet."),
                }
                for one in grouped
            ],
        }
        for title, grouped in _grouped(visit, screener, fields)
    ]


def _unit(field: Mapping[str, Any]) -> str:
    words = unit_words(field["field"], field)
    return "Text" if field["type"] == "text" else "Fraction: 0.15 is 15%" if words.fraction else words.head


def _grouped(
    visit: Visit, screener: Screener, fields: Iterable[Mapping[str, Any]]
) -> list[tuple[str, list[Mapping[str, Any]]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    if screener is EQUITY:
        found = {title: [] for title, _ in _EQUITY_GROUPS}
        for one in fields:
            found[next(title for title, holds in _EQUITY_GROUPS if holds(one["unit"]))].append(one)
    else:
        categories = {row["slug"]: row["category"] for row in every_indicator(visit)}
        for one in fields:
            title = categories.get(one["field"], _OTHERS).replace("_", " ").capitalize()
            found.setdefault(title, []).append(one)
        found = dict(sorted(found.items(), key=lambda pair: (pair[0] == _OTHERS, pair[0])))
    return [(title, sorted(ones, key=lambda one: one["name"].casefold())) for title, ones in found.items() if ones]


def _withheld(visit: Visit, slugs: list[str]) -> dict[str, str]:
    """Of fields without a value, why: the words of the rights, where there are values that may not be shown."""
    found: dict[str, str] = {}
    for slug in slugs:
        told = visit.look_up("/observations/latest", indicator_id=slug, limit=1)
        for row in told.data if told is not None else ():
            if masked(row):
                found[slug] = (
                    f"Withheld. {row['rights']['reason'] or 'Its licence forbids passing values on'}".rstrip(".") + "."
                )
    return found


class Option(NamedTuple):
    """One of a list to choose from: as addresses have it, as people read it, and whether it is there only to be seen."""

    value: str
    label: str
    disabled: bool = False


OPERATORS = (
    Option("gte", "at least"),
    Option("gt", "more than"),
    Option("lte", "at most"),
    Option("lt", "less than"),
    Option("eq", "equal to"),
    Option("in", "one of"),
)
#: Rows that the form shows at least, without script to add more.
_LEAST = 3
_TOO_MANY = f"is one too many: at most {MOST_CLAUSES} are allowed, and none behind it was read"
_MONEY = ("usd", "currency", "local_currency")

Fields = Mapping[str, Mapping[str, Any]]


class Screener(NamedTuple):
    """One of the two: its name in addresses, its path in the interface, what it counts (one, many), and its other parameters."""

    name: str
    path: str
    title: str
    what: tuple[str, str]
    narrows: tuple[str, ...]
    identity: tuple[tuple[str, str], ...]


MACRO = Screener(
    "macro", "/screener", "Macro screener", ("country or region", "countries and regions"), ("country", "freshness"),
    (("name", "Name"),),
)  # fmt: skip
EQUITY = Screener(
    "equity",
    "/equity-screener",
    "Equity screener",
    ("company", "companies"),
    (),
    (("name", "Name"), ("ticker", "Ticker")),
)


class FilterRow(NamedTuple):
    """One clause as the form has it: its field, operator and value, what it says beside them, and what passes it and those above."""

    number: int
    field: str = ""
    operator: str = "gte"
    value: str = ""
    clause: str = ""
    aside: str = ""
    said: str = ""
    error: str = ""
    suggestion: str = ""
    #: The filter down to this row, where it can be asked.
    down_to: str = ""

    @property
    def whole(self) -> bool:
        return bool(self.clause) and not self.error


class Blame(NamedTuple):
    """The clause without which most would pass: its row, the filter without it, and how many pass that."""

    row: FilterRow
    text: str
    total: int


def text_of(query: Mapping[str, str], *, patient: bool = False) -> str:
    """Return the filter a form means: its text where that was edited, else its rows. `patient`: without rows that have no value yet."""
    text = query.get("filter", "")
    numbers = [n for n in range(1, MOST_CLAUSES + _LEAST + 1) if f"field{n}" in query or f"value{n}" in query]
    if not numbers or ("was" in query and text != query["was"]):
        return text.strip()
    clauses = []
    for n in numbers:
        field, value = query.get(f"field{n}", "").strip(), query.get(f"value{n}", "").strip()
        operator = query.get(f"operator{n}", "").strip() or "gte"
        if str(n) == query.get("remove") or not (field or value) or (patient and not value):
            continue
        # What was no clause stands in the value as it was written.
        clauses.append(f"{field}:{operator}:{value_written(value, several=operator == 'in')}" if field else value)
    return ",".join(clauses)


def rows_of(text: str, fields: Fields) -> list[FilterRow]:
    """
    Return the clauses of a text, nothing judged yet but their number: of those that are too many, the first says so for all.

    Raises ApiError 400 for a text that is longer than any filter.
    """
    if len(text) > LONGEST:
        raise refuse("filter", f"must be at most {LONGEST:,} characters long, not {len(text):,}", code="range")
    rows = []
    for n, (clause, parts) in enumerate(written(text), 1):
        if n > MOST_CLAUSES:
            rows.append(FilterRow(n, value=clause, clause=clause, error=_TOO_MANY))
            break
        if len(parts) != 3 or not all(parts):
            rows.append(FilterRow(n, value=clause, clause=clause))
            continue
        name, operator, value = parts
        field = name.lower() if name.lower() in fields else name
        aside = _aside(fields.get(field), value)
        rows.append(FilterRow(n, field, operator.lower(), value, clause, aside))
    return rows


def judged(
    visit: Visit, screener: Screener, rows: Sequence[FilterRow], others: Mapping[str, str | None]
) -> list[FilterRow]:
    """Return the rows with what passes each and those above it, or with the interface's own word on what is wrong with it."""
    good: list[str] = []
    found = []
    for row in rows:
        if row.error:
            found.append(row)
            continue
        text = ",".join([*good, row.clause])
        try:
            total = passing(visit, screener, text, others)
        except ApiError as error:
            details = error.details or {}
            if details.get("parameter") != "filter":
                raise
            found.append(row._replace(error=f"{error.message}", suggestion=str(details.get("suggestion") or "")))
            if details.get("reason") == "range":
                break
            continue
        good.append(row.clause)
        found.append(row._replace(said=f"{number(total)} {'passes' if total == 1 else 'pass'}", down_to=text))
    return found


def passing(visit: Visit, screener: Screener, text: str, others: Mapping[str, str | None]) -> int:
    """Return how many rows pass a filter. Raises ApiError if the filter is not valid."""
    told = visit.api.ask(visit.who.account, visit.who.plan, screener.path, {**others, "filter": text, "limit": 1})
    return told.total or 0


def without(
    visit: Visit, screener: Screener, rows: Sequence[FilterRow], others: Mapping[str, str | None]
) -> Blame | None:
    """Of clauses that nothing passes together the one without which most would; None where none alone is to blame."""
    best: Blame | None = None
    for row in rows if len(rows) > 1 else ():
        text = ",".join(one.clause for one in rows if one is not row)
        total = passing(visit, screener, text, others)
        if total and (best is None or total > best.total):
            best = Blame(row, text, total)
    return best


def padded(rows: Sequence[FilterRow], more: int = 0) -> list[FilterRow]:
    """With rows that wait: three in all without script, and one more than there are clauses."""
    count = max(_LEAST, len(rows) + 1) + more
    return [*rows, *(FilterRow(n) for n in range(len(rows) + 1, count + 1))]


def unit_words(name: str, field: Mapping[str, Any], currency: str | None = None) -> UnitWords:
    """Return the words for a field's unit. `currency`: the currency of amounts, if known."""
    unit = field["unit"] or ""
    told = (currency or field.get("currency") or "USD").lower()
    if unit.startswith(_MONEY) and not unit.startswith("local_currency"):
        unit = f"{told}_per_share" if unit.endswith("_per_share") else told
    return unit_of({"unit": unit or None, "indicatorId": name})


def is_money(field: Mapping[str, Any] | None) -> bool:
    """Return whether a field is an amount of money, each company's in its own currency."""
    return field is not None and (field["unit"] or "").startswith(_MONEY)


def _aside(field: Mapping[str, Any] | None, value: str) -> str:
    """Return the note beside a value: 0.15 is 15%."""
    if field is None:
        return ""
    if field["type"] == "number" and unit_words(field["field"], field).fraction:
        try:
            # What a reader writes; the clause itself is judged by the interface alone.
            numbers = [Decimal(part.strip()) for part in value.split("|")]
        except InvalidOperation:
            return ""
        if not all(one.is_finite() and abs(one) < 1000 for one in numbers):
            return ""
        text = " | ".join(fraction(one) for one in numbers)
        if len(numbers) == 1 and abs(numbers[0]) > 1:
            return f"{text}. Did you mean {number(numbers[0] / 100)}?"
        return text
    return ""


Row = Mapping[str, Any]
_COMPANY = ("entityId", "name", "ticker", "cik", "country", "sector", "industry", "periodEnd", "observedAt", "quality")
_PLACE = ("entityId", "name", "country")
_MATCH = ("value", "unit", "currency", "periodEnd", "observedAt", "freshnessStatus", "seriesId")
#: Texts that the rows of companies have anyway.
_TOLD = ("sector", "quality")


class ScreenedCell(NamedTuple):
    """One value of one row: how it looks, where it leads, its period."""

    look: FormattedValue
    href: str = ""
    note: str = ""


class ValueColumn(NamedTuple):
    """A filtered or sorted field: its head, and a cell for each row."""

    name: str
    title: str
    right: bool
    cells: Sequence[ScreenedCell]


def value_columns(
    screener: Screener, fields: Fields, rows: Sequence[Row], names: Sequence[str], as_of: str | None
) -> list[ValueColumn]:
    """Return a column for each field that was filtered or sorted by."""
    if screener is EQUITY:
        own = [_of_companies(name, fields[name], rows) for name in names if name in fields and name not in _TOLD]
        return [*own, _checks(rows)] if any(row["quality"] in _WORDS for row in rows) else own
    return [_of_places(name, fields[name], rows, as_of) for name in names if name in fields]


#: What checks found, as people say it.
_WORDS = {"warning": "One does not hold", "failed": "A grave one fails"}


def _checks(rows: Sequence[Row]) -> ValueColumn:
    """Return what checks say of the statements behind each row, which leads to them."""
    cells = []
    for row in rows:
        words = _WORDS.get(row["quality"], "All hold")
        href = f"/companies/{row['entityId']}" if row["quality"] in _WORDS else ""
        cells.append(ScreenedCell(plain_text(words), href))
    return ValueColumn("quality", "Checks", False, cells)


def _of_companies(name: str, field: Mapping[str, Any], rows: Sequence[Row]) -> ValueColumn:
    values = [row["values"].get(name) for row in rows]
    if field["type"] == "text":
        return ValueColumn(
            name,
            field["name"],
            False,
            [ScreenedCell(ABSENT if value is None else plain_text(value)) for value in values],
        )
    currencies = {row["values"].get("currency") for row in rows} if is_money(field) else {None}
    unit = unit_words(name, field, next(iter(currencies), None))
    if len(currencies) > 1:
        # Each in its own currency, so that none is read as another.
        cells = [
            ScreenedCell(look_field(value, unit_words(name, field, row["values"].get("currency")), figure=True))
            for row, value in zip(rows, values, strict=True)
        ]
        return ValueColumn(name, f"{field['name']}, each in its own currency", True, cells)
    numbers = [value for value in values if value is not None]
    large = bool(unit.before and not unit.after) or field["unit"] == "shares"
    scale = table_scale(numbers) if large else NO_SCALE
    if scale.power:
        cells = []
        for value in values:
            told, places = in_scale(value or 0, scale), 1
            while value and not rounded(told, places):
                places += 1  # a number that is there is never told as nothing
            look = ABSENT if value is None else plain_text(number(told, places))._replace(full=full(value))
            cells.append(ScreenedCell(look))
        return ValueColumn(
            name, f"{field['name']}, {unit.head} {scale.plural}".replace("Shares", "shares,"), True, cells
        )
    digits = unit.digits(numbers, computed=True) if unit.fraction else unit.digits(numbers)
    return ValueColumn(
        name, _head(field["name"], unit), True, [ScreenedCell(look_field(v, unit, digits=digits)) for v in values]
    )


def _of_places(name: str, field: Mapping[str, Any], rows: Sequence[Row], as_of: str | None) -> ValueColumn:
    matches = [next((one for one in row["matches"] if one["field"] == name), None) for row in rows]
    units = [unit_of(one) for one in matches if one is not None]
    alike = len({unit.head for unit in units}) <= 1
    digits = (
        units[0].digits(one["value"] for one in matches if one is not None)
        if units and alike and field["type"] != "text"
        else None
    )
    then = f"?as_of={as_of}" if as_of else ""
    cells = [
        ScreenedCell(ABSENT)
        if one is None
        else ScreenedCell(
            look_reading(one, digits=digits, figure=not alike),
            series_address(one["seriesId"]) + then,
            day(one["periodEnd"]),
        )
        for one in matches
    ]
    title = _head(field["name"], units[0]) if units and alike and field["type"] != "text" else field["name"]
    return ValueColumn(name, title, field["type"] != "text", cells)


def screen_file(screener: Screener, rows: Sequence[Row], names: Sequence[str]) -> Download:
    """Return the rows as CSV, in the interface's own words and numbers."""
    cells: list[list[str]]
    if screener is EQUITY:
        own = [name for name in names if name not in _TOLD]
        head = [*_COMPANY, *own]
        cells = [
            [_text(row[name]) for name in _COMPANY] + [_text(row["values"].get(name)) for name in own] for row in rows
        ]
    else:
        head = [*_PLACE, *(f"{name}_{part}" for name in names for part in _MATCH)]
        cells = []
        for row in rows:
            told = {one["field"]: one for one in row["matches"]}
            values = [_text(told.get(name, {}).get(part)) for name in names for part in _MATCH]
            cells.append([*(_text(row[name]) for name in _PLACE), *values])
    return csv_download(f"{screener.name}-screen.csv", head, cells)


def _text(value: Any) -> str:
    """Return a cell. A text that a spreadsheet would run as a formula is kept from it by an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return full(value)
    text = str(value)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _head(name: str, unit: UnitWords) -> str:
    head = "percent" if unit.fraction else unit.head
    return (
        name
        if head in {"Ratio", "Points", ""}
        else f"{name}, {head[:1].lower()}{head[1:]}"
        if not head[:2].isupper()
        else f"{name}, {head}"
    )


def sparklines(
    visit: Visit,
    screener: Screener,
    fields: Fields,
    rows: Sequence[Row],
    names: Sequence[str],
    as_of: str | None,
) -> dict[str, Any] | None:
    """Lines of the first of these fields that has any, as known on the day of the screen; None where none has."""
    for field in names:
        # Of shares, and of what there is for each, a split would be the largest move.
        unit = str(fields.get(field, {}).get("unit"))
        if field not in fields or fields[field]["type"] != "number" or unit.endswith("_per_share") or unit == "shares":
            continue
        told = visit.look_up(f"/indicators/{field}")
        if told is None:
            continue  # a score: it is made among the companies of one day, and has no history
        newest = _newest(visit, screener, field, told.data, rows, as_of)
        derived = [told.data["id"]] if told.data["kind"] == "derived" else []
        found = histories(visit, newest, derived=derived, as_of=as_of, failed_too=False)
        series = {row["entityId"]: row["metadata"]["seriesId"] for row in newest}
        drawings = [sparkline(found.get(series.get(row["entityId"], ""), ())) for row in rows]
        if any(drawings):
            return {"field": field, "words": f"{told.data['name']}, {spans(newest)}", "drawings": drawings}
    return None


def _newest(
    visit: Visit, screener: Screener, field: str, indicator: Row, rows: Sequence[Row], as_of: str | None
) -> list[Row]:
    """Return the readings that the values of the rows are of, as the interface lists them."""
    values = {}
    for row in rows:
        matches = row["values"] if screener is EQUITY else {one["field"]: one["value"] for one in row["matches"]}
        if matches.get(field) is not None:
            values[row["entityId"]] = matches[field]
    if not values:
        return []
    # None of the page's own requests: the numbers themselves are of another.
    told = visit.follow(
        "/observations/latest", indicator_id=indicator["id"], entity_id=[*values], as_of=as_of, limit=len(values)
    )
    # A line ends at the value beside it, or is not there: pages of an older state may show another than is known by now.
    return [row for row in told.data if row["valueNumeric"] == values[row["entityId"]]]


def results(
    screener: Screener,
    visit: Visit,
    found: Told,
    rows: list[FilterRow],
    known: Fields,
    others: Mapping[str, str | None],
) -> dict[str, Any]:
    """Return the table, its order and its pages."""
    total = found.total or 0
    shown = names(rows, visit, known)
    sort = visit.query.get("sort", "").lower()
    kept = {"filter", "sort", "order", "as_of", *screener.narrows}
    keep = {name: value for name, value in visit.query.items() if name in kept and value}
    remedy = None
    if not total and (blame := without(visit, screener, rows, others)) is not None:
        href = visit.here(filter=blame.text, cursor=None)
        remedy = {"name": _field_name(blame.row.field, known), "total": blame.total, "href": href}
    first = [name for name in shown if name in known]
    ordered = [*first, *(name for name in known if name not in first)]
    return {
        # Records of the interface; of `total` that pass.
        "rows": found.data,
        "total": total,
        # `12 companies`.
        "words": words(screener, total),
        # Values beside the names, a cell for each row; and the small lines, where there are some.
        "columns": value_columns(screener, known, found.data, shown, others["as_of"]),
        "lines": sparklines(visit, screener, known, found.data, shown, others["as_of"]),
        # Of a filter that nothing passes.
        "remedy": remedy,
        # What the list may be sorted by, and what it is.
        "sorts": [Option(*one) for one in screener.identity] + [Option(name, known[name]["name"]) for name in ordered],
        "sort": sort or "name",
        # Addresses of the first page and the next, empty where there is none; and of the file.
        "first": visit.here(cursor=None) if visit.query.get("cursor") else "",
        "next": visit.here(cursor=found.next_cursor) if found.next_cursor else "",
        "file": f"/screeners/{screener.name}.csv?{urlencode(keep, safe=':,')}",
    }


def _field_name(field: str, known: Fields) -> str:
    """Return what a field is called; of one that there is not, as it was written."""
    return known[field]["name"] if field in known else field


def dressed(visit: Visit, screener: Screener, rows: list[FilterRow], known: Fields) -> list[dict[str, Any]]:
    """Return the rows as the form shows them, each with the fields it may choose from."""
    more = visit.query.get("rows", "")
    new = visit.query.get("new", "")
    all_groups = groups(visit, screener, known)
    dressed = []
    for row in padded(rows, read_whole(more, 2) or 0):
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
        verbs = [*OPERATORS]
        if row.operator not in {verb.value for verb in verbs}:
            verbs.append(Option(row.operator, row.operator))
        dressed.append(row._asdict() | {"groups": offered, "operators": verbs})
    return dressed


def names(rows: list[FilterRow], visit: Visit, known: Fields) -> list[str]:
    """Return the fields that rows of results have a value of: those filtered, then the one sorted by."""
    names = dict.fromkeys(row.field for row in rows if row.field in known)
    sort = visit.query.get("sort", "").lower()
    if sort in known:
        names[sort] = None
    return list(names)


def foreign(rows: list[FilterRow], known: Fields) -> bool:
    """Return whether companies are left out because they report in another currency."""
    named = {row.field for row in rows if row.whole}
    return "currency" not in named and any(is_money(known.get(name)) for name in named)


def words(screener: Screener, total: int) -> str:
    return f"{total:,} {screener.what[total != 1]}"


_PAGE = 50
#: A file holds at most so many rows, more than there are listed companies.
_FILE_ROWS = 10_000
_STEP = 200
_FORM = ("was", "remove", "add", "apply", "operator", "field", "value")
_EXAMPLES = {
    "macro": (
        {"words": "Inflation above 3%", "filter": "cpi_inflation_yoy:gt:3"},
        {"words": "Growing, with inflation at most 3%", "filter": "gdp_growth_yoy:gt:1,cpi_inflation_yoy:lte:3"},
    ),
    "equity": (
        {"words": "Piotroski F of at least 8", "filter": "piotroski_f:gte:8"},
        {"words": "Margins above 20%, and growing", "filter": "net_margin:gt:0.2,revenue_growth_yoy:gt:0"},
        {
            "words": "Return on equity of at least 15%, with little debt",
            "filter": "return_on_equity:gte:0.15,debt_to_equity:lte:0.5",
        },
    ),
}


def start(_: Visit) -> Answer:
    """Show both screeners with examples."""
    page = {"screeners": (MACRO, EQUITY), "examples": _EXAMPLES}
    return Html("explorer/screeners.html", page)


def look(screener: Screener, visit: Visit) -> Answer:
    """Show the builder and what its filter finds. A form that was sent goes on at the address of the filter it means."""
    clean = _clean(visit)
    if clean is not None:
        return Redirect(clean)
    others, refused = _others(screener, visit)
    known, syntax = _fields(screener, visit)
    text = visit.query.get("filter", "").strip()
    rows = judged(visit, screener, rows_of(text, known), others)
    bad = [row for row in rows if row.error]
    told, problems = (None, {}) if bad or not rows else _found(screener, visit, text, others)
    if bad and (down_to := [row.down_to for row in rows if row.whole]):
        # The counts of what can be read are shown, so their request is too.
        visit.ask(screener.path, filter=down_to[-1], limit=1, **others)
    errors = [FieldProblem(f"filter{row.number}", row.error) for row in bad] + refused
    if "sort" in problems:
        errors.append(FieldProblem("", problems["sort"]))
    falling = visit.query.get("order") == "desc"
    page = {
        "screener": screener,
        # The filter as it was written, empty where there is none; how many clauses it has; the day that it is of, None for today.
        "text": text,
        "clauses": len(rows),
        "as_of": others["as_of"],
        "errors": errors,
        # Rows of the form.
        "rows": dressed(visit, screener, rows, known),
        # What the form for another day keeps of the address.
        "keep": visit.kept("filter", *screener.narrows, "sort", "order"),
        # As addresses have it, `asc` or `desc`, and as tables are told it.
        "order": "desc" if falling else "asc",
        "order_words": "descending" if falling else "ascending",
        # How a filter is written, in a sentence, and filters to begin with.
        "syntax": syntax,
        "examples": _EXAMPLES[screener.name],
        # What the interface has to say of the filter.
        "warnings": [] if told is None else told.meta.get("warnings", []),
        # None where there is no filter, or none that can be read, or the page of the list cannot be had.
        "found": None if told is None else results(screener, visit, told, rows, known, others),
        # Why the page of the list cannot be had.
        "cursor_error": problems.get("cursor", ""),
        # Whether companies are left out because they report in another currency.
        "foreign": foreign(rows, known) if screener is EQUITY else False,
    }
    return Html("explorer/screener.html", page)


def count(screener: Screener, visit: Visit) -> Answer:
    """Show what passes the filter that a form holds, for the script: in all, and row by row."""
    others, refused = _others(screener, visit)
    known, _ = _fields(screener, visit)
    text = text_of(visit.query, patient=True)
    rows = judged(visit, screener, rows_of(text, known), others)
    error = next((row.error for row in rows if row.error), refused[0].message if refused else None)
    total = passing(visit, screener, text, others) if rows and error is None else None
    shown = ("number", "field", "operator", "value", "aside", "said", "error")
    answer = {
        "filter": text,
        "total": total,
        "words": words(screener, total) if total is not None else "",
        "error": error,
        "rows": [{name: getattr(row, name) for name in shown} for row in rows],
    }
    return Download(msgspec.json.encode(answer), "application/json")


def file(screener: Screener, visit: Visit) -> Answer:
    """All rows of the filter as CSV, by the interface's own walk."""
    others, _ = _others(screener, visit)
    asked: dict[str, Any] = {**others, **{name: visit.query.get(name) or None for name in ("filter", "sort", "order")}}
    rows: list[dict[str, Any]] = []
    for told in visit.pages(screener.path, limit=_STEP, **asked):
        if (told.total or 0) > _FILE_ROWS:
            refusal = f"a file holds at most {_FILE_ROWS:,} rows and the filter finds {told.total:,}; narrow it"
            raise ApiError(400, refusal)
        rows += told.data
    known, _ = _fields(screener, visit)
    shown = names(rows_of(asked["filter"] or "", known), visit, known)
    return screen_file(screener, rows, shown)


def fields(screener: Screener, visit: Visit) -> Answer:
    """All fields that a filter may name, by group: what each is, its bounds, how many have it."""
    words = " ".join(visit.query.get("q", "").split())[:80]
    found = listed_fields(visit, screener, words)
    page = {"screener": screener, "groups": found, "words": words, "text": visit.query.get("filter", "")}
    return Html("explorer/screener_fields.html", page)


# -- the pieces ---------------------------------------------------------------------------------------------------------


def _fields(screener: Screener, visit: Visit) -> tuple[Fields, str]:
    """Return the fields by name, and the syntax of a filter in a sentence."""
    told = visit.look_up(f"{screener.path}/filters")
    if told is None:
        raise NotFound("There is no such screener.")
    return {field["field"]: field for field in told.data["fields"]}, told.data["syntax"]


def _clean(visit: Visit) -> str | None:
    """Return the address that a sent form leads to, with its filter as one text; None if the address is clean already."""
    if not any(name.startswith(_FORM) for name in visit.query):
        return None
    kept = {
        name: value for name, value in visit.query.items() if not name.startswith(_FORM) and name != "filter" and value
    }
    kept.pop("cursor", None)
    text = text_of(visit.query)
    query = {"filter": text, **kept} if text else kept
    if "add" in visit.query:
        query["rows"] = str(min(read_whole(kept.get("rows"), 2) or 0, 29) + 1)
    return f"{visit.path}?{urlencode(query, safe=':,')}" if query else visit.path


def _others(screener: Screener, visit: Visit) -> tuple[dict[str, str | None], list[FieldProblem]]:
    """Return what else the interface is asked: narrowing and the day. What it refuses of these is said, and left out."""
    as_of, refused = day_asked(visit)
    others = {name: visit.query.get(name) or None for name in screener.narrows} | {"as_of": as_of}
    example = _EXAMPLES[screener.name][0]["filter"]
    for name in screener.narrows:
        try:
            passing(visit, screener, example, {name: others[name]})
        except ApiError as error:
            refused.append(FieldProblem(name, f"{error.message}."))
            others[name] = None
    return others, refused


def _found(
    screener: Screener, visit: Visit, text: str, others: Mapping[str, str | None]
) -> tuple[Told | None, dict[str, str]]:
    """Return the page of results, and what of the request was refused: then the first page in the usual order."""
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
