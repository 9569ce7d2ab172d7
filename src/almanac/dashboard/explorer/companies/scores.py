"""Scores of a company, with each test and the numbers that decided it."""

from __future__ import annotations

import re
from typing import Any

from almanac.dashboard.words.numbers import in_words
from almanac.dashboard.words.units import unit
from almanac.dashboard.words.values import Look, look_field
from almanac.domain.numbers import exact

#: Titles of the scores that the interface explains, and the decimals that each is told with.
_TITLES = {
    "piotroskiF": ("Piotroski F", 0),
    "altmanZ2": ("Altman Z″", 2),
    "beneishM": ("Beneish M", 2),
    "accrualsRatio": ("Accruals ratio", 3),
}
_DIGITS = 3
_RATIO, _INDEX = unit("ratio"), unit("index")
_IN_WORDS = 10**6
_WHEN = {"ttm": "12 months", "1y_ago": "a year ago", "2y_ago": "two years ago", "3y_ago": "three years ago"}
_PARTS = re.compile(rf"_({'|'.join(_WHEN)})(?=_|$)")
#: What begins a further word of a score's name on the wire.
_CAPITAL = re.compile(r"[A-Z]")
_PILLARS = ("profitability", "growth", "strength", "efficiency", "quality")


def shown_scores(record: dict[str, Any]) -> dict[str, Any]:
    """Pillars and scores of a profile, ready for the page."""
    return {
        "pillars": [
            {"name": name, "value": record["scores"][name], "look": look_field(record["scores"][name], _INDEX)}
            for name in _PILLARS
        ],
        "details": [_detail(name, one) for name, one in record["scoreDetail"].items()],
    }


def _detail(name: str, one: dict[str, Any]) -> dict[str, Any]:
    title, digits = _TITLES.get(name, (words(_CAPITAL.sub(lambda big: f"_{big[0].lower()}", name)), _DIGITS))
    tests = [
        {
            "name": words(test["name"]),
            "inputs": [(words(key), number(value)) for key, value in test["inputs"].items()],
            "look": look_field(test["value"], _RATIO, digits=_DIGITS),
            "passed": test["passed"],
        }
        for test in one["tests"]
    ]
    look = look_field(one["value"], _RATIO, digits=digits)
    verdict = one["verdict"]
    return {
        "id": name,
        "title": title,
        "look": look,
        "scored": one["value"] is not None,
        "verdict": None if verdict is None else verdict.replace("_", " "),
        "present": one["present"],
        "of": one["of"],
        "passed": one["passed"],
        "period_end": one["periodEnd"],
        "tests": tests,
    }


def words(key: str) -> str:
    """`net_income_ttm_1y_ago` in words: `Net income, 12 months, a year ago`."""
    parts = [_WHEN[part] for part in _PARTS.findall(key)]
    return ", ".join([_PARTS.sub("", key).replace("_", " ").capitalize(), *parts])


def number(value: float | None) -> Look:
    """An input: from a million on in words for its size, with the whole number beside it."""
    look = look_field(value, _RATIO)
    if value is None or abs(exact(value)) < _IN_WORDS:
        return look
    told = in_words(value, 2)
    return look._replace(text=told, spoken=told)
