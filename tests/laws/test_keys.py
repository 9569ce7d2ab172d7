"""Lists in any order and within bounds on knowledge: the same as by sorting the whole list, also while rows arrive."""

from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.store.observations.reading import sorted as sorting
from almanac.store.observations.reading.question import Question
from almanac.store.observations.reading.selection import SORTS, Selection
from tests.laws.test_now_and_pages import NOW, apply, arrivals, expected_order, orders
from tests.support.generators import histories
from tests.support.small_world import ALPHA, BETA, START, SmallWorld, shown

FAST = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEEP = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])

moments = st.none() | st.integers(-2, 6).map(lambda day: START + day * 86_400)
asked = st.fixed_dictionaries(
    {
        "sort": st.sampled_from(sorted(SORTS)),
        "descending": st.booleans(),
        "every": st.booleans(),
        "as_of": moments,
        "low": moments,
        "high": moments,
        "limit": st.integers(1, 4),
        #: Fewer rows than a page than are read at once at least: groups go on behind what is read.
        "spare": st.sampled_from([-1, 1, 16]),
        "filters": st.sampled_from(
            [
                {},
                {"sources": frozenset({ALPHA, BETA})},
                {"kind": "derived"},
                {"indicators": ("level", "level_yoy", "yield_10y")},
                {"entities": ("country_aaa",), "indicators": ("level",)},
            ]
        ),
    }
)


def bounds(one):
    return {"observed_from": one["low"], "observed_to": one["high"]}


def within(rows, one):
    low, high = one["low"], one["high"]
    return [row for row in rows if (low is None or row.known >= low) and (high is None or row.known <= high)]


def plainly(world, one, version):
    """The list that is asked for: all rows in the default order, those within the bounds, sorted."""
    whole = world.rows(one["as_of"], every=True, version=version, **one["filters"])
    if not one["every"]:
        held = {(row.series.number, row.period) for row in preferred(world, one, version)}
        whole = [row for row in whole if (row.series.number, row.period) in held]
    return shown(expected_order(within(whole, one), one["sort"], one["descending"]))


def preferred(world, one, version):
    return world.rows(one["as_of"], every=False, version=version, **one["filters"])


def walk(world, one, version, events, ask):
    """All pages of a walk, with something happening between them."""
    joined, after = [], None
    while True:
        page, after = ask(world.view(), after, version)
        joined += page
        if after is None:
            return shown(joined)
        assert len(page) == one["limit"]
        if events:
            apply(world, events.pop())


def check_list(responses, one, events):
    with SmallWorld() as world, mock.patch.object(sorting, "_SPARE", one["spare"]):
        world.send(responses)
        version = world.version
        # The order of sources of this world is told by its catalogue, which the test of order knows.
        expected = plainly(world, one, version)
        selection = Selection(**one["filters"], **bounds(one))

        def ask(view, after, version):
            return view.read(
                Question(
                    selection,
                    version=version,
                    as_of=one["as_of"],
                    every=one["every"],
                    sort=one["sort"],
                    descending=one["descending"],
                    after=after,
                    limit=one["limit"],
                )
            )

        assert walk(world, one, version, events, ask) == expected


def check_vintages(responses, one, events):
    as_of = NOW if one["as_of"] is None else one["as_of"]
    with SmallWorld() as world, mock.patch.object(sorting, "_SPARE", one["spare"]):
        world.send(responses)
        version = world.version
        shared = {"version": version, "as_of": as_of, "every": one["every"], "descending": one["descending"]}
        plain = Selection(**one["filters"])
        whole, _ = world.view().read(Question(plain, after=None, limit=1 << 30, **shared, history=True))
        expected = within(whole, one)
        if one["sort"] == "observed_at":
            # Stable, so that ties keep the default order.
            expected.sort(key=lambda row: row.known, reverse=one["descending"])
        selection = Selection(**one["filters"], **bounds(one))
        sort = one["sort"] if one["sort"] == "observed_at" else "topic"

        def ask(view, after, _):
            return view.read(Question(selection, after=after, limit=one["limit"], sort=sort, **shared, history=True))

        assert walk(world, one, version, events, ask) == shown(expected)


@FAST
@given(histories, asked, st.lists(arrivals, max_size=4))
def test_rows_within_bounds_in_any_order_are_those_of_the_whole(responses, one, events):
    check_list(responses, one, events)


@pytest.mark.slow
@DEEP
@given(histories, asked, st.lists(arrivals, max_size=8))
def test_rows_within_bounds_in_any_order_are_those_of_the_whole_deep(responses, one, events):
    check_list(responses, one, events)


@FAST
@given(histories, asked, st.lists(arrivals | orders, max_size=4))
def test_vintages_within_bounds_in_any_order_are_those_of_the_whole(responses, one, events):
    check_vintages(responses, one, events)


@pytest.mark.slow
@DEEP
@given(histories, asked, st.lists(arrivals | orders, max_size=8))
def test_vintages_within_bounds_in_any_order_are_those_of_the_whole_deep(responses, one, events):
    check_vintages(responses, one, events)
