"""Twelve months of items: which periods they are made of, and where there is no honest answer. All figures invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.companies.ratios import measures
from almanac.derived.companies.ttm import (
    LONGEST,
    REACH_DAYS,
    SHORTEST,
    mixed,
    one_basis,
    periods,
    trailing_twelve_months,
)
from almanac.domain.observations import FAILED
from almanac.domain.observations import quality as quality_of
from almanac.domain.periods import Frequency

from .invented_financials import amount, day, financials, instants, quarters_of, series, spans, years_of

Q, S, A = Frequency.QUARTERLY, Frequency.SEMIANNUAL, Frequency.ANNUAL
ITEM = "revenue"
SHARES, EPS = "weighted_average_shares_diluted", "earnings_per_share_diluted"
GRID = quarters_of([2021, 2022])
YEARS = years_of([2021, 2022])


#: Of each of the two years the first two quarters, and the first three.
TO_DATE = [(start, GRID[first + place][1]) for first, (start, _) in zip((0, 4), YEARS, strict=True) for place in (1, 2)]


def book(values, years=(None, None), to_date=(None,) * 4, item=ITEM, **more):
    """Two calendar years: eight quarters, two years and what is stated of two and three quarters of each, of one item."""
    return financials(
        quarters={item: series(item, GRID, values), **more.get("quarters", {})},
        years={item: series(item, YEARS, years), **more.get("years", {})},
        to_date={item: series(item, TO_DATE, to_date)},
    )


def made(book_, end, item=ITEM, frequency=Q, floor=0):
    return trailing_twelve_months(book_, item, day(end), frequency, floor)


def test_four_contiguous_quarters_are_summed():
    found = made(book([1, 2, 3, 4, 10, 20, 30, 40]), "2022-09-30")
    assert (found.value, found.method) == (64, "sum_of_quarters")
    assert (found.start, found.end) == (day("2021-10-01"), day("2022-09-30"))
    assert [part.value for part in found.parts] == [4, 10, 20, 30]


def test_at_a_fiscal_year_end_the_year_stands():
    found = made(book([1, 2, 3, 4, 10, 20, 30, 40], (10, 100)), "2022-12-31")
    assert (found.value, found.method, found.start) == (100, "fiscal_year", day("2022-01-01"))
    assert [part.value for part in found.parts] == [100]


def test_a_year_without_its_quarters_is_twelve_months_too():
    assert made(book([None] * 8, (10, 100)), "2021-12-31").value == 10


@pytest.mark.parametrize(
    ("year", "method"), [(100_002, "fiscal_year"), (100_003, "ttm_mismatch"), (99_998, "fiscal_year")]
)
@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000])
def test_a_year_and_its_quarters_agree_within_half_a_unit_of_each(year, method, unit):
    # Five operands, each written in units.
    quarters = [value * unit for value in (10_001, 20_001, 30_001, 39_997)]
    found = made(book([None] * 4 + quarters, (None, year * unit)), "2022-12-31")
    assert (found.value, found.method) == (year * unit, method)


def test_a_number_that_is_round_by_chance_explains_no_difference():
    # All end in three zeros, but nobody writes a line of 102 thousand in thousands and two figures.
    assert made(book([None] * 4 + [11e3, 20e3, 30e3, 39e3], (None, 102e3)), "2022-12-31").method == "ttm_mismatch"
    # Reports in tenths of a million before, in millions now.
    now = [2_001e6, 2_100e6, 2_203_300e3, 2_304_900e3]
    assert made(book([None] * 4 + now, (None, 8_610e6)), "2022-12-31").method == "fiscal_year"


def test_the_year_is_moved_on_by_what_is_stated_of_this_year_and_of_the_last_to_date():
    found = made(book([None] * 8, (10, None), (3, None, 30, None)), "2022-06-30")
    assert (found.value, found.method) == (10 + 30 - 3, "year_to_date")
    assert (found.start, found.end) == (day("2021-07-01"), day("2022-06-30"))
    assert [part.value for part in found.parts] == [3, 10, 30]


def test_a_first_quarter_is_a_year_to_date():
    found = made(book([1, None, None, None, 7, None, None, None], (10, None)), "2022-03-31")
    assert (found.value, found.method, found.start) == (16, "year_to_date", day("2021-04-01"))


def test_the_year_moved_on_needs_all_three_and_each_as_a_filing_states_it():
    whole_ = book([None] * 8, (10, None), (3, None, 30, None))
    assert made(whole_, "2022-06-30").value == 37
    assert made(book([None] * 8, (10, None), (None, None, 30, None)), "2022-06-30") is None
    assert made(book([None] * 8, (10, None), (3, None, None, None)), "2022-06-30") is None
    assert made(book([None] * 8, (None, None), (3, None, 30, None)), "2022-06-30") is None
    # Quarters that can be added up are no statement of a year to date, and four quarters are not there.
    assert made(book([1, 2, None, None, 10, 20, None, None], (10, None)), "2022-06-30") is None
    # A year that is a sum of quarters, and a first quarter that is a difference, are no statements either.
    summed = amount(10, *YEARS[0])._replace(tags=("us-gaap:Revenues:N", "us-gaap:Revenues:Q"), method="sum_of_quarters")
    assert made(whole_._replace(years={ITEM: {YEARS[0][1]: summed}}), "2022-06-30") is None
    early = book([1, None, None, None, 7, None, None, None], (10, None))
    left = amount(7, *GRID[4])._replace(tags=("us-gaap:Revenues:Q", "us-gaap:Revenues:S"), method="ytd_difference")
    assert made(early._replace(quarters={ITEM: {**early.quarters[ITEM], GRID[4][1]: left}}), "2022-03-31") is None


def test_both_ways_are_compared_and_where_they_differ_the_difference_is_told():
    quarters, to_date = [101, 201, 301, 401, 1001, 2001, 3001, None], (302, 603, 3002, 6003)
    agreed = made(book(quarters, (1004, None), to_date), "2022-09-30")
    assert (agreed.value, agreed.method) == (1004 + 6003 - 603, "year_to_date")
    # Seven operands may be rounded, each by half: three and a half.
    rounded = made(book(quarters, (1007, None), to_date), "2022-09-30")
    assert (rounded.value, rounded.method) == (1007 + 6003 - 603, "year_to_date")
    other = made(book(quarters, (1008, None), to_date), "2022-09-30")
    assert (other.value, other.method) == (1008 + 6003 - 603, "ttm_mismatch")


def test_a_year_that_was_restated_in_the_newest_report_is_counted_as_restated():
    """The newest report gives the first half of last year as 8 for 3: its two quarters were not told anew."""
    restated = book([1, 2, 3, 4, 10, 20, None, None], (10, None), (8, None, 30, None))
    found = made(restated, "2022-06-30")
    assert (found.value, found.method) == (10 + 30 - 8, "ttm_mismatch")
    measured = measures(restated, day("2022-06-30"), Q)["revenue_ttm"]
    assert (measured.method, quality_of(measured.flags)) == ("ttm_mismatch", "warning")


def test_what_is_never_negative_is_not_moved_on_to_less_than_nothing():
    """The first half is given as more than the year it is of, on another basis: four quarters are all there is."""
    values = ([1, 2, 3, 4, 1, 1, None, None], (10, None), (40, None, 2, None))
    assert (made(book(*values), "2022-06-30").value, made(book(*values), "2022-06-30").method) == (9, "sum_of_quarters")
    # Of an income that is one of two ways, and nothing tells which is right.
    assert made(book(*values, item="net_income"), "2022-06-30", "net_income") is None


@pytest.mark.parametrize(("off", "is_told"), [(0, False), (4_901, False), (6_101, True)])
def test_two_ways_that_differ_by_more_than_a_correction_give_no_value_where_nothing_tells_which_is_right(off, is_told):
    """The half of last year that is stated with this year's is another than its two quarters say, by up to 6 of 1,001 million."""
    quarters = [251_003e3, 252_001e3, 249_003e3, 249_001e3, 253_007e3, 254_003e3, None, None]
    financials = book(quarters, (1_001_008e3, None), (503_004e3 + off * 1e3, None, 507_010e3, None))
    found = made(financials, "2022-06-30")
    assert (found is None) == is_told
    told = mixed(financials, ITEM, day("2022-06-30"), Q)
    assert told == (
        "not_of_one_basis: the year moved on by years to date and four quarters give 998,913,000 and 1,005,014,000"
        if is_told
        else None
    )


