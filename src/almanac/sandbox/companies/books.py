"""The true books of a simulated company, quarter by quarter, in whole units of its scale.

Nothing is drawn twice: each figure follows from the ones before it, so assets always equal liabilities and equity, and
the change in cash is what the cash flows leave.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from almanac.sandbox.companies.calendar import Calendar
from almanac.sandbox.companies.cast import Filer
from almanac.sandbox.noise import Floats, normals, wander

#: From this fiscal year on restricted cash is part of the cash-flow statement, and moves.
RESTRICTED_SINCE = 2018


@dataclass
class TrueBooks:
    """Flows of each quarter, levels at its end; both in the company's scale. Shares in thousands, before any split."""

    flows: dict[str, list[int]] = field(default_factory=dict)
    levels: dict[str, list[int]] = field(default_factory=dict)
    basic: list[int] = field(default_factory=list)
    diluted: list[int] = field(default_factory=list)
    outstanding: list[int] = field(default_factory=list)
    #: Dividends declared per share in each quarter.
    per_share: list[float] = field(default_factory=list)

    def post(
        self, flows: Mapping[str, int], levels: Mapping[str, int], shares: tuple[int, int, int], per_share: float = 0.0
    ) -> None:
        """Close a quarter; `shares`: basic, diluted and outstanding."""
        for columns, row in ((self.flows, flows), (self.levels, levels)):
            for name, amount in row.items():
                columns.setdefault(name, []).append(amount)
        for column, count in zip((self.basic, self.diluted, self.outstanding), shares, strict=True):
            column.append(count)
        self.per_share.append(per_share)

    @functools.cached_property
    def sums(self) -> dict[str, list[int]]:
        """Sums of each flow over the quarters before a place."""
        return {line: [0, *itertools.accumulate(amounts)] for line, amounts in self.flows.items()}

    def total(self, line: str, first: int, last: int) -> int:
        """Return a flow over the quarters `first` to `last`."""
        return self.sums[line][last + 1] - self.sums[line][first]


def labels(calendar: Calendar) -> list[int]:
    """The fiscal year of each quarter."""
    found = []
    for year in calendar.years:
        found += [year.label] * (min(year.last, len(calendar.ends) - 1) - year.first + 1)
    return found


def trend(company: Filer, calendar: Calendar, start: float, what: str) -> Floats:
    """A path that starts near `start` and grows as the trade does, a little better or worse; per quarter of 91 days."""
    trade, count = company.trade, len(calendar.ends)
    growth = np.log(1 + trade.growth + 0.06 * (float(company.luck[2]) - 0.45)) / 4
    months = np.array([date.fromordinal(end).month for end in calendar.ends])
    peak = 12 if trade.name != "utilities" else 2
    season = trade.season * np.cos(2 * np.pi * (months - peak) / 12)
    swing = wander(f"company/{company.number}/{what}", count, 0.88, trade.swing)
    days = np.array(calendar.ends) - np.array(calendar.starts) + 1
    path: Floats = start * np.exp(growth * np.arange(count) + season + swing) * days / 91.3125
    return path


def habit(company: Filer, name: str, count: int, spread: float) -> Floats:
    """What a share is multiplied by in each quarter: near 1."""
    path: Floats = 1 + wander(f"company/{company.number}/{name}", count, 0.7, spread)
    return path


def chance(company: Filer, name: str, count: int) -> Floats:
    return normals(f"company/{company.number}/{name}", count)
