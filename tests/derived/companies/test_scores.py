"""Scores against cases computed by hand from two companies' reports, and what a missing figure does to them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.companies.ratios import ALTMAN, BENEISH, PIOTROSKI, RatioInputs, detail, measures, parsed
from almanac.domain.periods import Frequency

from .invented_financials import annual, day, financials, instants, quarters_of, series
from .reported import APPLE_BALANCES, APPLE_ENDS, APPLE_FLOWS, NIKE_ENDS, apple, nike

Q, A = Frequency.QUARTERLY, Frequency.ANNUAL
LAST = day("2024-09-28")

#: Apple's fiscal year 2024, by hand: the test, its value, passed.
APPLE_F = {
    "return_on_assets_positive": (93_736 / 352_583, True),
    "cash_flow_positive": (118_254 / 352_583, True),
    "return_on_assets_rising": (0.265855 - 0.274964, False),
    "cash_flow_above_income": (24_518 / 352_583, True),
    "leverage_falling": (0.238998 - 0.270167, True),
    "current_ratio_rising": (0.867313 - 0.988012, False),
    "no_shares_issued": (-0.025578, True),
    "gross_margin_rising": (0.462064 - 0.441311, True),
    "asset_turnover_rising": (1.109058 - 1.086547, True),
}
#: Nike's fiscal year 2023: profits fell, debt against assets rose a little, the margin fell.
NIKE_F = {
    "return_on_assets_positive": (5_070 / 40_321, True),
    "cash_flow_positive": (5_841 / 40_321, True),
    "return_on_assets_rising": (0.125741 - 0.160201, False),
    "cash_flow_above_income": (771 / 40_321, True),
    "leverage_falling": (0.229333 - 0.228539, False),
    "current_ratio_rising": (2.722774 - 2.629357, True),
    "no_shares_issued": (-0.025453, True),
    "gross_margin_rising": (0.435246 - 0.459837, False),
    "asset_turnover_rising": (1.270231 - 1.237679, True),
}


def wire(*asked):
    """The detail of all scores as JSON objects."""
    return msgspec.to_builtins(detail(*asked))


@pytest.mark.parametrize(
    ("book", "end", "expected", "points"),
    [(apple(), "2024-09-28", APPLE_F, 7.0), (nike(), "2023-05-31", NIKE_F, 6.0)],
    ids=["apple", "nike"],
)
def test_piotroski(book, end, expected, points):
    found = PIOTROSKI.over(RatioInputs(book, day(end), A))
    assert {o.name: (o.value, o.passed) for o in found.tests} == {
        name: (pytest.approx(value, abs=2e-6), passed) for name, (value, passed) in expected.items()
    }
    assert (found.value, found.present) == (points, 9)
    assert measures(book, day(end), A)["piotroski_f"].value == points


def test_altman():
    """Apple 2024: 6.56·−0.064127 + 3.26·−0.052480 + 6.72·0.337597 + 1.05·0.184885."""
    found = ALTMAN.over(RatioInputs(apple(), LAST, A))
    assert [o.value for o in found.tests] == pytest.approx([-0.064127, -0.052480, 0.337597, 0.184885], abs=1e-6)
    assert found.value == pytest.approx(1.871023, abs=1e-6)
    assert found.verdict == "grey"
    assert measures(apple(), LAST, A)["altman_z2"].value == found.value


@pytest.mark.parametrize(
    ("income", "verdict"), [(400, "safe"), (340, "grey"), (170, "grey"), (160, "distress"), (-500, "distress")]
)
def test_zones_of_altman(income, verdict):
    """Nothing but operating income on assets of 1,000: Z″ = 6.72·income/1,000, so 2.6 is 387 and 1.1 is 164."""
    book = annual(
        ["2023-12-31"],
        {"operating_income": [income]},
        {
            "current_assets": [0],
            "current_liabilities": [0],
            "total_assets": [1_000],
            "retained_earnings": [0],
            "shareholders_equity": [0],
            "total_liabilities": [1_000],
        },
        first_day="2023-01-01",
    )
    found = ALTMAN.over(RatioInputs(book, day("2023-12-31"), A))
    assert (found.value, found.verdict) == (pytest.approx(6.72 * income / 1_000), verdict)


BENEISH_NAMES = [
    "days_sales_in_receivables_index",
    "gross_margin_index",
    "asset_quality_index",
    "sales_growth_index",
    "depreciation_index",
    "overhead_index",
    "accruals_to_assets",
    "leverage_index",
]


@pytest.mark.parametrize(
    ("book", "end", "indices", "m"),
    [
        (
            apple(),
            "2024-09-28",
            [1.109795, 0.955088, 0.971942, 1.020220, 1.040923, 1.025982, -0.067176, 1.052575],
            -2.727274,
        ),
        (
            nike(),
            "2023-05-31",
            [0.807259, 1.056499, 1.064207, 1.096489, 1.071021, 1.008907, -0.020543, 0.994132],
            -2.603048,
        ),
    ],
    ids=["apple", "nike"],
)
def test_beneish(book, end, indices, m):
    found = BENEISH.over(RatioInputs(book, day(end), A))
    assert [o.name for o in found.tests] == BENEISH_NAMES
    assert [o.value for o in found.tests] == pytest.approx(indices, abs=1e-6)
    assert (found.value, found.verdict) == (pytest.approx(m, abs=2e-6), "unlikely_manipulation")
    assert measures(book, day(end), A)["beneish_m"].value == found.value


def test_a_company_that_doubles_sales_on_credit_is_suspicious():
    """Receivables quadruple while sales double and no cash comes in: DSRI 2, SGI 2, TATA 0.25, all other indices 1."""
    book = annual(
        ["2022-12-31", "2023-12-31"],
        {
            "revenue": [100, 200],
            "gross_profit": [50, 100],
            "depreciation_and_amortization": [10, 10],
            "selling_general_and_administrative": [10, 20],
            "net_income": [20, 40],
            "net_cash_flow_from_operations": [20, -10],
        },
        {
            "accounts_receivable": [10, 40],
            "current_assets": [60, 60],
            "property_plant_equipment": [40, 40],
            "total_assets": [200, 200],
            "current_liabilities": [30, 30],
            "long_term_debt": [30, 30],
        },
        first_day="2022-01-01",
    )
    found = BENEISH.over(RatioInputs(book, day("2023-12-31"), A))
    assert [o.value for o in found.tests] == pytest.approx([2, 1, 1, 2, 1, 1, 0.25, 1])
    expected = -4.84 + 0.920 * 2 + 0.528 + 0.404 + 0.892 * 2 + 0.115 - 0.172 + 4.679 * 0.25 - 0.327
    assert found.value == pytest.approx(expected)
    assert (found.value > -1.78, found.verdict) == (True, "possible_manipulation")


def without(book, item, end):
    """The financials without one figure."""
    cells = {name: dict(amounts) for name, amounts in (*book.years.items(), *book.balances.items())}
    del cells[item][day(end)]
    return book._replace(
        years={name: cells[name] for name in book.years}, balances={name: cells[name] for name in book.balances}
    )


def needed(score):
    """Each input of a score as the figure of Apple's that it is."""
    return sorted({(parsed(name).item, APPLE_ENDS[-1 - parsed(name).back]) for name in inputs_of(score)})


