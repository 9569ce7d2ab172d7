"""
Twelve months of an item: the fiscal year, the year moved on by the years to date since, or four contiguous quarters.

| ending at | flows | average shares | per share |
| --- | --- | --- | --- |
| a fiscal year end | the year as reported, else four quarters | the year's, else the mean of four | the year's, else the sum |
| another quarter end | year + year to date − year to date a year before where filings state all three, else four quarters | mean of four | sum of four |

Where both ways are there and differ by more than rounding, the first stands and `method` says `ttm_mismatch`, if a part
of the quarters was restated since or the difference is no more than a correction. Else nothing tells which is right, and
there is no value.

Half-year filers have two halves for four quarters, and so have flows of others where quarters are missing; of
annual-only filers the fiscal year stands. A figure per share is the sum of four quarters' own figures (the market's
habit), not income over average shares; at a fiscal year end it is the reported one.

All parts are of one basis, or there is no value. A part that was restated is on another basis than those stated before that
and not since; so are those whose report restates the same period of the year before. That tells splits of any ratio,
mergers and what was given up. Where the average number of shares jumps by nearly a whole factor between neighbouring
periods, one of them is from before a split, whatever was restated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from almanac.catalog.companies import items
from almanac.derived.companies.facts import BUCKETS, CORRECTION
from almanac.derived.companies.financials import MISMATCH, REFUSED, Amount, CompanyFinancials, MeasureValue
from almanac.derived.companies.precision import COARSEST, footed, granularity, spelled
from almanac.domain.numbers import exact_sum, mean
from almanac.domain.observations import QUALITY
from almanac.domain.periods import Frequency
from almanac.domain.times import midnight

#: The frequencies in which companies report.
FREQUENCIES: Final = (Frequency.QUARTERLY, Frequency.SEMIANNUAL, Frequency.ANNUAL)
#: How far before an end anything here looks: sixteen quarters of 52 or 53 weeks.
REACH_DAYS: Final = 1_500
#: Days that count as twelve months: 50 weeks and 54 weeks are out, years of 52 and 53 weeks and leap years are in.
SHORTEST, LONGEST = 350, 380
#: A neighbour's number of shares within this of a whole multiple (or of 3:2) was cut by a split, not by buying back.
SPLIT_TOLERANCE = 0.05

_DAY = 86_400

#: Items that are averages over a period: twelve months are their mean.
AVERAGES = frozenset(["weighted_average_shares_basic", "weighted_average_shares_diluted"])
#: Items per share → the average number of shares that tells their basis, the best first.
PER_SHARE: Final[Mapping[str, tuple[str, ...]]] = {
    "earnings_per_share_basic": ("weighted_average_shares_basic", "weighted_average_shares_diluted"),
    "earnings_per_share_diluted": ("weighted_average_shares_diluted", "weighted_average_shares_basic"),
    "dividends_per_share": ("weighted_average_shares_basic", "weighted_average_shares_diluted"),
}


def periods(financials: CompanyFinancials) -> tuple[Frequency, tuple[int, ...]]:
    """Return the frequency at which a company has twelve-month figures, and the ends they may have, ascending."""
    halves = {end for amounts in financials.halves.values() for end in amounts}
    quarters = financials.quarter_ends
    # Second quarters alone, beside half-years, make no filer of quarters.
    if quarters and (not halves or any(after - before <= BUCKETS["Q"][1] for before, after in pairwise(quarters))):
        # Fiscal years before the first quarter that was filed have figures too.
        return Frequency.QUARTERLY, tuple(sorted({*quarters, *financials.year_ends}))
    if halves:
        return Frequency.SEMIANNUAL, tuple(sorted(halves.union(financials.year_ends)))
    return Frequency.ANNUAL, financials.year_ends


def trailing_twelve_months(
    financials: CompanyFinancials, item: str, end: int, frequency: Frequency, floor: int
) -> MeasureValue | None:
    """
    Twelve months of a flow, per-share or average-share item ending on a day, or None.

    `frequency` QUARTERLY, SEMIANNUAL or ANNUAL says what the company reports in; `floor` is the first day looked at:
    no amount that ends before it takes part.
    """
    twelve = _twelve_months(financials, item, end, frequency, floor)
    return None if isinstance(twelve, str) else twelve


def mixed(financials: CompanyFinancials, item: str, end: int, frequency: Frequency) -> str | None:
    """Return why twelve months of an item are absent although all their parts are there; None where they are not."""
    twelve = _twelve_months(financials, item, end, frequency, end - REACH_DAYS)
    if twelve is not None:
        return twelve if isinstance(twelve, str) else None
    if item in AVERAGES or item in PER_SHARE:
        cells, count = _own(financials, item, frequency)
        there = bool(chain(cells, end, count, end - REACH_DAYS))
    elif financials.recasts:
        as_first = financials._replace(recasts={})
        there = trailing_twelve_months(as_first, item, end, frequency, end - REACH_DAYS) is not None
    else:
        there = False
    return f"{REFUSED}: parts of it were restated, or their shares split, and others were not" if there else None


def _twelve_months(
    financials: CompanyFinancials, item: str, end: int, frequency: Frequency, floor: int
) -> MeasureValue | str | None:
    """Return the twelve months, or the reason where two ways lead to them and nothing tells which is right."""
    if financials.twelve_months is not None:
        stored = financials.twelve_months.get(item, {}).get(end)
        if stored is None or (item not in AVERAGES and item not in PER_SHARE):
            return stored
    year = _year(financials, item, end)
    if frequency is Frequency.ANNUAL:
        return year and year._replace(method="annual")
    cells, count = _own(financials, item, frequency)
    parts = chain(cells, end, count, floor)
    if item in PER_SHARE:
        return year or _per_share(financials, item, frequency, parts, floor)
    if item in AVERAGES:
        return year or _one_basis_each(financials, cells, _of_parts(parts, is_mean=True))
    total = _of_parts(parts)
    if year is not None:
        return year if total is None or agree(year, total) else year._replace(method=MISMATCH)
    moved = _moved(financials, item, end, floor)
    if moved is not None:
        if total is None or agree(total, moved):
            return moved
        # Where a part of the four quarters was restated since, they are the ones that are not of one basis.
        if _is_correction(total, moved) or _one_basis_each(financials, cells, total) is None:
            return moved._replace(method=MISMATCH)
        both = f"{spelled(moved.value)} and {spelled(total.value)}"
        return f"{REFUSED}: the year moved on by years to date and four quarters give {both}"
    if total is None and frequency is Frequency.QUARTERLY:
        # Years in which the company reported halves: the other one and this.
        cells = financials.halves.get(item, {})
        total = _of_parts(chain(cells, end, 2, floor))
    return _one_basis_each(financials, cells, total)


def _own(financials: CompanyFinancials, item: str, frequency: Frequency) -> tuple[Mapping[int, Amount], int]:
    """Return the quarters or halves of an item, and how many make twelve months."""
    cells, count = (financials.quarters, 4) if frequency is Frequency.QUARTERLY else (financials.halves, 2)
    return cells.get(item, {}), count


def _one_basis_each(
    financials: CompanyFinancials, cells: Mapping[int, Amount], twelve: MeasureValue | None
) -> MeasureValue | None:
    """Return the twelve months of several parts, each with the period a year before among `cells`, if all are on one basis; else None."""
    if twelve is None or len(twelve.parts) == 1 or not financials.recasts:
        return twelve
    before = [
        cells[end] for part in twelve.parts for end in range(part.end - LONGEST, part.end - SHORTEST) if end in cells
    ]
    return twelve if _is_one_basis(financials, twelve.parts, before) else None


def _is_one_basis(financials: CompanyFinancials, parts: Sequence[Amount], witnesses: Sequence[Amount] = ()) -> bool:
    """
    Whether amounts that add up are on one basis: neither they nor `witnesses`, which their reports give for comparison, came to
    be on another one after some of the parts were stated, and before the others.
    """
    # Filings of one day are on one basis, whichever was the first.
    times = [amount.released // _DAY for amount in parts if amount.released is not None]
    if len(times) < 2 or not financials.recasts:
        return True
    first, last = min(times), max(times)
    changes = (
        financials.recasts.get((amount.reporting_basis, name, amount.end), 0)
        for amount in (*parts, *witnesses)
        for name in amount.tags
    )
    return not any(first < change // _DAY <= last for change in changes)


def chain(cells: Mapping[int, Amount], end: int, count: int, floor: int) -> tuple[Amount, ...]:
    """Return that many amounts ending on `end`, each starting the day after the one before ends, oldest first; empty: not all there."""
    newest_first: list[Amount] = []
    while len(newest_first) < count:
        amount = cells.get(end)
        if amount is None or amount.start is None or end < floor:
            return ()
        if newest_first and amount.reporting_basis != newest_first[0].reporting_basis:
            return ()
        newest_first.append(amount)
        end = amount.start - 1
    return tuple(reversed(newest_first))


def agree(one: MeasureValue, other: MeasureValue) -> bool:
    """
    Whether two ways to the same twelve months differ by no more than rounding: half a unit of each operand that only
    one of them has.

    Numbers of one line are written with four figures, so what is rounder than a thousandth of the largest is so by chance.
    Ways that cover other days cannot be compared and count as agreeing.
    """
    if (one.start, one.end) != (other.start, other.end) or one.value == other.value:
        return True
    operands = [amount.value for amount in one.parts if amount not in other.parts]
    operands += [amount.value for amount in other.parts if amount not in one.parts]
    coarsest = min(COARSEST, max(map(abs, operands), default=0.0) / 1_000)
    allowed = 0.5 * sum(min(granularity(value), coarsest) for value in operands)
    return abs(one.value - other.value) <= allowed


def _is_correction(one: MeasureValue, other: MeasureValue) -> bool:
    """Tell whether two ways to the same twelve months differ by no more than a correction, or than columns that add up."""
    operands = [amount.value for amount in (*one.parts, *other.parts)]
    off = abs(one.value - other.value)
    return (one.start, one.end) != (other.start, other.end) or off <= max(
        CORRECTION * max(map(abs, operands)), footed(operands)
    )


def one_basis(shares: Iterable[float]) -> bool:
    """Return whether average numbers of shares in order of time can all be counted in the same shares."""
    before: float | None = None
    for number in shares:
        if number <= 0:
            return False
        if before is not None and _split(number / before):
            return False
        before = number
    return True


def _split(ratio: float) -> bool:
    """Return whether a ratio of two numbers of shares is near 3:2 or a whole number from two on, either way round."""
    ratio = ratio if ratio >= 1 or not ratio else 1 / ratio
    if not 0 < ratio < 10:
        # From ten on every number is within a twentieth of a whole one.
        return True
    return any(abs(ratio / factor - 1) <= SPLIT_TOLERANCE for factor in (1.5, max(2, round(ratio))))


def _year(financials: CompanyFinancials, item: str, end: int) -> MeasureValue | None:
    amount = financials.years.get(item, {}).get(end)
    if amount is None or _whole([amount]) is None or (item in AVERAGES and amount.value <= 0):
        return None
    return MeasureValue(amount.value, amount.start or 0, end, (amount,), "fiscal_year")


def _whole(parts: Sequence[Amount]) -> int | None:
    """Return the first day of contiguous parts that make twelve months."""
    start = parts[0].start if parts else None
    return start if start is not None and SHORTEST <= parts[-1].end - start + 1 <= LONGEST else None


def _of_parts(parts: tuple[Amount, ...], *, is_mean: bool = False) -> MeasureValue | None:
    """Return the sum or the mean of contiguous quarters or halves; none where they make no twelve months, or count other shares."""
    start, numbers = _whole(parts), [amount.value for amount in parts]
    if start is None or (is_mean and not one_basis(numbers)):
        return None
    value = mean(numbers) if is_mean else exact_sum(*numbers)
    method = f"{'mean' if is_mean else 'sum'}_of_{'quarters' if len(parts) == 4 else 'halves'}"
    return MeasureValue(value, start, parts[-1].end, parts, method)


def _per_share(
    financials: CompanyFinancials, item: str, frequency: Frequency, parts: tuple[Amount, ...], floor: int
) -> MeasureValue | None:
    """Return the sum of the parts, with the average shares that show that they are on one basis; none where they are not."""
    cells, count = _own(financials, item, frequency)
    total = _one_basis_each(financials, cells, _of_parts(parts))
    for shares in PER_SHARE[item] if parts else ():
        averages = chain(_own(financials, shares, frequency)[0], parts[-1].end, count, floor)
        if averages:
            counted = _one_basis_each(
                financials, _own(financials, shares, frequency)[0], _of_parts(averages, is_mean=True)
            )
            return total and counted and total._replace(parts=parts + averages)
    return total


def _moved(financials: CompanyFinancials, item: str, end: int, floor: int) -> MeasureValue | None:
    """Return the last fiscal year, and the year to date, less the same part of the year before: each as filings state it."""
    place = bisect_left(financials.year_ends, end)
    year = financials.years.get(item, {}).get(financials.year_ends[place - 1]) if place else None
    if year is None or year.start is None or not _stated(year):
        return None
    now = _to_date(financials, item, year.end + 1, end)
    ends = financials.quarter_ends or tuple(sorted(financials.halves.get(item, {})))
    for last in ends[bisect_left(ends, end - LONGEST) : bisect_left(ends, end - SHORTEST + 1)]:
        then = _to_date(financials, item, year.start, last)
        if (
            now is None
            or then is None
            or last < floor
            or not year.reporting_basis == now.reporting_basis == then.reporting_basis
        ):
            continue
        shown = then
        if now.released is not None and now.released < midnight(now.end + LONGEST):
            # The report of the year to date gives that of the year before beside it, and what it repeats is of its day too.
            shown = then._replace(released=max(now.released, then.released or 0))
        if not _is_one_basis(financials, (year, now, shown)):
            return None
        value = exact_sum(year.value, now.value, -then.value)
        if value >= 0 or not items()[item].signed(financials.template).never_negative:
            return MeasureValue(value, last + 1, end, (then, year, now), "year_to_date")
    return None


def _to_date(financials: CompanyFinancials, item: str, start: int, end: int) -> Amount | None:
    """Return what filings state from the first day of a year to the end of a quarter or half, with the marks of its quarters."""
    for cells in (financials.to_date, financials.quarters, financials.halves):
        amount = cells.get(item, {}).get(end)
        if amount is not None and amount.start == start and _stated(amount):
            break
    else:
        return None
    quarters, ends = financials.quarters.get(item, {}), financials.quarter_ends
    marks = 0
    for last in ends[bisect_left(ends, start) : bisect_left(ends, end + 1)]:
        if last in quarters:
            marks |= quarters[last].flags & QUALITY
    return amount if marks == amount.flags & QUALITY else amount._replace(flags=amount.flags | marks)


def _stated(amount: Amount) -> bool:
    """Return whether all that an amount comes from was stated for its very period: differences and sums over time were not."""
    return len({tag.rpartition(":")[2] for tag in amount.tags}) == 1
