"""The id of an observation is made by hand for speed; the plain way is here to hold it to."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import observation_id
from almanac.domain.periods import Period

DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def plain(series: str, period: Period, known: int, value: float | None, text: str | None) -> str:
    content = [series, period.start and period.start.isoformat(), period.end.isoformat(), known, value, text]
    digest = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).digest()
    return "obs_" + base64.b32encode(digest).decode().lower()[:26]


@given(
    series=st.text(max_size=30),
    end=DAYS,
    span=st.none() | st.integers(0, 400),
    known=st.integers(-(10**10), 10**10),
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    text=st.none() | st.text(max_size=10),
)
def test_the_quick_way_is_the_plain_way(
    series: str, end: date, span: int | None, known: int, value: float | None, text: str | None
) -> None:
    period = Period(None if span is None else date.fromordinal(end.toordinal() - span), end)
    expected = plain(series, period, known, None if value is None else value + 0.0, text)
    assert observation_id(series, period.key, known, value, text) == expected


def test_an_id_written_down_stays_the_same_for_ever() -> None:
    period = Period.parse("2026-Q3")
    assert (
        observation_id("fred:country_usa:nominal_gdp:Q", period.key, 1_793_404_799, 31095.1, None)
        == "obs_uz7hybmhcgy237c276gwdsbkja"
    )


@pytest.mark.parametrize(
    ("one", "other"), [((1.0, None), (None, "1.0")), ((None, None), (None, "null")), ((0.0, None), (None, None))]
)
def test_different_states_have_different_ids(
    one: tuple[float | None, str | None], other: tuple[float | None, str | None]
) -> None:
    key = Period.parse("2026").key
    assert observation_id("a:b:c:A", key, 0, *one) != observation_id("a:b:c:A", key, 0, *other)


def test_negative_zero_is_zero() -> None:
    key = Period.parse("2026").key
    assert observation_id("a:b:c:A", key, 0, -0.0, None) == observation_id("a:b:c:A", key, 0, 0.0, None)
