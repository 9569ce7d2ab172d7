"""derive(as_of T) = (derive)(as_of T), for every T; and deriving step by step is deriving anew."""

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from almanac.domain.observations import FINAL, is_unknown
from tests.support.generators import dense, histories, responses
from tests.support.small_world import ALPHA, MONTHS, SmallWorld, value_of

from . import oracle


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
            (*place, key): (
                value if isinstance(value, str) else pytest.approx(value, rel=1e-11, abs=1e-12),
                sorted(said.flags),
            )
            for place, cells in oracle.derived(inputs_at(world, moment), exists).items()
            for key, (value, said) in cells.items()
        }
        rows = world.rows(moment, kind="derived")
        served = {(*place_of(row), row.period): (value_of(row), marks_of(row)[0]) for row in rows}
        assert served == expected, moment


def place_of(row):
    return row.series.spec.indicator, row.series.spec.entity, row.series.spec.source


def marks_of(row):
    """The flags of a row, and what it is 100 in."""
    flags = re.search(r'"flags":(\[[^]]*\])', row.note or "")
    basis = re.search(r'"basis":("[^"]*")', row.note or "")
    return json.loads(flags[1]) if flags else [], json.loads(basis[1]) if basis else None


def inputs_at(world, moment):
    found = {}
    for row in world.rows(moment, kind="raw"):
        indicator, entity, source = place_of(row)
        cells = found.setdefault((indicator, entity), {}).setdefault(source, {})
        flags, basis = marks_of(row)
        cells[row.period] = (value_of(row), oracle.Stated(bool(row.flags & FINAL), frozenset(flags), basis))
    return found


def full(world):
    """Recompute everything derived; whether anything came out different."""
    world.restart()
    with world.batch("derive") as batch:
        cells = world.deriver.recompute(batch)
        assert batch.changed == bool(cells)
    return batch.changed


@given(histories)
def test_derived_as_of_any_moment_is_derived_from_inputs_as_of_it(found):
    with SmallWorld() as world:
        world.send(found)
        check_law(world)


def test_the_long_history_is_long_enough_for_the_longest_look_up():
    with SmallWorld() as world:
        world.send([dense()])
        assert len(world.rows(indicators=("sahm",))) == 26 - 11
        check_law(world)


@settings(max_examples=settings.default.max_examples // 5)  # long histories
@given(st.lists(responses([(ALPHA, "jobless.aaa", MONTHS), (ALPHA, "level.aaa", MONTHS)]), min_size=1, max_size=4))
def test_long_look_ups_obey_the_law_too(found):
    with SmallWorld() as world:
        world.send([dense(), *found])
        check_law(world)


@settings(max_examples=settings.default.max_examples // 2)
@given(histories)
def test_step_by_step_is_the_same_as_anew(found):
    with SmallWorld() as world:
        for one in found:
            world.send([one])
            before = world.open_rows()
            assert not full(world)
            assert world.open_rows() == before


@given(histories)
def test_vintages_of_a_cell_are_ordered_different_and_never_known_before_they_were_here(found):
    with SmallWorld() as world:
        world.send(found)
        rows = world.open_rows()
        assert len({row[:3] for row in rows}) == len(rows)
        last = {}
        for identifier, period, known, value, text, flags, released, ingested, note, *_ in rows:
            assert known <= ingested
            assert released is None or released <= ingested
            held = last.get((identifier, period))
            state = (value, text, flags & FINAL, note)
            assert held is None or (held[0] < known and held[1] != state)
            assert held is not None or (value, text) != (None, None)
            last[identifier, period] = (known, state)


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
                (
                    identifier,
                    len(here),
                    len(cells),
                    min(here, default=None),
                    max(past, default=None),
                    min(knowns),
                    max(knowns),
                )
            )
        assert list(kept) == expected


@given(histories)
def test_statuses_of_derived_rows_follow_from_their_inputs(found):
    with SmallWorld() as world:
        world.send(found)
        raw = {(r.series.id, r.period): r for r in world.rows(kind="raw")}
        rows = world.rows(indicators=("jobless_change", "level_mom"))
        assume(rows)
        for row in rows:
            (series,) = row.series.inputs
            inputs = [raw[series, row.period], raw[series, oracle.months_before(row.period, 1)]]
            if row.known == max(one.known for one in inputs):
                if any(is_unknown(one.flags) for one in inputs):
                    assert is_unknown(row.flags)
                else:
                    assert bool(row.flags & FINAL) == all(one.flags & FINAL for one in inputs)
                released = [one.released for one in inputs]
                assert row.released == (None if None in released else max(released))
                assert row.ingested == max(one.ingested for one in inputs)
