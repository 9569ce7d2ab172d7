"""Columns of latest readings: what /observations/latest gives pair by pair, for all entities at once."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import PROJECTION, ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure, Rights
from almanac.store.engine import opening
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.reading import metadata
from almanac.store.observations.reading.newest import Readings, read_latest
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.dependents import WHOLE
from almanac.store.observations.writing.vintages import SeriesClaim
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, GAMMA, START, SmallWorld, sent, spec

ENTITIES = ["country_aaa", "country_bbb", "country_none"]
NOW = START + 100 * DAY_SECONDS
JANUARY, FEBRUARY, MARCH, NEXT_YEAR = (Period.parse(text).key for text in ("2025-01", "2025-02", "2025-03", "2026-03"))


@pytest.fixture(params=["one by one", "in bulk"])
def judged(request, monkeypatch):
    """Rights judged either way: few lineages one by one, many in bulk."""
    if request.param == "in bulk":
        monkeypatch.setattr(metadata, "_FEW_LINEAGES", 0)


@pytest.fixture
def world():
    with SmallWorld() as opened:
        yield opened


def level(source, day, *lines, country="aaa"):
    return sent(source, day, (f"level.{country}", [ReportedValue(*line) for line in lines], None))


def told(readings, view, indicator, version=None, as_of=None):
    """A column as entity → (value, text, unit, period, known, series, withheld)."""
    column = readings.column(view, indicator, version=view.version if version is None else version, as_of=as_of)
    found = {}
    for entity, place in zip(ENTITIES, column.rows(readings.numbers(ENTITIES)), strict=True):
        if place >= 0:
            value = column.values[place]
            found[entity] = (
                None if np.isnan(value) else float(value), column.texts[place], column.units[column.unit[place]],
                int(column.periods[place]), int(column.known[place]),
                view.directory.series(int(column.series[place])).id, bool(column.withheld[place]),
            )  # fmt: skip
    assert len(found) == len(column.entities)
    return found


def expected(view, indicator, version=None, as_of=None):
    """The same from the list of latest readings."""
    asked = ObservationFilter(indicators=(indicator,))
    rows, following = read_latest(
        view, ObservationQuery(asked, view.version if version is None else version, as_of, limit=99)
    )
    assert following is None
    found = {}
    for row in rows:
        shut = view.directory.row_rights(row.series, row.lineage).withheld
        number, text = (row.value, row.text)
        found[row.series.spec.entity] = (
            None if shut else number, None if shut else text, row.series.spec.unit, row.period,
            row.known, row.series.id, shut,
        )  # fmt: skip
    return found


changes = st.lists(
    st.tuples(st.just("allow"), st.lists(st.just(GAMMA), max_size=1))
    | st.tuples(st.just("prefer"), st.permutations([ALPHA, BETA, GAMMA])),
    max_size=2,
)
projected = st.sampled_from([0, PROJECTION])
#: What is known beforehand: forecasts of the year after, projections of months gone by, with outcomes for some of the same.
forecasts = st.lists(
    st.tuples(
        st.sampled_from([ALPHA, BETA, GAMMA]),
        st.integers(0, 5),
        st.lists(
            st.tuples(st.sampled_from([MARCH, NEXT_YEAR]), st.sampled_from([None, 3.0, 5.0]))
            | st.tuples(st.sampled_from([FEBRUARY, MARCH]), st.sampled_from([3.0, 5.0]), *[st.none()] * 2, projected),
            min_size=1,
            max_size=2,
        ),
    ),
    max_size=3,
)


@given(histories, forecasts, changes)
def test_a_column_is_the_list_of_latest_readings(judged, responses, ahead, events):
    """For every indicator, at every moment something changed and at each of the last data versions."""
    with SmallWorld() as world:
        world.send([*responses, *(level(source, day, *lines) for source, day, lines in ahead)])
        versions = [world.version - 1, world.version]
        for name, arguments in events:
            getattr(world, name)(*arguments)
        readings, moments = Readings(), (None, *world.moments()[::3])
        for version in {*versions, world.version}:
            # A view of its own for each version, as each request has.
            view = world.view()
            for indicator in world.catalog.indicators:
                for as_of in moments:
                    there = told(readings, view, indicator, version, as_of)
                    assert there == expected(view, indicator, version, as_of)


def check_now(responses, events):
    with SmallWorld() as world:
        world.send(responses)
        for name, arguments in events:
            getattr(world, name)(*arguments)
        view, readings = world.view(), Readings()
        for indicator in world.catalog.indicators:
            assert told(readings, view, indicator) == told(readings, view, indicator, as_of=NOW)


@given(histories, changes)
def test_no_as_of_is_as_of_now(judged, responses, events):
    check_now(responses, events)


def test_a_projection_is_no_latest_reading_until_it_is_an_outcome(world, judged):
    """The same number, stated later without the mark, is a state of its own: known as an outcome from then."""
    world.send([level(ALPHA, 1, (JANUARY, 1.0), (FEBRUARY, 2.0, None, None, PROJECTION))])
    before = world.view()
    assert told(Readings(), before, "level")["country_aaa"][:4] == (1.0, None, "percent", JANUARY)
    assert before.newest_period(before.directory.series(1), before.version, None) == JANUARY
    world.send([level(ALPHA, 3, (FEBRUARY, 2.0))])
    view = world.view()
    assert told(Readings(), view, "level")["country_aaa"][3] == FEBRUARY
    as_of = START + 2 * DAY_SECONDS
    assert told(Readings(), view, "level", as_of=as_of) == expected(view, "level", as_of=as_of)
    assert told(Readings(), view, "level", as_of=as_of)["country_aaa"][3] == JANUARY


def test_the_latest_reading_of_a_pair(world, judged):
    world.send([level(ALPHA, 1, (JANUARY, 1.0), (FEBRUARY, 2.0), (NEXT_YEAR, 9.0)), level(BETA, 2, (FEBRUARY, 3.0))])
    world.send([level(ALPHA, 1, (JANUARY, 4.0), country="bbb")])
    found = told(Readings(), world.view(), "level")
    assert {entity: row[0] for entity, row in found.items()} == {"country_aaa": 2.0, "country_bbb": 4.0}
    assert found["country_aaa"] == (
        2.0, None, "percent", FEBRUARY, START + DAY_SECONDS, "alpha:country_aaa:level:M", False
    )  # fmt: skip


def test_a_withheld_reading_is_there_without_its_value_and_never_hides_a_public_one(world, judged):
    world.send(
        [
            level(ALPHA, 1, (JANUARY, 1.0)),
            level(GAMMA, 1, (FEBRUARY, 7.25)),
            level(GAMMA, 1, (JANUARY, 8.5), country="bbb"),
        ]
    )
    view, readings = world.view(), Readings()
    # The newest month has a withheld value only: the reading is the older one that may be sent, where there is one.
    found = told(readings, view, "level")
    assert found == expected(view, "level")
    assert {e: (row[0], row[3], row[6]) for e, row in found.items()} == {
        "country_aaa": (1.0, JANUARY, False),
        "country_bbb": (None, JANUARY, True),
    }
    world.allow(GAMMA)
    assert {e: row[0] for e, row in told(readings, world.view(), "level").items()} == {
        "country_aaa": 7.25,
        "country_bbb": 8.5,
    }


def test_rights_are_those_of_now_though_the_version_is_pinned(world, judged):
    world.allow(GAMMA)
    world.send([level(GAMMA, 1, (JANUARY, 7.25))])
    pinned, readings = world.version, Readings()
    assert told(readings, world.view(), "level")["country_aaa"][0] == 7.25
    world.allow()
    assert told(readings, world.view(), "level", pinned)["country_aaa"][0] is None
    assert told(readings, world.view(), "level")["country_aaa"][0] is None


def test_derived_values_follow_the_rights_of_their_inputs(world, judged):
    months = [Period.parse(f"{year}-{month:02}").key for year in (2024, 2025) for month in (1, 2)]
    world.send([level(source, 1, *((key, 100.0 + n) for n, key in enumerate(months))) for source in (GAMMA,)])
    readings = Readings()
    assert told(readings, world.view(), "level_yoy")["country_aaa"][0] is None
    world.allow(GAMMA)
    found = told(readings, world.view(), "level_yoy")["country_aaa"]
    assert (found[0], found[6]) == (pytest.approx(100 * (103 / 101 - 1)), False)


def test_as_of_withdrawals_give_way_to_older_periods(world, judged):
    world.send([level(ALPHA, 1, (JANUARY, 1.0), (FEBRUARY, 2.0)), level(ALPHA, 4, (FEBRUARY, None))])
    view, readings = world.view(), Readings()
    seen = {day: told(readings, view, "level", as_of=START + day * DAY_SECONDS) for day in (0, 1, 4)}
    assert {day: {e: row[0] for e, row in found.items()} for day, found in seen.items()} == {
        0: {},
        1: {"country_aaa": 2.0},
        4: {"country_aaa": 1.0},
    }


def test_an_instant_and_a_text_are_readings_too(world):
    balance = Period(None, date(2025, 2, 28)).key
    world.send([level(ALPHA, 1, (JANUARY, 1.0), (balance, None, None, None, 0, "hiking"))])
    assert told(Readings(), world.view(), "level")["country_aaa"][:4] == (None, "hiking", "percent", balance)


def test_a_forecast_in_the_preferred_place_hides_its_cell(world):
    """As in the list of latest readings: the cell's row is the forecast, which is no reading."""
    may = Period.parse("2025-05").key
    world.send(
        [
            level(ALPHA, 1, (MARCH, 1.0), (may, 9.0)),
            level(BETA, 60, (may, 5.0)),
            level(ALPHA, 1, (may, 8.0), country="bbb"),
        ]
    )
    view = world.view()
    for as_of in (None, NOW):
        found = told(Readings(), view, "level", as_of=as_of)
        assert found == expected(view, "level", as_of=as_of)
        assert {entity: row[0] for entity, row in found.items()} == {"country_aaa": 1.0}
    world.prefer(BETA, ALPHA)
    assert {entity: row[0] for entity, row in told(Readings(), world.view(), "level").items()} == {"country_aaa": 5.0}


