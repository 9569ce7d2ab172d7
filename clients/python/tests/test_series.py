"""Series beside each other, triangles with their revisions, and their pictures."""

import asyncio
from datetime import date, datetime, timezone

import pandas as pd
import pytest

import almanac_client as a
from almanac_client import _generated_models as m
from almanac_client._revisions import months_later
from almanac_client._vintages import Triangle

from .served import asked, async_client, client

UTC = timezone.utc
RIGHTS = m.RowRights(
    exposure="public", redistributable=True, value_withheld=False, reason=None, license="L", license_class="open", attribution="By"
)  # fmt: skip
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def state(end, known, value, status="revised", **more):
    """One invented state of a month of the year 2024."""
    then = datetime(2024, end, 28, tzinfo=UTC)
    metadata = m.ObservationMetadata(series_id="s", withdrawn=value is None or None, basis=more.pop("basis", None))
    withheld = more.pop("withheld", False)
    rights = m.RowRights(
        exposure="restricted", redistributable=False, value_withheld=withheld, reason="no", license="L", license_class="open", attribution="By"
    )  # fmt: skip
    return m.DerivedObservation(
        id=f"{end}-{known}", entity_id="e", indicator_id="i", source_id="src", provider_id="p", value_numeric=value,
        unit="percent", frequency="monthly", period_end=then, observed_at=datetime.fromisoformat(f"{known}T12:00:00+00:00"),
        ingested_at=NOW, revision_status=status, attribution="By", freshness_status="fresh", metadata=metadata,
        rights=rights if withheld else RIGHTS, derived_from=[],
    )  # fmt: skip


def made(*rows):
    return Triangle("i", list(rows), {"data_version": 1, "as_of": None, "request_ids": []}, NOW)


@pytest.fixture
def invented():
    """January: 1 → 1.5 → 2; February: 3, withdrawn, 4; March: 5, published once."""
    return made(
        state(2, "2024-05-10", None),
        state(1, "2024-02-10", 1.0, "initial"),
        state(1, "2024-03-10", 1.5),
        state(1, "2024-06-10", 2.0),
        state(2, "2024-03-10", 3.0, "initial"),
        state(2, "2024-07-10", 4.0),
        state(3, "2024-04-10", 5.0, "initial"),
    )


def values(series):
    return {row.period_end.month: row.value_numeric for row in series}


def test_a_triangle_by_time_of_knowledge(invented):
    assert values(invented.as_of("2024-03-10")) == {1: 1.5, 2: 3.0}
    assert values(invented.as_of("2024-05-10")) == {1: 1.5, 3: 5.0}
    assert values(invented.as_of(datetime(2024, 3, 10, 11, 59, 59, tzinfo=UTC))) == {1: 1.0}
    assert values(invented.latest()) == {1: 2.0, 2: 4.0, 3: 5.0}
    assert invented.as_of("2024-03-10").attrs["as_of"] == "2024-03-10T23:59:59Z"
    with pytest.raises(a.InvalidArgument, match="knowledge here ends"):
        invented.as_of("2025-01-01")
    assert invented.vintages == [date(2024, month, 10) for month in range(2, 8)]
    assert invented.periods == [date(2024, month, 28) for month in (1, 2, 3)]
    assert [row.value_numeric for row in invented.states(date(2024, 2, 28))] == [3.0, None, 4.0]
    with pytest.raises(a.InvalidArgument, match="2024-02-29"):
        invented.states(date(2024, 2, 29))


def test_a_triangle_as_tables(invented):
    vertical = invented.vertical()
    assert vertical.columns == ["period_end", *(f"2024-0{month}-10" for month in range(2, 8))]
    assert [list(row.values())[1:] for row in vertical.to_records()] == [
        [1.0, 1.5, 1.5, 1.5, 2.0, 2.0],
        [None, 3.0, 3.0, None, None, 4.0],
        [None, None, 5.0, 5.0, 5.0, 5.0],
    ]
    horizontal = invented.horizontal()
    assert horizontal["vintage"] == invented.vintages
    assert [horizontal[f"2024-0{month}-28"] for month in (1, 2, 3)] == [
        list(row.values())[1:] for row in vertical.to_records()
    ]
    assert invented.diagonal(3).to_records() == [
        {"period_end": date(2024, 1, 28), "release_1": 1.0, "release_2": 1.5, "release_3": 2.0},
        {"period_end": date(2024, 2, 28), "release_1": 3.0, "release_2": 4.0, "release_3": None},
        {"period_end": date(2024, 3, 28), "release_1": 5.0, "release_2": None, "release_3": None},
    ]


