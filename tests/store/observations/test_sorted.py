"""Lists in another order than the tables': how many vintages they mean is told before a row is read, and none is sorted in vain."""

from datetime import date, timedelta
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import Vintage
from almanac.domain.periods import Period
from almanac.store.observations.reading import pages
from almanac.store.observations.reading.newest import WantedFreshness, read_latest, reading
from almanac.store.observations.reading.pages import TooBroadError, read_page
from almanac.store.observations.reading.query import SORTS, ObservationFilter, ObservationQuery, compile_query
from almanac.store.observations.reading.reader import View
from tests.store.observations.test_columns import ENTITIES, changes, forecasts, level
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, GAMMA, START, SmallWorld, spec

DAY = 86_400
#: Of three series: source, indicator, entity, and values of how many months of 2020 and later.
MADE = ((ALPHA, "level", "country_aaa", 24), (BETA, "level", "country_aaa", 12), (ALPHA, "policy", "country_bbb", 6))


@pytest.fixture(scope="module")
def world():
    with SmallWorld() as one:
        for number, (source, indicator, entity, months) in enumerate(MADE):
            target = {}
            for month in range(months):
                at = START + (month + number) * DAY
                period = Period.parse(f"{2020 + month // 12}-{month % 12 + 1:02}")
                target[period.key] = [
                    Vintage(at, float(month), None, 0, at, at, 1, None, 0),
                    Vintage(at + 40 * DAY, month + 0.5, None, 0, None, at + 40 * DAY, 1, None, 0),
                ]
            with one.batch("test") as batch:
                batch.replace(batch.series(spec(source, indicator, entity), "raw"), target)
        yield one


def view_of(world, most):
    held = world.view()
    return View(world.db, held.version, held.epoch, held.directory, {}, most)


def asked(view, selection, **more):
    place = {"version": view.version, "as_of": None, "every": False, "sort": "observed_at", "descending": False}
    return read_page(view, ObservationQuery(selection, **{**place, "after": None, "limit": 5, **more}))


@pytest.mark.parametrize(
    ("selection", "meant"),
    [
        ({}, 84),
        ({"indicators": ("level",)}, 72),
        ({"entities": ("country_bbb",)}, 12),
        ({"sources": frozenset({BETA})}, 24),
        ({"kind": "derived"}, 0),
        ({"frequency": "A"}, 0),
        ({"companies": True, "countries": False}, 0),
        # Of two years the second, in which one series has half of its periods.
        ({"ends_from": date(2021, 1, 1)}, 24),
        ({"ends_by": date(2019, 12, 31)}, 0),
        ({"observed_from": START + 64 * DAY}, 0),
        ({"observed_from": START + 63 * DAY}, 48),
    ],
)
def test_what_is_meant_is_told_from_the_figures_of_series(world, selection, meant):
    """And refused where it is more than may be gone through, before any row is read; else it is answered."""
    wanted = ObservationFilter(**selection)
    if meant:
        with (
            mock.patch.object(pages, "compile_query", side_effect=AssertionError),
            pytest.raises(TooBroadError) as caught,
        ):
            asked(view_of(world, meant - 1), wanted)
        assert (caught.value.rows, caught.value.allowed) == (meant, meant - 1)
    rows, _ = asked(view_of(world, max(1, meant)), wanted)
    assert bool(rows) == bool(meant)


def test_a_walk_that_has_begun_goes_on_and_a_list_by_topic_is_never_too_broad(world):
    rows, after = asked(view_of(world, 84), ObservationFilter())
    more, _ = asked(view_of(world, 1), ObservationFilter(), after=after)
    assert len(rows) == len(more) == 5
    for every in (False, True):
        assert asked(view_of(world, 1), ObservationFilter(), sort="topic", every=every)[0]
    with pytest.raises(TooBroadError):
        asked(view_of(world, 1), ObservationFilter(observed_to=START + 50 * DAY), sort="topic")


