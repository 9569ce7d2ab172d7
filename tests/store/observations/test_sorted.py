"""Lists in another order than the tables': how many vintages they mean is told before a row is read, and none is sorted in vain."""

from datetime import date
from unittest import mock

import pytest

from almanac.domain.observations import Vintage
from almanac.domain.periods import Period
from almanac.store.observations.reading import pages
from almanac.store.observations.reading.pages import TooBroadError, read_page
from almanac.store.observations.reading.query import SORTS, ObservationFilter, ObservationQuery, compile_query
from almanac.store.observations.reading.reader import View
from tests.support.small_world import ALPHA, BETA, START, SmallWorld, spec

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