def test_the_newest_end_comes_before_the_higher_frequency(world):
    def store(country, **periods):
        for letter, period in periods.items():
            series = spec(ALPHA, "level", f"country_{country}", letter)
            key = Period.parse(period).key
            batch.replace(
                batch.series(series, "raw"), {key: [Vintage(START, float(ord(letter)), None, 0, START, START, 0)]}
            )

    with Batch(world.db, 1, "test") as batch:
        store("aaa", A="2024", Q="2024-Q4", M="2024-11")
        store("bbb", A="2024", Q="2024-Q3", M="2024-11")
    view = world.view()
    for as_of in (None, NOW):
        found = told(Readings(), view, "level", as_of=as_of)
        assert found == expected(view, "level", as_of=as_of)
        assert {entity: row[0] for entity, row in found.items()} == {"country_aaa": ord("Q"), "country_bbb": ord("A")}


# -- what is kept ----------------------------------------------------------------------------------------------------------


def test_columns_are_kept_by_version_and_moment(world, monkeypatch):
    made, make = [], Readings._made
    monkeypatch.setattr(Readings, "_made", lambda *given: made.append(given[2:]) or make(*given))
    readings = Readings()
    versions = []
    for day in (2, 3):
        world.send([level(ALPHA, day, (JANUARY, float(day)))])
        versions.append(world.version)
        for as_of in (None, None, NOW):
            assert told(readings, world.view(), "level", as_of=as_of)["country_aaa"][0] == day
    expected = [("level", version, as_of) for version in versions for as_of in (None, NOW)]
    assert made == expected
    # A walk may be pinned to what was the newest version before.
    assert told(readings, world.view(), "level", versions[0])["country_aaa"][0] == 2
    assert made == expected


