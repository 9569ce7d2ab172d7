"""Captions of an indicator over all entities: extremes with who has them, and the middle half where there are enough."""

from almanac.dashboard.formatting.captions import NOTHING, across_caption
from almanac.dashboard.formatting.numbers import unit

PERCENT = unit("percent")


def test_it_names_who_is_highest_and_lowest():
    rows = [("Japan", 1.0), ("Chile", 4.5), ("Spain", 2.0)]
    assert across_caption(rows, PERCENT, 1) == "Highest in Chile, at 4.5%; lowest in Japan, at 1.0%."


def test_of_many_it_tells_the_middle_half():
    rows = [(f"Place {n}", float(n)) for n in range(1, 10)]
    told = across_caption(rows, PERCENT, 1)
    assert told.endswith("The middle half of 9 lies between 3.0% and 7.0%.")


def test_those_who_share_an_extreme_are_all_named_or_counted():
    rows = [("A", 0.0), ("B", 0.0), ("C", 2.0)]
    assert "lowest in A and B, at 0.0%" in across_caption(rows, PERCENT, 1)
    rows = [(f"P{n}", 0.0) for n in range(5)] + [("C", 2.0)]
    assert "lowest in 5 of 6, at 0.0%" in across_caption(rows, PERCENT, 1)


def test_one_alone_and_none_at_all():
    assert (
        across_caption([("the United States", 3.4)], PERCENT, 1)
        == "3.4% in the United States, the only one that can be ranked."
    )
    assert across_caption([], PERCENT, 1) == NOTHING
