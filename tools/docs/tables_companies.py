"""Tables of the page about companies: styles of reporting, and how another reader differs."""

from __future__ import annotations

from collections.abc import Callable

from almanac.catalog.companies import styles as catalogued
from tests.real.test_oracle import CAUSES

from .markdown import table


def styles() -> str:
    """The styles, and what a filer of each does."""
    return table(("Style", "What it is"), [(f"`{one.key}`", one.description) for one in catalogued().values()])


def differences() -> str:
    """Return the table of reasons for which another reader's value differs."""
    return table(("Class", "What differs"), [(name, words) for name, words in CAUSES.items()])


TABLES: dict[str, Callable[..., str]] = {
    "styles": styles,
    "differences": differences,
}
