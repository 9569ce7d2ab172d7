"""Numbers that lead from an observation's id to its row, by way of parts of the index that belong to a few series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import ReportedValue, digest, observation_id, spelled
from almanac.domain.periods import Period
from almanac.store.observations.id_hashes import candidates, number_of, series_prefix
from almanac.store.observations.reading import lookup
from almanac.store.observations.withheld_ids import series_hash
from tests.support.small_world import ALPHA, BETA, SmallWorld, sent

JANUARY, FEBRUARY = (Period.parse(f"2025-{month:02}").key for month in (1, 2))
BITS = st.integers(0, (1 << 130) - 1)


@given(st.text(max_size=20), BITS)
def test_an_id_leads_to_the_number_whatever_its_series(series, bits):
    found = candidates(spelled(bits))
    assert number_of(series_prefix(series), bits) in found
    assert len(found) == 256
    assert found == sorted(set(found))


@given(st.text(max_size=20), BITS)
def test_a_number_is_eight_bits_of_the_series_and_fifty_two_of_the_id(series, bits):
    assert number_of(series_prefix(series), bits) == int(f"{series_hash(series):058b}"[:8] + f"{bits:0130b}"[:52], 2)


def by_id(view, identifier):
    return lookup.by_id(view, identifier, lambda _: True)


def test_numbers_are_such_as_sqlite_holds():
    assert candidates("obs_" + "a" * 26)[:2] == [0, 1 << 52]
    assert candidates("obs_" + "7" * 26)[-1] == (1 << 60) - 1


def test_a_number_written_down_stays_the_same():
    """It need not for ever, but a change of it is a change of the schema."""
    series = "fred:country_usa:nominal_gdp:Q"
    bits = digest(series, Period.parse("2026-Q3").key, 1_793_404_799, 31095.1, None)
    assert number_of(series_prefix(series), bits) == 196_583_778_806_165_787


def test_rows_are_found_by_their_ids_and_others_are_not():
    with SmallWorld() as world:
        for source, values in ((ALPHA, (1.0, 2.0)), (BETA, (3.0, 4.0))):
            lines = [ReportedValue(JANUARY, values[0]), ReportedValue(FEBRUARY, values[1])]
            world.send([sent(source, 1, ("level.aaa", lines, None))])
        view = world.view()
        rows = world.rows(kind="raw")
        assert sorted(by_id(view, row.id).value for row in rows) == [1.0, 2.0, 3.0, 4.0]
        for row in rows:
            found = by_id(view, row.id)
            assert (found.row.series.id, found.row.period, found.row.id) == (row.series.id, row.period, row.id)
            # An id with the same number, but not the same to its end, is no row's.
            other = row.id[:-1] + ("a" if row.id[-1] != "a" else "b")
            assert candidates(other) == candidates(row.id)
            assert by_id(view, other) is None
        assert by_id(view, observation_id(rows[0].series.id, JANUARY, 0, 1.0, None)) is None


@pytest.mark.sqlite
def test_an_id_is_looked_up_by_the_index():
    with SmallWorld() as world:
        numbers = candidates(observation_id(ALPHA, JANUARY, 0, 1.0, None))
        plan = world.db.execute(
            f"EXPLAIN QUERY PLAN SELECT period FROM vintages WHERE hash IN ({','.join('?' * 256)})", numbers
        )
        assert "vintages_hash (hash=?)" in next(iter(plan))[3]


def test_rows_of_a_series_lie_together():
    with SmallWorld() as world:
        lines = [
            ReportedValue(Period.parse(f"{year}-{month:02}").key, 1.0) for year in range(1990, 2020) for month in (1, 2)
        ]
        world.send([sent(ALPHA, 1, ("level.aaa", lines, None))])
        numbers = [row[0] for row in world.db.execute("SELECT hash FROM vintages WHERE topic = 1")]
        assert len(numbers) == 60
        assert {held >> 52 for held in numbers} == {series_hash("alpha:country_aaa:level:M") >> 50}
