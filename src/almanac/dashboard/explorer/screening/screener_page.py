"""What the pages of the screeners show: the models that their templates are given."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from almanac.dashboard.explorer.known import FieldProblem
from almanac.dashboard.explorer.screening.fields import FieldGroup
from almanac.dashboard.explorer.screening.filters import Screener
from almanac.dashboard.explorer.screening.screens import BuilderRow, ScreenResults
from almanac.dashboard.explorer.stars import ScreenStar


class FilterExample(NamedTuple):
    """A filter to begin with, and what it finds in words."""

    words: str
    filter: str


class ScreenersPage(msgspec.Struct, frozen=True):
    """Which screeners there are, with examples of each by its name."""

    screeners: tuple[Screener, ...]
    examples: dict[str, tuple[FilterExample, ...]]


class ScreenerPage(msgspec.Struct, frozen=True):
    """A builder of filters, and what passes the filter of the address."""

    screener: Screener
    #: The filter as it was written, empty where there is none; how many clauses it has; the day that it is of, None for today.
    text: str
    clauses: int
    as_of: str | None
    errors: list[FieldProblem]
    #: Rows of the form.
    rows: list[BuilderRow]
    #: What the form for another day keeps of the address.
    keep: dict[str, str]
    #: As addresses have it, `asc` or `desc`, and as tables are told it.
    order: str
    order_words: str
    #: How a filter is written, in a sentence, and filters to begin with.
    syntax: str
    examples: tuple[FilterExample, ...]
    #: What the interface has to say of the filter.
    warnings: list[dict[str, Any]]
    #: None where there is no filter, or none that can be read, or the page of the list cannot be had.
    found: ScreenResults | None
    #: Why the page of the list cannot be had.
    cursor_error: str
    #: Whether companies are left out because they report in another currency.
    foreign: bool
    #: None where there is nothing to be kept.
    star: ScreenStar | None


class FieldsPage(msgspec.Struct, frozen=True):
    """All fields that a filter may name."""

    screener: Screener
    groups: list[FieldGroup]
    #: What is searched for, and the filter that a chosen field is added to.
    words: str
    text: str
