"""derive(as_of T) = (derive)(as_of T), for every T; and deriving step by step is deriving anew."""

import json

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from almanac.domain.observations import FINAL, Statement, is_unknown
from almanac.domain.periods import Period
from almanac.store.directory import MIXED_SOURCE

from . import oracle
from .small_world import ALPHA, BETA, DAYS, GAMMA, MONTHS, START, Sent, SmallWorld, dense, histories, responses, sent

FAST = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
DEEP = settings(FAST, max_examples=1_500)
DAY = 86_400


def check_law(world):
    """At every moment, what is served as derived is what the oracle computes from what is served as raw."""
    view = world.view()
    numbers = [row[0] for row in world.db.execute("SELECT series FROM series WHERE vintages > 0 ORDER BY series")]
    infos = [view.directory.series(number) for number in numbers]
    raw = {(i.spec.indicator, i.spec.entity, i.spec.source) for i in infos if i.kind == "raw"}
    moments = world.moments()
    # Which series exist does not hang on the moment: first those with a value at some moment, formula by formula.
    exists, before = raw, None
    while exists != before:
        before = exists
        found = (oracle.derived(inputs_at(world, moment), exists) for moment in moments)
        exists = raw | {place for made in found for place, cells in made.items() if cells}
    assert {(i.spec.indicator, i.spec.entity, i.spec.source) for i in infos} == exists
    for moment in moments:
        expected = {
            (*place, key): (pytest.approx(value, rel=1e-12, abs=1e-12))
            for place, cells in oracle.derived(inputs_at(world, moment), exists).items()
            for key, (value, _) in cells.items()
        }
        rows = world.rows(moment, kind="derived")
        served = {(*place_of(row), row.period): value_of(row) for row in rows}
        assert served == expected, moment


def place_of(row):
    return row.series.spec.indicator, row.series.spec.entity, row.series.spec.source


def value_of(row):
    return float(row.val.split(b":")[1].split(b",")[0])


def inputs_at(world, moment):
    found = {}
    for row in world.rows(moment, kind="raw"):
        indicator, entity, source = place_of(row)
        cells = found.setdefault((indicator, entity), {}).setdefault(source, {})
        cells[row.period] = (value_of(row), bool(row.flags & FINAL))
    return found


def full(world):
    """Recompute everything derived; whether anything came out different."""
    world.restart()
    raw = [row[0] for row in world.db.execute(
        "SELECT s.id FROM series s JOIN topic t USING(topic) WHERE t.kind = 'raw' AND s.vintages > 0"
    )]  # fmt: skip
    with world.batch("derive") as batch:
        world.deriver.run(batch, dict.fromkeys(raw))
        return batch.changed


@FAST
@given(histories)
def test_derived_as_of_any_moment_is_derived_from_inputs_as_of_it(found):
    with SmallWorld() as world:
        world.send(found)
        check_law(world)


@pytest.mark.slow
@DEEP
@given(histories, st.booleans())
def test_derived_as_of_any_moment_is_derived_from_inputs_as_of_it_deep(found, long):
    with SmallWorld() as world:
        world.send([dense(), *found] if long else found)
        check_law(world)


@settings(FAST, max_examples=15)
@given(st.lists(responses([(ALPHA, "jobless.aaa", MONTHS), (ALPHA, "level.aaa", MONTHS)]), min_size=1, max_size=4))
def test_long_look_ups_obey_the_law_too(found):
    with SmallWorld() as world:
        world.send([dense(), *found])
        assert any(row.series.spec.indicator == "sahm" for row in world.rows())
        check_law(world)


@FAST
@given(histories)
def test_step_by_step_is_the_same_as_anew(found):
    with SmallWorld() as world:
        for one in found:
            world.send([one])
            before = world.open_rows()
            assert not full(world)
            assert world.open_rows() == before


