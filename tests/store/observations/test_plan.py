"""How a list is read and what that may cost, told from the question alone."""

from datetime import date

import pytest

from almanac.domain.companies import FiscalPeriod
from almanac.store.engine.cost import Cost
from almanac.store.observations.reading.plan import Question, Way, cost_of_newest, planned
from almanac.store.observations.reading.selection import SORTS, Selection

ONE = {"indicators": ("level",), "entities": ("country_aaa",)}
NARROW = {"indicators": ("level",), "entities": ("country_aaa", "country_bbb")}


def plan(selection=None, **more):
    return planned(Question(Selection(**(selection or {})), **{"version": 1, "as_of": None, "limit": 10, **more}))


@pytest.mark.parametrize(
    ("selection", "more", "way", "cost", "judged"),
    [
        ({}, {}, Way.CELLS, Cost.PAGE, False),
        ({}, {"as_of": 5}, Way.CELLS, Cost.APART, False),
        ({"frequency": "A"}, {}, Way.CELLS, Cost.APART, False),
        ({"sources": frozenset({"a"})}, {}, Way.CELLS, Cost.APART, False),
        ({"starts_from": date(2025, 1, 1)}, {}, Way.CELLS, Cost.APART, False),
        ({"ends_from": date(2025, 1, 1)}, {}, Way.CELLS, Cost.PAGE, False),  # a plan's window
        ({**NARROW, "frequency": "A"}, {"as_of": 5}, Way.CELLS, Cost.PAGE, False),
        ({}, {"every": True}, Way.GROUPS, Cost.PAGE, False),
        (NARROW, {"history": True, "as_of": 5}, Way.GROUPS, Cost.PAGE, False),
        ({"observed_from": 7}, {}, Way.GROUPS, Cost.HEAVY, True),
        ({**NARROW, "observed_to": 7}, {"history": True}, Way.GROUPS, Cost.HEAVY, True),
        ({**ONE, "observed_to": 7}, {}, Way.GROUPS, Cost.PAGE, True),
        ({**ONE, "fiscal": FiscalPeriod(2025, None)}, {}, Way.GROUPS, Cost.HEAVY, False),
        ({}, {"sort": "released_at"}, Way.SORTED, Cost.HEAVY, True),
        (NARROW, {"sort": "period_end", "every": True}, Way.SORTED, Cost.HEAVY, True),
        (ONE, {"sort": "period_end", "descending": True}, Way.SORTED, Cost.PAGE, True),
        ({"indicators": ()}, {"sort": "released_at"}, Way.SORTED, Cost.PAGE, True),  # nothing to be read
    ],
)
def test_a_question_has_one_plan(selection, more, way, cost, judged):
    found = plan(selection, **more)
    assert (found.way, found.cost, found.judged) == (way, cost, judged)


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_what_is_neither_preferred_nor_by_topic_never_goes_cell_by_cell(sort):
    """The quick way knows neither other orders, nor rows that are not preferred, nor bounds on knowledge, nor fiscal periods."""
    for more in ({"every": True}, {"history": True}):
        assert plan(sort=sort, **more).way is not Way.CELLS
    for bound in ({"observed_from": 1}, {"observed_to": 1}, {"fiscal": FiscalPeriod(2025, "Q1")}):
        assert plan(bound, sort=sort).way is not Way.CELLS


@pytest.mark.parametrize(
    ("selection", "tests", "cost"),
    [
        ({}, {}, Cost.APART),
        ({}, {"as_of": 5}, Cost.HEAVY),
        ({}, {"freshness": "stale"}, Cost.HEAVY),
        ({"sources": frozenset({"a"})}, {}, Cost.HEAVY),
        (ONE, {"freshness": "stale", "as_of": 5}, Cost.PAGE),
        ({"entities": ()}, {"freshness": "stale"}, Cost.PAGE),
    ],
)
def test_newest_readings_of_everything_cost_more_where_they_are_tested(selection, tests, cost):
    assert cost_of_newest(Selection(**selection), **{"as_of": None, "freshness": None, **tests}) is cost
