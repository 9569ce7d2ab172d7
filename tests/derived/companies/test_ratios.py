"""Ratios against hand-computed values, and every case in which there is none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog import companies
from almanac.catalog import measures as catalogue
from almanac.catalog.sectors import TEMPLATES
from almanac.derived.companies.ratios import RATIOS, SCORES, STATUTORY_TAX, RatioInputs, measures, parsed
from almanac.domain.observations import DAY, FINAL, UNKNOWN
from almanac.domain.periods import Frequency

from .invented_financials import annual, day, financials, instants, quarters_of, series
from .reported import APPLE_BALANCES, APPLE_FLOWS, apple

Q, S, A = Frequency.QUARTERLY, Frequency.SEMIANNUAL, Frequency.ANNUAL
TWO = ["2022-12-31", "2023-12-31"]


def values(book, end, frequency=A):
    return {slug: measure.value for slug, measure in measures(book, day(end), frequency).items()}


#: Computed by hand from the figures in reported.py: 391,035 of revenue, 93,736 of net income, and so on.
APPLE_2024 = {
    "gross_margin": 0.4620635,
    "operating_margin": 0.3151022,
    "net_margin": 0.2397126,
    "fcf_margin": 0.2782539,
    "return_on_equity": 1.5741251,
    "return_on_assets": 0.2612621,
    "return_on_invested_capital": 0.8904102,
    "current_ratio": 0.8673126,
    "quick_ratio": 0.5588746,
    "debt_to_equity": 1.8723266,
    "net_debt_to_ebitda": 0.3078694,
    "asset_turnover": 1.0898973,
    "inventory_turnover": 30.8954983,
    "revenue_growth_yoy": 0.0202199,
    "revenue_cagr_3y": 0.0224700,
    "net_income_growth_yoy": -0.0335997,
    "eps_growth_yoy": -0.0081566,
    "accruals_ratio": -0.0683369,
    "cash_conversion": 1.2615644,
    "capex_to_revenue": 0.0241590,
    "rd_to_revenue": 0.0802230,
    "share_count_change_yoy": -0.0255779,
}


def test_apple_2024():
    found = measures(apple(), day("2024-09-28"), A)
    ratios = {slug: found[slug].value for slug in RATIOS if slug in found}
    assert ratios == pytest.approx(APPLE_2024, abs=1e-6)
    # It did not state its interest expense in that year; in the year before it did: 114,301 / 3,933.
    assert "interest_coverage" not in ratios
    assert values(apple(), "2023-09-30")["interest_coverage"] == pytest.approx(29.0620392, abs=1e-6)
    assert {(found[slug].start, found[slug].end) for slug in ratios} == {(day("2023-10-01"), day("2024-09-28"))}


def test_twelve_months_are_among_the_measures():
    found = measures(apple(), day("2024-09-28"), A)
    assert (found["revenue_ttm"].value, found["revenue_ttm"].method) == (391_035, "annual")
    assert {slug for slug in found if slug.endswith("_ttm")} == {
        f"{item}_ttm" for item, amounts in APPLE_FLOWS.items() if amounts[-1] is not None
    }


def test_every_ratio_has_a_case():
    assert {*APPLE_2024, "interest_coverage"} == set(RATIOS)
    assert set(RATIOS) == {measure.key for measure in catalogue.of_kind("ratio")}
    assert set(SCORES) == {measure.key for measure in catalogue.of_kind("score")}


def changed(**items):
    """Two equal invented years, with some items of them set: (last year, this year). All are 10, debt is 40."""
    flows = {item: [10.0, 10.0] for item in APPLE_FLOWS}
    balances = {item: [10.0, 10.0] for item in APPLE_BALANCES} | {"total_debt": [40.0, 40.0]}
    for item, pair in items.items():
        (flows if item in flows else balances)[item] = list(pair)
    return annual(TWO, flows, balances, first_day="2022-01-01")


ONES = values(changed(), TWO[-1])


@pytest.mark.parametrize(
    ("slug", "items"),
    [
        ("gross_margin", {"revenue": (10, 0)}),
        ("operating_margin", {"revenue": (10, -1)}),
        ("net_margin", {"revenue": (10, 0)}),
        ("fcf_margin", {"revenue": (10, 0)}),
        ("capex_to_revenue", {"revenue": (10, 0)}),
        ("rd_to_revenue", {"revenue": (10, 0)}),
        ("return_on_equity", {"shareholders_equity": (-10, 10)}),
        ("return_on_equity", {"shareholders_equity": (-12, 10)}),
        ("return_on_assets", {"total_assets": (0, 0)}),
        ("asset_turnover", {"total_assets": (0, 0)}),
        ("accruals_ratio", {"total_assets": (0, 0)}),
        ("return_on_invested_capital", {"cash_and_equivalents": (100, 100)}),
        ("current_ratio", {"current_liabilities": (10, 0)}),
        ("quick_ratio", {"current_liabilities": (10, 0)}),
        ("debt_to_equity", {"shareholders_equity": (10, -1)}),
        ("net_debt_to_ebitda", {"ebitda": (10, 0)}),
        ("net_debt_to_ebitda", {"ebitda": (10, -5)}),
        ("interest_coverage", {"interest_expense": (10, 0)}),
        ("inventory_turnover", {"inventory": (0, 0)}),
        ("revenue_growth_yoy", {"revenue": (0, 10)}),
        ("net_income_growth_yoy", {"net_income": (-5, 10)}),
        ("eps_growth_yoy", {"earnings_per_share_diluted": (-0.5, 1)}),
        ("eps_growth_yoy", {"weighted_average_shares_diluted": (None, None)}),
        ("cash_conversion", {"net_income": (10, -10)}),
    ],
)
def test_a_denominator_or_base_that_is_not_positive_gives_no_value(slug, items):
    assert slug in ONES
    assert slug not in values(changed(**items), TWO[-1])


def test_growth_over_three_years_needs_something_positive_at_both_ends():
    ends = ["2020-12-31", "2021-12-31", "2022-12-31", "2023-12-31"]

    def cagr(*revenue):
        return values(annual(ends, {"revenue": revenue}, first_day="2020-01-01"), ends[-1]).get("revenue_cagr_3y")

    assert cagr(8, 1, 1, 27) == pytest.approx(0.5)
    assert cagr(8, 1, 1, 1) == pytest.approx(-0.5)
    assert cagr(8, 1, 1, 0) is None
    assert cagr(8, 1, 1, -27) is None
    assert cagr(0, 1, 1, 27) is None
    assert cagr(-8, 1, 1, -27) is None
    # A year in between that is not known breaks the chain of twelve months.
    assert cagr(8, None, 1, 27) is None


@pytest.mark.parametrize("slug", sorted(set(RATIOS) - {"revenue_cagr_3y"}))
def test_an_input_that_is_missing_gives_no_value(slug):
    """Each input in turn; only those marked with a question mark may be missing."""
    for name in RATIOS[slug].inputs:
        if name == STATUTORY_TAX:
            continue
        wanted = parsed(name)
        pair = (None, 10) if wanted.back else (10, None)
        there = slug in values(changed(**{wanted.item: pair}), TWO[-1])
        # Net income gives the twelve months their place; revenue takes over where it is missing.
        assert there == wanted.optional, name


def test_no_debt_is_none_and_net_cash_is_negative_net_debt():
    assert values(changed(total_debt=(0, 0)), TWO[-1])["debt_to_equity"] == 0
    assert values(changed(total_debt=(0, 5)), TWO[-1])["net_debt_to_ebitda"] == (5 - 10 - 10) / 10


@pytest.mark.parametrize(
    ("tax", "before_tax", "end", "rate"),
    [
        (2, 10, 2023, 0.2),
        (6, 10, 2023, 0.35),  # more than the highest
        (-2, 10, 2023, 0.0),  # a refund
        (2, 0, 2023, 0.21),
        (2, -10, 2023, 0.21),
        (2, -10, 2018, 0.21),
        (2, -10, 2017, 0.35),
    ],
)
def test_tax_rate_of_the_return_on_capital(tax, before_tax, end, rate):
    ends = [f"{end - 1}-12-31", f"{end}-12-31"]
    book = annual(
        ends,
        {
            "operating_income": [None, 50],
            "income_tax": [None, tax],
            "income_before_tax": [None, before_tax],
            "net_income": [1, 1],
        },
        {
            "total_debt": [40, 60],
            "shareholders_equity": [100, 120],
            "minority_interest": [None, 10],
            "cash_and_equivalents": [20, 30],
            "short_term_investments": [20, None],
        },
        first_day=f"{end - 1}-01-01",
    )
    # Capital of 100 a year ago, 160 now.
    assert values(book, ends[-1])["return_on_invested_capital"] == pytest.approx(50 * (1 - rate) / 130)


BANKS_HAVE = {
    "net_margin",
    "return_on_equity",
    "return_on_assets",
    "asset_turnover",
    "revenue_growth_yoy",
    "net_income_growth_yoy",
    "eps_growth_yoy",
    "share_count_change_yoy",
}
REITS_LACK = {
    "return_on_invested_capital",
    "current_ratio",
    "quick_ratio",
    "inventory_turnover",
    "altman_z2",
    "beneish_m",
    "piotroski_f",
}


def test_what_applies_to_which_kind_of_company():
    of = {kind: values(changed()._replace(template=kind), TWO[-1]) for kind in TEMPLATES}
    figures = {kind: {s for s in found if not s.endswith("_ttm")} for kind, found in of.items()}
    assert figures["bank"] == BANKS_HAVE
    assert figures["insurer"] == BANKS_HAVE | {"debt_to_equity"}
    assert figures["fund"] == set()
    assert figures["industrial"] == (set(RATIOS) | {"altman_z2"}) - {"revenue_cagr_3y"}
    assert figures["reit"] == figures["industrial"] - REITS_LACK
    assert {frozenset(s for s in found if s.endswith("_ttm")) for found in of.values()} == {
        frozenset(f"{item}_ttm" for item in APPLE_FLOWS)
    }


def test_a_split_between_two_years_leaves_no_growth_per_share():
    """The year before is in old shares until a filing restates it; then the same figures are comparable."""
    stale = changed(weighted_average_shares_diluted=(100, 1_000), earnings_per_share_diluted=(20, 2.5))
    found = values(stale, TWO[-1])
    assert found["earnings_per_share_diluted_ttm"] == 2.5
    assert "eps_growth_yoy" not in found
    assert "share_count_change_yoy" not in found
    restated = changed(weighted_average_shares_diluted=(1_000, 990), earnings_per_share_diluted=(2, 2.5))
    assert values(restated, TWO[-1])["eps_growth_yoy"] == 0.25
    assert values(restated, TWO[-1])["share_count_change_yoy"] == pytest.approx(-0.01)


def test_quarters_before_a_year_over_year_split():
    """Eight quarters, the split in the sixth: no growth while old and new quarters meet, whichever side they are on."""
    grid = quarters_of([2021, 2022])
    shares, eps = "weighted_average_shares_diluted", "earnings_per_share_diluted"

    def growth(counts):
        book = financials(
            quarters={
                "net_income": series("net_income", grid, [10] * 8),
                eps: series(eps, grid, [1000 / n for n in counts]),
                shares: series(shares, grid, counts),
            }
        )
        return values(book, "2022-12-31", Q).get("eps_growth_yoy")

    assert growth([100] * 5 + [200] * 3) is None
    assert growth([100] * 4 + [200] * 4) is None
    assert growth([200] + [100] * 3 + [200] * 4) is None
    assert growth([200] * 8) == 0
    assert growth([100] * 4 + [105] * 4) == pytest.approx(100 / 105 - 1)


def test_flows_of_one_ratio_cover_the_same_days():
    """Gross profit of a year that began a day later is not set against revenue."""
    book = changed()
    cells = {end: amount._replace(start=amount.start + 1) for end, amount in book.years["gross_profit"].items()}
    found = values(book._replace(years={**book.years, "gross_profit": cells}), TWO[-1])
    assert found["gross_profit_ttm"] == 10
    assert "gross_margin" not in found
    assert "net_margin" in found


def test_without_twelve_months_of_any_flow_there_are_no_ratios():
    grid = quarters_of([2023])
    book = financials(
        quarters={"revenue": series("revenue", grid, [None, 1, 1, 1])},
        balances={
            "current_assets": instants("current_assets", ["2023-12-31"], [4]),
            "current_liabilities": instants("current_liabilities", ["2023-12-31"], [2]),
        },
    )
    assert values(book, "2023-12-31", Q) == {}
    whole = book._replace(quarters={"revenue": series("revenue", grid, [1, 1, 1, 1])})
    assert values(whole, "2023-12-31", Q) == {"revenue_ttm": 4, "current_ratio": 2}


def test_balances_of_another_day_are_not_used():
    book = changed()
    late = {end + 1: amount._replace(end=end + 1) for end, amount in book.balances["total_assets"].items()}
    found = values(book._replace(balances={**book.balances, "total_assets": late}), TWO[-1])
    assert "return_on_assets" not in found
    assert "return_on_equity" in found


def test_lineage_release_and_flags_are_those_of_the_amounts_used():
    grid = quarters_of([2022, 2023])
    marks = [{"released": 100 + i, "ingested": 200 + i} for i in range(8)]
    marks[5] |= {"flags": DAY | FINAL}

    def cells(item):
        made = {}
        for span, mark in zip(grid, marks, strict=True):
            made |= series(item, [span], [10], **mark)
        return made

    book = financials(
        quarters={"revenue": cells("Revenues:Q"), "net_income": cells("NetIncomeLoss:Q")},
        balances={"total_assets": instants("Assets:Q", TWO, [50, 150])},
    )
    found = measures(book, day(TWO[-1]), Q)
    margin = found["net_margin"]
    assert margin.tags == ("us-gaap:NetIncomeLoss:Q", "us-gaap:Revenues:Q")
    assert (margin.released, margin.ingested, margin.flags) == (107, 207, DAY)
    assert found["revenue_growth_yoy"].tags == ("us-gaap:Revenues:Q",)
    assert len(found["revenue_growth_yoy"].parts) == 8
    # The balances have no release time, so neither has what is made from them.
    assets = found["return_on_assets"]
    assert (assets.value, assets.released, assets.flags) == (0.4, None, 0)
    unknown = book.balances["total_assets"][day(TWO[0])]._replace(flags=UNKNOWN)
    book.balances["total_assets"][day(TWO[0])] = unknown
    assert measures(book, day(TWO[-1]), Q)["return_on_assets"].flags == UNKNOWN


def test_what_rests_on_disputed_twelve_months_says_so():
    grid = quarters_of([2023])
    book = financials(
        quarters={"revenue": series("revenue", grid, [11, 10, 10, 10])},
        years={
            "revenue": series("revenue", [(grid[0][0], grid[-1][1])], [60]),
            "net_income": series("net_income", [(grid[0][0], grid[-1][1])], [6]),
        },
    )
    found = measures(book, day("2023-12-31"), Q)
    assert (found["net_margin"].value, found["net_margin"].method) == (0.1, "ttm_mismatch")
    assert found["net_income_ttm"].method == "fiscal_year"


def test_half_years():
    ends = ["2022-06-30", "2022-12-31", "2023-06-30", "2023-12-31"]
    starts = ["2022-01-01", "2022-07-01", "2023-01-01", "2023-07-01"]
    spans = [(day(s), day(e)) for s, e in zip(starts, ends, strict=True)]
    book = financials(halves={"revenue": series("revenue", spans, [10, 20, 15, 30])})
    assert values(book, "2023-12-31", S)["revenue_growth_yoy"] == 0.5
    assert "revenue_growth_yoy" not in values(book, "2023-06-30", S)


@pytest.mark.parametrize("frequency", [Frequency.MONTHLY, Frequency.NINE_MONTHS, Frequency.DAILY])
def test_other_frequencies_are_refused(frequency):
    with pytest.raises(ValueError, match="frequency must be one of Q, S, A, not"):
        measures(changed(), day(TWO[-1]), frequency)


number = st.one_of(st.none(), st.integers(-100, 100).map(float), st.floats(-1e300, 1e300), st.just(0.0))


@given(st.data())
def test_values_are_finite_whatever_the_figures(data):
    ends = ["2019-12-31", "2020-12-31", "2021-12-31", "2022-12-31", "2023-12-31"]
    several = st.lists(number, min_size=5, max_size=5)
    book = annual(
        ends,
        {item: data.draw(several) for item in APPLE_FLOWS},
        {item: data.draw(several) for item in APPLE_BALANCES},
        first_day="2019-01-01",
    )
    found = measures(book, day(ends[-1]), A)
    assert all(math.isfinite(measure.value) for measure in found.values())
    scored = found.get("piotroski_f")
    assert scored is None or scored.value in range(10)


# -- what the catalogue says of them --------------------------------------------------------------------------------------


def slug_of(name):
    wanted = parsed(name)
    return wanted.item + ("_ttm" if wanted.flow else "")


@pytest.mark.parametrize("slug", [*RATIOS, *SCORES])
def test_the_catalogue_names_the_inputs_that_are_read(slug):
    tests = SCORES[slug].tests if slug in SCORES else (RATIOS[slug],)
    read = {slug_of(name) for test in tests for name in test.inputs if name != STATUTORY_TAX}
    if slug == "eps_growth_yoy":
        # The numbers of shares tell whether both years can be compared.
        read |= {"weighted_average_shares_diluted_ttm", "weighted_average_shares_basic_ttm"}
    assert read == set(catalogue.measures()[slug].inputs)


def test_catalogue_records():
    records = {record.slug: record for record in catalogue.indicators()}
    assert set(records) == set(catalogue.measures())
    assert {record.kind for record in records.values()} == {"derived"}
    assert {record.category for record in records.values()} == {"fundamentals"}
    assert all(record.screenable and record.formula and record.description for record in records.values())
    assert (records["revenue_ttm"].unit, records["revenue_ttm"].inputs) == (None, ("revenue",))
    assert records["weighted_average_shares_diluted_ttm"].unit == "shares"
    assert records["earnings_per_share_diluted_ttm"].unit is None
    assert records["gross_margin"].unit == "ratio"
    assert records["piotroski_f"].unit is None
    flows = {item.key for item in companies.served() if not item.is_instant}
    assert {f"{item}_ttm" for item in flows} == {slug for slug in records if slug.endswith("_ttm")}
    known = set(records) | {item.key for item in companies.served()}
    assert {name for record in records.values() for name in record.inputs} <= known


@pytest.mark.parametrize("name", ["", "Revenue", "revenue_ttm?", "revenue_4y_ago", "revenue ttm"])
def test_names_of_inputs_are_checked(name):
    with pytest.raises(ValueError, match="is no input"):
        RatioInputs(changed(), day(TWO[-1]), A).read(name)
