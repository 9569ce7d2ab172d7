"""The tables of releases and meetings: what ships fits the catalogue, and what does not is named."""

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import CatalogError
from almanac.catalog.releases import check, meetings_of, parse, scheduled, simulated
from almanac.catalog.releases import shipped as releases

CALENDAR = {
    "source": "fred",
    "native": "10",
    "country": "country_usa",
    "zone": "UTC",
    "frequency": "M",
    "after_days": 8,
}
RELEASE = {
    "type": "prices", "name": "Prices", "headline": "cpi_inflation_yoy", "indicators": ["cpi_inflation_yoy"], "frequencies": ["M"],
    "calendars": [CALENDAR],
}  # fmt: skip


def test_what_ships_fits_the_catalogue():
    assert list(check(releases(), shipped())) == []
    by_type = {one.type: one for one in releases()}
    prices = by_type["consumer_prices"]
    assert prices.headline == prices.indicators[0] == "cpi_inflation_yoy"
    # The Bureau's own calendar, which states hours, before a list of days.
    assert [(c.source, c.native) for c in prices.calendars] == [
        ("bls-calendar", "Consumer Price Index"),
        ("fred", "10"),
    ]
    natives = {c.native: one.type for one in releases() for c in one.calendars if c.source == "fred"}
    assert [natives[n] for n in ("10", "50", "53", "54", "9", "13", "46")] == [
        "consumer_prices", "employment_situation", "gross_domestic_product_annualized", "personal_income_and_outlays",
        "retail_sales", "industrial_production", "producer_prices",
    ]  # fmt: skip
    # Two releases never speak of one place's headline.
    assert not by_type["unemployment"].exists_in("country_usa")
    assert by_type["unemployment"].exists_in("country_gbr")
    assert not by_type["gross_domestic_product_annualized"].exists_in("country_gbr")


def test_the_simulated_world_has_copies_of_the_calendars():
    made = parse({"release": [{**RELEASE, "calendars": [CALENDAR, {**CALENDAR, "source": "bls-calendar"}]}]})
    (one,) = simulated(made, {"sandbox-fred", "sandbox-bls-calendar"})
    assert [c.source for c in one.calendars] == ["sandbox-fred", "sandbox-bls-calendar"]


@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ([{}, {"calendars": []}], "release prices: is there twice"),
        ([{"only_countries": ["a"], "except_countries": ["b"]}], "release prices: only_countries and except_countries exclude"),
        ([{"frequencies": []}], "release prices: needs frequencies"),
        ([{"headline": "gdp"}], "release prices: the headline is not the first of its indicators"),
        ([{"calendars": [{**CALENDAR, "zone": "Mars"}]}], "release prices: unknown zone Mars"),
        ([{"calendars": [CALENDAR, CALENDAR]}], "calendar fred: 10 is there twice"),
        ([{"calendars": [{**CALENDAR, "after": 8}]}], r"release prices: unknown field after at calendars\[0\], allowed are source, native, "),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(changes, culprit):
    with pytest.raises(CatalogError, match=culprit):
        parse({"release": [{**RELEASE, **change} for change in changes]})


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({"native": "11"}, "schedule fred 11: no calendar has it"),
        ({"days": {"2026-10": date(2026, 11, 10), "2026-09": date(2026, 11, 10)}}, "fred 10: one day for two periods"),
        ({"days": {"October": date(2026, 11, 10)}}, "fred 10: October is not a period"),
        ({"days": {"2026-Q3": date(2026, 11, 10)}}, "fred 10: 2026-Q3 is not a monthly period over by 2026-11-10"),
        ({"days": {"2026-11": date(2026, 11, 10)}}, "fred 10: 2026-11 is not a monthly period over by 2026-11-10"),
        ({"colour": "red"}, "schedule fred: unknown field colour, allowed are source, native, page, days"),
    ],
)
def test_a_schedule_that_does_not_fit_is_named(change, culprit):
    made = parse({"release": [RELEASE]})
    plan = {"source": "fred", "native": "10", "page": "https://x.example", "days": {"2026-10": date(2026, 11, 10)}}
    (one,) = scheduled(made, {"entered": date(2026, 1, 1), "schedule": [plan]})
    assert one.calendars[0].schedule == {date(2026, 11, 10).toordinal(): "2026-10"}
    with pytest.raises(CatalogError, match=culprit):
        scheduled(made, {"entered": date(2026, 1, 1), "schedule": [plan | change]})


def test_names_the_catalogue_does_not_have():
    calendars = [{**CALENDAR, "source": "nobody"}]
    change = {
        "headline": "nothing",
        "indicators": ["nothing"],
        "except_countries": ["country_xxx"],
        "calendars": calendars,
    }
    assert list(check(parse({"release": [{**RELEASE, **change}]}), shipped())) == [
        "release prices: unknown indicator nothing", "release prices: unknown entity country_xxx", "release prices: unknown source nobody",
    ]  # fmt: skip


def test_a_wrong_list_of_meetings_is_named():
    bank = {
        "id": "b",
        "name": "B",
        "country": "c",
        "page": "https://b.example",
        "zone": "UTC",
        "days": [date(2026, 2, 1), date(2026, 1, 1)],
    }
    with pytest.raises(CatalogError, match="bank b: its days must ascend"):
        meetings_of({"entered": date(2026, 1, 1), "bank": [bank]})
    with pytest.raises(CatalogError, match="bank b: unknown zone X"):
        meetings_of({"entered": date(2026, 1, 1), "bank": [{**bank, "zone": "X", "days": []}]})
