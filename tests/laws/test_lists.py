"""Lists: without `as_of` is as of now, sorted as documented, and what is preferred follows rights and order."""

from hypothesis import given
from hypothesis import strategies as st

from almanac.store.observations.reading.query import SORTS
from tests.support.generators import histories, responses
from tests.support.small_world import ALPHA, BETA, GAMMA, START, SmallWorld, shown

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


@given(histories, st.lists(consents | orders, max_size=3))
def test_no_as_of_is_as_of_now(responses, changes):
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


@given(histories, st.sampled_from(sorted(SORTS)), st.booleans(), st.booleans(), st.integers(-2, 6) | st.none())
def test_lists_are_sorted_as_documented_with_nulls_last_either_way(responses, sort, descending, every, day):
    as_of = None if day is None else START + day * 86_400
    with SmallWorld() as world:
        world.send(responses)
        found = world.rows(as_of, every=every, sort=sort, descending=descending)
        rows = world.rows(as_of, every=every)
        assert shown(found) == shown(expected_order(rows, sort, descending))


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


@given(histories, st.sampled_from(sorted(SORTS)), st.booleans(), st.integers(-2, 4), st.integers(0, 3))
def test_bounds_on_knowledge_test_the_chosen_row_and_never_bring_an_older_one(responses, sort, every, first, days):
    low, high = START + first * 86_400, START + (first + days) * 86_400
    with SmallWorld() as world:
        world.send(responses)
        whole = world.rows(every=every, sort=sort)
        bounded = world.rows(every=every, sort=sort, observed_from=low, observed_to=high)
        assert shown(bounded) == shown([row for row in whole if low <= row.known <= high])
