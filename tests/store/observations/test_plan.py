"""How a list is read, told from the question alone."""

from datetime import date

import pytest

from almanac.domain.companies import FiscalPeriod
from almanac.store.observations.reading.plan import Question, Way, planned
from almanac.store.observations.reading.selection import Selection

ONE = {"indicators": ("level",), "entities": ("country_aaa",)}
NARROW = {"indicators": ("level",), "entities": ("country_aaa", "country_bbb")}


def plan(selection=None, **more):
    return planned(Question(Selection(**(selection or {})), **{"version": 1, "as_of": None, "limit": 10, **more}))


@pytest.mark.parametrize(
    ("selection", "more", "way", "judged"),
    [
        ({}, {}, Way.CELLS, False),
        ({}, {"as_of": 5}, Way.CELLS, False),
        ({"frequency": "A"}, {}, Way.CELLS, False),
        ({"sources": frozenset({"a"})}, {}, Way.CELLS, False),
        ({"starts_from": date(2025, 1, 1)}, {}, Way.CELLS, False),
        ({"ends_from": date(2025, 1, 1)}, {}, Way.CELLS, False),  # a plan's window
        ({**NARROW, "frequency": "A"}, {"as_of": 5}, Way.CELLS, False),
        ({}, {"every": True}, Way.GROUPS, False),
        (NARROW, {"history": True, "as_of": 5}, Way.GROUPS, False),
        ({"observed_from": 7}, {}, Way.GROUPS, True),
        ({**NARROW, "observed_to": 7}, {"history": True}, Way.GROUPS, True),
        ({**ONE, "observed_to": 7}, {}, Way.GROUPS, True),
        ({**ONE, "fiscal": FiscalPeriod(2025, None)}, {}, Way.GROUPS, False),
        ({}, {"sort": "released_at"}, Way.SORTED, True),
        (NARROW, {"sort": "period_end", "every": True}, Way.SORTED, True),
        (ONE, {"sort": "period_end", "descending": True}, Way.SORTED, True),
        ({"indicators": ()}, {"sort": "released_at"}, Way.SORTED, True),  # nothing to be read
    ],
)
def test_a_question_has_one_plan(selection, more, way, judged):
    found = plan(selection, **more)
    assert (found.way, found.judged) == (way, judged)
