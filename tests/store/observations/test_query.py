"""How a list is read, told from the question alone."""

from datetime import date

import pytest

from almanac.domain.companies import FiscalPeriod
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery, ScanStrategy

ONE = {"indicators": ("level",), "entities": ("country_aaa",)}
NARROW = {"indicators": ("level",), "entities": ("country_aaa", "country_bbb")}


@pytest.mark.parametrize(
    ("asked", "more", "strategy"),
    [
        ({}, {}, ScanStrategy.CELLS),
        ({}, {"as_of": 5}, ScanStrategy.CELLS),
        ({"frequency": "A"}, {}, ScanStrategy.CELLS),
        ({"sources": frozenset({"a"})}, {}, ScanStrategy.CELLS),
        ({"starts_from": date(2025, 1, 1)}, {}, ScanStrategy.CELLS),
        ({"ends_from": date(2025, 1, 1)}, {}, ScanStrategy.CELLS),  # a plan's window
        ({**NARROW, "frequency": "A"}, {"as_of": 5}, ScanStrategy.CELLS),
        ({}, {"every": True}, ScanStrategy.GROUPS),
        (NARROW, {"history": True, "as_of": 5}, ScanStrategy.GROUPS),
        ({"observed_from": 7}, {}, ScanStrategy.GROUPS),
        ({**NARROW, "observed_to": 7}, {"history": True}, ScanStrategy.GROUPS),
        ({**ONE, "observed_to": 7}, {}, ScanStrategy.GROUPS),
        ({**ONE, "fiscal": FiscalPeriod(2025, None)}, {}, ScanStrategy.GROUPS),
        ({}, {"sort": "released_at"}, ScanStrategy.SORTED),
        (NARROW, {"sort": "period_end", "every": True}, ScanStrategy.SORTED),
        (ONE, {"sort": "period_end", "descending": True}, ScanStrategy.SORTED),
        ({"indicators": ()}, {"sort": "released_at"}, ScanStrategy.SORTED),  # nothing to be read
    ],
)
def test_a_query_has_one_strategy(asked, more, strategy):
    query = ObservationQuery(ObservationFilter(**asked), **{"version": 1, "as_of": None, "limit": 10, **more})
    assert query.strategy is strategy
