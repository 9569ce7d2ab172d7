"""Filters of the screeners: fields, clauses, and what each lets pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import msgspec

from almanac.api.contract.errors import ApiError, refuse
from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.formatting.numbers import UnitWords, fraction, number, unit_of
from almanac.dashboard.formatting.values import masked
from almanac.dashboard.visit import Visit
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
    """How many pass a filter. Raises ApiError where it is none."""
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
    """How values of a field are written. `currency`: of amounts, where it is known."""
    unit = field["unit"] or ""
    told = (currency or field.get("currency") or "USD").lower()
    if unit.startswith(_MONEY) and not unit.startswith("local_currency"):
        unit = f"{told}_per_share" if unit.endswith("_per_share") else told
    return unit_of({"unit": unit or None, "indicatorId": name})


def is_money(field: Mapping[str, Any] | None) -> bool:
    """Whether a field is an amount of money, each company's in its own currency."""
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
