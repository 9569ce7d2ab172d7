"""
The evaluator of both screeners: filter, sort, page.

A table is a set of equally long columns. Its rows are sorted by (name, id), so a row's number is its place among ties.
Numbers are float64 with NaN for no value; texts are codes into words in byte order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.reports.filter_text import Clause, folded

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

_COMPARE = {
    "gt": np.greater,
    "lt": np.less,
    "gte": np.greater_equal,
    "lte": np.less_equal,
    "eq": np.equal,
}


class Texts(NamedTuple):
    """A column of texts: codes (-1 for none) into `words`, which are distinct and in byte order."""

    codes: npt.NDArray[np.int32]
    words: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> Texts:
        words = sorted({value for value in values if value is not None})
        code = {word: number for number, word in enumerate(words)}
        codes = [-1 if value is None else code[value] for value in values]
        return cls(np.array(codes, dtype=np.int32), tuple(words))

    def in_order(self) -> Texts:
        """Sort the words and renumber the codes to match."""
        words = sorted(self.words)
        places = np.array([*(words.index(word) for word in self.words), -1], dtype=np.int32)
        return Texts(places[self.codes], tuple(words))

    def at(self, row: int) -> str | None:
        code = int(self.codes[row])
        return None if code < 0 else self.words[code]


Column = Numbers | Texts
#: The position of a walk: sort value (None: the row has none), name and id of the last returned row.
Place = Sequence[Any]


class ScreenPage(NamedTuple):
    """Row numbers in order, the number of matches on all pages, and whether more follow."""

    rows: Rows
    total: int
    more: bool


def matching(clauses: Iterable[Clause], columns: Mapping[str, Column], mask: Mask) -> Mask:
    """
    Return the rows of `mask` that satisfy every clause. A row without a value for a clause's field does not.

    `columns` maps the name of each clause's field to its column.
    """
    found = mask
    for clause in clauses:
        column = columns[clause.field.name]
        found = found & (_texts(clause, column) if isinstance(column, Texts) else _numbers(clause, column))
    return found


def _numbers(clause: Clause, column: Numbers) -> Mask:
    # Every comparison with NaN is false, so a row without a value never passes.
    if clause.operator in _COMPARE:
        passed: Mask = _COMPARE[clause.operator](column, clause.values[0])
        return passed
    return np.isin(column, np.array(clause.values, dtype=np.float64))


def _texts(clause: Clause, column: Texts) -> Mask:
    # One element more than there are words: a code of -1 looks up the last, which never passes.
    passes = np.zeros(len(column.words) + 1, dtype=np.bool_)
    passes[:-1] = [folded(word) in clause.values for word in column.words]
    found: Mask = passes[column.codes]
    return found


def page(
    mask: Mask,
    ties: Sequence[tuple[str, str]],
    by: Column | None,
    *,
    descending: bool,
    after: Place | None,
    limit: int,
) -> ScreenPage:
    """
    Return one page of the rows in `mask`, sorted by a column (None: by name). Rows without a value come last, ties by
    name, then id.

    `ties` are the (name, id) of all rows, ascending. `descending` reverses values and ties, but rows without a value
    stay last. `after` is the place of the last row of the page before.
    """
    rows = np.flatnonzero(mask)
    total = len(rows)
    keys = None if by is None else _keys(by)
    if after is not None:
        rows = rows[_beyond(rows, keys, ties, after, by, descending=descending)]
    order = rows[::-1] if descending else rows
    more = len(order) > limit
    if keys is not None:
        values = -keys[order] if descending else keys[order]
        if more:
            # Only rows up to the one after the page need sorting; if that has no value, all are sorted.
            further = values > np.partition(values, limit)[limit]
            order, values = order[~further], values[~further]
        # NaN sorts last; a stable sort keeps the order of the ties.
        order = order[np.argsort(values, kind="stable")]
    return ScreenPage(order[:limit], total, more)


def place(row: int, ties: Sequence[tuple[str, str]], by: Column | None) -> list[Any]:
    """Return the place of a row in a walk, to be passed as `after`."""
    value: float | str | None = None
    if isinstance(by, Texts):
        value = by.at(row)
    elif by is not None and not np.isnan(by[row]):
        value = float(by[row])
    return [value, *ties[row]]


def _keys(by: Column) -> Numbers:
    """Return a column as numbers that sort as its values do, with NaN for no value."""
    if isinstance(by, Texts):
        return np.where(by.codes < 0, np.nan, by.codes)
    return by


def _beyond(
    rows: Rows,
    keys: Numbers | None,
    ties: Sequence[tuple[str, str]],
    after: Place,
    by: Column | None,
    *,
    descending: bool,
) -> Mask:
    """Return which rows come after a place. The row of that place may no longer exist."""
    value, *tie = after
    first = bisect_left(ties, tuple(tie))
    there = first < len(ties) and ties[first] == tuple(tie)
    later: Mask = rows < first if descending else rows >= first + there
    if keys is None:
        return later
    values = keys[rows]
    none = np.isnan(values)
    if value is None:
        return none & later
    at = _key_of(value, by)
    further = values < at if descending else values > at
    found: Mask = none | further | ((values == at) & later)
    return found


def _key_of(value: float | str, by: Column | None) -> float:
    """Return the number of a sort value among `_keys`. A word that no longer exists lies between its neighbours."""
    if isinstance(by, Texts):
        first = bisect_left(by.words, str(value))
        return first if first < len(by.words) and by.words[first] == value else first - 0.5
    return float(value)
