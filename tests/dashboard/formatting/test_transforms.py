"""A transformed line is what its formula says of each pair of periods, and absent where one of them is."""

from datetime import date

import pytest

from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.transforms import TRANSFORMS, common_base, transformed
from almanac.dashboard.formatting.values import points
from almanac.domain.periods import Frequency, Period
from tests.support.dashboard_rows import observation, quarters

MONEY, PERCENT = unit("usd_billions"), unit("percent")


def values(made):
    return [(point.period.replace("\xa0", " "), point.value, point.state) for point in made.points]


def test_each_transform_by_hand():
    line = points(quarters([100.0, 110.0, 99.0, 100.0, 120.0], unit="usd_billions"))
    found = {
        name: transformed(name, line, MONEY, 0, base=date(2016, 5, 1)) for name in TRANSFORMS
    }  # fmt: skip
    assert [point.value for point in found["level"].points] == [100, 110, 99, 100, 120]
    assert [point.value for point in found["change"].points] == [10, -11, 1, 20]
    assert [point.value for point in found["percent"].points] == [10, -10, 1.0101010101, 20]
    assert values(found["year"]) == [("2017 Q1", 20.0, "shown")]
    assert [point.value for point in found["index"].points] == [90.9090909091, 100, 90, 90.9090909091, 109.090909091]
    assert found["log"].points[0].value == 4.60517018599
    assert [found[name].unit.head for name in ("level", "change", "percent", "year", "log")] == [
        "USD billions", "USD billions, change", "Percent", "Percent", "Natural logarithm",
    ]  # fmt: skip
    assert found["index"].unit.head.replace("\xa0", " ") == "Index, 1 May 2016 = 100"
    assert found["level"].formula == ""
    assert all(found[name].formula for name in TRANSFORMS if name != "level")


def test_of_percentages_a_change_is_in_points_and_exact():
    line = points(quarters([5.3, 5.25, 5.25, 5.0, 5.2]))
    for name, wanted in (("percent", [-0.05, 0, -0.25, 0.2]), ("year", [-0.1])):
        made = transformed(name, line, PERCENT, 2)
        assert [point.value for point in made.points] == wanted
        assert made.unit.head == "Percentage points"
    fraction = points(quarters([0.1, 0.125], unit="ratio"))
    assert transformed("change", fraction, PERCENT._replace(fraction=True), 1).points[0].value == 2.5


def test_what_has_nothing_to_be_compared_with_has_no_value():
    gap = points(quarters([1.0, 2.0, "none", 4.0], unit="usd_billions"))
    assert values(transformed("change", gap, MONEY, 0)) == [("2016 Q2", 1.0, "shown"), ("2016 Q4", None, "none")]
    zero = points(quarters([0.0, 2.0, -1.0, 3.0], unit="usd_billions"))
    assert [p.value for p in transformed("percent", zero, MONEY, 0).points] == [-150, None]
    assert [p.value for p in transformed("log", zero, MONEY, 0).points][:1] == [None]
    assert transformed("index", gap, MONEY, 0, base=date(2016, 8, 1)).points == []
    with pytest.raises(ValueError, match="was not given"):
        transformed("index", gap, MONEY, 0)
    with pytest.raises(ValueError, match="There are level, change"):
        transformed("cube", gap, MONEY, 0)


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name != "level"])
def test_what_is_made_of_a_withheld_value_is_withheld(name):
    line = points(quarters([2.0, None, 3.0, 4.0, 5.0, 6.0], unit="usd_billions"))
    made = transformed(name, line, MONEY, 0, base=date(2016, 5, 1))
    shut = {period for period, value, state in values(made) if state == "withheld" and value is None}
    wanted = {
        "change": {"2016 Q2", "2016 Q3"}, "percent": {"2016 Q2", "2016 Q3"}, "year": {"2016 Q2", "2017 Q2"}, "log": {"2016 Q2"},
        # All of an index that is 100 at a withheld value.
        "index": {"2016 Q1", "2016 Q2", "2016 Q3", "2016 Q4", "2017 Q1", "2017 Q2"},
    }  # fmt: skip
    assert shut == wanted[name]


def test_of_days_the_year_before_is_looked_for_in_a_week():
    def of(day, value):
        at = date.fromisoformat(day)
        return observation(Period(at, at), value, frequency=Frequency.DAILY)

    line = points(
        [
            of("2024-02-28", 4.0),
            of("2024-03-08", 4.1),
            of("2025-02-28", 4.5),
            of("2025-03-14", 4.6),
            of("2025-03-17", 4.7),
        ]
    )
    found = values(transformed("year", line, PERCENT, 2))
    assert found == [
        ("28 Feb 2025", 0.5, "shown"), ("14 Mar 2025", 0.5, "shown"), ("17 Mar 2025", None, "none"),
    ]  # fmt: skip


def test_an_index_of_all_begins_where_all_have_a_value():
    early, late = points(quarters([1.0, 2.0])), points(quarters([1.0, 2.0], first="2018-Q1"))
    assert common_base([early, late]) == date(2018, 3, 31)
    assert common_base([[], []]) is None
