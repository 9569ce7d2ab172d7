"""
The financials of one company seen from one period end: the inputs of ratios and scores by name.

| name | is |
| --- | --- |
| `revenue_ttm` | twelve months ending at the end |
| `total_assets` | the balance at the end |
| `…_1y_ago`, `…_2y_ago`, `…_3y_ago` | the same one, two, three times twelve months earlier |
| `minority_interest?` | a balance that counts as zero where the company states none |
| `statutory_tax_rate` | the United States' federal rate on corporate income on that day |

"Earlier" is the day before the twelve months begin, not 365 days ago, so years of 52 and 53 weeks meet. All flows of
one measure cover the same days. Figures that depend on the number of shares are there for an earlier time only if both
times are on one basis.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple

from almanac.derived.companies.financials import Amount, CompanyFinancials, TrailingTwelveMonths
from almanac.derived.companies.ttm import (
    AVERAGES,
    MISMATCH,
    PER_SHARE,
    REACH_DAYS,
    comparable,
    trailing_twelve_months,
)
from almanac.domain.periods import Frequency

#: Flows that tell where the twelve months begin, the surest first.
_FRAME: Final = (
    "net_income",
    "revenue",
    "income_before_tax",
    "net_cash_flow_from_operations",
    "operating_income",
    "income_tax",
    "net_cash_flow_from_investing",
    "net_cash_flow_from_financing",
)

#: An input that is no item: what is taken for a tax rate where there is no income to tax.
STATUTORY_TAX: Final = "statutory_tax_rate"
_RATES = (0.35, 0.21)
_RATE_CUT = date(2018, 1, 1).toordinal()


class InputName(NamedTuple):
    """An input's name taken apart."""

    item: str
    flow: bool
    back: int
    optional: bool


class Figure(NamedTuple):
    """A value, the amounts it was made of (none for an absent optional input), and whether two ways to an input disagree."""

    value: float
    parts: tuple[Amount, ...]
    mismatch: bool = False


_FREQUENCIES = (Frequency.QUARTERLY, Frequency.SEMIANNUAL, Frequency.ANNUAL)
_NAME = re.compile(r"(?P<item>[a-z_]+?)(?P<flow>_ttm)?(?:_(?P<back>[123])y_ago)?(?P<optional>\?)?")


@functools.cache
def parsed(name: str) -> InputName:
    """`long_term_debt_1y_ago` → its item, flow or balance, years back. Raises ValueError for another form."""
    match = _NAME.fullmatch(name)
    if match is None or (match["flow"] and match["optional"]):
        raise ValueError(
            f"{name!r} is no input: allowed are ITEM, ITEM_ttm, each with _1y_ago to _3y_ago; ITEM? is optional"
        )
    return InputName(match["item"], match["flow"] is not None, int(match["back"] or 0), match["optional"] is not None)


class RatioInputs:
    """A financials from one end. `frequency` is what the company reports in (`ttm.periods`). Nothing before REACH_DAYS is looked at."""

    def __init__(self, financials: CompanyFinancials, end: int, frequency: Frequency) -> None:
        """Raise ValueError for a frequency that companies do not report in."""
        if frequency not in _FREQUENCIES:
            raise ValueError(f"frequency must be one of {', '.join(_FREQUENCIES)}, not {frequency}")
        self.financials = financials
        self.frequency = frequency
        self._floor = end - REACH_DAYS
        self._twelve: dict[tuple[str, int], TrailingTwelveMonths | None] = {}
        self._figures: dict[str, Figure | None] = {}
        #: Ends now, one, two, three years ago, as far as they are known.
        self._ends = [end]
        #: First day of the twelve months at each of these ends, None where there are none.
        self._starts: list[int | None] = []

    def start(self, back: int = 0) -> int | None:
        """First day of the twelve months that many years back; None where no flow has twelve months there."""
        while len(self._starts) <= back and len(self._starts) < len(self._ends):
            flow = self._frame(self._ends[-1])
            self._starts.append(flow and flow.start)
            if flow is not None:
                self._ends.append(flow.start - 1)
        return self._starts[back] if back < len(self._starts) else None

    def _frame(self, end: int) -> TrailingTwelveMonths | None:
        """Return the flow that tells where the twelve months begin."""
        flows = (self.trailing_twelve_months(item, end) for item in _FRAME)
        return next((flow for flow in flows if flow is not None), None)

    def trailing_twelve_months(self, item: str, end: int) -> TrailingTwelveMonths | None:
        """Twelve months of an item ending on that day."""
        if end < self._floor:
            return None
        if (item, end) not in self._twelve:
            twelve = trailing_twelve_months(self.financials, item, end, self.frequency, self._floor)
            self._twelve[item, end] = twelve
        return self._twelve[item, end]

    def read(self, name: str) -> Figure | None:
        """Return an input by name, or None where the company does not state what it takes. Raise ValueError for an unknown form."""
        if name not in self._figures:
            self._figures[name] = self._read(parsed(name))
        return self._figures[name]

    def all(self, names: Iterable[str]) -> list[Figure] | None:
        """Several inputs, None where one of them is missing."""
        figures: list[Figure] = []
        for name in names:
            figure = self.read(name)
            if figure is None:
                return None
            figures.append(figure)
        return figures

    def _read(self, wanted: InputName) -> Figure | None:
        if wanted.back and self.start(wanted.back - 1) is None:
            return None
        now, end = self._ends[0], self._ends[wanted.back]
        if wanted.item == STATUTORY_TAX:
            return Figure(_RATES[end >= _RATE_CUT], ())
        if not wanted.flow:
            amount = self.financials.balances.get(wanted.item, {}).get(end) if end >= self._floor else None
            if amount is None:
                return Figure(0.0, ()) if wanted.optional else None
            return Figure(amount.value, (amount,)) if amount.reporting_basis == self._reporting_basis else None
        flow = self.trailing_twelve_months(wanted.item, end)
        if flow is None or flow.start != self.start(wanted.back):
            return None
        if flow.parts[0].reporting_basis != self._reporting_basis:
            return None
        parts = flow.parts + flow.basis
        if wanted.back and (wanted.item in AVERAGES or wanted.item in PER_SHARE):
            # The average numbers of shares show whether an earlier figure is on today's basis.
            numbers = [
                (twelve, before)
                for shares in PER_SHARE.get(wanted.item, (wanted.item,))
                if (twelve := self.trailing_twelve_months(shares, now)) is not None
                and (before := self.trailing_twelve_months(shares, end)) is not None
            ]
            if not numbers or not comparable(*numbers[0]):
                return None
            parts += (*numbers[0][1].parts, *numbers[0][0].parts)
        return Figure(flow.value, parts, flow.method == MISMATCH)

    @functools.cached_property
    def _reporting_basis(self) -> int | None:
        """Standard and currency of the twelve months now: nothing of another is set against them."""
        flow = self._frame(self._ends[0])
        return None if flow is None else flow.parts[0].reporting_basis