@pytest.mark.parametrize("place", range(3))
def test_nothing_is_moved_on_from_one_standard_or_currency_to_another(place):
    moved = book([None] * 8, (10, None), (3, None, 30, None))
    cells = [moved.years[ITEM], moved.to_date[ITEM], moved.to_date[ITEM]][place]
    end = [YEARS[0][1], TO_DATE[0][1], TO_DATE[2][1]][place]
    cells[end] = cells[end]._replace(reporting_basis=1)
    assert made(moved, "2022-06-30") is None


def test_marks_of_quarters_are_those_of_the_year_to_date_they_make():
    moved = book([1, 2, None, None, 10, 20, None, None], (10, None), (3, None, 30, None))
    assert quality_of(measures(moved, day("2022-06-30"), Q)["revenue_ttm"].flags) == "ok"
    for place in (0, 1, 4, 5):
        cells = dict(moved.quarters[ITEM])
        cells[GRID[place][1]] = cells[GRID[place][1]]._replace(flags=FAILED)
        marked = measures(moved._replace(quarters={ITEM: cells}), day("2022-06-30"), Q)
        assert quality_of(marked["revenue_ttm"].flags) == "failed"


@pytest.mark.parametrize("missing", range(4))
def test_a_quarter_that_is_missing_is_not_passed_over(missing):
    values = [None, None, 3, 4, 10, 20, None, None]
    values[2 + missing] = None
    assert made(book(values), "2022-06-30") is None


