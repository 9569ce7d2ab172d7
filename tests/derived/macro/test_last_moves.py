"""Policy cycles by hand-made rates: what is a move, how long it counts, and both ways of computing alike. All invented."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.macro.derivation import derive
from almanac.derived.macro.operators import operator
from almanac.domain.observations import DAY, FINAL, UNKNOWN
from almanac.domain.periods import Frequency, Period

from .cells import M, both, columns, series, vintage

D = Frequency.DAILY
CYCLE = operator("cycle", {"lag": "12m", "move": 0.05}, D)


def rates(**cells):
    """One vintage each, known in the order of the days: `d2025_01_31=4.5`."""
    return series(
        D, {name[1:].replace("_", "-"): [vintage(place, value)] for place, (name, value) in enumerate(cells.items())}
    )


def words(result):
    return {str(Period.from_key(key).end): [d.vintage.text for d in found] for key, found in sorted(result.items())}


def test_a_move_counts_for_twelve_months_and_the_last_one_decides():
    own = rates(d2024_01_10=4.0, d2024_01_11=4.25, d2024_06_03=4.25, d2024_06_04=4.0, d2025_06_03=4.0, d2025_06_04=4.0)
    assert words(both(CYCLE, D, [[own]])) == {
        "2024-01-10": [],
        "2024-01-11": ["hiking"],
        "2024-06-03": ["hiking"],
        "2024-06-04": ["cutting"],
        "2025-06-03": ["cutting"],
        # A year after the cut to the day, it is no more within twelve months.
        "2025-06-04": ["on_hold"],
    }


def test_the_first_value_within_may_have_changed_from_one_of_the_week_before():
    own = rates(d2024_06_07=4.0, d2024_06_10=3.75, d2025_06_09=3.75)
    assert words(both(CYCLE, D, [[own]]))["2025-06-09"] == ["cutting"]
    own = rates(d2024_06_05=3.75, d2024_06_10=3.75, d2025_06_09=3.75)
    assert words(both(CYCLE, D, [[own]]))["2025-06-09"] == ["on_hold"]
    # Nothing is known of the week before: it may have moved from another, or not at all.
    own = rates(d2024_05_30=4.0, d2024_06_10=3.75, d2025_06_09=3.75)
    assert words(both(CYCLE, D, [[own]]))["2025-06-09"] == []


def test_a_rate_that_was_not_seen_a_year_ago_is_not_said_to_be_on_hold():
    """A single observation, or a few after a gap of years, do not tell that nothing moved: no value, never `on_hold`."""
    alone = rates(d2025_03_03=4.0)
    assert words(both(CYCLE, D, [[alone]])) == {"2025-03-03": []}
    gap = rates(d2023_01_02=4.0, d2025_03_03=2.5, d2025_03_04=2.5, d2026_03_03=2.5)
    assert words(both(CYCLE, D, [[gap]])) == {
        "2023-01-02": [],
        "2025-03-03": [],
        "2025-03-04": [],
        "2026-03-03": ["on_hold"],
    }


def test_a_move_is_five_hundredths_in_decimals_as_published_and_less_is_none():
    own = rates(d2025_01_02=5.25, d2025_01_03=5.3, d2025_01_06=5.26)
    assert 5.3 - 5.25 < 0.05  # as floats
    assert words(both(CYCLE, D, [[own]])) == {
        "2025-01-02": [],
        "2025-01-03": ["hiking"],
        "2025-01-06": ["hiking"],
    }


def test_what_changes_with_the_definition_is_no_move():
    own = rates(d2007_12_14=1.0, d2008_12_15=1.0, d2008_12_16=0.125, d2008_12_17=0.125)
    assert words(both(CYCLE, D, [[own]]))["2008-12-17"] == ["cutting"]
    redefined = operator("cycle", {"lag": "12m", "move": 0.05, "breaks": (date(2008, 12, 16),)}, D)
    assert words(both(redefined, D, [[own]]))["2008-12-17"] == ["on_hold"]


def test_monthly_rates_have_monthly_cycles():
    monthly = operator("cycle", {"lag": "12m", "move": 0.05}, M)
    cells = {f"2024-{month:02}": [vintage(month, 4.0 if month < 3 else 4.5)] for month in range(1, 13)}
    cells["2023-02"] = [vintage(0, 4.0)]
    cells |= {f"2025-{month:02}": [vintage(12 + month, 4.5)] for month in range(1, 5)}
    found = words(both(monthly, M, [[series(M, cells)]]))
    assert [found[day] for day in ("2024-02-29", "2024-03-31", "2025-02-28", "2025-03-31")] == [
        ["on_hold"],
        ["hiking"],
        ["hiking"],
        ["on_hold"],
    ]


def test_a_revision_inside_the_window_changes_the_answer_when_it_is_known():
    own = series(
        D,
        {
            "2024-01-05": [vintage(0, 4.0)],
            "2025-01-02": [vintage(0, 4.0), vintage(50, 3.0)],
            "2025-01-03": [vintage(1, 4.0)],
            "2025-01-06": [vintage(2, 4.0)],
        },
    )
    found = both(CYCLE, D, [[own]])
    last = found[Period.parse("2025-01-06").key]
    assert [(d.vintage.text, d.vintage.value, d.vintage.known - last[0].vintage.known) for d in last] == [
        ("on_hold", None, 0),
        ("hiking", None, 48),
    ]


_HISTORY = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from([None, 4.0, 4.04, 4.05, 4.5]),
        st.sampled_from([0, FINAL, UNKNOWN, DAY]),
        st.sampled_from([None, 3]),
    ),
    min_size=1,
    max_size=2,
)
_DAYS = ["2024-01-28", "2024-02-28", "2024-02-29", "2024-03-01", "2024-12-31", "2025-02-20", "2025-02-28", "2025-03-01"]


@given(st.dictionaries(st.sampled_from(_DAYS), _HISTORY, min_size=1), st.booleans())
def test_whole_series_at_once_and_cell_by_cell_are_the_same_in_every_bit(cells, monthly):
    frequency = M if monthly else D
    own = series(
        frequency,
        {
            (day[:7] if monthly else day): [
                vintage(known, value, flags=flags, released=released) for known, value, flags, released in history
            ]
            for day, history in cells.items()
        },
    )
    if own.cells:
        both(operator("cycle", {"lag": "12m", "move": 0.05}, frequency), frequency, [[own]])


def test_ordinary_days_take_the_fast_path(monkeypatch):
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    own = series(D, {day: [vintage(place, 4.0 + place // 100)] for place, day in enumerate(days)})
    monkeypatch.setattr(
        "almanac.derived.macro.derivation._history_of_cell", lambda *_: pytest.fail("a cell was computed by itself")
    )
    found = derive(CYCLE, D, [[columns(own)]], 10)
    assert words(found)["2024-12-28"] == ["hiking"]
    assert len(found) == len(days)