# -- rights of many rows at once -------------------------------------------------------------------------------------------


def test_lineages_judged_in_bulk_are_judged_as_one_by_one(world, monkeypatch):
    """Public, tightened, shut by its own, by its source, allowed to be derived from, derived, lost, and mixtures of these."""
    closed = Rights(exposure=Exposure.restricted, license="invented", attribution="Invented", reason="closed")
    sources = {
        name: Source(
            id=name, provider="first", name=name, description="Invented.", homepage="https://publisher.example",
            connector="invented", rights=rights,
        )
        for name, rights in (
            ("closed", closed), ("lenient", msgspec.structs.replace(closed, derivatives_allowed=True)),
        )
    }  # fmt: skip

    def fact_of(source, indicator, **more):
        return spec(source, indicator, "company_0000000001", "Q", **more)

    with Batch(world.db, 1, "test") as batch:
        for source in sources.values():
            body = msgspec.json.encode(source).decode()
            world.db.execute("INSERT INTO record VALUES('source', ?, ?)", (source.id, body))
        fact = {
            "open": batch.series(fact_of(ALPHA, "fact_a"), "raw"),
            "tightened": batch.series(fact_of(ALPHA, "fact_b"), "raw"),
            "restricted": batch.series(fact_of(ALPHA, "fact_c", exposure=Exposure.restricted, reason="owned"), "raw"),
            "unconsented": batch.series(fact_of(GAMMA, "fact_d"), "raw"),
            "closed": batch.series(fact_of("closed", "fact_e"), "raw"),
            "lenient": batch.series(fact_of("lenient", "fact_f"), "raw"),
        }
        batch.tighten(fact["tightened"], Exposure.internal_only, "told so")
        names = {name: handle.id for name, handle in fact.items()}
        for name, inputs in (("sum", [names["open"]]), ("shut sum", [names["closed"]])):
            names[name] = batch.series(fact_of(ALPHA, name.replace(" ", "_")), "derived", inputs).id
        names["lost"] = "alpha:company_0000000001:gone:Q"
        sets = [[one] for one in names] + [[one, two] for one in names for two in names if one < two]
        lineages = {batch.lineage([names[one] for one in inputs]): inputs for inputs in sets}
        value = batch.series(fact_of(ALPHA, "value"), "derived")
    directory = world.view().directory
    origins = [(value.number, lineage) for lineage in lineages]
    one_by_one = directory.withheld(origins)
    shut = {"tightened", "restricted", "unconsented", "closed", "shut sum"}
    assert {lineage for _, lineage in one_by_one} == {
        lineage for lineage, inputs in lineages.items() if shut & set(inputs) or inputs == ["lost"]
    }
    monkeypatch.setattr(metadata, "_FEW_LINEAGES", 0)
    assert directory.withheld(origins) == one_by_one
    # Where a derived series is among them, or none is left, only the full way can tell.
    full = {lineage for lineage, inputs in lineages.items() if {"sum", "shut sum"} & set(inputs) or inputs == ["lost"]}
    assert set(directory._judged(lineages)) == set(lineages) - full


