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
        self._readings: dict[str, Figure | None] = {}
        #: Ends now, one, two, three years ago, as far as they are known.
        self._ends = [end]
        #: First day of the twelve months at each of these ends, None where there are none.
        self._starts: list[int | None] = []

    def start(self, back: int = 0) -> int | None:
        """First day of the twelve months that many years back; None where no flow has twelve months there."""
        starts = self._starts
        while len(starts) <= back:
            if len(starts) == len(self._ends):
                return None
            end = self._ends[-1]
            found = next(
                (flow.start for item in _FRAME if (flow := self.trailing_twelve_months(item, end)) is not None), None
            )
            starts.append(found)
            if found is not None:
                self._ends.append(found - 1)
        return starts[back]

    def trailing_twelve_months(self, item: str, end: int) -> TrailingTwelveMonths | None:
        """Twelve months of an item ending on that day."""
        known = self._twelve
        key = (item, end)
        if key in known:
            return known[key]
        known[key] = found = (
            trailing_twelve_months(self.financials, item, end, self.frequency, self._floor)
            if end >= self._floor
            else None
        )
        return found

    def read(self, name: str) -> Figure | None:
        """Return an input by name, or None where the company does not state what it takes. Raise ValueError for an unknown form."""
        readings = self._readings
        if name in readings:
            return readings[name]
        readings[name] = found = self._read(parsed(name))
        return found

    def all(self, names: Iterable[str]) -> list[Figure] | None:
        """Several inputs, None where one of them is missing."""
        found = []
        for name in names:
            reading = self.read(name)
            if reading is None:
                return None
            found.append(reading)
        return found

    def _read(self, wanted: InputName) -> Figure | None:
        if wanted.back and self.start(wanted.back - 1) is None:
            return None
        end = self._ends[wanted.back]
        if wanted.item == STATUTORY_TAX:
            return Figure(_RATES[end >= _RATE_CUT], ())
        if not wanted.flow:
            amount = self.financials.balances.get(wanted.item, {}).get(end) if end >= self._floor else None
            if amount is not None and amount.reporting_basis != self._reporting_basis:
                return None
            if amount is None:
                return Figure(0.0, ()) if wanted.optional else None
            return Figure(amount.value, (amount,))
        found = self.trailing_twelve_months(wanted.item, end)
        if (
            found is None
            or found.start != self.start(wanted.back)
            or found.parts[0].reporting_basis != self._reporting_basis
        ):
            return None
        parts = found.parts + found.basis
        if wanted.back and (wanted.item in AVERAGES or wanted.item in PER_SHARE):
            told = self._same_shares(wanted.item, end)
            if told is None:
                return None
            parts += told
        return Figure(found.value, parts, found.method == MISMATCH)

    @functools.cached_property
    def _reporting_basis(self) -> int | None:
        """Standard and currency of the twelve months now: nothing of another is set against them."""
        flows = (self.trailing_twelve_months(item, self._ends[0]) for item in _FRAME)
        return next((flow.parts[0].reporting_basis for flow in flows if flow is not None), None)

    def _same_shares(self, item: str, end: int) -> tuple[Amount, ...] | None:
        """Return the average numbers of shares that show an earlier figure to be on today's basis, None where they do not."""
        for shares in PER_SHARE.get(item, (item,)):
            now, then = self.trailing_twelve_months(shares, self._ends[0]), self.trailing_twelve_months(shares, end)
            if now is not None and then is not None:
                return (*then.parts, *now.parts) if comparable(now, then) else None
        return None
