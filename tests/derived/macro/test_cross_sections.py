"""Comparisons among a group: scores by hand, who takes part, what makes a vintage. All countries and numbers are invented."""

from statistics import median

import pytest

from almanac.derived.macro.cross_sections import compare, peer_comparison, result_of
from almanac.derived.macro.operators import FormulaError
from almanac.domain.observations import FINAL, PROJECTION, UNKNOWN
from almanac.domain.periods import Frequency, Period

from .cells import NOW, number, series, vintage

A, M = Frequency.ANNUAL, Frequency.MONTHLY
Y25 = Period.parse("2025").key


def scored(group, years=0, minimum=3, name="peer_zscore", outputs=("2025",)):
    how = peer_comparison(name, {"minimum": minimum, "years": years})
    return compare(how, A, group, [number(text, A) for text in outputs], 600)


def shown(made):
    return [(one.vintage.known - NOW, one.vintage.value) for one in made]


def group(**values):
    """Entities with one value for 2025, all known at once."""
    return {name: [series(A, {"2025": [vintage(0, value)]})] for name, value in values.items()}


def test_a_score_by_hand():
    # Median 3; deviations 2, 1, 0, 1, 97; their median 1: (100 − 3)/1.4826 = 65.43, which no mean or deviation would give.
    found = scored(group(a=1.0, b=2.0, c=3.0, d=4.0, e=100.0))
    assert {name: shown(made[Y25]) for name, made in found.items()} == {
        "a": [(0, -1.35)],
        "b": [(0, -0.67)],
        "c": [(0, 0.0)],
        "d": [(0, 0.67)],
        "e": [(0, 65.43)],
    }
    assert found["a"][Y25][0].vintage.note == '{"peerCount":4}'
    assert found["a"][Y25][0].used == (("a", 0), ("b", 0), ("c", 0), ("d", 0), ("e", 0))


def test_of_an_even_number_the_median_is_between_the_middle_two():
    found = scored(group(a=1.0, b=2.0, c=4.0, d=9.0))
    values = [1.0, 2.0, 4.0, 9.0]
    spread = 1.4826 * median([2.0, 1.0, 1.0, 6.0])
    assert [found[name][Y25][0].vintage.value for name in "abcd"] == [round((v - 3.0) / spread, 2) for v in values]


def test_a_spread_is_against_the_mean_of_the_others_to_twelve_digits():
    found = scored(group(a=4.1, b=3.0, c=2.5), name="peer_spread", minimum=2)
    assert found["a"][Y25][0].vintage.value == 1.35
    assert found["c"][Y25][0].vintage.value == -1.05
    thirds = scored(group(a=4.5, b=4.1, c=4.2, d=4.5), name="peer_spread", minimum=2)
    assert thirds["a"][Y25][0].vintage.value == 0.233333333333
    # The minimum is of others, not of all.
    assert scored(group(a=4.1, b=3.0, c=2.5), name="peer_spread", minimum=3) == {}


def test_too_few_and_all_equal_give_nothing():
    assert scored(group(a=1.0, b=2.0)) == {}
    assert scored(group(a=2.0, b=2.0, c=2.0, d=5.0)) == {}


def test_an_arrival_dates_the_others_anew_only_where_the_rounded_score_changes():
    found = scored(
        {
            "a": [series(A, {"2025": [vintage(0, 1.0)]})],
            "b": [series(A, {"2025": [vintage(1, 2.0)]})],
            "c": [series(A, {"2025": [vintage(2, 3.0)]})],
            # Known later; another median and another deviation.
            "d": [series(A, {"2025": [vintage(9, 7.0)]})],
            # Later still, in the middle.
            "e": [series(A, {"2025": [vintage(11, 2.5), vintage(12, 2.5000001)]})],
        }
    )
    # Three: median 2, MAD 1. Four: median 2.5, deviations 1.5 .5 .5 4.5, MAD 1. Five: median 2.5, the same and 0: MAD 0.5.
    assert shown(found["a"][Y25]) == [(2, -0.67), (9, -1.01), (11, -2.02)]
    assert shown(found["c"][Y25]) == [(2, 0.67), (9, 0.34), (11, 0.67)]
    assert shown(found["d"][Y25]) == [(9, 3.04), (11, 6.07)]
    # The last revision moves no score by a hundredth.
    assert shown(found["e"][Y25]) == [(11, 0.0)]
    assert found["a"][Y25][1].used == (("a", 0), ("b", 0), ("c", 0), ("d", 0))