def test_quarters_with_a_gap_or_an_overlap_of_one_day_are_not_summed():
    for shift in (-1, 1):
        cells = series(ITEM, GRID[:4], [1, 2, 3, 4])
        third = cells[GRID[2][1]]
        cells[GRID[2][1]] = third._replace(start=third.start + shift)
        assert made(financials(quarters={ITEM: cells}), "2021-12-31") is None


def test_years_of_52_and_53_weeks_are_twelve_months():
    over = spans(["2022-12-31", "2023-04-01", "2023-07-01", "2023-09-30"], "2022-09-25")
    found = made(financials(quarters={ITEM: series(ITEM, over, [1, 2, 3, 4])}), "2023-09-30")
    assert (found.value, found.end - found.start + 1) == (10, 371)


@pytest.mark.parametrize(("days", "there"), [(SHORTEST - 1, 0), (SHORTEST, 1), (LONGEST, 1), (LONGEST + 1, 0)])
def test_a_year_of_ten_or_thirteen_months_is_not_twelve(days, there):
    end = day("2022-12-31")
    start = end - days + 1
    cut = [start, start + 90, start + 180, start + 270, end + 1]
    over = [(cut[i], cut[i + 1] - 1) for i in range(4)]
    short = financials(years={ITEM: {end: amount(7, start, end)}}, quarters={ITEM: series(ITEM, over, [1, 2, 3, 4])})
    assert (trailing_twelve_months(short, ITEM, end, Q, 0) is not None) == there
    assert (trailing_twelve_months(short, ITEM, end, A, 0) is not None) == there
    assert (trailing_twelve_months(short._replace(years={}), ITEM, end, Q, 0) is not None) == there


def test_annual_filers_have_their_fiscal_years():
    only = book([1, 2, 3, 4, None, None, None, None], (10, None))
    found = made(only, "2021-12-31", frequency=A)
    assert (found.value, found.method) == (10, "annual")
    assert made(only, "2021-09-30", frequency=A) is None


def test_half_year_filers_have_two_halves():
    over = spans(["2021-06-30", "2021-12-31", "2022-06-30"], "2021-01-01")
    halves = financials(halves={ITEM: series(ITEM, over, [3, 7, 4])}, years={ITEM: series(ITEM, YEARS, [10, None])})
    assert periods(halves) == (S, (day("2021-06-30"), day("2021-12-31"), day("2022-06-30")))
    # Second quarters beside the halves, and no others, make no filer of quarters.
    assert periods(halves._replace(quarter_ends=(day("2021-06-30"), day("2022-06-30")))) == periods(halves)
    found = made(halves, "2022-06-30", frequency=S)
    assert (found.value, found.method, found.start) == (11, "year_to_date", day("2021-07-01"))
    assert made(halves, "2021-12-31", frequency=S).method == "fiscal_year"
    assert made(halves, "2021-06-30", frequency=S) is None
    found = made(halves._replace(years={}), "2022-06-30", frequency=S)
    assert (found.value, found.method, found.start) == (11, "sum_of_halves", day("2021-07-01"))
    # Without the second half of last year: the year, and what this half differs from the same one.
    cells = dict(halves.halves[ITEM])
    del cells[day("2021-12-31")]
    found = made(halves._replace(halves={ITEM: cells}), "2022-06-30", frequency=S)
    assert (found.value, found.method, found.start) == (11, "year_to_date", day("2021-07-01"))


def test_halves_stand_for_quarters_that_are_missing():
    # 2021 in halves, a first quarter in 2022: no four quarters and no same part of the year before, but two halves.
    over = spans(["2021-06-30", "2021-12-31", "2022-06-30"], "2021-01-01")
    halves = {ITEM: series(ITEM, over, [3, 7, 4])}
    mixed = book([None] * 4 + [2] + [None] * 3, (10, None), quarters={"other": series("other", GRID, range(8))})
    found = made(mixed._replace(halves=halves), "2022-06-30")
    assert (found.value, found.method, found.start) == (11, "year_to_date", day("2021-07-01"))
    # Without the year there are two halves only.
    found = made(mixed._replace(halves=halves, years={}), "2022-06-30")
    assert (found.value, found.method, found.start) == (11, "sum_of_halves", day("2021-07-01"))


