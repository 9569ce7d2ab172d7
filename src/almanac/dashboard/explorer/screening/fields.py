"""The fields of a screener in groups: to choose from in a row, and to read about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.explorer.screening.filters import EQUITY, Fields, Screener, unit_words
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


def groups(visit: Visit, screener: Screener, known: Fields) -> list[dict[str, Any]]:
    """Groups of options for a row. A field without a value that may be shown is there, and cannot be chosen."""
    return [
        {
            "title": title,
            "options": [
                {
                    "value": one["field"],
                    "label": one["name"] if one["entityCount"] else f"{one['name']} ({_NOTHING})",
                    "disabled": not one["entityCount"],
                }
                for one in fields
            ],
        }
        for title, fields in _grouped(visit, screener, known.values())
    ]


def listed_fields(visit: Visit, screener: Screener, words: str) -> list[dict[str, Any]]:
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
        {
            "title": title,
            "fields": [
                {
                    **one,
                    "unit_words": _unit(one),
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