def test_a_withdrawal_takes_the_score_away_from_all_when_too_few_are_left():
    found = scored(
        {
            "a": [series(A, {"2025": [vintage(0, 1.0)]})],
            "b": [series(A, {"2025": [vintage(0, 2.0)]})],
            "c": [series(A, {"2025": [vintage(0, 3.0), vintage(5, None), vintage(7, 3.0)]})],
        }
    )
    assert shown(found["a"][Y25]) == [(0, -0.67), (5, None), (7, -0.67)]
    assert shown(found["c"][Y25]) == [(0, 0.67), (5, None), (7, 0.67)]


def test_a_member_needs_a_value_of_years_before():
    long = {"2015": [vintage(0, 1.0)], "2025": [vintage(0, 2.0)]}
    short = {"2016": [vintage(0, 1.0)], "2025": [vintage(0, 9.0)]}
    found = scored(
        {
            "a": [series(A, {"2015": [vintage(0, 1.0)], "2025": [vintage(0, 1.0)]})],
            "b": [series(A, long)],
            "c": [series(A, {"2015": [vintage(6, 1.0)], "2025": [vintage(0, 3.0)]})],
            "d": [series(A, short)],
        },
        years=10,
    )
    assert {name: shown(made[Y25]) for name, made in found.items()} == {
        "a": [(6, -0.67)],
        "b": [(6, 0.0)],
        "c": [(6, 0.67)],
    }


def test_the_first_candidate_with_all_that_is_needed_is_taken_and_a_projection_is_not():
    forecast = series(A, {"2025": [vintage(-60_000_000, 8.0)]})
    assert forecast.cells[number("2025", A)][0].flags & 32
    found = scored(
        {
            "a": [series(A, {"2025": [vintage(0, 1.0)]})],
            "b": [series(A, {"2024": [vintage(0, 5.0)]}), series(A, {"2025": [vintage(0, 2.0)]})],
            "c": [forecast, series(A, {"2025": [vintage(4, 3.0)]})],
            "d": [series(A, {"2025": [vintage(0, 90.0, flags=PROJECTION)]})],
        }
    )
    assert shown(found["a"][Y25]) == [(4, -0.67)]
    assert found["a"][Y25][0].used == (("a", 0), ("b", 1), ("c", 1))


def test_status_and_times_are_those_of_all_that_took_part():
    cells = {
        "a": [vintage(0, 1.0, flags=FINAL, released=NOW - 5)],
        "b": [vintage(0, 2.0, flags=FINAL, released=NOW - 9, ingested=70)],
        "c": [vintage(0, 3.0, flags=FINAL, released=NOW - 7)],
    }
    found = scored({name: [series(A, {"2025": history})] for name, history in cells.items()})["a"][Y25][0].vintage
    assert (found.flags & FINAL, found.released, found.ingested) == (FINAL, NOW - 5, NOW + 70)
    cells["c"] = [vintage(0, 3.0, flags=UNKNOWN)]
    found = scored({name: [series(A, {"2025": history})] for name, history in cells.items()})["a"][Y25][0].vintage
    assert (found.flags & (FINAL | UNKNOWN), found.released) == (UNKNOWN, None)


def test_one_result_explained_is_the_one_that_was_made():
    members = {
        "a": [series(A, {"2025": [vintage(0, 1.0)]})],
        "b": [series(A, {"2025": [vintage(0, 2.0), vintage(3, 2.5)]})],
        "c": [series(A, {"2025": [vintage(0, 3.0)]})],
    }
    made = scored(members)["a"][Y25]
    how = peer_comparison("peer_zscore", {"minimum": 3})
    for one in made:
        again, used = result_of(how, members, number("2025", A), "a", one.vintage.known)
        assert again is not None
        assert (again.value, again.note) == (one.vintage.value, one.vintage.note)
        assert [vintages[0].value for _, vintages in used.values()] == [1.0, 2.0 if one is made[0] else 2.5, 3.0]
    assert result_of(how, members, number("2024", A), "a", NOW + 9) == (None, {})


def test_ten_years_cannot_be_counted_back_in_days():
    how = peer_comparison("peer_zscore", {"minimum": 3, "years": 10})
    assert [how.fits(f) for f in (Frequency.DAILY, Frequency.WEEKLY, M, A)] == [False, False, True, True]
    assert peer_comparison("peer_spread", {"minimum": 3}).fits(Frequency.DAILY)


def test_a_missing_parameter_is_named():
    with pytest.raises(FormulaError, match="'peer_zscore' needs the parameter 'minimum'"):
        peer_comparison("peer_zscore", {})
