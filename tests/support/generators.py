"""Invented responses for the small world: withdrawals, ties, late arrivals, claims to be complete, several sources."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from hypothesis import strategies as st

from almanac.domain.observations import DAY, FINAL, UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period

from .small_world import ALPHA, DAY_SECONDS, DAYS, MONTHS, RAW, START, Sent, sent

_NATIVES = [
    (source, f"{slug}.{country}", MONTHS if letter == "M" else DAYS)
    for slug, (letter, sources) in RAW.items()
    for source, countries in sources.items()
    for country in countries.split()
]
_KNOWN = st.integers(-2, 6).map(lambda days: START + days * DAY_SECONDS)


@st.composite
def statements(draw: st.DrawFn, periods: Sequence[int]) -> ReportedValue:
    """Few values and few instants, so that repeats, ties and withdrawals are common."""
    known = draw(st.none() | _KNOWN)
    return ReportedValue(
        draw(st.sampled_from(periods)),
        draw(st.sampled_from([None, 1.0, 2.0, 2.0, 4.0])),
        known,
        draw(st.sampled_from([None, known])),
        draw(st.sampled_from([0, 0, 0, FINAL, UNKNOWN, DAY])),
        first_only=draw(st.sampled_from([False, False, True])),
        note=draw(
            st.sampled_from([None, None, None, '{"flags":["e"]}', '{"flags":["b","e"]}', '{"basis":"2015=100"}'])
        ),
    )


@st.composite
def blocks(draw: st.DrawFn, native: str, periods: Sequence[int]) -> tuple[str, list[ReportedValue], Any]:
    """A whole column of numbers, or a few lines of anything; now and then with a claim to be complete."""
    lines = draw(st.lists(statements(periods), max_size=5))
    if draw(st.booleans()):
        numbers = draw(st.lists(st.sampled_from([1.0, 2.0, 4.0]), min_size=len(periods), max_size=len(periods)))
        lines = [ReportedValue(key, value) for key, value in zip(periods, numbers, strict=True)] + lines[:2]
    ends = sorted(draw(st.lists(st.sampled_from(periods), min_size=2, max_size=2)))
    return native, lines, draw(st.sampled_from([None, None, ends]))


@st.composite
def responses(draw: st.DrawFn, natives: Sequence[tuple[str, str, list[int]]] = _NATIVES) -> Sent:
    """A response of one source with up to three of its series."""
    source, native, periods = draw(st.sampled_from(natives))
    others = [entry for entry in natives if entry[0] == source and entry[1] != native]
    more = draw(st.lists(st.sampled_from(others), max_size=2, unique_by=lambda e: e[1])) if others else []
    found = [draw(blocks(name, keys)) for _, name, keys in [(source, native, periods), *more]]
    return sent(source, draw(st.integers(0, 5)), *found)


def _family(*series: str) -> list[tuple[str, str, list[int]]]:
    """Series given as `source:native`, those of all sources where it is a native alone."""
    return [entry for entry in _NATIVES if entry[1] in series or f"{entry[0]}:{entry[1]}" in series]


#: Series that meet in one formula, so that the histories of a case have something to do with each other.
FAMILIES = [
    _family("level.aaa", "jobless.aaa"),
    _family("beta:level.aaa", "gamma:level.aaa", "alpha:jobless.aaa"),
    _family("beta:level.aaa", "policy.aaa"),
    _family("alpha:level.aaa", "policy.aaa"),
    _family("alpha:yield_2y.aaa", "alpha:yield_5y.aaa", "alpha:yield_10y.aaa", "beta:yield_2y.aaa"),
    _family("yield_10y.aaa", "yield_10y.bbb"),
    _family("alpha:level.aaa", "alpha:level.bbb", "beta:level.aaa"),
    _family("policy.aaa", "policy.bbb"),
]
histories = st.one_of(
    *(st.lists(responses(family), min_size=1, max_size=7) for family in FAMILIES),
    st.lists(responses(), min_size=1, max_size=7),
)


def dense(rate: float = 4.0) -> Sent:
    """Fifteen months of unemployment and two years of prices, so that long look-ups find something."""
    keys = [Period.ending(date(2023 + m // 12, m % 12 + 1, 1), Frequency.MONTHLY).key for m in range(26)]
    jobless = [ReportedValue(key, rate + (place % 5) / 10) for place, key in enumerate(keys)]
    level = [ReportedValue(key, 100.0 + place) for place, key in enumerate(keys)]
    return sent(ALPHA, 0, ("jobless.aaa", jobless, None), ("level.aaa", level, None))