@FAST
@given(histories)
def test_vintages_of_a_cell_are_ordered_different_and_never_known_before_they_were_here(found):
    with SmallWorld() as world:
        world.send(found)
        rows = world.open_rows()
        assert len({row[9] for row in rows}) == len(rows)
        last = {}
        for identifier, period, known, value, text, flags, released, ingested, *_ in rows:
            assert known <= ingested
            assert released is None or released <= ingested
            held = last.get((identifier, period))
            state = (value, text, flags & FINAL)
            assert held is None or (held[0] < known and held[1] != state)
            assert held is not None or value is not None
            last[identifier, period] = (known, state)


@FAST
@given(histories)
def test_the_figures_of_a_series_equal_a_recount(found):
    with SmallWorld() as world:
        for one in found:
            world.send([one])
        kept = world.db.execute(
            "SELECT id, rows, vintages, first_period, last_period, first_known, last_known FROM series WHERE vintages > 0 ORDER BY id"
        )
        counted = {}
        for identifier, period, known, *_ in world.open_rows():
            counted.setdefault(identifier, []).append((period, known))
        current = {}
        for row in world.rows():
            current.setdefault(row.series.id, []).append((row.period, row.flags))
        expected = []
        for identifier, cells in sorted(counted.items()):
            here = [period for period, _ in current.get(identifier, [])]
            past = [period for period, flags in current.get(identifier, []) if not flags & 32]
            knowns = [known for _, known in cells]
            expected.append(
                (identifier, len(here), len(cells), min(here, default=None), max(past, default=None), min(knowns), max(knowns))
            )
        assert list(kept) == expected


# -- which series a formula makes ---------------------------------------------------------------------------------------

JAN_24, JAN_25 = MONTHS[1], MONTHS[4]


def prices(source, day, now, base=100.0, flags=0):
    return sent(source, day, ("level.aaa", [Statement(JAN_24, base, flags=flags), Statement(JAN_25, now, flags=flags)], None))


def lineages(world, indicator):
    directory = world.view().directory
    return {
        row.series.spec.source: directory.lineage(row.lineage) or row.series.inputs
        for row in world.rows(indicators=(indicator,))
    }


def test_inputs_of_several_sources_make_a_mixed_row_with_its_own_lineage():
    with SmallWorld() as world:
        world.send([prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [Statement(JAN_25, 4.0)], None))])
        (row,) = world.rows(indicators=("misery",))
        assert (row.series.spec.source, value_of(row)) == (MIXED_SOURCE, pytest.approx(14.0))
        assert lineages(world, "misery") == {
            MIXED_SOURCE: ("alpha:country_aaa:jobless:M", "beta:country_aaa:level_yoy:M")
        }


def test_a_source_that_comes_to_have_all_inputs_closes_the_mixed_rows_without_withdrawing_them():
    with SmallWorld() as world:
        world.send([prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [Statement(JAN_25, 4.0)], None))])
        pinned = world.version
        world.send([prices(ALPHA, 3, 120.0)])
        assert {row.series.spec.source: value_of(row) for row in world.rows(indicators=("misery",))} == {
            ALPHA: pytest.approx(24.0)
        }
        assert not [row for row in world.open_rows() if row[0].startswith(MIXED_SOURCE)]
        # A cursor that began before still finds it.
        (before,) = world.rows(indicators=("misery",), version=pinned)
        assert (before.series.spec.source, value_of(before)) == (MIXED_SOURCE, pytest.approx(14.0))


def test_a_mixed_value_takes_the_first_source_in_order_that_has_all_lags():
    with SmallWorld() as world:
        # Gamma stands first but has no base; its own growth cannot be computed, so beta's is used.
        world.send(
            [
                sent(ALPHA, 1, ("jobless.aaa", [Statement(JAN_25, 4.0)], None)),
                sent(GAMMA, 1, ("level.aaa", [Statement(JAN_25, 300.0)], None)),
                prices(BETA, 1, 110.0),
            ]
        )
        assert lineages(world, "level_yoy") == {BETA: ("beta:country_aaa:level:M",)}
        world.send([prices(GAMMA, 2, 130.0)])
        (row,) = world.rows(indicators=("misery",))
        assert value_of(row) == pytest.approx(34.0)
        assert lineages(world, "misery")[MIXED_SOURCE][1] == "gamma:country_aaa:level_yoy:M"
        # Gamma's base is withdrawn: beta steps in, known from the withdrawal.
        world.send([sent(GAMMA, 3, ("level.aaa", [Statement(JAN_24, None)], None))])
        (row,) = world.rows(indicators=("misery",))
        assert (value_of(row), row.known, row.ingested) == (pytest.approx(14.0), START + 3 * DAY, START + 3 * DAY)
        assert lineages(world, "misery")[MIXED_SOURCE][1] == "beta:country_aaa:level_yoy:M"


