"""Release summaries, and the events of releases and central banks, over a part of the simulated world."""

import math
import re
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from almanac.domain.periods import Period
from almanac.domain.times import wire_time
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.pipeline.operate.rebuild import rebuild, recompute
from almanac.reports.wording import rounded
from almanac.sandbox.calendars import calendars
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import fred
from almanac.sandbox.world import Response
from tests.support.service import Service, copy, make_accounts, settings
from tests.support.worlds import once

from .digits import less

PATH = "/release-summaries"
#: Series of two countries, one of them withheld, and all calendars.
SERIES = ("SIMUSACPINSA", "SIMUSACORE", "SIMUSACONF", "SIMUSAPAYEMS", "SIMUSAUNRATE", "SIMGBRCPI", "SIMGBRPOLICY")
FREE_FROM = "2024-11-20"


def build(home: Path) -> None:
    chosen = settings(home)
    now = chosen.clock() - chosen.clock() % 86_400
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    captures = sorted([*fred(economy, now, None), *calendars(now)], key=lambda capture: capture.fetched_at)
    pages = [
        Response(capture.source, capture.url, capture.make(), capture.fetched_at, capture.media_type)
        for capture in captures
        if capture.url.rpartition("series_id=")[2] in SERIES or "release" in capture.url or capture.url.endswith(".ics")
    ]
    with PipelineContext(chosen, SIMULATED) as world:
        take_in(world, pages, lambda _: None)
    make_accounts(chosen)


@pytest.fixture(scope="module")
def built_releases(tmp_path_factory, worker_id):
    return once(tmp_path_factory, worker_id, "release-world", build)


@pytest.fixture(scope="module")
def service(built_releases, tmp_path_factory):
    service = Service(copy(built_releases, tmp_path_factory.mktemp("releases") / "home"))
    yield service
    service.close()


@pytest.fixture
def own(built_releases, tmp_path):
    service = Service(copy(built_releases, tmp_path / "home"))
    yield service
    service.close()


def cells(service, indicator, country, **query):
    rows = service.walk("/observations/vintages", limit=500, indicator=indicator, country=country, **query)
    return [(row["periodEnd"][:10], row["observedAt"], row["valueNumeric"]) for row in rows]


def known(history, moment):
    """Values by last day, as known at a moment."""
    return {end: value for end, observed, value in sorted(history, key=lambda state: state[1]) if observed <= moment}


def test_release_summaries(service):
    """Release summaries, newest first (`order` defaults to desc); each page joined is the whole."""
    rows = service.walk(PATH, limit=500)
    assert rows == service.walk(PATH, limit=77)
    assert [row["releasedAt"] for row in rows] == sorted((row["releasedAt"] for row in rows), reverse=True)
    assert service.walk(PATH, limit=100, order="asc") == rows[::-1]
    assert len({row["id"] for row in rows}) == len(rows)
    # Two calendars list the same American numbers: each release is summed up once.
    assert len({(row["release"], row["country"], row["period"]) for row in rows}) == len(rows)
    assert {row["release"] for row in rows} == {
        "consumer_prices", "employment_situation", "unemployment", "consumer_confidence",
    } - {"unemployment"}  # fmt: skip


