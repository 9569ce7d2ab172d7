"""The Treasury's own files, read again with regular expressions and compared value by value."""

import re
from datetime import date

import pytest

from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights
from almanac.domain.times import end_of_day
from almanac.sources.base import Payload
from almanac.sources.feeds.us_treasury import CONNECTOR

from . import files
from .files import REAL

FOLDER = files.FOLDER / "macro/us_treasury"
URL = (
    "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
    "?data=daily_treasury_yield_curve&field_tdr_date_value="
)
TENORS = "1MONTH 2MONTH 3MONTH 6MONTH 1YEAR 2YEAR 3YEAR 5YEAR 7YEAR 10YEAR 20YEAR 30YEAR"
NATIVES = [f"BC_{tenor}" for tenor in TENORS.split()]
#: Days of each file, counted with grep.
DAYS = {1990: 250, 1998: 250, 2006: 250, 2008: 251, 2018: 249, 2020: 251, 2021: 251, 2022: 48}

pytestmark = REAL

SOURCE = Source(
    id="us-treasury-par",
    provider="us_treasury",
    name="Par yields",
    description="For this test.",
    homepage="https://example.org",
    connector="us_treasury",
    rights=Rights(license="public", attribution="none"),
    declared_release="same_day",
)
SERIES = {
    native: SeriesSpec(
        source=SOURCE.id,
        native=native,
        indicator=native.lower(),
        entity="country_usa",
        frequency=Frequency.DAILY,
        unit="percent",
        name=native,
    )
    for native in NATIVES
}


def parsed(year):
    body = (FOLDER / f"daily_treasury_yield_curve_{year}.xml").read_bytes()
    return CONNECTOR.parse(Payload(f"{URL}{year}", body, 0, "application/xml"), SOURCE, SERIES)


def read_again(year):
    text = (FOLDER / f"daily_treasury_yield_curve_{year}.xml").read_text("utf-8")
    found = {}
    for record in text.split("<m:properties>")[1:]:
        day = date.fromisoformat(re.search(r"<d:NEW_DATE[^>]*>(\d{4}-\d\d-\d\d)T", record)[1])
        for native, value in re.findall(r"<d:(BC_\w+)[^>]*>([^<]+)</d:", record):
            if native != "BC_30YEARDISPLAY":
                found[native, day] = float(value)
    return found


@pytest.mark.parametrize("year", DAYS)
def test_every_value_of_every_day_is_read(year):
    result = parsed(year)
    again = read_again(year)
    ours = {(block.native, end_of(s.period)): s.value for block in result.blocks for s in block.statements}
    assert ours == again
    assert sum(len(block.statements) for block in result.blocks) == len(again)
    assert len({day for _, day in again}) == DAYS[year]
    assert result.unmapped == {}


@pytest.mark.parametrize("year", DAYS)
def test_every_value_is_released_on_its_own_day_and_the_file_is_complete_to_its_last(year):
    last = max(day for _, day in read_again(year))
    for block in parsed(year).blocks:
        assert block.complete == (Period.parse(f"{year}-01-01").key, Period(last, last).key)
        for statement in block.statements:
            expected = end_of_day(end_of(statement.period))
            assert (statement.known, statement.released, statement.first_only) == (expected, expected, True)


@pytest.mark.parametrize(
    ("year", "native", "count"),
    [(2006, "BC_30YEAR", 224), (2008, "BC_3MONTH", 248), (2018, "BC_2MONTH", 51), (1990, "BC_20YEAR", None)],
)
def test_a_gap_in_a_tenor_is_a_gap_and_not_a_zero(year, native, count):
    blocks = {block.native: block for block in parsed(year).blocks}
    if count is None:
        assert native not in blocks
    else:
        assert len(blocks[native].statements) == count
        assert min(s.value for s in blocks[native].statements) >= 0.0


def test_one_value_checked_by_hand():
    """30 years, 2006-02-09, the day it came back: 4.51, read by eye in the file of 2006 (entry of that day).

    And 10 years, 1990-01-02, the first day of the feed: 7.94, read by eye in the file of 1990.
    """
    thirty = {b.native: b for b in parsed(2006).blocks}["BC_30YEAR"].statements[0]
    assert (end_of(thirty.period), thirty.value) == (date(2006, 2, 9), 4.51)
    ten = {b.native: b for b in parsed(1990).blocks}["BC_10YEAR"].statements[0]
    assert (end_of(ten.period), ten.value) == (date(1990, 1, 2), 7.94)


def test_the_other_service_of_the_publisher_is_set_aside():
    url = "https://api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/avg_interest_rates"
    body = (FOLDER / "fiscaldata_avg_interest_rates_2026-09.json").read_bytes()
    result = CONNECTOR.parse(Payload(url, body, 0, "application/json"), SOURCE, SERIES)
    assert result.blocks == []
    assert "avg_interest_rates" in result.ignored
