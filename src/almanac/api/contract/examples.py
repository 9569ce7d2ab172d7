"""Answers and errors to show: real ones of a simulated world, which `make docs` asks for and a test compares."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any, TypedDict

import msgspec

#: Name of the file with all of them, beside this module.
FILE = "examples.json"


class Example(TypedDict):
    """A request and what it was answered; lists inside the answer are cut short."""

    request: str
    value: Any


class Recorded(msgspec.Struct, frozen=True):
    """All that was kept: answers by operation id, errors by status."""

    answers: dict[str, Example]
    errors: dict[str, Example]


@functools.cache
def recorded() -> Recorded:
    """Return the contents of the file."""
    return msgspec.json.decode(resources.files(__package__).joinpath(FILE).read_bytes(), type=Recorded)
