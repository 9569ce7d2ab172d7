"""What checks say of statements goes on to items, sums of twelve months and ratios, at every moment as it was then."""

import pytest

from almanac.derived.companies import ratios, ttm
from almanac.domain.observations import quality
from almanac.domain.periods import Frequency
from tests.support.filer import Filer, at


def lines(year, *, revenue=1_000, income=100, assets=2_003, goodwill=300):
    span, end = (f"{year}-01-01", f"{year}-12-31"), f"{year}-12-31"
    return {
        "Revenues": {span: revenue}, "NetIncomeLoss": {span: income}, "Assets": {end: assets},
        "LiabilitiesAndStockholdersEquity": {end: assets}, "Goodwill": {end: goodwill},
    }  # fmt: skip


def told(filer, slug):
    """Of a measure or item of yearly accounts: by year, what is said of it at each moment, and the value."""
    cells = filer.swept(measure=ratios.measures, reach=ttm.REACH_DAYS).items[slug, Frequency.ANNUAL]
    return [[(one.known, one.value, quality(one.flags)) for one in made] for _, made in sorted(cells.items())]


@pytest.fixture
def filer():
    one = Filer()
    one.file("10-K", "2022-02-20", "2021-12-31", lines(2021), fy=2021, fp="FY")
    return one


def test_what_rests_on_statements_that_add_up_is_ok(filer):
    filer.file("10-K", "2023-02-20", "2022-12-31", lines(2022), fy=2022, fp="FY")
    for slug in ("total_assets", "revenue", "revenue_ttm", "return_on_assets", "net_margin"):
        assert {said for made in told(filer, slug) for _, _, said in made} == {"ok"}


def test_a_part_that_is_larger_than_its_whole_fails_both_and_their_ratios_alone(filer):
    filer.file("10-K", "2023-02-20", "2022-12-31", lines(2022, goodwill=3_001), fy=2022, fp="FY")
    assert [[said for _, _, said in made] for made in told(filer, "total_assets")] == [["ok"], ["failed"]]
    assert [said for _, _, said in told(filer, "return_on_assets")[-1]] == ["failed"]
    assert {said for made in told(filer, "net_margin") for _, _, said in made} == {"ok"}


def test_a_report_that_mends_it_is_another_state_of_the_same_value(filer):
    filer.file("10-K", "2023-02-20", "2022-12-31", lines(2022, goodwill=3_001), fy=2022, fp="FY")
    filer.file("10-K/A", "2023-04-20", "2022-12-31", lines(2022), fy=2022, fp="FY")
    assert told(filer, "total_assets")[-1] == [
        (at("2023-02-20"), 2_003, "failed"),
        (at("2023-04-20"), 2_003, "ok"),
    ]


def test_who_says_not_to_rely_on_it_fails_all_of_it_from_then_on(filer):
    filer.file("8-K", "2022-06-01", None, {}, items=("4.02",))
    for slug in ("revenue", "revenue_ttm", "net_margin", "total_assets"):
        (made,) = told(filer, slug)
        assert [(known, said) for known, _, said in made] == [(at("2022-02-20"), "ok"), (at("2022-06-01"), "failed")]


def test_what_is_computed_from_a_failed_line_fails_with_it(filer):
    span = ("2022-01-01", "2022-12-31")
    cash = {
        "NetCashProvidedByUsedInOperatingActivities": {span: 300},
        "PaymentsToAcquirePropertyPlantAndEquipment": {span: -50},
    }
    filer.file("10-K", "2023-02-20", "2022-12-31", {**lines(2022), **cash}, fy=2022, fp="FY")
    assert told(filer, "capital_expenditure")[-1][-1][2] == "failed"
    assert told(filer, "free_cash_flow")[-1][-1][2] == "failed"
    assert told(filer, "fcf_margin")[-1][-1][2] == "failed"
    assert told(filer, "net_cash_flow_from_operations")[-1][-1][2] == "ok"