def test_the_frequency_is_that_of_the_reports():
    assert periods(book([1] * 8, (4, 4))) == (Q, tuple(end for _, end in GRID))
    early = book([None] * 4 + [1] * 4, (4, 4))._replace(quarter_ends=tuple(end for _, end in GRID[4:]))
    assert periods(early) == (Q, (day("2021-12-31"), *(end for _, end in GRID[4:])))
    assert periods(financials(years={ITEM: series(ITEM, YEARS, [1, 2])})) == (A, (day("2021-12-31"), day("2022-12-31")))
    assert periods(financials()) == (A, ())


def test_average_shares_are_a_mean():
    shares = book([100, 102, 104, 106, None, None, None, None], item=SHARES)
    found = made(shares, "2021-12-31", SHARES)
    assert (found.value, found.method) == (103, "mean_of_quarters")
    shares = book([100, 102, 104, 106, None, None, None, None], (103.5, None), item=SHARES)
    assert made(shares, "2021-12-31", SHARES).value == 103.5
    # An average has no year to date.
    part = book([100, 102, None, None, 108, 110, None, None], (103, None), item=SHARES)
    assert made(part, "2022-06-30", SHARES) is None


@pytest.mark.parametrize("junk", [0, -3])
def test_a_number_of_shares_that_is_not_positive_is_none(junk):
    assert made(book([100, 100, 100, junk] + [None] * 4, item=SHARES), "2021-12-31", SHARES) is None
    assert made(book([None] * 8, (junk, None), item=SHARES), "2021-12-31", SHARES, A) is None


def per_share(eps, shares, years=(None, None)):
    return book(eps, years, item=EPS, quarters={SHARES: series(SHARES, GRID, shares)})


def test_earnings_per_share_are_the_sum_of_four_quarters():
    found = made(per_share([0.5, 0.25, 0.25, 1, 0.75, None, None, None], [100] * 8), "2022-03-31", EPS)
    assert (found.value, found.method) == (2.25, "sum_of_quarters")
    assert [part.value for part in found.parts[4:]] == [100] * 4


def test_at_a_fiscal_year_end_earnings_per_share_are_the_reported_ones():
    found = made(per_share([0.5, 0.25, 0.25, 1.01] + [None] * 4, [100] * 8, (2.0, None)), "2021-12-31", EPS)
    assert (found.value, found.method) == (2.0, "fiscal_year")


def test_earnings_per_share_are_never_taken_from_a_year_to_date():
    assert (
        made(per_share([0.5, None, None, None, 1, None, None, None], [100] * 8, (2, None)), "2022-03-31", EPS) is None
    )


def test_quarters_before_and_after_a_split_are_not_added():
    """A 7:1 split in the third quarter: the filing of that quarter gives it in new shares, the earlier ones stay in old."""
    split = per_share([14.5, 11.62, 1.28, 1.42] + [None] * 4, [900, 876, 6_050, 6_000] + [None] * 4, (6.45, None))
    assert made(split, "2021-12-31", EPS).value == 6.45
    assert made(split, "2021-12-31", SHARES) is None
    without = per_share([14.5, 11.62, 1.28, 1.42] + [None] * 4, [900, 876, 6_050, 6_000] + [None] * 4)
    assert made(without, "2021-12-31", EPS) is None
    # Where nothing tells the number of shares there is nothing to see.
    blind = book([14.5, 11.62, 1.28, 1.42] + [None] * 4, item=EPS)
    assert made(blind, "2021-12-31", EPS).value == pytest.approx(28.82)
    # The basic average tells it too.
    basic = book(
        [14.5, 11.62, 1.28, 1.42] + [None] * 4, item=EPS,
        quarters={"weighted_average_shares_basic": series("basic", GRID, [900, 876, 6_050, 6_000] + [None] * 4)},
    )  # fmt: skip
    assert made(basic, "2021-12-31", EPS) is None


@pytest.mark.parametrize(
    ("shares", "whole"),
    [
        ([100, 97, 95, 92], True),  # buying back
        ([100, 130, 131, 131], True),  # a merger paid in shares
        ([100, 140, 140, 140], True),
        ([100, 100, 148, 148], False),  # 3:2
        ([100, 98, 196, 194], False),  # 2:1
        ([876, 6_051, 6_000, 5_950], False),  # 7:1 with buying back
        ([667, 13_300, 13_200, 13_100], False),  # 20:1
        ([1_000, 990, 99, 98], False),  # 1:10
        ([300, 100, 100, 100], False),  # 1:3
        ([100, 0, 100, 100], False),
    ],
)
def test_splits_show_in_neighbouring_averages(shares, whole):
    assert one_basis(shares) is whole


