"""What is preferred of a result is the formula on what is preferred of its inputs, whatever the rights and orders are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import ReportedValue
from almanac.domain.rights import Exposure
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, DAYS, GAMMA, MIXED, START, SmallWorld, sent, value_of

DAY = 86_400
#: Formulas whose inputs are all of the result's own period: slug → inputs, arithmetic.
SAME_PERIOD = {
    "misery": (("jobless", "level_yoy"), lambda jobless, inflation: jobless + inflation),
    "spread": (("yield_10y", "country_aaa:yield_10y"), lambda own, other: own - other),
}
changes = st.one_of(
    st.lists(st.just(GAMMA), max_size=1).map(lambda names: ("allow", tuple(names))),
    st.permutations([ALPHA, BETA, GAMMA]).map(lambda names: ("prefer", tuple(names))),
)


def preferred(world, moment=None):
    return {
        (row.series.spec.indicator, row.series.spec.entity, row.period): row for row in world.rows(moment, every=False)
    }


def check(world, moment):
    rows = preferred(world, moment)
    for (slug, entity, period), row in rows.items():
        if slug not in SAME_PERIOD:
            continue
        inputs, arithmetic = SAME_PERIOD[slug]
        names = [(name.rpartition(":")[2], name.rpartition(":")[0] or entity, period) for name in inputs]
        used = [rows[name] for name in names]
        if len({one.series.source.id for one in used}) == 1 or row.series.source.id == MIXED:
            assert value_of(row) == pytest.approx(arithmetic(*map(value_of, used)), rel=1e-12)
            # A value that other inputs gave before, and these give too, is the vintage it was, with its lineage.
            if row.known == max(one.known for one in used):
                lineage = world.view().directory.lineage(row.lineage) or row.series.inputs
                assert sorted(lineage) == sorted(one.series.id for one in used)


@given(histories, st.lists(changes, max_size=2), st.integers(-2, 6) | st.none())
def test_the_preferred_result_is_the_formula_on_preferred_inputs(responses, events, day):
    with SmallWorld() as world:
        world.send(responses)
        for name, arguments in events:
            getattr(world, name)(*arguments)
        check(world, None if day is None else START + day * DAY)


@given(histories, st.lists(changes, max_size=3))
def test_rights_and_orders_that_change_leave_what_deriving_anew_gives(responses, events):
    with SmallWorld() as world:
        world.send(responses)
        for name, arguments in events:
            getattr(world, name)(*arguments)
            before = world.open_rows()
            world.restart()
            with world.batch("derive") as batch:
                assert not world.deriver.recompute(batch)
            assert world.open_rows() == before


def spreads(world):
    world.send(
        [
            # One source has both countries, but late; each country's own, which stands first, is of today.
            sent(
                ALPHA,
                1,
                ("yield_10y.aaa", [ReportedValue(DAYS[4], 4.0)], None),
                ("yield_10y.bbb", [ReportedValue(DAYS[4], 6.5)], None),
            ),
            sent(GAMMA, 1, ("yield_10y.aaa", [ReportedValue(day, 4.0) for day in DAYS[4:6]], None)),
            sent(BETA, 1, ("yield_10y.bbb", [ReportedValue(day, 6.0) for day in DAYS[4:6]], None)),
        ]
    )


def test_a_spread_is_as_fresh_as_its_preferred_legs():
    with SmallWorld() as world:
        world.allow(GAMMA)
        world.prefer(GAMMA, BETA)
        spreads(world)
        found = {
            row.period: (row.series.source.id, value_of(row)) for row in world.rows(indicators=("spread",), every=False)
        }
        assert found == {DAYS[4]: (MIXED, 2.0), DAYS[5]: (MIXED, 2.0)}
        # Rows of one source follow under `all`.
        every = [(row.series.source.id, value_of(row)) for row in world.rows(indicators=("spread",))]
        assert every == [(MIXED, 2.0), (ALPHA, 2.5), (MIXED, 2.0)]


def test_a_source_that_is_first_for_every_input_and_has_them_all_needs_no_mixed_row():
    with SmallWorld() as world:
        world.prefer(ALPHA, BETA)
        spreads(world)
        assert [row.series.source.id for row in world.rows(indicators=("spread",))] == [ALPHA]


def test_a_withheld_leg_gives_way_to_one_that_may_be_sent_until_a_consent_comes():
    with SmallWorld() as world:
        world.prefer(GAMMA, BETA, ALPHA)
        spreads(world)
        assert [(row.period, value_of(row)) for row in world.rows(indicators=("spread",), every=False)] == [
            (DAYS[4], 2.0),  # alpha's 4.0 stands where gamma's may not be sent
            (DAYS[5], 2.0),  # there is no other than gamma's: withheld, but in its place
        ]
        directory = world.view().directory
        assert [
            directory.row_rights(row.series, row.lineage).withheld
            for row in world.rows(indicators=("spread",), every=False)
        ] == [False, True]
        world.allow(GAMMA)
        directory = world.view().directory
        (first, _) = world.rows(indicators=("spread",), every=False)
        assert directory.lineage(first.lineage) == ("beta:country_bbb:yield_10y:D", "gamma:country_aaa:yield_10y:D")


def test_a_feed_that_tightens_the_rights_of_a_series_moves_the_choice():
    with SmallWorld() as world:
        world.allow(GAMMA)
        world.prefer(GAMMA, BETA, ALPHA)
        spreads(world)
        gamma = world.view().directory.series_by_id("gamma:country_aaa:yield_10y:D").spec
        with world.batch("payload") as batch:
            assert batch.tighten(batch.existing(gamma.id), Exposure.restricted, "said so")
            world.deriver.reconsider(gamma)
            world.deriver.run(batch, {})
        (first, _) = world.rows(indicators=("spread",), every=False)
        directory = world.view().directory
        assert directory.lineage(first.lineage) == ("beta:country_bbb:yield_10y:D", "alpha:country_aaa:yield_10y:D")
