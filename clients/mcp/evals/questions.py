"""The questions of the evaluation, read from questions.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])", re.IGNORECASE)


@dataclass(frozen=True)
class Call:
    """A call of a tool. `fails` is true if it should be refused."""

    tool: str
    arguments: dict[str, Any]
    fails: bool = False


@dataclass(frozen=True)
class Question:
    """A question, the required content of its answer, and calls that find it."""

    ask: str
    about: str
    trace: list[Call]
    numbers: list[float] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)


def numbers_in(text: str) -> set[float]:
    """Return the numbers in a text. A comma between digits may separate thousands or values, so both readings count."""
    found: set[float] = set()
    for match in _NUMBER.findall(text):
        readings = [match.replace(",", ""), *match.split(",")]
        found |= {float(one) for one in readings if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", one, re.IGNORECASE)}
    return found


def _read() -> list[Question]:
    told = tomllib.loads((Path(__file__).parent / "questions.toml").read_text("utf-8"))
    return [Question(**{**one, "trace": [Call(**call) for call in one["trace"]]}) for one in told["question"]]


QUESTIONS = _read()