def inputs_of(score):
    return {name for test in score.tests for name in test.inputs}


@pytest.mark.parametrize("score", [PIOTROSKI, ALTMAN, BENEISH], ids=["piotroski", "altman", "beneish"])
def test_a_score_lacking_one_figure_has_no_value(score):
    """Never a part of it passed off as the whole: each figure in turn is taken away."""
    slug = {PIOTROSKI: "piotroski_f", ALTMAN: "altman_z2", BENEISH: "beneish_m"}[score]
    figures = needed(score)
    assert len(figures) == len(inputs_of(score))
    for item, end in figures:
        book = without(apple(), item, end)
        found = score.over(RatioInputs(book, LAST, A))
        assert found.value is None, item
        assert found.verdict is None
        assert found.present < len(score.tests), item
        assert slug not in measures(book, LAST, A)


def test_the_detail_shows_the_part_that_is_there():
    told = wire(without(apple(), "long_term_debt", "2023-09-30"), LAST, A)["piotroski_f"]
    assert (told["value"], told["present"], told["of"], told["passed"]) == (None, 8, 9, 6)
    (test,) = [test for test in told["tests"] if test["name"] == "leverage_falling"]
    assert (test["value"], test["passed"]) == (None, None)
    assert test["inputs"] == {
        "long_term_debt": 85_750,
        "total_assets": 364_980,
        "total_assets_1y_ago": 352_583,
        "long_term_debt_1y_ago": None,
        "total_assets_2y_ago": 352_755,
    }


def test_detail_of_all_scores():
    told = wire(apple(), LAST, A)
    assert list(told) == ["piotroski_f", "altman_z2", "beneish_m", "accruals_ratio", "return_on_invested_capital"]
    assert [told[slug]["value"] for slug in told] == pytest.approx(
        [7, 1.871023, -2.727274, -0.068337, 0.890410], abs=1e-6
    )
    assert {slug: (entry["present"], entry["of"], entry["passed"]) for slug, entry in told.items()} == {
        "piotroski_f": (9, 9, 7),
        "altman_z2": (4, 4, None),
        "beneish_m": (8, 8, None),
        "return_on_invested_capital": (1, 1, None),
        "accruals_ratio": (1, 1, None),
    }
    assert told["accruals_ratio"]["tests"] == [
        {
            "name": "accruals_ratio",
            "inputs": {
                "net_income_ttm": 93_736,
                "net_cash_flow_from_operations_ttm": 118_254,
                "total_assets": 364_980,
                "total_assets_1y_ago": 352_583,
            },
            "value": pytest.approx(-0.0683369, abs=1e-6),
            "passed": None,
        }
    ]
    assert told["return_on_invested_capital"]["tests"][0]["inputs"]["minority_interest"] == 0