def test_a_reading_is_what_was_known_when_it_was_out(service):
    """actual, previous, revisedPrevious, change; z-score and percentile over the ten years before, as known then."""
    history = cells(service, "cpi_inflation_yoy", "GBR")
    rows = service.walk(
        PATH, limit=100, country="GBR", indicator="cpi_inflation_yoy", start_date="2025-01-01", end_date="2026-03-31"
    )
    assert [row["period"] for row in rows] == [
        *(f"2026-{month:02}" for month in (2, 1)), *(f"2025-{month:02}" for month in range(12, 0, -1)), "2024-12",
    ]  # fmt: skip
    revised = steady = 0
    for row in rows:
        reading = row["readings"][0]
        assert reading["indicatorId"] == "indicator_cpi_inflation_yoy"
        then = known(history, row["observedAt"])
        ends = sorted(end for end in then if end <= row["periodEnd"][:10])
        earlier = {
            end: value for end, seen, value in sorted(history, key=lambda state: state[1]) if seen < row["observedAt"]
        }
        previous, now = earlier[ends[-2]], then[ends[-2]]
        assert reading["actual"] == then[ends[-1]]
        assert reading["previous"] == previous
        assert reading["revisedPrevious"] == (now if now != previous else None)
        assert reading["change"] == less(reading["actual"], now)
        revised += now != previous
        window = [then[end] for end in ends[-121:-1]]
        assert len(window) == 120
        mean = sum(window) / 120
        spread = math.sqrt(sum((value - mean) ** 2 for value in window) / 119)
        assert reading["zScore10y"] == pytest.approx((reading["actual"] - mean) / spread, rel=1e-9)
        actual = reading["actual"]
        below = sum(value < actual for value in window) + sum(value == actual for value in window) / 2
        assert reading["percentile10y"] == pytest.approx(100 * below / 120)
        assert row["headline"].startswith(
            f"United Kingdom: Consumer prices rose by {reading['actual']:.1f}% over the year to "
        )
        # How it compares is judged by the mean absolute change from one month to the next of those ten years.
        usual = sum(abs(later - earlier) for earlier, later in pairwise(window)) / 119
        moved = abs(reading["change"]) >= usual / 2 and rounded(now, 1) != rounded(reading["actual"], 1)
        assert (" more than " in row["headline"] or " less than " in row["headline"]) == moved
        steady += not moved
        stated = [float(number) for number in re.findall(r"([0-9]+[.][0-9])%", row["headline"])]
        assert set(stated) <= {rounded(reading["actual"], 1), rounded(now, 1)}
        shown = service.ok("/observations/{id}/provenance".format(id=reading["observationId"]))["observation"]
        assert (shown["valueNumeric"], shown["periodEnd"]) == (reading["actual"], row["periodEnd"])
    assert 0 < steady < len(rows)
    assert revised  # the yearly revision comes with one of them


def test_no_place_among_ten_years_for_a_level(service):
    """On growth rates, not on trending levels: changes of payrolls in thousands have neither."""
    (row,) = service.ok(PATH, limit=1, indicator="nonfarm_payrolls_change")
    reading = row["readings"][0]
    assert reading["unit"] == "thousands"
    assert (reading["zScore10y"], reading["percentile10y"]) == (None, None)
    assert reading["change"] == reading["actual"] - (reading["revisedPrevious"] or reading["previous"])


def test_a_withheld_reading_keeps_its_place(service):
    """In release summaries the reading keeps its place, numbers null, with `rights`."""
    rows = service.walk(PATH, limit=500, indicator="consumer_confidence")
    assert len(rows) > 100
    for row in rows:
        (reading,) = row["readings"]
        assert [
            reading[name] for name in ("actual", "previous", "revisedPrevious", "change", "zScore10y", "percentile10y")
        ] == [None] * 6
        assert reading["rights"]["valueWithheld"]
        assert reading["rights"]["reason"] == "The simulated owner of these series allows no redistribution."
        assert row["headline"].endswith("was published; its value may not be redistributed.")
    (event,) = service.ok("/events", limit=1, indicator="consumer_confidence", status="released")
    assert (event["actual"], event["previous"], event["unit"]) == (None, None, "points")
    assert event["rights"]["valueWithheld"]