def test_a_mixed_row_is_withheld_by_its_own_lineage_only():
    with SmallWorld() as world:
        world.send(
            [
                sent(ALPHA, 1, ("jobless.aaa", [Statement(JAN_25, 4.0), Statement(MONTHS[5], 5.0)], None)),
                prices(GAMMA, 1, 130.0),
                sent(BETA, 1, ("level.aaa", [Statement(MONTHS[2], 100.0), Statement(MONTHS[5], 110.0)], None)),
            ]
        )
        directory = world.view().directory
        held = {r.period: directory.row_rights(r.series, r.lineage) for r in world.rows(indicators=("misery",))}
        assert {period: rights.withheld for period, rights in held.items()} == {JAN_25: True, MONTHS[5]: False}
        assert "gamma:country_aaa:level_yoy:M" in (held[JAN_25].reason or "")
        world.allow(GAMMA)
        directory = world.view().directory
        assert not any(directory.row_rights(r.series, r.lineage).withheld for r in world.rows(indicators=("misery",)))


def test_one_source_formulas_never_mix_sources():
    with SmallWorld() as world:
        day = DAYS[5]
        world.send(
            [
                sent(GAMMA, 1, ("yield_10y.aaa", [Statement(day, 4.0)], None)),
                sent(BETA, 1, ("yield_2y.aaa", [Statement(day, 3.0)], None)),
            ]
        )
        assert world.rows(kind="derived") == []
        world.send(
            [sent(ALPHA, 1, ("yield_2y.aaa", [Statement(day, 3.5)], None), ("yield_10y.aaa", [Statement(day, 4.25)], None))]
        )
        assert {r.series.id: value_of(r) for r in world.rows(kind="derived")} == {"alpha:country_aaa:slope:D": 0.75}


def test_a_spread_against_another_country_follows_both_and_has_none_against_itself():
    with SmallWorld() as world:
        day = DAYS[5]
        world.send([sent(ALPHA, 1, ("yield_10y.aaa", [Statement(day, 4.0)], None), ("yield_10y.bbb", [Statement(day, 6.5)], None))])
        assert {r.series.id: value_of(r) for r in world.rows(indicators=("spread",))} == {"alpha:country_bbb:spread:D": 2.5}
        world.send([sent(ALPHA, 2, ("yield_10y.aaa", [Statement(day, 4.5)], None))])
        assert {r.series.id: value_of(r) for r in world.rows(indicators=("spread",))} == {"alpha:country_bbb:spread:D": 2.0}


def test_numerator_and_denominator_revised_at_one_instant_make_one_vintage():
    with SmallWorld() as world:
        world.send([prices(ALPHA, 1, 110.0), prices(ALPHA, 2, 240.0, 200.0)])
        made = [(row[2], row[3]) for row in world.open_rows() if row[0] == "alpha:country_aaa:level_yoy:M"]
        assert made == [(START + DAY, pytest.approx(10.0)), (START + 2 * DAY, pytest.approx(20.0))]


def test_a_withdrawn_base_withdraws_the_result_and_its_return_brings_it_back():
    with SmallWorld() as world:
        world.send([prices(ALPHA, 1, 110.0), sent(ALPHA, 2, ("level.aaa", [Statement(JAN_24, None)], None)), prices(ALPHA, 3, 110.0)])
        made = [(row[2], row[3]) for row in world.open_rows() if row[0] == "alpha:country_aaa:level_yoy:M"]
        assert made == [
            (START + DAY, pytest.approx(10.0)), (START + 2 * DAY, None), (START + 3 * DAY, pytest.approx(10.0)),
        ]  # fmt: skip


