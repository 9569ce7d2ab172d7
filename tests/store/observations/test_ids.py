"""An id says where a row stands and nothing of its value."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period
from almanac.store.observations.ids import known_part, observation_id, period_part, place, series_hash, series_part
from almanac.store.observations.reading import lookup
from tests.support.small_world import ALPHA, BETA, SmallWorld, sent

JANUARY, FEBRUARY = (Period.parse(f"2025-{month:02}").key for month in (1, 2))
SERIES = st.text("abcdefghij-_:0123456789", min_size=1, max_size=40)
PERIODS = st.builds(
    lambda end, span: Period(None if span is None else date.fromordinal(max(1, end.toordinal() - span)), end).key,
    st.dates(),
    st.none() | st.integers(0, 5_000),
)
KNOWN = st.integers(-(10**10), 10**10)


@given(SERIES, PERIODS, KNOWN)
def test_it_leads_back_to_the_row(series: str, period: int, known: int) -> None:
    identifier = observation_id(series, period, known)
    assert re.fullmatch(r"obs_[a-z2-7]{26}", identifier)
    assert place(identifier) == (series_hash(series), period, known)
    assert identifier == f"obs_{series_part(series)}{period_part(period)}{known_part(known)}"


def test_ids_written_down_stay_the_same_for_ever() -> None:
    """They stand in notebooks. A change of one is a change that users are told of."""
    period = Period.parse("2026-Q3").key
    assert observation_id("fred:country_usa:nominal_gdp:Q", period, 1_793_404_799) == "obs_fpt7z6mizmcaljiy75drvokl37"


def test_a_time_that_no_id_can_say_still_has_one() -> None:
    assert re.fullmatch(r"obs_[a-z2-7]{26}", observation_id("a", JANUARY, -(10**11)))


def test_rows_are_found_by_their_ids_and_others_are_not():
    with SmallWorld() as world:
        for source, values in ((ALPHA, (1.0, 2.0)), (BETA, (3.0, 4.0))):
            lines = [ReportedValue(JANUARY, values[0]), ReportedValue(FEBRUARY, values[1])]
            world.send([sent(source, 1, ("level.aaa", lines, None))])
        view = world.view()
        rows = world.rows(kind="raw")
        assert sorted(lookup.by_id(view, row.id).row.value for row in rows) == [1.0, 2.0, 3.0, 4.0]
        for row in rows:
            found = lookup.by_id(view, row.id)
            assert (found.row.series.id, found.row.period, found.row.id) == (row.series.id, row.period, row.id)
            assert lookup.by_id(view, row.id[:-1] + ("a" if row.id[-1] != "a" else "b")) is None
        assert lookup.by_id(view, observation_id(rows[0].series.id, JANUARY, 0)) is None
        assert lookup.by_id(view, observation_id("nobody:country_aaa:level:M", JANUARY, rows[0].known)) is None


def test_a_value_stated_anew_for_the_same_moment_keeps_the_id_and_the_open_row_is_found():
    with SmallWorld() as world:
        world.send([sent(ALPHA, 1, ("level.aaa", [ReportedValue(JANUARY, 1.0, known=1_000)], None))])
        (before,) = world.rows(kind="raw")
        world.send([sent(ALPHA, 2, ("level.aaa", [ReportedValue(JANUARY, 2.0, known=1_000)], None))])
        (after,) = world.rows(kind="raw")
        assert (before.id, before.known) == (after.id, after.known)
        assert lookup.by_id(world.view(), after.id).row.value == 2.0


@pytest.mark.sqlite
def test_a_row_is_looked_up_by_what_its_id_says():
    with SmallWorld() as world:
        plan = [
            row[3]
            for row in world.db.execute(
                "EXPLAIN QUERY PLAN SELECT 1 FROM vintages JOIN (SELECT topic AS t, series AS s FROM series WHERE hash = 1)"
                " ON topic = t AND series = s WHERE period = 2 AND known_at = 3"
            )
        ]
        assert "series_hash (hash=?)" in plan[0]
        assert "PRIMARY KEY (topic=? AND period=? AND series=? AND known_at=?)" in plan[1]