def test_filters(service):
    """Filters: country, indicator, start_date, end_date; an unknown name gives an empty list."""
    every = service.walk(PATH, limit=500)
    for query, keep in (
        ({"country": "GB"}, lambda row: row["country"] == "country_gbr"),
        ({"country": "nowhere"}, lambda row: False),
        ({"indicator": "nothing"}, lambda row: False),
        ({"indicator": "gov_yield_10y"}, lambda row: False),
        ({"indicator": "unemployment_rate"}, lambda row: row["release"] == "employment_situation"),
        ({"start_date": "2026-06-01"}, lambda row: row["releasedAt"] >= "2026-06-01"),
        ({"end_date": "2016-06-30"}, lambda row: row["releasedAt"] <= "2016-06-30T23:59:59Z"),
        ({"country": "USA", "indicator": "CPI_inflation_yoy"}, lambda row: (row["release"], row["country"]) == ("consumer_prices", "country_usa")),
    ):  # fmt: skip
        assert service.walk(PATH, limit=500, **query) == [row for row in every if keep(row)], query
    assert service.error(PATH, 400, contry="USA")["details"]["suggestion"] == "country"
    assert (
        service.error(PATH, 400, start_date="2026-02-01", end_date="2026-01-01")["details"]["reason"]
        == "start_after_end"
    )


def test_the_window_of_a_plan(service):
    """The plan's window bounds every way to old data: releases of older periods are left out, and older readings beside new ones."""
    rows = service.walk(PATH, "free", limit=500)
    assert rows
    assert min(row["periodEnd"][:10] for row in rows) >= FREE_FROM
    whole = {row["id"]: row for row in service.walk(PATH, limit=500)}
    first = [row for row in rows if row["period"] == "2024-11" and row["country"] == "country_gbr"]
    (reading,) = [row["readings"][0] for row in first]
    assert (reading["previous"], reading["revisedPrevious"], reading["change"]) == (None, None, None)
    assert reading["actual"] == whole[first[0]["id"]]["readings"][0]["actual"]
    # Ten years are not within reach of two: nothing is placed among them.
    placed = [(reading["zScore10y"], reading["percentile10y"]) for row in rows for reading in row["readings"]]
    assert set(placed) == {(None, None)}
    assert [reading["zScore10y"] is None for reading in whole[rows[0]["id"]]["readings"]].count(False) > 0
    assert [row["id"] for row in rows] == [i for i, row in whole.items() if row["periodEnd"][:10] >= FREE_FROM]
    assert service.error(PATH, 403, "free", end_date="2024-01-01")["details"]["parameter"] == "end_date"


def test_events_pass_no_numbers_of_periods_before_the_window(own):
    """History bounds every way to old data: of a period before it no number, beside one inside it none of the one before."""
    own.data_now, first = own.settings.clock() - 15 * 86_400, "2024-11-05"  # the prices of October 2024 came out later
    numbers = ("actual", "revisedActual", "previous", "revisedPrevious")
    whole = {row["id"]: row for row in own.walk("/events", limit=500, start_date=first)}
    masked = compared = same = 0
    for row in own.walk("/events", "free", limit=500):
        paid = whole[row["id"]]
        assert {**row, **{name: paid[name] for name in numbers}} == paid
        if row["period"] is None or row["actual"] == paid["actual"] is None:
            continue
        end = Period.parse(row["period"]).end.isoformat()
        if end < first:
            assert [row[name] for name in numbers] == [None] * 4
            masked += 1
        elif row["previous"] != paid["previous"]:
            assert (row["actual"], row["previous"], row["revisedPrevious"]) == (paid["actual"], None, None)
            assert (row["period"] if len(row["period"]) > 7 else f"{row['period']}-01") <= first
            compared += 1
        else:
            assert row == paid
            same += 1
    assert masked > 0
    assert compared > 0
    assert same > 20