def test_nike_states_no_operating_income_so_it_has_no_altman():
    told = wire(nike(), day(NIKE_ENDS[-1]), A)
    assert (told["altman_z2"]["value"], told["altman_z2"]["present"], told["altman_z2"]["verdict"]) == (None, 2, None)
    assert told["return_on_invested_capital"]["value"] is None


@pytest.mark.parametrize("template", ["bank", "insurer", "reit", "fund"])
def test_scores_say_nothing_about_financial_companies(template):
    told = wire(apple(template=template), LAST, A)
    assert set(told) == ({"accruals_ratio"} if template == "reit" else set())


def passed(**items):
    book = apple()
    for item, pair in items.items():
        place = book.years if item in book.years else book.balances
        for end, value in zip(APPLE_ENDS[-2:], pair, strict=True):
            place[item][day(end)] = place[item][day(end)]._replace(value=float(value))
    return {o.name: o.passed for o in PIOTROSKI.over(RatioInputs(book, LAST, A)).tests}


def test_a_company_without_debt_in_both_years_fails_the_leverage_test():
    assert passed(long_term_debt=(0, 0))["leverage_falling"] is False
    assert passed(long_term_debt=(1, 0))["leverage_falling"] is True


def test_an_equal_number_of_shares_is_none_issued():
    assert passed(weighted_average_shares_diluted=(100, 100))["no_shares_issued"] is True
    assert passed(weighted_average_shares_diluted=(100, 101))["no_shares_issued"] is False
    # Shares before and after a split are not compared.
    assert passed(weighted_average_shares_diluted=(100, 200))["no_shares_issued"] is None


def test_what_does_not_rise_is_not_passed():
    same = passed(
        gross_profit=(50, 50), revenue=(100, 100), current_assets=(10, 10), current_liabilities=(5, 5)
    )  # fmt: skip
    assert same["gross_margin_rising"] is False
    assert same["current_ratio_rising"] is False
    assert passed(net_income=(1, 0))["return_on_assets_positive"] is False
    assert passed(net_income=(1, 7), net_cash_flow_from_operations=(1, 7))["cash_flow_above_income"] is False


def test_quarterly_filers_are_scored_on_twelve_months_each_against_the_year_before():
    """Three years of quarters: twelve months ending in September are compared with those a year earlier, not with June."""
    grid = quarters_of([2021, 2022, 2023])
    ends = [f"{y}-{t}" for y in (2021, 2022, 2023) for t in ("03-31", "06-30", "09-30", "12-31")]

    def rising(first, step):
        return [first + step * i for i in range(12)]

    flows = {
        "net_income": rising(10, 1),
        "revenue": rising(100, 2),
        "gross_profit": rising(50, 2),
        "net_cash_flow_from_operations": rising(20, 1),
        "weighted_average_shares_diluted": [100] * 12,
    }
    stocks = {
        "total_assets": [1_000] * 12,
        "long_term_debt": rising(100, -5),
        "current_assets": rising(200, 1),
        "current_liabilities": [100] * 12,
    }
    book = financials(
        quarters={item: series(item, grid, values) for item, values in flows.items()},
        balances={item: instants(item, ends, values) for item, values in stocks.items()},
    )
    end = day("2023-09-30")
    found = {o.name: o for o in PIOTROSKI.over(RatioInputs(book, end, Q)).tests}
    # Quarters 8 to 11 of the twelve: 17+18+19+20 = 74 of income against 13+14+15+16 = 58.
    assert found["return_on_assets_rising"].inputs == {
        "net_income_ttm": 74,
        "total_assets_1y_ago": 1_000,
        "net_income_ttm_1y_ago": 58,
        "total_assets_2y_ago": 1_000,
    }
    assert found["current_ratio_rising"].inputs == {
        "current_assets": 210,
        "current_liabilities": 100,
        "current_assets_1y_ago": 206,
        "current_liabilities_1y_ago": 100,
    }
    assert measures(book, end, Q)["piotroski_f"].value == 9
    assert "piotroski_f" not in measures(book, day("2022-09-30"), Q)


figures = st.lists(st.one_of(st.none(), st.integers(-5, 60).map(float)), min_size=4, max_size=4)


@given(st.data())
def test_the_score_served_is_that_of_its_detail(data):
    flows = {item: data.draw(figures) for item in APPLE_FLOWS}
    balances = {item: data.draw(figures) for item in APPLE_BALANCES}
    book = annual(APPLE_ENDS, flows, balances, first_day="2020-09-27")
    served = measures(book, LAST, A)
    for slug, told in wire(book, LAST, A).items():
        assert (served[slug].value if slug in served else None) == told["value"]
        assert told["present"] == sum(test["value"] is not None for test in told["tests"])
        missing = [None in test["inputs"].values() for test in told["tests"]]
        assert all(test["value"] is None for test, gap in zip(told["tests"], missing, strict=True) if gap)