def test_releases_by_number(invented):
    assert values(invented.first()) == {1: 1.0, 2: 3.0, 3: 5.0}
    assert values(invented.nth(2)) == {1: 1.5, 2: 4.0}
    assert values(invented.nth(4)) == {}
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(a.InvalidArgument):
            invented.nth(wrong)
        with pytest.raises(a.InvalidArgument):
            invented.diagonal(wrong)
        with pytest.raises(a.InvalidArgument):
            invented.revisions(initial=wrong)


def test_a_first_state_that_is_no_first_publication_is_left_out_aloud():
    triangle = made(state(1, "2024-02-10", 1.0, "unknown"), state(2, "2024-03-10", 2.0, "initial"))
    with pytest.warns(a.RevisionWarning, match="1 of 2 periods are left out"):
        assert values(triangle.first()) == {2: 2.0}
    with pytest.warns(a.RevisionWarning, match="1 without their first publication"):
        assert triangle.revisions()["period_end"] == [date(2024, 2, 28)]


def test_revisions(invented):
    table = invented.revisions()
    assert table["revision"] == [1.0, 1.0, 0.0]
    assert table["revision_percent"] == pytest.approx([100.0, 100 / 3, 0.0])
    assert table["initial_observed_at"][0] == datetime(2024, 2, 10, 12, tzinfo=UTC)
    assert table["later_observed_at"][0] == datetime(2024, 6, 10, 12, tzinfo=UTC)
    with pytest.warns(a.RevisionWarning, match="1 of 3 periods are left out: 1 without so many releases"):
        assert invented.revisions(initial=1, later="release:2")["revision"] == [0.5, 1.0]
    with pytest.warns(a.RevisionWarning, match="1 without so many"):
        assert invented.revisions(initial=2)["revision"] == [0.5, 0.0]
    with pytest.warns(a.RevisionWarning, match="1 withdrawn"):
        assert invented.revisions(later="months:2")["later"] == [1.5, 5.0]
    with pytest.warns(a.RevisionWarning, match="2 too young"):
        assert invented.revisions(later="months:10")["later"] == [2.0]


def test_pairs_that_say_nothing_of_revision_are_left_out_by_reason():
    triangle = made(
        state(1, "2024-02-10", 1.0, "initial", basis="2015=100"),
        state(1, "2024-03-10", 2.0, basis="2020=100"),
        state(2, "2024-03-10", None, "initial", withheld=True),
        state(3, "2024-04-10", 5.0, "initial"),
        state(3, "2024-05-10", None),
        state(4, "2024-05-10", 0.0, "initial"),
    )
    with pytest.warns(a.RevisionWarning) as caught:
        table = triangle.revisions()
    assert str(caught[0].message) == ("3 of 4 periods are left out: 1 counted from another base, 2 withdrawn")
    assert (table["revision"], table["revision_percent"]) == ([0.0], [None])


@pytest.mark.parametrize("later", ["newest", "release:0", "release:", "months:1201", "months:-1", "release:²"])
def test_a_later_that_means_nothing_is_refused(invented, later):
    with pytest.raises(a.InvalidArgument, match="'latest', 'release:k' or 'months:m'"):
        invented.revisions(later=later)


def test_months_later():
    assert months_later(datetime(2024, 1, 31, tzinfo=UTC), 1) == datetime(2024, 2, 29, tzinfo=UTC)
    assert months_later(datetime(2024, 11, 30, tzinfo=UTC), 3) == datetime(2025, 2, 28, tzinfo=UTC)
    assert months_later(datetime(2024, 12, 1, tzinfo=UTC), 12) == datetime(2025, 12, 1, tzinfo=UTC)


def test_a_served_triangle_keeps_to_one_source_and_names_it(almanac):
    triangle = almanac.triangle("gov_yield_10y", "USA", start="2026-11-01", end="2026-11-17")
    assert triangle.source_id == "us-treasury-par"
    assert triangle.series_id == "us-treasury-par:country_usa:gov_yield_10y:D"
    assert repr(triangle).startswith(f"<Triangle of {triangle.series_id}: ")
    states = triangle.states(date(2026, 11, 17))
    assert [row.value_numeric for row in states][1:] == [4.44]
    assert len(states) == 2
    assert min(triangle.periods) >= date(2026, 11, 1)
    other = almanac.triangle("gov_yield_10y", "USA", source_id="fred")
    assert {row.source_id for end in other.periods for row in other.states(end)} == {"fred"}
    with pytest.raises(a.InvalidArgument, match="nothing is known of gov_yield_10y for 'JPN', source 'fred'"):
        almanac.triangle("gov_yield_10y", "JPN", source_id="fred")


