"""The fields of a screener in groups: to choose from in a row, and to read about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.explorer.screening.filters import EQUITY, Fields, Option, Screener, unit_words
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.values import masked

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


class ListedField(msgspec.Struct, frozen=True):
    """A field to read about: as the interface has it, its unit in words, and why nobody has it, empty where somebody does."""

    record: Mapping[str, Any]
    unit: str
    reason: str


class FieldGroup(msgspec.Struct, frozen=True):
    """Fields to read about, under what they have in common."""

    title: str
    fields: list[ListedField]


def groups(visit: Visit, screener: Screener, known: Fields) -> list[OptionGroup]:
    """Groups of options for a row. A field without a value that may be shown is there, and cannot be chosen."""
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


def listed_fields(visit: Visit, screener: Screener, words: str) -> list[FieldGroup]:
    """Groups of fields that have all these words in name, slug or description; with a reason where one has no value."""
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
        FieldGroup(
            title,
            [
                ListedField(one, _unit(one), "" if one["entityCount"] else shut.get(one["field"], "No value yet."))
                for one in grouped
            ],
        )
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
