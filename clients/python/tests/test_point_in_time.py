"""Panels, triangles and joins give what the service gives as of every moment."""

import asyncio
import random
from datetime import date, datetime, timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import almanac_client as a
from almanac_client._query import moment
from almanac_client._readings import reading, steps
from tests.support.filed_company import ENTITY, FACTS_URL, INDEX_URL, facts, index
from tests.support.service import Service, copy

from .served import asked, async_client, client

UTC = timezone.utc
FIRST, LAST = datetime(2023, 1, 1, tzinfo=UTC), datetime(2026, 11, 20, 11, tzinfo=UTC)
DRAWN = random.Random(20)
MOMENTS = sorted(FIRST + timedelta(seconds=DRAWN.randrange(int((LAST - FIRST).total_seconds()))) for _ in range(14)) + [
    LAST - timedelta(hours=DRAWN.randrange(300)) for _ in range(6)
]
#: Indicator, source: with vintages, with a withdrawn value, with projections, restricted, daily with a correction.
CASES = [
    ("cpi_index_nsa", "fred"), ("unemployment_rate", "fred"), ("gov_yield_10y", "us-treasury-par"), ("gov_yield_10y", "fred"),
    ("gov_yield_2y", "us-treasury-par"),
]  # fmt: skip


def written(when):
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def everything(service):
    """Every pair of indicator and source that the invented world has values of."""
    rows = service.walk("/observations/vintages", sources="all")
    return sorted({(row["indicatorId"].removeprefix("indicator_"), row["sourceId"], row["frequency"]) for row in rows})


def test_a_panel_is_what_latest_says_at_twenty_random_moments(almanac, service):
    compared = 0
    for slug, source, frequency in everything(service):
        panel = almanac.panel(slug, ["USA", "JPN"], at=MOMENTS, source_id=source, frequency=frequency)
        found = {
            (row["at"], row["entity"]): (row["period_end"], row["value"], row["observed_at"], row["unit"])
            for row in panel.to_records()
            if row["period_end"] is not None
        }
        expected = {}
        for when in MOMENTS:
            told = {"indicator": slug, "country": "USA,JPN", "source_id": source, "frequency": frequency}
            for row in service.walk("/observations/latest", "pro", **told, as_of=written(when)):
                known = moment("x", row["observedAt"])
                end = date.fromisoformat(row["periodEnd"][:10])
                expected[when, row["entityId"]] = (end, row["valueNumeric"], known, row["unit"])
        assert found == expected, (slug, source)
        compared += len(expected)
    assert compared > 100


@pytest.fixture(scope="module")
def filing(built, tmp_path_factory):
    """The invented world with a company that filed for a year, and for quarters since."""
    one = Service(copy(built, tmp_path_factory.mktemp("filing") / "home"))
    one.ingest("sec", INDEX_URL, index(), 1_780_000_000, "application/json")
    one.ingest("sec", FACTS_URL, facts(), 1_780_000_001, "application/json")
    yield one
    one.close()


def test_with_nothing_named_a_panel_is_what_latest_says_of_every_indicator_and_company_too(filing):
    """Of several frequencies and sources the one that is chosen follows from what was known then."""
    service, almanac = filing, client(filing)
    pairs: dict[str, set[str]] = {}
    frequencies: dict[tuple[str, str], set[str]] = {}
    for row in service.walk("/observations/vintages", sources="all"):
        slug = row["indicatorId"].removeprefix("indicator_")
        pairs.setdefault(slug, set()).add(row["entityId"])
        frequencies.setdefault((slug, row["entityId"]), set()).add(row["frequency"])
    assert max(len(one) for one in frequencies.values()) > 1
    expected = {}
    for when in MOMENTS:
        for row in service.walk("/observations/latest", as_of=written(when)):
            slug = row["indicatorId"].removeprefix("indicator_")
            expected[when, slug, row["entityId"]] = (row["frequency"], row["periodEnd"][:10], row["valueNumeric"])
    found = {}
    for slug, entities in pairs.items():
        for row in almanac.panel(slug, sorted(entities), at=MOMENTS).to_records():
            if row["period_end"] is not None:
                found[row["at"], slug, row["entity"]] = (row["frequency"], str(row["period_end"]), row["value"])
    assert found == expected
    assert {one[0] for one in expected.values()} >= {"annual", "quarterly", "daily", "monthly"}
    assert len(expected) > 500


