"""Lists: without `as_of` is as of now, pages joined are the whole, and what is preferred follows rights and order."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.store.observations.reading.question import Question
from almanac.store.observations.reading.selection import SORTS, Selection
from tests.support.generators import histories, responses
from tests.support.small_world import ALPHA, BETA, GAMMA, START, SmallWorld, shown

FAST = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEEP = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW = START + 100 * 86_400

consents = st.lists(st.just(GAMMA), max_size=1).map(lambda names: ("allow", tuple(names)))
orders = st.permutations([ALPHA, BETA, GAMMA]).map(lambda names: ("prefer", tuple(names)))
arrivals = st.lists(responses(), min_size=1, max_size=2).map(lambda found: ("send", (found,)))


def apply(world, event):
    name, arguments = event
    getattr(world, name)(*arguments)


def check_now(responses, changes):
    with SmallWorld() as world:
        world.send(responses)
        for event in changes:
            apply(world, event)
        for sort in SORTS:
            for descending in (False, True):
                for every in (False, True):
                    now = world.rows(every=every, sort=sort, descending=descending)
                    then = world.rows(NOW, every=every, sort=sort, descending=descending)
                    assert shown(now) == shown(then)
                    assert [row[1:7] for row in now] == [row[1:7] for row in then]


@FAST
@given(histories, st.lists(consents | orders, max_size=3))
def test_no_as_of_is_as_of_now(responses, changes):
    check_now(responses, changes)


@pytest.mark.slow
@DEEP
@given(histories, st.lists(consents | orders, max_size=3))
def test_no_as_of_is_as_of_now_deep(responses, changes):
    check_now(responses, changes)


def expected_order(rows, sort, descending):
    """A list sorted as documented: by the column with nulls last, then topic, period, and source in order of preference."""
    column = {
        "topic": lambda _: 0,
        "period_start": lambda row: (row.period >> 14) - (16_382 - (row.period & 16_383)),
        "period_end": lambda row: row.period >> 14,
        "observed_at": lambda row: row.known,
        "released_at": lambda row: row.released,
        "ingested_at": lambda row: row.ingested,
    }[sort]
    ranks = {"almanac-derived": 0, GAMMA: 1, ALPHA: 2, BETA: 3}

    def key(row):
        spec = row.series.spec
        value = column(row)
        return (value or 0, spec.indicator, spec.entity, spec.frequency.value, row.period, ranks[spec.source])

    there = sorted((row for row in rows if column(row) is not None), key=key, reverse=descending)
    return there + sorted((row for row in rows if column(row) is None), key=key, reverse=descending)


@FAST
@given(histories, st.sampled_from(sorted(SORTS)), st.booleans(), st.booleans(), st.integers(-2, 6) | st.none())
def test_lists_are_sorted_as_documented_with_nulls_last_either_way(responses, sort, descending, every, day):
    as_of = None if day is None else START + day * 86_400
    with SmallWorld() as world:
        world.send(responses)
        found = world.rows(as_of, every=every, sort=sort, descending=descending)
        rows = world.rows(as_of, every=every)
        assert shown(found) == shown(expected_order(rows, sort, descending))


@FAST
@given(histories, st.lists(consents | orders, max_size=2), st.integers(-2, 6) | st.none())
def test_preferred_is_one_row_of_every_cell_and_withheld_only_where_all_are(responses, changes, day):
    as_of = None if day is None else START + day * 86_400
    with SmallWorld() as world:
        world.send(responses)
        for event in changes:
            apply(world, event)
        directory, version = world.view().directory, world.version
        cells = {}
        for row in world.rows(as_of):
            spec = row.series.spec
            cells.setdefault((spec.indicator, spec.entity, spec.frequency, row.period), []).append(row)
        preferred = world.rows(as_of, every=False)
        assert [
            (r.series.spec.indicator, r.series.spec.entity, r.series.spec.frequency, r.period) for r in preferred
        ] == list(cells)
        for row, rivals in zip(preferred, cells.values(), strict=True):
            withheld = {r.series.id: directory.row_rights(r.series, r.lineage).withheld for r in rivals}
            open_ones = [r for r in rivals if not withheld[r.series.id]] or rivals
            order = world.catalog.indicators["level"].preferred
            if row.series.kind == "raw":
                best = min(open_ones, key=lambda r: (*order, ALPHA, BETA, GAMMA).index(r.series.source.id))
            else:
                best = min(open_ones, key=lambda r: directory.rank_of(r.series, version))
            assert row.id == best.id
            assert withheld[row.series.id] == all(withheld.values())


# -- pages --------------------------------------------------------------------------------------------------------------

walks = st.fixed_dictionaries(
    {
        "sort": st.sampled_from(sorted(SORTS)),
        "descending": st.booleans(),
        "every": st.booleans(),
        "day": st.none() | st.integers(-1, 6),
        "limit": st.integers(1, 4),
        "filters": st.sampled_from(
            [
                {},
                {"sources": frozenset({ALPHA, BETA})},
                {"indicators": ("level", "level_yoy", "misery"), "kind": "derived"},
            ]
        ),
    }
)


def check_walk(responses, walk, events):
    """
    Each page is the piece of the whole, at the pinned version and by rights now, that follows the pages before it.

    Rights may change between pages only where the place of a cell does not hang on which of its rows is shown.
    """
    as_of = None if walk["day"] is None else START + walk["day"] * 86_400
    asked = {"every": walk["every"], "sort": walk["sort"], "descending": walk["descending"]}
    moves = walk["sort"] not in {"topic", "period_start", "period_end"} and not walk["every"]
    with SmallWorld() as world:
        world.send(responses)
        pinned = world.version
        given, after = 0, None
        events = [event for event in events if not (moves and event[0] == "allow")]
        while True:
            view = world.view()
            page, after = view.read(
                Question(
                    Selection(**walk["filters"]), version=pinned, as_of=as_of, after=after, limit=walk["limit"], **asked
                )
            )
            whole = shown(world.rows(as_of, version=pinned, **asked, **walk["filters"]))
            assert shown(page) == whole[given : given + walk["limit"]]
            given += len(page)
            if after is None:
                assert given == len(whole)
                return
            if events:
                apply(world, events.pop())


@FAST
@given(histories, walks, st.lists(arrivals | orders | consents, max_size=5))
def test_pages_joined_are_the_whole_at_the_pinned_version(responses, walk, events):
    check_walk(responses, walk, events)


@pytest.mark.slow
@DEEP
@given(histories, walks, st.lists(arrivals | orders | consents, max_size=8))
def test_pages_joined_are_the_whole_at_the_pinned_version_deep(responses, walk, events):
    check_walk(responses, walk, events)


@FAST
@given(histories, walks, st.lists(arrivals | orders, max_size=5))
def test_pages_of_vintages_joined_are_the_whole(responses, walk, events):
    with SmallWorld() as world:
        world.send(responses)
        pinned = world.version
        asked = {"version": pinned, "as_of": NOW, "every": walk["every"], "descending": walk["descending"]}
        selection = Selection(**walk["filters"])
        whole, place = world.view().read(Question(selection, after=None, limit=1 << 30, **asked, history=True))
        assert place is None
        joined, after = [], None
        while True:
            page, after = world.view().read(
                Question(selection, after=after, limit=walk["limit"], **asked, history=True)
            )
            joined += page
            if after is None:
                break
            assert len(page) == walk["limit"]
            if events:
                apply(world, events.pop())
        assert shown(joined) == shown(whole)
        if walk["every"] and not walk["filters"]:
            kept = [(row.series.id, row.period, row.known) for row in whole]
            assert sorted(kept) == [tuple(row[:3]) for row in world_rows_at(world, pinned)]
            key = [
                (r.series.spec.indicator, r.series.spec.entity, r.series.spec.frequency.value, r.period) for r in whole
            ]
            assert key == sorted(key, reverse=walk["descending"])


def world_rows_at(world, version):
    return world.db.execute(
        "SELECT s.id, v.period, v.known_at FROM vintages v JOIN series s USING(series)"
        " WHERE v.from_version <= ?1 AND v.to_version > ?1 ORDER BY s.id, v.period, v.known_at",
        (version,),
    )


@FAST
@given(histories, st.sampled_from(sorted(SORTS)), st.booleans(), st.integers(-2, 4), st.integers(0, 3))
def test_bounds_on_knowledge_test_the_chosen_row_and_never_bring_an_older_one(responses, sort, every, first, days):
    low, high = START + first * 86_400, START + (first + days) * 86_400
    with SmallWorld() as world:
        world.send(responses)
        whole = world.rows(every=every, sort=sort)
        bounded = world.rows(every=every, sort=sort, observed_from=low, observed_to=high)
        assert shown(bounded) == shown([row for row in whole if low <= row.known <= high])