def test_nothing_before_the_floor_is_looked_at():
    values = [1, 2, 3, 4, 10, 20, 30, 40]
    assert made(book(values), "2021-12-31", floor=GRID[0][1]).value == 10
    assert made(book(values), "2021-12-31", floor=GRID[0][1] + 1) is None
    part = book([1, None, None, None, 10, None, None, None], (10, None))
    assert made(part, "2022-03-31", floor=GRID[0][1]).value == 19
    assert made(part, "2022-03-31", floor=GRID[0][1] + 1) is None


whole = st.integers(-(10**9), 10**9)


@given(st.lists(whole, min_size=8, max_size=8), st.integers(0, 3))
def test_both_ways_give_the_same_wherever_both_can_be_gone(values, quarter):
    """Sum of four quarters = year + year to date − year to date a year before, to the last unit."""
    to_date = [sum(values[first : first + count]) for first in (0, 4) for count in (2, 3)]
    both = book(values, (sum(values[:4]), sum(values[4:])), to_date, item="net_income")
    end = GRID[4 + quarter][1]
    found = trailing_twelve_months(both, "net_income", end, Q, 0)
    assert found.value == sum(values[quarter + 1 : quarter + 5])
    assert found.method == ("fiscal_year" if quarter == 3 else "year_to_date")
    if quarter < 3:
        summed = trailing_twelve_months(both._replace(years={}), "net_income", end, Q, 0)
        assert (summed.value, summed.method, summed.start) == (found.value, "sum_of_quarters", found.start)


LONG = quarters_of(list(range(2014, 2024)))
LONG_YEARS = years_of(list(range(2014, 2024)))
FLOWS = ("revenue", "net_income", "net_cash_flow_from_operations", "gross_profit", SHARES, EPS)
STOCKS = ("total_assets", "shareholders_equity", "long_term_debt", "current_assets", "current_liabilities")


@st.composite
def long_ledgers(draw):
    """Ten years of a company, with holes."""
    cell = st.one_of(st.none(), st.integers(1, 9).map(float), st.integers(-3, 200).map(float))
    quarters = {item: series(item, LONG, draw(st.lists(cell, min_size=40, max_size=40))) for item in FLOWS}
    years = {item: series(item, LONG_YEARS, draw(st.lists(cell, min_size=10, max_size=10))) for item in FLOWS}
    ends = [f"{y}-{t}" for y in range(2014, 2024) for t in ("03-31", "06-30", "09-30", "12-31")]
    balances = {item: instants(item, ends, draw(st.lists(cell, min_size=40, max_size=40))) for item in STOCKS}
    over = [(LONG[place - place % 4][0], end) for place, (_, end) in enumerate(LONG) if place % 4 in (1, 2)]
    to_date = {item: series(item, over, draw(st.lists(cell, min_size=20, max_size=20))) for item in FLOWS[:4]}
    return financials(quarters=quarters, years=years, to_date=to_date, balances=balances)


def within(cells, first, last):
    return {item: {e: a for e, a in amounts.items() if first <= e <= last} for item, amounts in cells.items()}


@pytest.mark.slow
@given(long_ledgers(), st.integers(0, 39))
def test_measures_look_no_further_back_than_they_say_and_never_ahead(book_, place):
    """So that the sweep over filings knows which ends a changed amount can touch."""
    end = LONG[place][1]
    first = end - REACH_DAYS
    cut = book_._replace(
        quarters=within(book_.quarters, first, end),
        years=within(book_.years, first, end),
        to_date=within(book_.to_date, first, end),
        balances=within(book_.balances, first, end),
    )
    assert measures(cut, end, Q) == measures(book_, end, Q)
    assert all(m.end == end and first <= m.start < end for m in measures(book_, end, Q).values())


def test_sixteen_quarters_are_within_reach():
    """Growth over three years at the end of sixteen quarters, of a company that never had a shorter year than 53 weeks."""
    over = [(i * 92, i * 92 + 91) for i in range(16)]
    found = measures(
        financials(quarters={"revenue": series("revenue", over, [1] * 4 + [2] * 8 + [8] * 4)}), over[-1][1], Q
    )
    assert found["revenue_cagr_3y"].value == pytest.approx(32 ** (1 / 3) / 4 ** (1 / 3) - 1)