def test_a_triangle_as_known_then_is_of_what_was_known_then(filing):
    almanac = client(filing)
    assert almanac.at("2023-03-01").triangle("net_income", ENTITY).frequency == "annual"
    triangle = almanac.triangle("net_income", ENTITY)
    assert triangle.frequency == "quarterly"
    with pytest.warns(a.ChoiceWarning, match="quarterly and annual: quarterly is taken, frequency='annual' gives"):
        assert {row.frequency for row in almanac.series("net_income", ENTITY)} == {"quarterly"}
    assert almanac.series("net_income", ENTITY, frequency="annual").frequency == "annual"
    assert almanac.series("net_income", ENTITY, as_of="2023-03-01").frequency == "annual"
    with pytest.warns(a.ChoiceWarning, match="frequency='annual'"):
        assert len(triangle.as_of("2023-03-01")) == 0
    join = pl.DataFrame({"timestamp": [datetime(2023, 3, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)]})
    with pytest.warns(a.ChoiceWarning, match=r"annual from 2023-02-21, quarterly from 2023-05-02"):
        joined = almanac.join_as_of(join, indicator="net_income", place=ENTITY)
    assert joined["net_income"].to_list() == [40.0, 10.0]
    kept = almanac.join_as_of(join, indicator="net_income", place=ENTITY, frequency="annual")
    assert kept["net_income"].to_list() == [40.0, 40.0]


def test_a_triangle_is_what_observations_say_at_twenty_random_moments(almanac, service):
    compared = 0
    for slug, source, frequency in everything(service):
        kind = service.ok(f"/indicators/{slug}")["kind"]
        path = "/derived-observations" if kind == "derived" else "/observations"
        for place in ("USA", "JPN"):
            told = {"indicator": slug, "country": place, "source_id": source, "frequency": frequency}
            try:
                triangle = almanac.triangle(slug, place, source_id=source, frequency=frequency)
            except a.InvalidArgument:
                assert service.ok("/observations/vintages", "pro", **told) == []
                continue
            for when in MOMENTS:
                expected = service.walk(path, "pro", **told, as_of=written(when))
                assert [row.id for row in triangle.as_of(when)] == [row["id"] for row in expected], (told, when)
                compared += len(expected)
            now = service.walk(path, "pro", **told)
            assert [row.id for row in triangle.latest()] == [row["id"] for row in now]
    assert compared > 1000


def test_a_panel_has_a_row_for_each_date_place_and_indicator(almanac):
    panel = almanac.panel(
        ["gov_yield_10y", "unemployment_rate"], ["USA", "japan"], at=["2026-11-10", date(2026, 11, 17)]
    )
    records = panel.to_records()
    assert [(str(r["at"]), r["entity"], r["indicator"]) for r in records] == [
        (day, entity, slug)
        for day in ("2026-11-10", "2026-11-17")
        for entity in ("country_usa", "country_jpn")
        for slug in ("gov_yield_10y", "unemployment_rate")
    ]
    assert {(r["entity"], r["indicator"], r["source_id"]) for r in records if r["value"] is not None} == {
        ("country_usa", "gov_yield_10y", "us-treasury-par"),
        ("country_jpn", "gov_yield_10y", "mof-japan"),
        ("country_usa", "unemployment_rate", "fred"),
    }
    assert panel.attrs["without"] == ["unemployment_rate of country_jpn"]
    vintages = [request for request in asked(almanac) if request.url.path == "/observations/vintages"]
    assert [request.url.params["indicator"] for request in vintages] == ["gov_yield_10y", "unemployment_rate"]


MONTHS = pd.date_range("2026-06-30", freq="ME", periods=5)


@pytest.mark.parametrize(
    "at",
    [
        MONTHS, list(MONTHS), MONTHS.to_series(), MONTHS.to_numpy(), MONTHS.date, MONTHS.to_period("M"), pl.Series(MONTHS.date),
        [str(month)[:10] for month in MONTHS],
    ],
    ids=["range", "stamps", "series", "numpy", "dates", "periods", "polars", "texts"],
)  # fmt: skip
def test_days_however_they_are_written_mean_their_end_and_are_the_index(almanac, at):
    panel = almanac.panel("gov_yield_10y", "USA", at=at)
    expected = [
        reading(triangle_steps(almanac.triangle("gov_yield_10y", "USA")), moment("at", day)) for day in MONTHS.date
    ]
    assert panel["value"] == [row.value_numeric for row in expected]
    frame = panel.to_pandas()
    assert frame.index.name == "at"
    assert frame.index.equals(MONTHS)
    assert frame.index.isin(MONTHS).all()
    own = pd.DataFrame({"at": MONTHS, "mine": range(5)})
    assert len(own.merge(frame, on="at")) == 5