def test_a_triangle_as_of_a_day_ends_there(almanac):
    then = almanac.at("2026-11-19").triangle("gov_yield_10y", "USA", start="2026-11-17", end="2026-11-17")
    assert len(then) == 1
    with pytest.raises(a.InvalidArgument, match="knowledge here ends at 2026-11-19T23:59:59Z"):
        then.as_of("2026-11-20")


def test_series_are_raw_or_derived_by_their_name(almanac):
    raw = almanac.series("gov_yield_10y", "USA", start="2026-11-01")
    assert (raw.frequency, raw.unit, raw.source_ids) == ("daily", "percent", ["us-treasury-par", "fred"])
    assert [row.period_end for row in raw] == sorted(row.period_end for row in raw)
    derived = almanac.series("yield_slope_2s10s", "united-states", start="2026-11-01")
    ten, two = values_by_day(raw), values_by_day(almanac.series("gov_yield_2y", "country_usa", start="2026-11-01"))
    assert values_by_day(derived) == {
        day: pytest.approx(ten[day] - two[day], abs=1e-9) for day in ten.keys() & two.keys()
    }
    assert repr(raw).splitlines()[0] == "gov_yield_10y of country_usa, daily, in percent"
    assert "<table>" in raw._repr_html_()
    before = len(asked(almanac))
    almanac.series("gov_yield_10y", "USA")
    assert len(asked(almanac)) == before + 1


@pytest.mark.parametrize("code", ["BC_10YEAR", "bc_10year"])
def test_a_publishers_code_is_one_series_and_has_its_place(almanac, service, code):
    expected = service.walk(
        "/observations", indicator="gov_yield_10y", country="USA", source_id="us-treasury-par", sources="all"
    )
    assert len(expected) > 10
    for found in (almanac.series(code), almanac.series(code, "USA"), asyncio.run(async_client(service).series(code))):
        assert [row.id for row in found] == [row["id"] for row in expected]
        assert (found.indicator, found.entity_id) == ("gov_yield_10y", "country_usa")
        assert {row.metadata.native_id for row in found} == {"BC_10YEAR"}
    triangle = almanac.triangle(code)
    assert (triangle.source_id, triangle.entity_id) == ("us-treasury-par", "country_usa")
    assert [row.id for row in triangle.latest()] == [row["id"] for row in expected]
    assert almanac.frame({"ten": (code, "USA")})["ten"] == [row["valueNumeric"] for row in expected]


def test_every_code_that_a_row_tells_is_taken_by_series(almanac, service):
    told = {row["metadata"]["nativeId"]: row for row in service.walk("/observations", sources="all", limit=500)}
    assert len(told) > 10
    for code, row in told.items():
        found = almanac.series(code, row["entityId"])
        assert {one.metadata.series_id for one in found} == {row["metadata"]["seriesId"]}


def test_a_code_that_means_no_one_series_is_told_why(almanac):
    with pytest.raises(a.NotFound, match="CPIAUCN'"):
        almanac.series("CPIAUCN")
    with pytest.raises(a.InvalidArgument, match=r"'BC_10YEAR' is a code of country_usa, and not of 'JPN'"):
        almanac.series("BC_10YEAR", "JPN")
    with pytest.raises(a.InvalidArgument, match="'place' is missing: gov_yield_10y is an indicator of many"):
        almanac.series("gov_yield_10y")
    (only, *_) = [one for one in almanac.indicators.list() if one.entity_count == 1]
    (entity,) = {one.entity_id for one in almanac.indicators.series(only.slug)}
    with pytest.raises(a.InvalidArgument, match=f"'place' is missing: {only.slug} is an indicator of {entity};"):
        almanac.series(only.slug)


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (2026, 2026, "2026-01-01", "2026-12-31"), ("2026-10", "2026-10", "2026-10-01", "2026-10-31"),
        ("2026-Q4", "Q4 2026", "2026-10-01", "2026-12-31"), ("2026H2", None, "2026-07-01", "2026-12-31"),
        (pd.Timestamp("2026-11-01"), pd.Period("2026-11"), "2026-11-01", "2026-11-30"),
        (date(2026, 11, 1), "2026-11-17", "2026-11-01", "2026-11-17"),
    ],
)  # fmt: skip
def test_bounds_are_taken_as_periods_are(almanac, start, end, first, last):
    found = almanac.series("gov_yield_10y", "USA", start=start, end=end)
    assert found.rows == almanac.series("gov_yield_10y", "USA", start=first, end=last).rows
    assert len(found) > 0
    table = almanac.frame({"us": ("gov_yield_10y", "USA")}, start=start, end=end)
    assert table["period_end"] == [row.period_end.date() for row in found]
    assert almanac.triangle("gov_yield_10y", "USA", start=start, end=end).periods[0] >= date.fromisoformat(first)


