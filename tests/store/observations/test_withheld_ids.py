"""A withheld row goes by an id that says where it stands and nothing of its value."""

from __future__ import annotations

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.periods import Period
from almanac.store.observations.withheld_ids import place_of_withheld_id, series_hash, withheld_id

SERIES = st.text("abcdefghij-_:0123456789", min_size=1, max_size=40)
PERIODS = st.builds(
    lambda end, span: Period(None if span is None else date.fromordinal(max(1, end.toordinal() - span)), end).key,
    st.dates(),
    st.none() | st.integers(0, 5_000),
)
KNOWN = st.integers(-(10**10), 3 * 10**10)


@given(SERIES, PERIODS, KNOWN)
def test_it_leads_back_to_the_row(series: str, period: int, known: int) -> None:
    identifier = withheld_id(series, period, known)
    assert re.fullmatch(r"obs_[a-z2-7]{26}", identifier)
    assert place_of_withheld_id(identifier) == (series_hash(series), period, known)


@given(SERIES, PERIODS, KNOWN, PERIODS, KNOWN)
def test_different_rows_have_different_ids(series: str, period: int, known: int, other: int, later: int) -> None:
    assert (withheld_id(series, period, known) == withheld_id(series, other, later)) == (
        (period, known) == (other, later)
    )


def test_an_id_written_down_stays_the_same_for_ever() -> None:
    key = Period.parse("2026-10-30").key
    assert withheld_id("fred:country_usa:high_yield_spread:D", key, 1_793_404_799) == "obs_l2r6sq4lettmwssp775bvokl37"