def test_an_instant_is_an_instant_and_midnights_of_a_zone_are_told_what_they_mean(almanac):
    zoned = MONTHS.tz_localize("UTC")
    with pytest.warns(a.ChoiceWarning, match=r"what was known when those days began\. Give dates"):
        panel = almanac.panel("gov_yield_10y", "USA", at=zoned)
    assert panel.to_pandas().index.equals(zoned)
    before = almanac.panel("gov_yield_10y", "USA", at=[day - timedelta(seconds=1) for day in zoned])
    assert panel["value"] == before["value"]
    assert almanac.at(MONTHS[0]).series("gov_yield_10y", "USA").attrs["as_of"] == "2026-06-30"
    mixed = almanac.panel("gov_yield_10y", "USA", at=["2026-06-30", LAST])
    assert mixed["at"] == [datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC), LAST]


@pytest.mark.parametrize("days", [MONTHS, MONTHS.date], ids=["pandas", "polars"])
def test_rows_of_days_are_joined_with_what_was_known_at_their_end(almanac, days):
    frame = pd.DataFrame({"timestamp": days}) if days is MONTHS else pl.DataFrame({"timestamp": list(days)})
    joined = almanac.join_as_of(frame, indicator="gov_yield_10y", place="USA")
    assert list(joined["gov_yield_10y"]) == almanac.panel("gov_yield_10y", "USA", at=MONTHS)["value"]
    assert list(joined["timestamp"]) == list(frame["timestamp"])
    assert list(joined.columns)[2:] == ["gov_yield_10y_period_end", "gov_yield_10y_observed_at"]


def test_readings_that_are_too_old_are_null(almanac):
    ask = {"indicators": "unemployment_rate", "places": "USA", "at": "2026-11-17"}
    (fresh,) = almanac.panel(**ask).to_records()
    age = (date(2026, 11, 17) - fresh["period_end"]).days
    assert fresh["age_days"] == age > 0
    assert almanac.panel(**ask, max_age=age)["value"] == [fresh["value"]]
    (old,) = almanac.panel(**ask, max_age=timedelta(days=age - 1)).to_records()
    assert (old["value"], old["period_end"], old["entity"]) == (None, None, "country_usa")


def test_a_panel_of_a_past_state_cannot_see_further(almanac):
    with pytest.raises(a.InvalidArgument, match="beyond the 2026-11-10"):
        almanac.at("2026-11-10").panel("gov_yield_10y", "USA", at="2026-11-11")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"at": []}, "'at' names no date"),
        ({"places": []}, "'places' names none"),
        ({"max_age": -1}, "'max_age'"),
        ({"at": datetime(2026, 1, 1, 12)}, "without a zone"),
        ({"at": pd.NaT}, "'at' names no time"),
        ({"at": 2026}, "'at' cannot be 2026"),
        ({"at": "yesterday"}, "not a date"),
    ],
)
def test_panels_that_cannot_be_meant(almanac, wrong, told):
    with pytest.raises(a.InvalidArgument, match=told):
        almanac.panel(**{"indicators": "gov_yield_10y", "places": "USA", "at": "2026-11-10", **wrong})


def test_names_that_mean_nothing_are_errors_with_a_suggestion(almanac):
    with pytest.raises(a.NotFound, match="gov_yield_10y"):
        almanac.panel("gov_yeild_10y", "USA", at="2026-11-10")
    with pytest.raises(a.NotFound, match="USAX"):
        almanac.series("gov_yield_10y", "USAX")


def test_a_join_sees_what_was_known_at_each_row(almanac):
    triangle = almanac.triangle("cpi_index_nsa", "USA")
    times = [*sorted(MOMENTS), FIRST - timedelta(days=3000), None]
    expected = []
    table = triangle_steps(triangle)
    for when in times:
        row = None if when is None else reading(table, when)
        expected.append(None if row is None else row.value_numeric)
    assert len({value for value in expected if value is not None}) > 3
    frame = pl.DataFrame(
        {"n": range(len(times)), "timestamp": times}, schema_overrides={"timestamp": pl.Datetime("ms", "UTC")}
    )
    joined = almanac.join_as_of(frame.reverse(), indicator="cpi_index_nsa", place="USA")
    assert isinstance(joined, pl.DataFrame)
    assert joined["n"].to_list() == list(reversed(range(len(times))))
    assert joined.reverse()["cpi_index_nsa"].to_list() == expected
    assert joined.columns == [
        "n",
        "timestamp",
        "cpi_index_nsa",
        "cpi_index_nsa_period_end",
        "cpi_index_nsa_observed_at",
    ]
    late = joined.filter(pl.col("cpi_index_nsa_observed_at") > pl.col("timestamp"))
    assert len(late) == 0
    as_pandas = pd.DataFrame({"timestamp": pd.to_datetime(pd.Series(times), utc=True)})
    as_pandas.index = [f"row {n}" for n in range(len(times))]
    found = almanac.join_as_of(as_pandas, indicator="cpi_index_nsa", place="USA")
    assert isinstance(found, pd.DataFrame)
    assert found.index.equals(as_pandas.index)
    assert "cpi_index_nsa" not in as_pandas.columns
    assert [None if pd.isna(v) else v for v in found["cpi_index_nsa"]] == expected