@pytest.mark.parametrize("start", ["last May", "2026-13", "0000", datetime(2026, 1, 1, 12), pd.NaT])
def test_a_bound_that_is_none_is_told_what_one_is(almanac, start):
    with pytest.raises(a.InvalidArgument, match=r"2020-Q1|without a zone|names no time"):
        almanac.series("gov_yield_10y", "USA", start=start)
    assert asked(almanac) == []


def values_by_day(series):
    return {row.period_end.date(): row.value_numeric for row in series}


def test_a_frame_of_several_series(almanac):
    wanted = {"us": ("gov_yield_10y", "USA"), "japan": ("gov_yield_10y", "JPN")}
    table = almanac.frame(wanted, start="2026-10-01")
    one, other = (values_by_day(almanac.series(*series, start="2026-10-01")) for series in wanted.values())
    assert table.columns == ["period_end", "us", "japan"]
    assert table["period_end"] == sorted(one.keys() | other.keys())
    assert table["us"] == [one.get(day) for day in table["period_end"]]
    assert table["japan"] == [other.get(day) for day in table["period_end"]]
    assert None in table["us"] + table["japan"]
    long = almanac.frame(wanted, how="long", start="2026-10-01")
    assert len(long) == len(one) + len(other)
    assert set(zip(long["name"], long["entity_id"], strict=True)) == {("us", "country_usa"), ("japan", "country_jpn")}
    assert table.to_pandas().shape == (len(table), 3)


def test_frames_that_have_no_common_rows_are_refused(almanac):
    wanted = {"yield": ("gov_yield_10y", "USA"), "prices": ("cpi_index_nsa", "USA")}
    with pytest.raises(a.InvalidArgument, match=r"yield is daily, prices is monthly.*frequency='monthly'.*how='last'"):
        almanac.frame(wanted)
    assert set(almanac.frame(wanted, how="long")["frequency"]) == {"daily", "monthly"}
    for given, told in (({}, "no series"), ({"period_end": ("x", "y")}, "'period_end'")):
        with pytest.raises(a.InvalidArgument, match=told):
            almanac.frame(given)
    with pytest.raises(a.InvalidArgument, match="'how'"):
        almanac.frame(wanted, how="broad")


def test_a_frame_warns_of_what_is_withheld(service):
    almanac = client(service)
    table = almanac.frame({"spread": ("high_yield_spread", "USA")})
    assert table.withheld == len(table) > 0
    with pytest.warns(a.WithheldWarning, match=rf"{len(table)} of {len(table)} rows"):
        assert table.to_polars()["spread"].null_count() == len(table)


@pytest.fixture
def axes():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_a_series_is_drawn_with_a_gap_where_nothing_may_be_shown(almanac, axes):
    series = almanac.series("gov_yield_10y", "USA", start="2026-11-01")
    assert series.plot(axes, label="ten years") is axes
    (line,) = axes.get_lines()
    assert list(line.get_ydata()) == [row.value_numeric for row in series]
    assert (axes.get_ylabel(), line.get_label()) == ("percent", "ten years")
    (sources,) = [text.get_text() for text in axes.texts]
    assert sources == ", ".join(dict.fromkeys(row.rights.attribution for row in series))


def test_a_triangle_is_drawn_as_first_published_and_as_known_now(invented, axes):
    invented.plot(axes)
    first, latest = axes.get_lines()
    assert (first.get_label(), latest.get_label()) == ("as first published", "as known now")
    assert list(first.get_ydata()) == [1.0, 3.0, 5.0]
    assert list(latest.get_ydata()) == [2.0, 4.0, 5.0]
