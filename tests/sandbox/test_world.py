"""The simulated world as a whole, and its formats, read by connectors and by small readers written here."""

import csv
import hashlib
import io
import json
import re
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest

from almanac.catalog.records import Catalog
from almanac.domain.periods import end_of
from almanac.sandbox.noise import business_days
from almanac.sandbox.world import Response, world
from almanac.sources.base import Payload, connector

from .simulated import DAY, NOW, Seen, page_of, read

# The world as a whole


def test_the_same_bytes_twice(seen: Seen) -> None:
    again = {
        (page.source, page.url, page.fetched_at): hashlib.sha256(page.body).hexdigest()
        for page in world(NOW, companies=False)
    }
    assert again == seen.hashes


def test_pages_come_in_order_of_fetching_and_never_from_the_future(seen: Seen) -> None:
    assert all(before <= after for before, after in pairwise(seen.order))
    assert seen.order[0] < int(datetime(2016, 1, 1, tzinfo=UTC).timestamp())
    assert seen.order[-1] == NOW


def test_connectors_read_every_page_whole(seen: Seen) -> None:
    assert seen.ignored == set()
    assert seen.unmapped == set()
    assert seen.unread == set()
    assert 250_000 < seen.rows < 450_000


@pytest.mark.slow
def test_a_later_day_only_adds_rows_and_vintages(catalog: Catalog, seen: Seen) -> None:
    """Forty days with a quarter's end: old pages keep their bytes, archives their vintages, the other feeds their values."""
    later = read(catalog, list(world(NOW + 40 * DAY, companies=False)))
    fixed = {key: value for key, value in seen.hashes.items() if key[2] < NOW}
    assert len(fixed) > 500
    assert {key: later.hashes[key] for key in fixed} == fixed
    grown = 0
    for (source, native), statements in seen.stated.items():
        if statements[0][1].released is not None and not statements[0][1].first_only:
            old = {(s.period, s.known, s.value) for _, s in statements}
            new = {(s.period, s.known, s.value) for _, s in later.stated[source, native]}
            grown += len(new) > len(old)
            assert old <= new, native
        else:
            before, after = seen.latest(source, native), later.latest(source, native)
            assert len(before) < len(after), native
            assert {end: after[end] for end in before} == before, native
    assert grown > 250
    assert max(later.latest("sandbox-fred", "SIMGBRY10Y")) == date(2024, 4, 19)


@pytest.mark.slow
def test_a_larger_world_has_about_as_many_rows_and_contains_the_usual_one(catalog: Catalog, seen: Seen) -> None:
    wanted = 700_000
    rows, hashes = 0, {}
    for page in world(NOW, wanted, companies=False):
        key = (page.source, page.url, page.fetched_at)
        hashes[key] = hashlib.sha256(page.body).hexdigest()
        if key not in seen.hashes:
            rows += page.body.count(b'"value"')
            assert "X" in parse_qs(urlsplit(page.url).query)["series_id"][0]
    assert {key: hashes[key] for key in seen.hashes} == seen.hashes
    assert abs(seen.rows + rows - wanted) < 0.1 * wanted


def test_the_load_series_reach_back_to_1960_and_are_mapped(catalog: Catalog) -> None:
    page = next(page for page in world(NOW, 700_000, companies=False) if "SIMDEUXGOVYIELD3M" in page.url)
    source = catalog.sources[page.source]
    parsed = connector("fred").parse(
        Payload(page.url, page.body, page.fetched_at, page.media_type), source, catalog.series[page.source]
    )
    assert [block.native for block in parsed.blocks] == ["SIMDEUXGOVYIELD3M"]
    assert end_of(parsed.blocks[0].statements[0].period) == date(1960, 1, 4)
    assert end_of(parsed.blocks[0].statements[-1].period) == date(2015, 12, 30)


def test_fewer_observations_than_the_world_has_change_nothing() -> None:
    small, usual = iter(world(NOW, 1000, companies=False)), iter(world(NOW))
    for _ in range(50):
        assert next(small) == next(usual)


def test_too_many_observations_and_too_early_a_time_are_refused_before_the_first_page() -> None:
    with pytest.raises(ValueError, match=r"^observations: at most 1[0-9]{7}, not 1000000000$"):
        world(NOW, 1_000_000_000, companies=False)
    with pytest.raises(
        ValueError, match=r"^now: the simulated world begins at 2016-01-04, not at 2015-12-31T00:00:00Z$"
    ):
        world(int(datetime(2015, 12, 31, tzinfo=UTC).timestamp()), companies=False)


@pytest.mark.slow
def test_the_earliest_world_has_its_feeds(catalog: Catalog) -> None:
    first = read(catalog, list(world(int(datetime(2016, 1, 4, tzinfo=UTC).timestamp()), companies=False)))
    for source, native in (
        ("sandbox-us-treasury-par", "BC_10YEAR"),
        ("sandbox-mof-japan", "10Y"),
        ("sandbox-fred", "SIMUSAY10Y"),
    ):
        assert max(first.latest(source, native)) >= date(2015, 12, 30), source