def test_the_store_notes_counterexample_of_the_look_back():
    """Base 20 known at 2, older base 10 at 1, value 40 at 3; at 9 the 20 is withdrawn and the older base steps in."""
    near, older = Period.parse("2024-02-29").key, Period.parse("2024-02-28").key
    value = Period.parse("2025-03-04").key
    with SmallWorld() as world:
        world.send(
            [
                sent(ALPHA, 1, ("yield_10y.aaa", [Statement(older, 10.0)], None)),
                sent(ALPHA, 2, ("yield_10y.aaa", [Statement(near, 20.0)], None)),
                sent(ALPHA, 3, ("yield_10y.aaa", [Statement(value, 40.0)], None)),
                sent(ALPHA, 9, ("yield_10y.aaa", [Statement(near, None)], None)),
            ]
        )
        made = [(row[2], row[3], row[7]) for row in world.open_rows() if row[0] == "alpha:country_aaa:yield_change:D"]
        assert made == [(START + 3 * DAY, 20.0, START + 3 * DAY), (START + 9 * DAY, 30.0, START + 9 * DAY)]


def test_a_month_s_policy_rate_counts_once_a_witness_shows_that_the_month_is_over():
    with SmallWorld() as world:
        inside, later = Period.parse("2025-01-30").key, Period.parse("2025-02-03").key
        world.send([prices(BETA, 1, 102.0), sent(BETA, 2, ("policy.aaa", [Statement(inside, 5.0)], None))])
        assert world.rows(indicators=("real_rate",)) == []
        world.send([sent(BETA, 3, ("policy.aaa", [Statement(later, 6.0)], None))])
        (row,) = world.rows(indicators=("real_rate",))
        assert (value_of(row), row.known) == (pytest.approx(3.0), START + 3 * DAY)


@FAST
@given(histories)
def test_statuses_of_derived_rows_follow_from_their_inputs(found):
    with SmallWorld() as world:
        world.send(found)
        raw = {(r.series.id, r.period): r for r in world.rows(kind="raw")}
        rows = [r for r in world.rows(indicators=("jobless_change", "level_mom"))]
        assume(rows)
        for row in rows:
            (series,) = row.series.inputs
            inputs = [raw[series, row.period], raw[series, oracle.months_before(row.period, 1)]]
            if row.known == max(one.known for one in inputs):
                if any(is_unknown(one.flags) for one in inputs):
                    assert is_unknown(row.flags)
                elif all(one.flags & FINAL for one in inputs):
                    assert row.flags & FINAL
                released = [one.released for one in inputs]
                assert row.released == (None if None in released else max(released))
                assert row.ingested == max(one.ingested for one in inputs)


def test_a_series_that_loses_all_its_vintages_takes_no_part_in_formulas_any_more():
    """Alpha's prices come and are undone in the same second; then nobody has all inputs, and the mixed row is back."""
    undone = [
        Sent(ALPHA, START + 3 * DAY, json.dumps([["level.aaa", [[JAN_24, one], [JAN_25, two]], None]]).encode())
        for one, two in ((100.0, 120.0), (None, None))
    ]
    undone.sort(key=lambda one: one.order)
    first = [prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [Statement(JAN_25, 4.0)], None))]
    with SmallWorld() as straight, SmallWorld() as detour:
        straight.send(first)
        assert [row.series.id for row in straight.rows(indicators=("misery",))] == ["almanac-derived:country_aaa:misery:M"]
        detour.send([*first, undone[0]])
        detour.send([undone[1]])
        if detour.rows(indicators=("level",), sources=frozenset({ALPHA})):
            pytest.fail("the withdrawal sorts first: choose other numbers")
        assert detour.open_rows() == straight.open_rows()
        # And should they come again, alpha has all inputs once more.
        detour.send([prices(ALPHA, 4, 130.0)])
        assert {row.series.id: value_of(row) for row in detour.rows(indicators=("misery",))} == {
            "alpha:country_aaa:misery:M": pytest.approx(34.0)
        }
