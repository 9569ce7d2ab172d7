"""
What checks say of amounts: a mark on each line that a failed check is about, and on what is computed from it.

So quality travels: sums of twelve months, ratios and scores have the marks of all that they are made of.
"""

from __future__ import annotations

from collections.abc import Iterable

from almanac.derived.companies.checks import FATAL
from almanac.derived.companies.line_items import BALANCE, CASH_FLOW, HALF, INCOME, INSTANT, QUARTER, YEAR, LineItems
from almanac.derived.companies.quality_check import FAILED as CHECK_FAILED
from almanac.derived.companies.quality_check import QualityCheck
from almanac.domain.observations import FAILED, QUALITY, WARNED

#: Statement (income, balance or cash_flow), letter of its length, last day.
_Name = tuple[str, str, int]
#: How an amount is come by that is computed from others of its period.
_FORMULA = "formula"
#: In place of a length: the marks that a fourth quarter has from its year.
_FROM_YEAR = "from year"


class Marks:
    """The marks of one company's amounts, which it puts on those of `line_items`."""

    def __init__(self, line_items: LineItems) -> None:
        self._line_items = line_items
        self._of: dict[_Name, dict[str, int]] = {}
        self._moved: set[tuple[str, int, str]] = set()

    def put(self, name: _Name, checks: Iterable[QualityCheck]) -> None:
        """Replace what is said of the lines of a statement by what these checks say; without any the statement is gone."""
        statement, letter, end = name
        kind = INSTANT if statement == BALANCE else letter
        marks: dict[str, int] = {}
        for check in checks:
            if check.status == CHECK_FAILED:
                mark = FAILED if check.name in FATAL else WARNED
                for key in self._concerned(kind, end, check.items or ()):
                    marks[key] = max(marks.get(key, 0), mark)
        self._replace(name, kind, marks)
        if kind in {YEAR, QUARTER}:
            self._pass_to_last_quarter(statement, end)

    def _pass_to_last_quarter(self, statement: str, end: int) -> None:
        """Pass a year's failures on to the quarter that is computed from it."""
        failed = [key for key, mark in self._of.get((statement, YEAR, end), {}).items() if mark == FAILED]
        quarters = self._line_items.values[QUARTER]
        of_year = [
            key
            for key in failed
            if (amount := quarters.get(key, {}).get(end)) is not None
            and any(tag.endswith(f":{YEAR}") for tag in amount.tags)
        ]
        marks = dict.fromkeys(self._concerned(QUARTER, end, of_year), FAILED)
        self._replace((statement, _FROM_YEAR, end), QUARTER, marks)

    def _replace(self, name: _Name, kind: str, marks: dict[str, int]) -> None:
        before = self._of.pop(name, {})
        if marks:
            self._of[name] = marks
        for key in before.keys() | marks.keys():
            self._mark(kind, name[2], key)

    def taken(self) -> set[tuple[str, int, str]]:
        """Amounts whose mark moved since this was asked last: kind of period, end, item."""
        moved, self._moved = self._moved, set()
        return moved

    def _concerned(self, kind: str, end: int, keys: Iterable[str]) -> set[str]:
        """Lines, and those that are computed from them."""
        values, dependents = self._line_items.values[kind], self._line_items.mapping.dependents
        found: set[str] = set()
        left = [key for key in keys if key in values]
        while left:
            key = left.pop()
            if key not in found:
                found.add(key)
                left += [
                    one
                    for one in dependents[key]
                    if one in values and (amount := values[one].get(end)) is not None and amount.method == _FORMULA
                ]
        return found

    def _mark(self, kind: str, end: int, key: str) -> None:
        amount = self._line_items.values[kind][key].get(end)
        if amount is None:
            return
        letters = (kind, _FROM_YEAR) if kind == QUARTER else (kind,)
        names = (
            [(BALANCE, letter, end) for letter in (QUARTER, YEAR, HALF)]
            if kind == INSTANT
            else [(statement, letter, end) for statement in (INCOME, CASH_FLOW) for letter in letters]
        )
        mark = max(self._of.get(name, {}).get(key, 0) for name in names)
        if amount.flags & QUALITY != mark:
            self._line_items.values[kind][key][end] = amount._replace(flags=amount.flags & ~QUALITY | mark)
            self._moved.add((kind, end, key))