def test_events_of_releases_and_banks_are_past_and_to_come(service):
    """Every event category has data in it: macro_release and central_bank, past and upcoming, some moved, canceled, revised."""
    now = wire_time(service.settings.clock())
    statuses = {}
    for category in ("macro_release", "central_bank"):
        rows = service.walk("/events", limit=500, category=category)
        assert min(row["occurredAt"] for row in rows) < now < max(row["occurredAt"] for row in rows)
        statuses[category] = {row["status"] for row in rows}
    coming = {"scheduled", "tentative", "rescheduled"}
    assert statuses["macro_release"] == {*coming, "canceled", "released", "revised", "unknown"}
    # What was announced for before yesterday, and of which nothing was heard, is not to come any more.
    clock = service.settings.clock()
    yesterday = wire_time(clock - clock % 86_400 - 86_400)
    for status in coming:
        assert min(row["occurredAt"] for row in service.walk("/events", limit=500, status=status)) >= yesterday
    past = service.walk("/events", limit=500, status="unknown")
    assert past
    assert {row["status"] for row in past} == {"unknown"}
    assert max(row["occurredAt"] for row in past) < yesterday
    assert statuses["central_bank"] >= {"scheduled", "tentative", "canceled", "released"}
    (change,) = service.ok("/events", limit=1, indicator="policy_rate", status="released", source_id="sandbox-fred")
    assert (change["type"], change["timePrecision"], change["unit"]) == ("policy_rate_change", "day", "percent")
    assert change["period"] == change["occurredAt"][:10]
    rates = known(cells(service, "policy_rate", "GBR", period=change["period"][:4]), now)
    before = max(end for end in rates if end < change["period"])
    assert (change["actual"], change["previous"]) == (rates[change["period"]], rates[before])


def test_numbers_of_an_event_are_those_known_at_the_moment(service):
    """A row's own observedAt returns the row; before it was out, the release has no numbers."""
    prices = {"indicator": "cpi_inflation_yoy", "country": "USA"}
    rows = service.walk("/events", limit=500, **prices, start_date="2026-01-01", end_date="2026-12-31")
    revised = service.walk("/events", limit=500, status="revised", country="GBR", start_date="2025-06-01")
    assert revised
    for row in [*rows, *revised[:4]]:
        day = row["occurredAt"][:10]
        assert row in service.walk("/events", limit=50, as_of=row["observedAt"], start_date=day, end_date=day)
        if row["status"] in {"scheduled", "rescheduled", "canceled", "tentative"}:
            assert row["actual"] is None
            assert (row["previous"] is None) == (row["unit"] is None)
    newest = revised[0]
    first = service.walk(
        "/events", limit=50, as_of=newest["occurredAt"][:10], indicator="cpi_inflation_yoy", country="GBR"
    )
    (then,) = [row for row in first if row["id"] == newest["id"]]
    assert then["status"] == "released"
    # The first print stays; what has become of it is told beside it.
    assert (then["actual"], then["revisedActual"]) == (newest["actual"], None)
    assert newest["revisedActual"] not in {None, newest["actual"]}


def test_a_release_to_come_tells_the_number_of_the_period_before(service):
    """`previous` of a scheduled event: as it stands; of a later one, whose period before is not out, nothing."""
    rows = service.walk("/events", limit=500, indicator="cpi_inflation_yoy", country="USA", status="scheduled")
    numbers = {
        row["periodEnd"][:7]: row["valueNumeric"]
        for row in service.walk(
            "/derived-observations", country="USA", indicator="cpi_inflation_yoy", period_start="2026-01-01"
        )
    }

    def month_before(period):
        year, month = map(int, period.split("-"))
        return f"{year - (month == 1)}-{(month - 2) % 12 + 1:02}"

    assert {row["previous"] is None for row in rows} == {True, False}
    for row in rows:
        assert row["previous"] == numbers.get(month_before(row["period"]))
        assert (row["actual"], row["revisedPrevious"]) == (None, None)


def test_an_event_has_the_first_print_for_ever_and_what_stood_before_it(service):
    """actual: the first print; revisedActual: the newest known, where it differs; previous: as it stood before the release."""
    history = cells(service, "cpi_inflation_yoy", "GBR")
    prices = {"indicator": "cpi_inflation_yoy", "country": "GBR"}
    rows = service.walk("/events", limit=100, **prices, start_date="2025-01-01", end_date="2026-03-31")
    assert len(rows) == 15
    revised = previous = 0
    for row in rows:
        end = max(end for end, *_ in history if end[:7] == row["period"])
        prints = [value for of, _, value in history if of == end]
        first = min(seen for of, seen, _ in history if of == end)
        assert (row["actual"], row["revisedActual"]) == (prints[0], prints[-1] if prints[-1] != prints[0] else None)
        before = max(of for of, *_ in history if of < end)
        stood, now = [[v for of, seen, v in history if of == before and seen < until][-1] for until in (first, "9999")]
        assert (row["previous"], row["revisedPrevious"]) == (stood, now if now != stood else None)
        revised += row["revisedActual"] is not None
        previous += row["revisedPrevious"] is not None
    assert revised > 3
    assert previous > 3


