"""Panels, triangles and joins give what the service gives as of every moment."""

import asyncio
import random
from datetime import date, datetime, timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import almanac_client as a
from almanac_client._panel import reading, steps
from almanac_client._query import moment

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
    assert [(str(r["at"])[:10], r["entity"], r["indicator"]) for r in records] == [
        (day, entity, slug)
        for day in ("2026-11-10", "2026-11-17")
        for entity in ("country_usa", "country_jpn")
        for slug in ("gov_yield_10y", "unemployment_rate")
    ]
    assert {r["at"].timetz().isoformat() for r in records} == {"23:59:59+00:00"}
    assert {(r["entity"], r["indicator"], r["source_id"]) for r in records if r["value"] is not None} == {
        ("country_usa", "gov_yield_10y", "us-treasury-par"),
        ("country_jpn", "gov_yield_10y", "mof-japan"),
        ("country_usa", "unemployment_rate", "fred"),
    }
    vintages = [request for request in asked(almanac) if request.url.path == "/observations/vintages"]
    assert [request.url.params["indicator"] for request in vintages] == ["gov_yield_10y", "unemployment_rate"]


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
        ({"at": datetime(2026, 1, 1)}, "without a zone"),
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
        ({"timestamp": [date(2026, 1, 1)]}, {"place": "USA"}, "has to be times with a zone"),
        ({"timestamp": [datetime(2026, 1, 1)]}, {"place": "USA"}, "has to be times with a zone"),
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