# What is noted of a change that moves no row: whole topics, down to what is computed from what was computed.


JANUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS = (Period.parse(f"2026-{month:02}").key for month in (1, 2))
#: 2026-04-01T00:00:00Z
AT = 1_775_001_600


def dependent_spec(indicator, source="invented"):
    return SeriesSpec(
        source=source, native="x", indicator=indicator, entity="country_aaa", frequency=Frequency.MONTHLY,
        unit="percent", name="x",
    )  # fmt: skip


A, B, OTHER = dependent_spec("a"), dependent_spec("b"), dependent_spec("other")
FROM_A, FROM_FROM_A, FROM_ROWS = (
    dependent_spec("from_a"),
    dependent_spec("from_from_a"),
    dependent_spec("from_rows", "almanac-derived"),
)


@dataclass
class Store:
    db: object

    def batch(self):
        return Batch(self.db, AT, "test")

    def noted(self, version):
        found = self.db.execute(
            "SELECT t.indicator, c.low, c.high FROM change c JOIN topic t USING(topic) WHERE c.version = ? ORDER BY 1",
            (version,),
        )
        return {name: (low, high) for name, low, high in found}


@pytest.fixture
def store():
    """A, B, a series with one lineage from A, one from that, and one whose rows have lineages of their own."""
    one = Store(opening.create(Path(":memory:")))
    ref = PayloadRef(1, AT, (AT, "0" * 64))
    with one.batch() as batch:
        for raw in (A, B, OTHER):
            values = [ReportedValue(JANUARY_OF_DEPENDENTS, 1.0), ReportedValue(FEBRUARY_OF_DEPENDENTS, 2.0)]
            batch.append(ref, [SeriesClaim(batch.series(raw, "raw"), values)])
        row = Vintage(AT, 1.0, None, 0, None, AT, 0)
        batch.replace(batch.series(FROM_A, "derived", [A.id]), {JANUARY_OF_DEPENDENTS: [row]})
        batch.replace(batch.series(FROM_FROM_A, "derived", [FROM_A.id, OTHER.id]), {JANUARY_OF_DEPENDENTS: [row]})
        mixed = row._replace(lineage=batch.lineage([OTHER.id, B.id]))
        batch.replace(batch.series(FROM_ROWS, "derived"), {FEBRUARY_OF_DEPENDENTS: [mixed]})
    yield one
    one.db.close()


