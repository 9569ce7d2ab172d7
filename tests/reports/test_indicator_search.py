"""What words find among indicators, and in which order: by names first, by publishers' names too, measures of companies last."""

import pytest

from almanac.catalog.load import shipped
from almanac.reports.indicator_search import (
    BEGUN,
    CALLED,
    MENTIONED,
    NAMED,
    name_nearness,
    nearness,
    relevance,
)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("federal funds effective rate", CALLED),
        ("Federal  Funds effective-rate", CALLED),
        ("fed funds", BEGUN),
        ("funds effective", NAMED),
        ("ederal", MENTIONED),
        ("funds fed rate", NAMED),
        ("", MENTIONED),
    ],
)
def test_how_near_a_name_is_to_words(words: str, near: int) -> None:
    assert name_nearness(("overnight_rate", "Federal Funds Effective Rate"), words) == near


def test_a_word_that_stands_nowhere_finds_nothing() -> None:
    one = shipped().indicators["overnight_rate"]
    assert nearness(one, "fed funds zzqq") is None
    assert nearness(one, "transacted") == MENTIONED


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("fed funds", ["overnight_rate", "policy_rate_lower", "policy_rate_upper"]),
        ("target range", ["policy_rate_lower", "policy_rate_upper", "policy_rate"]),
        ("SONIA", ["overnight_rate"]),
        ("cash rate target", ["policy_rate"]),
        ("real gross domestic product", ["real_gdp", "potential_gdp"]),
        ("all employees total nonfarm", ["nonfarm_payrolls"]),
        ("yield", ["gov_yield_10y"]),
        ("10-year", ["gov_yield_10y"]),
        ("debt", ["government_debt_pct_gdp"]),
        ("inflation", ["cpi_inflation_yoy"]),
    ],
)
def test_what_words_find_first(words: str, first: list[str]) -> None:
    every = shipped().indicators
    near = {slug: nearness(one, words) for slug, one in every.items()}
    found = sorted(
        (slug for slug in every if near[slug] is not None), key=lambda s: relevance(every[s], near[s] or 0, every)
    )
    assert found[: len(first)] == first


def test_facts_of_companies_come_after_what_is_as_near() -> None:
    every = shipped().indicators
    fund = every["us_gaap_federal_funds_sold"]
    assert nearness(fund, "federal funds") == nearness(every["policy_rate_upper"], "federal funds") == BEGUN
    assert relevance(fund, BEGUN, every) > relevance(every["policy_rate_upper"], BEGUN, every)
