"""Which series a formula makes, from which inputs, and by hand-made numbers what becomes of them as inputs change."""

import json

import msgspec
import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from tests.support.small_world import ALPHA, BETA, DAYS, GAMMA, MONTHS, START, Sent, SmallWorld, sent, value_of

DAY = 86_400
JAN_24, JAN_25 = MONTHS[1], MONTHS[4]


def prices(source, day, now, base=100.0, flags=0):
    return sent(
        source,
        day,
        ("level.aaa", [ReportedValue(JAN_24, base, flags=flags), ReportedValue(JAN_25, now, flags=flags)], None),
    )


def lineages(world, indicator):
    directory = world.view().directory
    return {
        row.series.spec.source: directory.lineage(row.lineage) or row.series.inputs
        for row in world.rows(indicators=(indicator,))
    }


def test_inputs_of_several_sources_make_a_mixed_row_with_its_own_lineage():
    with SmallWorld() as world:
        world.send([prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [ReportedValue(JAN_25, 4.0)], None))])
        (row,) = world.rows(indicators=("misery",))
        assert (row.series.spec.source, value_of(row)) == (MIXED_SOURCE, pytest.approx(14.0))
        assert lineages(world, "misery") == {
            MIXED_SOURCE: ("alpha:country_aaa:jobless:M", "beta:country_aaa:level_yoy:M")
        }


def test_a_source_that_comes_to_have_all_inputs_closes_the_mixed_rows_without_withdrawing_them():
    with SmallWorld() as world:
        world.send([prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [ReportedValue(JAN_25, 4.0)], None))])
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
        world.allow(GAMMA)
        # Gamma stands first but has no base; its own growth cannot be computed, so beta's is used.
        world.send(
            [
                sent(ALPHA, 1, ("jobless.aaa", [ReportedValue(JAN_25, 4.0)], None)),
                sent(GAMMA, 1, ("level.aaa", [ReportedValue(JAN_25, 300.0)], None)),
                prices(BETA, 1, 110.0),
            ]
        )
        assert lineages(world, "level_yoy") == {BETA: ("beta:country_aaa:level:M",)}
        world.send([prices(GAMMA, 2, 130.0)])
        (row,) = world.rows(indicators=("misery",))
        assert value_of(row) == pytest.approx(34.0)
        assert lineages(world, "misery")[MIXED_SOURCE][1] == "gamma:country_aaa:level_yoy:M"
        # Gamma's base is withdrawn: beta steps in, known from the withdrawal.
        world.send([sent(GAMMA, 3, ("level.aaa", [ReportedValue(JAN_24, None)], None))])
        (row,) = world.rows(indicators=("misery",))
        assert (value_of(row), row.known, row.ingested) == (pytest.approx(14.0), START + 3 * DAY, START + 3 * DAY)
        assert lineages(world, "misery")[MIXED_SOURCE][1] == "beta:country_aaa:level_yoy:M"


def test_a_mixed_row_is_withheld_by_its_own_lineage_only():
    with SmallWorld() as world:
        world.send(
            [
                sent(ALPHA, 1, ("jobless.aaa", [ReportedValue(JAN_25, 4.0), ReportedValue(MONTHS[5], 5.0)], None)),
                prices(GAMMA, 1, 130.0),
                sent(BETA, 1, ("level.aaa", [ReportedValue(MONTHS[2], 100.0), ReportedValue(MONTHS[5], 110.0)], None)),
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
                sent(GAMMA, 1, ("yield_10y.aaa", [ReportedValue(day, 4.0)], None)),
                sent(BETA, 1, ("yield_2y.aaa", [ReportedValue(day, 3.0)], None)),
            ]
        )
        assert world.rows(kind="derived") == []
        world.send(
            [
                sent(
                    ALPHA,
                    1,
                    ("yield_2y.aaa", [ReportedValue(day, 3.5)], None),
                    ("yield_10y.aaa", [ReportedValue(day, 4.25)], None),
                )
            ]
        )
        assert {r.series.id: value_of(r) for r in world.rows(kind="derived")} == {"alpha:country_aaa:slope:D": 0.75}


def test_a_spread_against_another_country_follows_both_and_has_none_against_itself():
    with SmallWorld() as world:
        day = DAYS[5]
        world.send(
            [
                sent(
                    ALPHA,
                    1,
                    ("yield_10y.aaa", [ReportedValue(day, 4.0)], None),
                    ("yield_10y.bbb", [ReportedValue(day, 6.5)], None),
                )
            ]
        )
        assert {r.series.id: value_of(r) for r in world.rows(indicators=("spread",))} == {
            "alpha:country_bbb:spread:D": 2.5
        }
        world.send([sent(ALPHA, 2, ("yield_10y.aaa", [ReportedValue(day, 4.5)], None))])
        assert {r.series.id: value_of(r) for r in world.rows(indicators=("spread",))} == {
            "alpha:country_bbb:spread:D": 2.0
        }


