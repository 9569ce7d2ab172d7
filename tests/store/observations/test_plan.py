"""How a list is read and what that may cost, told from the question alone."""

from datetime import date

import pytest

from almanac.domain.companies import FiscalPeriod
from almanac.store.engine.cost import Cost
from almanac.store.observations.reading.plan import Question, Way, planned
from almanac.store.observations.reading.selection import Selection

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