def test_a_release_is_told_once_whoever_tells_of_it(service):
    """The same release from a calendar and from FRED is one event, in lists and among a brief's upcoming ones."""
    rows = service.walk("/events", limit=500, category="macro_release")
    counts = Counter((row["type"], row["entityId"], row["period"]) for row in rows)
    assert {name: count for name, count in counts.items() if count > 1} == {}
    prices = [row for row in rows if row["type"] == "consumer_prices" and row["country"] == "country_usa"]
    # The Bureau's calendar states hours; before its first one there are the days of the numbers.
    announced = [row for row in prices if row["period"] > "2016-06"]
    assert {row["sourceId"] for row in announced} == {"sandbox-bls-calendar"}
    assert {row["timePrecision"] for row in announced if row["status"] in {"scheduled", "tentative"}} == {"minute"}
    assert {row["sourceId"] for row in prices if row["period"] < "2015-06"} <= {"sandbox-fred"}
    coming = service.ok("/briefs/USA")["upcomingEvents"]
    assert len(coming) > 3
    assert len({(row["type"], row["period"] or row["occurredAt"]) for row in coming}) == len(coming)


def test_a_release_is_at_one_instant_in_events_and_in_summaries(service):
    at = {
        row["id"].removeprefix("evt_"): row["occurredAt"]
        for row in service.walk("/events", limit=500, start_date="2025-01-01")
    }
    rows = service.walk(PATH, limit=100, start_date="2025-01-01")
    assert len(rows) > 50
    assert [row["releasedAt"] for row in rows] == [at[row["id"].removeprefix("rls_")] for row in rows]
    assert [row["releasedAt"] for row in rows] == sorted((row["releasedAt"] for row in rows), reverse=True)


@pytest.mark.slow
def test_a_rebuild_gives_the_same_events_and_summaries(own):
    """The data database is a consequence of the raw store: ids and states come out as they were."""
    query = {"limit": 500, "start_date": "2025-06-01"}
    before = own.walk("/events", **query), own.walk(PATH, **query)
    with PipelineContext(own.settings) as world:
        assert recompute(world) == 0
        rebuild(world, lambda _: None)
    assert (own.walk("/events", **query), own.walk(PATH, **query)) == before


def test_what_a_calendar_announces_beyond_our_releases(service):
    """Entries of a calendar that no release is about: events of category `other`, without an indicator, and no summaries."""
    rows = service.walk("/events", category="other", limit=500)
    assert {row["type"] for row in rows} == {"publication"}
    assert {(row["sourceId"], row["country"], row["indicatorId"], row["actual"], row["unit"]) for row in rows} == {
        ("sandbox-bls-calendar", "country_usa", None, None, None)
    }
    names = {row["title"].rpartition(",")[0] for row in rows}
    assert names == {
        "United States: Real Earnings", "United States: Productivity and Costs", "United States: County Employment and Wages",
    }  # fmt: skip
    (costs,) = [row for row in rows if row["title"] == "United States: Productivity and Costs, 2026-Q3"]
    # 36 days after 30 September is 5 November, half past eight in New York, where summer time is over.
    assert (costs["period"], costs["occurredAt"], costs["timePrecision"], costs["status"]) == (
        "2026-Q3", "2026-11-05T13:30:00Z", "minute", "released",
    )  # fmt: skip
    assert {row["status"] for row in rows} == {"released", "scheduled", "tentative"}
    assert {row["type"] for row in service.walk("/events", category="macro_release", limit=500)}.isdisjoint(
        {"publication"}
    )
