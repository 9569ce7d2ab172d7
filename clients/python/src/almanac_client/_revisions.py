"""Revisions of first publications: differences between an earlier and a later state of each period."""

from __future__ import annotations

import calendar
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument, RevisionWarning, warn
from almanac_client._frames import Column, Table

Row = m.DerivedObservation
#: Finds the later state for an initial one, among all states and among releases, or returns the reason why there is
#: none.
Find = Callable[[list[Row], list[Row], Row], "Row | str"]

NOT_INITIAL = "their first publication is not kept"


def months_later(moment: datetime, months: int) -> datetime:
    """Move a moment by some months, to the last day of a shorter month if needed."""
    years, month = divmod(moment.month - 1 + months, 12)
    last = calendar.monthrange(moment.year + years, month + 1)[1]
    return moment.replace(year=moment.year + years, month=month + 1, day=min(moment.day, last))


def later_of(later: str, now: datetime, known: Callable[[list[Row], datetime], Row | None]) -> Find:
    """Return the function that finds the later state. Raises InvalidArgument for an unknown value of `later`."""
    word, _, number = later.partition(":")
    count = int(number) if number.isascii() and number.isdigit() else 0

    def latest(states: list[Row], releases: list[Row], first: Row) -> Row | str:
        return known(states, now) or "withdrawn"

    def release(states: list[Row], releases: list[Row], first: Row) -> Row | str:
        return releases[count - 1] if len(releases) >= count else "without so many releases"

    def after(states: list[Row], releases: list[Row], first: Row) -> Row | str:
        then = months_later(first.observed_at, count)
        return "too young" if then > now else known(states, then) or "withdrawn"

    if later == "latest":
        return latest
    if word == "release" and count >= 1:
        return release
    if word == "months" and 1 <= count <= 1200:
        return after
    raise InvalidArgument(f"'later' has to be 'latest', 'release:k' or 'months:m', not {later!r}")


def revision_table(cells: list[list[Row]], initial: int, find: Find, attrs: Mapping[str, Any]) -> Table:
    """Return a row for each period that has both states, and warn with counts of the others by reason."""
    pairs: list[tuple[Row, Row]] = []
    without: Counter[str] = Counter()
    for states in cells:
        pair = _pair(states, initial, find)
        if isinstance(pair, str):
            without[pair] += 1
        else:
            pairs.append(pair)
    if without:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(without.items()))
        warn(f"{without.total()} of {len(cells)} periods are left out: {told}", RevisionWarning)
    first, last = [one for one, _ in pairs], [one for _, one in pairs]
    values = [(_number(one), _number(other)) for one, other in pairs]
    columns = [
        Column("period_end", "date", [row.period_end.date() for row in first]),
        Column("initial", "float", [one for one, _ in values]),
        Column("initial_observed_at", "time", [row.observed_at for row in first]),
        Column("later", "float", [other for _, other in values]),
        Column("later_observed_at", "time", [row.observed_at for row in last]),
        Column("revision", "float", [other - one for one, other in values]),
        Column("revision_percent", "float", [100 * (other / one - 1) if one else None for one, other in values]),
    ]
    return Table(columns, attrs)


def _number(row: Row) -> float:
    assert row.value_numeric is not None
    return row.value_numeric


def _pair(states: list[Row], initial: int, find: Find) -> tuple[Row, Row] | str:
    """Return the initial and the later state of a period, or the reason why one is missing."""
    releases = [row for row in states if not row.metadata.withdrawn]
    if not releases:
        return "withdrawn"
    if releases[0].revision_status != "initial":
        return "without their first publication"
    if len(releases) < initial:
        return "without so many releases"
    first = releases[initial - 1]
    later = find(states, releases, first)
    if isinstance(later, str):
        return later
    if first.rights.value_withheld or later.rights.value_withheld:
        return "withheld"
    if first.value_numeric is None or later.value_numeric is None:
        return "without a number"
    if first.metadata.basis != later.metadata.basis:
        return "counted from another base"
    return first, later