# The formats, read by other means than the connectors


def test_treasury_files_are_the_publishers_format(pages: list[Response], seen: Seen) -> None:
    page = page_of(pages, "sandbox-us-treasury-par", "value=2021")
    assert page.url == (
        "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
        "?data=daily_treasury_yield_curve&field_tdr_date_value=2021"
    )
    text = page.body.decode()
    days = re.findall(r'<d:NEW_DATE m:type="Edm.DateTime">(\d{4}-\d\d-\d\d)T00:00:00</d:NEW_DATE>', text)
    tens = re.findall(r'<d:BC_10YEAR m:type="Edm.Double">(-?\d+\.\d\d)</d:BC_10YEAR>', text)
    twenties = re.findall(r"<d:BC_20YEAR ", text)
    assert len(days) == len(tens) == 260  # 261 weekdays without New Year's Day; Christmas Day was a Saturday
    assert len(twenties) == 259  # one day without a value
    served = seen.latest("sandbox-us-treasury-par", "BC_10YEAR")
    assert {date.fromisoformat(day): float(value) for day, value in zip(days, tens, strict=True)} == {
        day: value for day, value in served.items() if day.year == 2021
    }
    assert date(2021, 5, 19) not in seen.latest("sandbox-us-treasury-par", "BC_20YEAR")


def test_mof_files_are_the_publishers_format(pages: list[Response], seen: Seen) -> None:
    """Shift-JIS with a reference mark, a title with the month, dates without leading zeros."""
    page = page_of(pages, "sandbox-mof-japan", "interest_rate/jgbcme.csv")
    assert b"\x81\xa6" in page.body
    rows = list(csv.reader(io.StringIO(page.body.decode("shift_jis"), newline="")))
    assert rows[0][0] == "Interest Rate (March 2024)"
    assert rows[0][-1] == "(Unit : %)"
    assert rows[1] == ["Date", "1Y", "2Y", "3Y", "5Y", "7Y", "10Y", "20Y", "30Y"]
    assert [row[0] for row in rows[2:-2]] == [f"2024/3/{day}" for day in (1, 4, 5, 6, 7, 8, 11, 12)]
    assert {len(row) for row in rows} == {9}
    served = seen.latest("sandbox-mof-japan", "10Y")
    assert [float(row[6]) for row in rows[2:-2]] == list(served.values())[-8:]
    history = page_of(pages, "sandbox-mof-japan", "historical/jgbcme_all.csv").body.decode("shift_jis")
    assert "※" not in history
    assert re.search(r"^2013/9/12,(?:-?[0-9.]+,){6}-,-?[0-9.]+\r$", history, re.MULTILINE)


def test_fred_archives_are_the_publishers_format(pages: list[Response]) -> None:
    page = page_of(pages, "sandbox-fred", "series_id=SIMUSARGDP")
    query = parse_qs(urlsplit(page.url).query)
    assert query["realtime_start"] == ["1776-07-04"]
    assert query["realtime_end"] == ["9999-12-31"]
    body = json.loads(page.body)
    rows = body["observations"]
    assert body["count"] == len(rows)
    assert (body["realtime_start"], body["realtime_end"]) == ("1776-07-04", "9999-12-31")
    by_date = defaultdict(list)
    for row in rows:
        assert row["realtime_start"] <= row["realtime_end"]
        by_date[row["date"]].append(row)
    assert min(by_date) == "2010-01-01"
    for versions in by_date.values():
        assert versions[-1]["realtime_end"] == "9999-12-31"
        for before, after in pairwise(versions):
            ended = date.fromisoformat(before["realtime_end"]) + timedelta(days=1)
            assert ended == date.fromisoformat(after["realtime_start"])
            assert before["value"] != after["value"]


def test_fred_snapshots_stamp_every_row_with_the_day_of_the_request(pages: list[Response]) -> None:
    page = page_of(pages, "sandbox-fred", "series_id=SIMUSACLAIMS")
    body = json.loads(page.body)
    assert body["observation_start"] == parse_qs(urlsplit(page.url).query)["observation_start"][0] == "2023-12-17"
    assert {(row["realtime_start"], row["realtime_end"]) for row in body["observations"]} == {
        ("2024-03-13", "2024-03-13")
    }
    assert {date.fromisoformat(row["date"]).weekday() for row in body["observations"]} == {5}
    # The week to 9 March is published on Thursday the 14th.
    assert body["observations"][-1]["date"] == "2024-03-02"


# -- the noise and the calendar under the simulated world -------------------------------------------------------------


def test_business_days_leave_out_weekends_and_the_two_holidays() -> None:
    days = business_days(date(2024, 1, 3)).astype(str).tolist()
    assert days[0] == "1960-01-04"  # 1 January 1960 was a Friday
    assert days[-7:] == [
        "2023-12-22",
        "2023-12-26",
        "2023-12-27",
        "2023-12-28",
        "2023-12-29",
        "2024-01-02",
        "2024-01-03",
    ]