def test_rows_are_noted_by_the_span_they_lie_in(store):
    assert store.noted(1) == {
        "a": (JANUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS), "b": (JANUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS), "other": (JANUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS),
        "from_a": (JANUARY_OF_DEPENDENTS, JANUARY_OF_DEPENDENTS), "from_from_a": (JANUARY_OF_DEPENDENTS, JANUARY_OF_DEPENDENTS), "from_rows": (FEBRUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS),
    }  # fmt: skip
    ref = PayloadRef(2, AT + 1, (AT + 1, "0" * 64))
    with store.batch() as batch:
        batch.append(ref, [SeriesClaim(batch.existing(A.id), [ReportedValue(FEBRUARY_OF_DEPENDENTS, 3.0)])])
        batch.append(ref, [SeriesClaim(batch.existing(A.id), [ReportedValue(JANUARY_OF_DEPENDENTS, 3.0)])])
        batch.append(ref, [SeriesClaim(batch.existing(B.id), [ReportedValue(JANUARY_OF_DEPENDENTS, 1.0)])])
    assert store.noted(2) == {"a": (JANUARY_OF_DEPENDENTS, FEBRUARY_OF_DEPENDENTS)}


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        (A, {"a", "from_a", "from_from_a"}),
        (FROM_A, {"from_a", "from_from_a"}),
        (B, {"b", "from_rows"}),
        (OTHER, {"other", "from_from_a", "from_rows"}),
    ],
)
def test_tightened_rights_are_noted_down_to_the_last_that_is_computed(store, name, concerned):
    with store.batch() as batch:
        batch.tighten(batch.existing(name.id), Exposure.restricted, "invented")
    assert store.noted(2) == dict.fromkeys(concerned, (0, WHOLE))
    with store.batch() as batch:
        batch.tighten(batch.existing(name.id), Exposure.internal_only, "no tighter")
        batch.touch()
    assert store.noted(3) == {}


def test_another_specification_or_lineage_is_noted(store):
    with store.batch() as batch:
        batch.series(msgspec.structs.replace(B, unit="index"), "raw")
        batch.series(FROM_FROM_A, "derived", [FROM_A.id])
        batch.series(A, "raw")
    assert store.noted(2) == dict.fromkeys(("b", "from_rows", "from_from_a"), (0, WHOLE))


def test_a_new_series_concerns_nobody(store):
    with store.batch() as batch:
        new = batch.series(dependent_spec("new"), "raw")
        batch.tighten(new, Exposure.restricted, "invented")
    assert store.noted(2) == {}