def test_numerator_and_denominator_revised_at_one_instant_make_one_vintage():
    with SmallWorld() as world:
        world.send([prices(ALPHA, 1, 110.0), prices(ALPHA, 2, 240.0, 200.0)])
        made = [(row[2], row[3]) for row in world.open_rows() if row[0] == "alpha:country_aaa:level_yoy:M"]
        assert made == [(START + DAY, pytest.approx(10.0)), (START + 2 * DAY, pytest.approx(20.0))]


def test_a_withdrawn_base_withdraws_the_result_and_its_return_brings_it_back():
    with SmallWorld() as world:
        world.send(
            [
                prices(ALPHA, 1, 110.0),
                sent(ALPHA, 2, ("level.aaa", [ReportedValue(JAN_24, None)], None)),
                prices(ALPHA, 3, 110.0),
            ]
        )
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
                sent(ALPHA, 1, ("yield_10y.aaa", [ReportedValue(older, 10.0)], None)),
                sent(ALPHA, 2, ("yield_10y.aaa", [ReportedValue(near, 20.0)], None)),
                sent(ALPHA, 3, ("yield_10y.aaa", [ReportedValue(value, 40.0)], None)),
                sent(ALPHA, 9, ("yield_10y.aaa", [ReportedValue(near, None)], None)),
            ]
        )
        made = [(row[2], row[3], row[7]) for row in world.open_rows() if row[0] == "alpha:country_aaa:yield_change:D"]
        assert made == [(START + 3 * DAY, 20.0, START + 3 * DAY), (START + 9 * DAY, 30.0, START + 9 * DAY)]


def test_a_month_s_policy_rate_counts_once_a_witness_shows_that_the_month_is_over():
    with SmallWorld() as world:
        inside, later = Period.parse("2025-01-30").key, Period.parse("2025-02-03").key
        world.send([prices(BETA, 1, 102.0), sent(BETA, 2, ("policy.aaa", [ReportedValue(inside, 5.0)], None))])
        assert world.rows(indicators=("real_rate",)) == []
        world.send([sent(BETA, 3, ("policy.aaa", [ReportedValue(later, 6.0)], None))])
        (row,) = world.rows(indicators=("real_rate",))
        assert (value_of(row), row.known) == (pytest.approx(3.0), START + 3 * DAY)


def test_a_series_that_loses_all_its_vintages_takes_no_part_in_formulas_any_more():
    """Alpha's prices come and are undone in the same second; then nobody has all inputs, and the mixed row is back."""
    undone = [
        Sent(ALPHA, START + 3 * DAY, json.dumps([["level.aaa", [[JAN_24, one], [JAN_25, two]], None]]).encode())
        for one, two in ((100.0, 120.0), (None, None))
    ]
    undone.sort(key=lambda one: one.order)
    first = [prices(BETA, 1, 110.0), sent(ALPHA, 2, ("jobless.aaa", [ReportedValue(JAN_25, 4.0)], None))]
    with SmallWorld() as straight, SmallWorld() as detour:
        straight.send(first)
        assert [row.series.id for row in straight.rows(indicators=("misery",))] == [
            "almanac-derived:country_aaa:misery:M"
        ]
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


def test_what_the_catalogue_says_of_a_series_is_followed_at_the_next_opening():
    with SmallWorld() as world:
        world.send(
            [sent(ALPHA, 1, ("jobless.aaa", [ReportedValue(MONTHS[0], 4.0), ReportedValue(MONTHS[1], 5.0)], None))]
        )
        jobless = {**world.catalog.series[ALPHA]}
        jobless["jobless.aaa"] = msgspec.structs.replace(jobless["jobless.aaa"], seasonal_adjustment="SA")
        world.catalog = msgspec.structs.replace(world.catalog, series={**world.catalog.series, ALPHA: jobless})
        world.sync()
        directory = world.view().directory
        for name in ("alpha:country_aaa:jobless:M", "alpha:country_aaa:jobless_change:M"):
            assert directory.series_by_id(name).spec.seasonal_adjustment == "SA"
        world.restart()
        with world.batch("derive") as batch:
            assert not world.deriver.recompute(batch)
            assert not batch.changed
