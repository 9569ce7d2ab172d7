"""How numbers are written: the rules one by one, and what holds for every number."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting import dates, numbers
from almanac.dashboard.formatting import dates as periods
from almanac.reports import wording

CASES = json.loads((Path(__file__).parent / "cases.json").read_text("utf-8"))
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("name", "given_", "wanted"),
    [(name, case[:-1], case[-1]) for name, cases in CASES.items() for case in cases],
)
def test_the_shared_cases_hold(name, given_, wanted):
    room = next(room for room in (numbers, dates, periods) if hasattr(room, name))
    assert getattr(room, name)(*given_) == wanted


def read(text):
    return Decimal(text.replace(numbers.MINUS, "-").replace(",", ""))


@given(finite)
def test_a_number_as_it_is_stated_reads_back_whole(value):
    text = numbers.number(value)
    assert float(read(text)) == value
    assert "-" not in text
    assert not text.startswith(f"{numbers.MINUS}0") or value < 0


@given(finite, st.integers(0, 6))
def test_a_rounded_number_is_the_nearest_and_away_from_zero_between_two(value, digits):
    exact, told = Decimal(repr(value)), read(numbers.number(value, digits))
    off = abs(numbers._WIDE.subtract(exact, told))
    half = Decimal("0.5").scaleb(-digits)
    assert off <= half
    if off == half:
        assert abs(told) > abs(exact)
    assert len(numbers.number(value, digits).partition(".")[2]) == digits


@given(st.one_of(finite, st.integers(-9999, 9999).map(lambda whole: whole / 8)), st.integers(0, 3))
def test_a_sentence_and_the_table_beside_it_tell_one_number(value, digits):
    assert wording.figure(value, digits) == numbers.number(value, digits)


@given(finite, st.integers(0, 4))
def test_only_a_change_that_is_told_as_more_than_nothing_has_a_plus(value, digits):
    text = numbers.change(value, digits)
    assert text.startswith("+") == (read(text) > 0)
    assert text.startswith(numbers.MINUS) == (read(text) < 0)


@given(finite)
def test_the_full_value_is_for_programs(value):
    assert float(numbers.full(value)) == value
    assert numbers.full(-0.0) == "0"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="not a number that can be shown"):
        numbers.number(value)


def test_integers_of_a_json_document_are_told_like_floats():
    assert numbers.number(2, 1) == numbers.number(2.0, 1) == "2.0"
    assert numbers.places(41208) == numbers.places(41208.0) == 0


def test_one_table_has_one_scale():
    assert numbers.common_scale([512.0, 4_118_000_000.0]).plural == "billions"
    assert numbers.common_scale([999_999.0]) == numbers.NO_SCALE
    assert numbers.number(numbers.in_scale(4_118_000_000.0, numbers.scale(6))) == "4,118"
    with pytest.raises(ValueError, match="no word for 10 to the 5"):
        numbers.scale(5)
