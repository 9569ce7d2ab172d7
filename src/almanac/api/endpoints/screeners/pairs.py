"""Clauses between two fields: whether their units allow it, and which rows have both of them on one footing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context
from almanac.api.contract.errors import quoted, refuse
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.reports.filter_text import AT, Clause, Field
from almanac.reports.screener import Mask

#: For each row what its reading is counted in, as texts that are equal where readings may be compared.
Counted = Callable[[str, AlignedColumn], npt.NDArray[Any]]
#: The units of a field by its name: None of a score, which has none; none at all where there is no reading to have one.
UnitsOf = Callable[[str], Collection[str | None]]


def check_units(ctx: Context, asked: Iterable[Clause], units_of: UnitsOf) -> None:
    """
    Raise ApiError 400 for the first clause whose two fields are in no unit that both have. Where a field has no reading, nothing
    is said of its unit; a score, which has none, compares with nothing all the same.
    """
    for clause, against in _pairs(asked):
        left, right = units_of(clause.field.name), units_of(against.name)
        unread = (not left or not right) and None not in (*left, *right)
        if unread or (set(left) & set(right)) - {None}:
            continue
        told = f"compares {clause.field.name} ({_said(left)}) with {against.name} ({_said(right)})"
        message = f"has the clause {quoted(_text(clause))}, which {told}: two fields must be in one unit"
        raise refuse("filter", message, code="unit")


def comparable(
    ctx: Context,
    asked: Iterable[Clause],
    readings: Mapping[str, AlignedColumn],
    counted: Counted,
    wanted: Mask,
    what: tuple[str, str],
    *,
    one_day: bool,
) -> Mask:
    """
    Of the rows wanted those whose two readings, of each clause between fields, are in one unit and currency, and where
    `one_day` is asked for of periods that end on one day. Say of the others why they are left out, as far as both of their
    values may be shown.

    `what` is one row, and many.
    """
    found = wanted
    for clause, against in _pairs(asked):
        left, right = readings[clause.field.name], readings[against.name]
        both = wanted & ~np.isnan(left.values) & ~np.isnan(right.values)
        alike: Mask = counted(clause.field.name, left) == counted(against.name, right)
        _say(ctx, clause, both & ~alike, what, "in different units or currencies")
        if one_day:
            ends: Mask = left.ends() == right.ends()
            _say(ctx, clause, both & alike & ~ends, what, "of periods that end on different days")
            alike = alike & ends
        found = found & alike
    return found


def _pairs(asked: Iterable[Clause]) -> Iterator[tuple[Clause, Field]]:
    return ((clause, clause.against) for clause in asked if clause.against is not None)


def _say(ctx: Context, clause: Clause, left_out: Mask, what: tuple[str, str], why: str) -> None:
    count = int(left_out.sum())
    if count:
        ctx.warn("filter", _text(clause), f"leaves out {count:,} {what[count > 1]} whose two readings are {why}")


def _text(clause: Clause) -> str:
    assert clause.against is not None
    return f"{clause.head}:{AT}{clause.against.name}"


def _said(units: Collection[str | None]) -> str:
    named = sorted(unit for unit in units if unit is not None)
    return (
        f"in {' or '.join(named)}" if named else "a score, without a unit" if units else "of which there is no reading"
    )