def triangle_steps(triangle):
    return steps([row for end in triangle.periods for row in triangle.states(end)])


def test_a_join_by_a_column_of_places(almanac):
    when = datetime(2026, 11, 17, 12, tzinfo=UTC)
    frame = pl.DataFrame({"timestamp": [when, when, when], "place": ["JPN", "USA", "JPN"]})
    joined = almanac.join_as_of(frame, indicator="gov_yield_10y", by="place")
    panel = almanac.panel("gov_yield_10y", ["USA", "JPN"], at=when)
    values = dict(zip(panel["entity"], panel["value"], strict=True))
    assert joined["gov_yield_10y"].to_list() == [values[f"country_{p}"] for p in ("jpn", "usa", "jpn")]
    assert joined["gov_yield_10y"].null_count() == 0


def test_a_join_of_an_empty_frame_has_its_columns(almanac):
    frame = pl.DataFrame({"timestamp": []}, schema={"timestamp": pl.Datetime("us", "UTC")})
    joined = almanac.join_as_of(frame, indicator="gov_yield_10y", place="USA")
    assert joined.shape == (0, 4)


@pytest.mark.parametrize(
    ("columns", "given", "told"),
    [
        ({"timestamp": ["2026-01-01"]}, {"place": "USA"}, "has to be times with a zone, or days"),
        ({"timestamp": [datetime(2026, 1, 1, 12)]}, {"place": "USA"}, "has to be times with a zone, or days"),
        ({"time": [FIRST]}, {"place": "USA"}, "no column 'timestamp'; it has time"),
        ({"timestamp": [FIRST]}, {}, "either place="),
        ({"timestamp": [FIRST], "p": ["USA"]}, {"place": "USA", "by": "p"}, "either place="),
        ({"timestamp": [FIRST], "gov_yield_10y": [1]}, {"place": "USA"}, "'gov_yield_10y' already"),
    ],
)
def test_joins_that_would_mislead_are_refused(almanac, columns, given, told):
    with pytest.raises(a.InvalidArgument, match=told):
        almanac.join_as_of(pl.DataFrame(columns), indicator="gov_yield_10y", **given)


@pytest.mark.parametrize("frame", [pa.table({"timestamp": [1]}), pl.LazyFrame({"timestamp": [1]}), [1]])
def test_what_is_no_frame_of_pandas_or_polars_is_refused(almanac, frame):
    with pytest.raises(a.InvalidArgument, match="a frame of pandas or polars, not to a"):
        almanac.join_as_of(frame, indicator="gov_yield_10y", place="USA")


def test_awaited_it_is_the_same(service):
    awaited, almanac = async_client(service), client(service)

    async def both():
        panel = await awaited.panel("gov_yield_10y", ["USA", "JPN"], at="2026-11-10")
        triangle = await awaited.triangle("cpi_index_nsa", "USA")
        series = await awaited.series("gov_yield_10y", "JPN")
        frame = await awaited.frame({"a": ("gov_yield_10y", "JPN")})
        joined = await awaited.join_as_of(pl.DataFrame({"timestamp": [LAST]}), indicator="gov_yield_10y", place="USA")
        return panel, triangle, series, frame, joined

    panel, triangle, series, frame, joined = asyncio.run(both())
    assert panel.to_records() == almanac.panel("gov_yield_10y", ["USA", "JPN"], at="2026-11-10").to_records()
    assert triangle.latest().rows == almanac.triangle("cpi_index_nsa", "USA").latest().rows
    assert series.rows == almanac.series("gov_yield_10y", "JPN").rows
    assert frame.to_records() == almanac.frame({"a": ("gov_yield_10y", "JPN")}).to_records()
    assert joined.equals(
        almanac.join_as_of(pl.DataFrame({"timestamp": [LAST]}), indicator="gov_yield_10y", place="USA")
    )
