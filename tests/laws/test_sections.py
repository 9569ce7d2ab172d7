"""Comparisons among countries in a small store: which values take part, what an arrival touches, and what says where from."""

import pytest

from almanac.domain.observations import ReportedValue
from almanac.pipeline.explain.macro import Explainer
from almanac.store.engine import sqlite
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from tests.support.small_world import ALPHA, BETA, CATALOG, GAMMA, MONTHS, SmallWorld, sent, value_of

from .test_derivation import full

DEC_23, JAN_24, FEB_24, DEC_24, JAN_25, FEB_25 = MONTHS


def levels(source, day, country, *values):
    lines = [ReportedValue(key, value) for key, value in zip(MONTHS, values, strict=True) if value is not None]
    return sent(source, day, (f"level.{country}", lines, None))


def gaps(world):
    return {(row.series.spec.entity[-3:], row.period): value_of(row) for row in world.rows(indicators=("level_gap",))}


def both(world):
    world.send([levels(ALPHA, 1, "aaa", 1, 2, 3, 4, 5, 6), levels(ALPHA, 2, "bbb", 1, 1, 1, 1, 1, 1)])


def test_every_country_of_the_group_has_a_series_of_our_own_with_its_inputs_row_by_row():
    with SmallWorld() as world:
        both(world)
        assert gaps(world) == {
            **{("aaa", key): float(place) for place, key in enumerate(MONTHS)},
            **{("bbb", key): float(-place) for place, key in enumerate(MONTHS)},
        }
        row = world.rows(indicators=("level_gap",))[0]
        assert row.series.spec.source == MIXED_SOURCE
        assert row.series.inputs == ()
        assert world.view().directory.lineage(row.lineage) == (
            "alpha:country_aaa:level:M", "alpha:country_bbb:level:M",
        )  # fmt: skip


def test_an_arrival_touches_its_own_period_and_those_that_look_back_at_it():
    with SmallWorld() as world:
        both(world)
        world.send([sent(ALPHA, 3, ("level.aaa", [ReportedValue(JAN_24, 9.0)], None))])
        written = world.db.execute(
            "SELECT DISTINCT indicator, period FROM vintages JOIN topic USING(topic) WHERE from_version = ?"
            " AND indicator LIKE 'level_gap' OR from_version = ? AND indicator LIKE 'level_score'",
            (world.version, world.version),
        ).fetchall()
        # The score of January 2025 needs a value a year before; it is there as before, so nothing is written for it.
        assert written == [("level_gap", JAN_24)]
        assert gaps(world)["bbb", JAN_24] == 1.0 - 9.0
        world.send([sent(ALPHA, 4, ("level.aaa", [ReportedValue(JAN_24, None)], None))])
        ended = world.db.execute(
            f"SELECT DISTINCT indicator, period FROM vintages JOIN topic USING(topic) WHERE from_version = ? AND value IS NULL"
            f" AND indicator IN ('level_gap', 'level_score') AND to_version = {sqlite.OPEN} ORDER BY 1",
            (world.version,),
        ).fetchall()
        assert ended == [("level_gap", JAN_24), ("level_score", JAN_25)]
        assert not full(world)


def test_values_that_need_a_consent_are_compared_with_nobodys():
    with SmallWorld() as world:
        both(world)
        before = gaps(world)
        # Gamma stands first in the order of sources, but its channel is restricted: its values take no part.
        world.send([levels(GAMMA, 3, "aaa", *(7,) * 6), levels(GAMMA, 3, "bbb", *(8,) * 6)])
        assert gaps(world) == before
        world.allow(GAMMA)
        world.restart()
        assert not full(world)
        assert gaps(world) == before


def test_a_second_source_stands_in_period_by_period():
    with SmallWorld() as world:
        world.send([levels(ALPHA, 1, "aaa", 1, 2, None, 4, 5, 6), levels(BETA, 1, "aaa", *(9,) * 6)])
        world.send([levels(ALPHA, 2, "bbb", *(1,) * 6)])
        assert [gaps(world)["aaa", key] for key in (JAN_24, FEB_24)] == [1.0, 8.0]
        told = {
            row.period: world.view().directory.lineage(row.lineage)[0] for row in world.rows(indicators=("level_gap",))
        }
        assert (told[JAN_24], told[FEB_24]) == ("alpha:country_aaa:level:M", "beta:country_aaa:level:M")


def test_a_country_that_withdraws_takes_the_values_of_the_others_with_it():
    with SmallWorld() as world:
        both(world)
        world.send([sent(ALPHA, 3, ("level.bbb", [ReportedValue(key, None) for key in MONTHS], None))])
        assert gaps(world) == {}
        assert not full(world)


@pytest.mark.parametrize("slug", ["level_gap", "level_score"])
def test_what_explains_a_value_computes_it_again(slug):
    with SmallWorld() as world:
        both(world)
        world.send([sent(ALPHA, 3, ("level.bbb", [ReportedValue(JAN_25, 7.0)], None))])
        rows = [row for row in world.rows(indicators=(slug,)) if row.period == JAN_25]
        assert len(rows) == 2
        for row in rows:
            told = Explainer(CATALOG)(world.view(), row)
            assert told is not None
            assert told.value == value_of(row)
            assert [(one.series[6:17], one.period, one.vintage.value) for one in told.inputs] == [
                ("country_aaa", JAN_25, 5.0), *([("country_aaa", JAN_24, 2.0)] if slug == "level_score" else []),
                ("country_bbb", JAN_25, 7.0), *([("country_bbb", JAN_24, 1.0)] if slug == "level_score" else []),
            ]  # fmt: skip