@pytest.mark.sqlite  # it reads that engine's plans
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", sorted(SORTS))
def test_a_list_by_topic_is_read_in_the_order_of_the_tables(world, sort, descending):
    bounds = [
        {},
        {"observed_from": START},
        {"ends_from": date(2020, 3, 1)},
        {"entities": ("country_aaa", "country_bbb")},
    ]
    for selection in (ObservationFilter(**more) for more in bounds):
        question = ObservationQuery(selection, world.version, None, 5, sort=sort, descending=descending)
        sql, values = compile_query(question, 5, newest=True)
        plan = [line[3] for line in world.db.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert any("TEMP B-TREE FOR ORDER BY" in line for line in plan) == (sort != "topic")


def test_a_group_that_goes_on_behind_what_is_read_is_given_whole(world):
    """All rows of the first source's first cell share a sort value: more than are read at once."""
    rows, after, view = [], None, world.view()
    with mock.patch.object(pages, "_SPARE", 0):
        while not rows or after is not None:
            query = ObservationQuery(ObservationFilter(), world.version, None, 1, after, every=True, history=True)
            page, after = read_page(view, query)
            rows += page
    assert len({row.id for row in rows}) == len(rows) == 84


@pytest.mark.parametrize("bound", [{"observed_to": START}, {"observed_from": START + 63 * DAY}])
@pytest.mark.parametrize("sort", sorted(SORTS))
def test_bounds_on_knowledge_take_in_the_first_and_the_last_moment(world, sort, bound):
    view = view_of(world, 84)
    rows, _ = read_page(
        view,
        ObservationQuery(
            ObservationFilter(**bound),
            version=view.version,
            as_of=None,
            every=True,
            sort=sort,
            descending=False,
            after=None,
            limit=5,
            history=True,
        ),
    )
    assert [row.known for row in rows] == list(bound.values())


# The list of latest readings, whose topics are looked at many at once, against the reading of each pair alone.


SOURCES = (None, frozenset({ALPHA}), frozenset({BETA, GAMMA}), frozenset({GAMMA}))

#: Of periods and of when rows became known. The first is what a plan sees of them.
BOUNDS = (
    {"ends_from": date(2025, 2, 1)},
    {"ends_from": date(2025, 2, 28)},
    {},
    {"ends_by": date(2025, 2, 28)},
    {"starts_from": date(2025, 2, 1)},
    {"observed_to": START + 86_400},
)

#: Of which readings those of a freshness are asked for.
FILTERS = (
    {},
    {"sources": frozenset({ALPHA})},
    {"sources": frozenset({BETA, GAMMA})},
    {"frequency": "D"},
    {"kind": "derived"},
    {"indicators": ("level", "policy")},
    {"ends_by": date(2025, 2, 28)},
)


def walked(view, selection, *, accept=lambda _: True, freshness=None, **place):
    """The whole list, page by page."""
    rows, after = [], None
    while True:
        page, after = read_latest(view, ObservationQuery(selection, after=after, **place), accept, freshness)
        rows += page
        if after is None:
            return rows


@given(
    histories,
    forecasts,
    st.booleans(),
    st.integers(1, 4),
    st.sampled_from(FILTERS),
)
def test_those_of_a_freshness_are_found_without_the_others(responses, ahead, descending, limit, filters):
    """The list is that of all readings, tested one by one."""
    selection = ObservationFilter(**filters)
    with SmallWorld() as world:
        world.send([*responses, *(level(source, day, *lines) for source, day, lines in ahead)])
        view = world.view()
        for as_of in (None, *world.moments()[1::4]):
            today = date(2025, 4, 10) if as_of is None else date.fromtimestamp(as_of) + timedelta(20)
            place = {"version": view.version, "as_of": as_of, "descending": descending}
            every = walked(view, selection, **place, limit=limit)
            for status in ("fresh", "stale", "unknown"):

                def accept(series, as_of=as_of, today=today, status=status):
                    return view.freshness(series, view.version, as_of, today) == status

                wanted = WantedFreshness(status, today)
                rows = walked(view, selection, **place, limit=limit, accept=accept, freshness=wanted)
                assert rows == [row for row in every if accept(row.series)]


@given(histories, forecasts, changes, st.booleans(), st.integers(1, 4), st.sampled_from(BOUNDS))
def test_the_list_is_the_reading_of_each_pair(responses, ahead, events, descending, limit, bounds):
    with SmallWorld() as world:
        world.send([*responses, *(level(source, day, *lines) for source, day, lines in ahead)])
        before = world.version
        for name, arguments in events:
            getattr(world, name)(*arguments)
        view = world.view()
        pairs = [(indicator, entity) for indicator in sorted(world.catalog.indicators) for entity in ENTITIES]
        for version in {before, world.version}:
            for as_of in (None, *world.moments()[::3]):
                for sources in SOURCES:
                    selection = ObservationFilter(sources=sources, **bounds)
                    place = {"version": version, "as_of": as_of}
                    readings = [reading(view, selection, *pair, **place) for pair in pairs]
                    expected = [row for row in readings if row is not None][:: -1 if descending else 1]
                    assert walked(view, selection, **place, descending=descending, limit=limit) == expected
