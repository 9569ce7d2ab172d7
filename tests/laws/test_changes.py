"""Changes since a data version: what two whole lists differ in, told without making either."""

from typing import NamedTuple
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from almanac.store.observations.reading import changes
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from tests.support.generators import histories, responses
from tests.support.small_world import ALPHA, BETA, GAMMA, START, SmallWorld, shown

consents = st.lists(st.just(GAMMA), max_size=1).map(lambda names: ("allow", tuple(names)))
orders = st.permutations([ALPHA, BETA, GAMMA]).map(lambda names: ("prefer", tuple(names)))
arrivals = st.lists(responses(), min_size=1, max_size=2).map(lambda found: ("send", (found,)))
events = st.lists(arrivals | consents | orders, max_size=5)
asked = st.fixed_dictionaries(
    {
        "every": st.booleans(),
        "day": st.none() | st.integers(-1, 6),
        "filters": st.sampled_from(
            [
                {},
                {"sources": frozenset({ALPHA, BETA})},
                {"indicators": ("level", "level_yoy", "misery"), "kind": "derived"},
                {"frequency": "M", "entities": ("country_aaa",)},
            ]
        ),
    }
)


class State(NamedTuple):
    """What was served at a version: cell (and series, where every one counts) → topic and all the bytes of its row."""

    version: int
    rows: dict


def topic_of(row):
    spec = row.series.spec
    return (spec.indicator, spec.entity, spec.frequency.value)


def name_of(row, every):
    return (*topic_of(row), row.period, *([row.series.id] if every else []))


def bytes_of(world, row):
    rights = world.view().directory.row_rights(row.series, row.lineage)
    series = row.series
    lineage = world.view().directory.lineage(row.lineage)
    return (
        *shown([row]),
        rights.encoded,
        series.unit,
        series.page,
        world.view().directory.origins([(series.number, row.lineage)])[0].stated,
        lineage,
    )


def state(world, every, as_of, filters):
    rows = world.rows(as_of, every=every, **filters)
    return State(world.version, {name_of(row, every): bytes_of(world, row) for row in rows})


def all_changes(world, since, every, as_of, filters, *, descending=False, after=None, limit=1 << 30, version=None):
    view = world.view()
    asked = ObservationFilter(**filters)
    version = view.version if version is None else version
    query = ObservationQuery(asked, version, as_of, limit, after, descending=descending, every=every)
    return changes.read_changes(view, query, since)


def concerned(world, event, before):
    """Topics that a change of rights or order is about: those of the source, and what is computed from it; of the indicators."""
    if world.version == before:
        return set()
    if event[0] == "prefer":
        moved = {
            name
            for (name,) in world.db.execute("SELECT indicator FROM preference WHERE from_version = ?", (world.version,))
        }
        sql = "SELECT indicator, entity, frequency FROM topic"
        return {tuple(found) for found in world.db.execute(sql) if found[0] in moved}
    if event[0] != "allow":
        return set()
    made = list(
        world.db.execute(
            "SELECT DISTINCT t.indicator, t.entity, t.frequency, s.id, l.inputs FROM series s JOIN topic t USING(topic)"
            " LEFT JOIN vintages v ON v.topic = s.topic AND v.series = s.series LEFT JOIN lineage l ON l.lineage IN (v.lineage, s.lineage)"
        )
    )
    shut = {found[3] for found in made if found[3].startswith(f"{GAMMA}:")}
    while True:
        more = {found[3] for found in made if any(f'"{name}"' in (found[4] or "") for name in shut)} | shut
        if more == shut:
            return {tuple(found[:3]) for found in made if found[3] in shut}
        shut = more


def check(first, then, query, many):
    every, filters = query["every"], query["filters"]
    as_of = None if query["day"] is None else START + query["day"] * 86_400
    with SmallWorld() as world, patch.object(changes, "_MANY", many):
        states = [State(0, {}), state(world, every, as_of, filters)]
        about = []
        for event in [("send", ([one],)) for one in first] + then:
            before = world.version
            getattr(world, event[0])(*event[1])
            about.append((world.version, concerned(world, event, before)))
            states.append(state(world, every, as_of, filters))
        now = states[-1].rows
        for held in states:
            topics = set().union(*(names for version, names in about if version > held.version))
            expected = {name for name in now if now[name] != held.rows.get(name) or name[:3] in topics}
            gone = held.rows.keys() - now.keys()
            rows, place = all_changes(world, held.version, every, as_of, filters)
            assert place is None
            found = {name_of(row, every): row for row in rows}
            assert len(found) == len(rows)
            if held.version == 0:
                # Before the first version no order held either: everything is listed.
                expected = set(now)
            assert found.keys() == expected | gone
            for name, row in found.items():
                assert row.withdrawn == (name in gone)
                if row.withdrawn:
                    assert (row.value, row.text) == (None, None)
                else:
                    assert bytes_of(world, row) == now[name]


@given(histories, events, asked, st.sampled_from([1, 20_000]))
def test_changes_are_what_two_whole_lists_differ_in(first, then, query, many):
    check(first, then, query, many)


@given(histories, st.data(), asked, events, st.booleans(), st.integers(1, 4), st.sampled_from([1, 20_000]))
def test_pages_of_changes_joined_are_the_whole(first, data, query, later, descending, limit, many):
    """Though rows arrive and orders change between two pages: a walk is pinned."""
    every, filters = query["every"], query["filters"]
    as_of = None if query["day"] is None else START + query["day"] * 86_400
    with SmallWorld() as world, patch.object(changes, "_MANY", many):
        world.send(first)
        pinned = world.version
        since = data.draw(st.integers(0, pinned))
        whole, _ = all_changes(world, since, every, as_of, filters)
        assert [name_of(row, False) for row in whole] == sorted(name_of(row, False) for row in whole)
        whole = whole[::-1] if descending else whole
        later = [event for event in later if event[0] != "allow"]
        joined, after = [], None
        while True:
            page, after = all_changes(
                world, since, every, as_of, filters, descending=descending, after=after, limit=limit, version=pinned
            )
            joined += page
            if after is None:
                break
            assert len(page) == limit
            if later:
                event = later.pop()
                getattr(world, event[0])(*event[1])
        assert shown(joined) == shown(whole)


@given(
    histories, events, asked, st.integers(-1, 6), st.integers(0, 3), st.booleans(), st.sampled_from([1, 20_000]),
)  # fmt: skip
def test_bounds_on_knowledge_leave_out_what_is_beyond_them(first, then, query, low, days, descending, many):
    every, filters = query["every"], query["filters"]
    as_of = None if query["day"] is None else START + query["day"] * 86_400
    with SmallWorld() as world, patch.object(changes, "_MANY", many):
        world.send(first)
        middle = world.version
        for event in then:
            getattr(world, event[0])(*event[1])
        bounds = {"observed_from": START + low * 86_400, "observed_to": START + (low + days) * 86_400}
        for since in {0, middle // 2, middle}:
            whole, _ = all_changes(world, since, every, as_of, filters, descending=descending)
            found, _ = all_changes(world, since, every, as_of, {**filters, **bounds}, descending=descending)
            within = [row for row in whole if bounds["observed_from"] <= row.known <= bounds["observed_to"]]
            assert [(name_of(row, True), row.shown) for row in found] == [
                (name_of(row, True), row.shown) for row in within
            ]
