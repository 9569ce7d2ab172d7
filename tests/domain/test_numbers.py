"""The rules for computed numbers, held to plain decimals and fractions."""

import json
from decimal import Context, Decimal
from fractions import Fraction

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.domain.numbers import (
    difference,
    exact_sum,
    exact_sums,
    mean,
    mean_difference,
    plain,
    shortest,
    significant,
)
from almanac.domain.plain_text import MARK, escaped, one_line
from almanac.domain.units import currency_of, is_amount, is_money, money_of

floats = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


def exactly(terms):
    return sum((Fraction(repr(term)) for term in terms), Fraction())


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.6900000000000004, 0.69), (2.9411764705882355, 2.94117647059), (-0.0, 0.0), (1e-320, 1e-320), (0.5, 0.5)],
)
def test_twelve_significant_digits(value, rounded):
    assert repr(significant(value)) == repr(rounded)


@given(floats)
def test_a_rounded_number_has_at_most_twelve_digits_and_stays_as_it_is(value):
    rounded = significant(value)
    assert len(Decimal(repr(rounded)).normalize().as_tuple().digits) <= 12
    assert significant(rounded) == rounded


@pytest.mark.parametrize(
    ("terms", "total"),
    [((5.3, -5.25), 0.05), ((4.31, -5.79), -1.48), ((0.1, 0.2), 0.3), ((0.1, 0.2, -0.3), 0.0), ((1e300, 1e-300, -1e300), 1e-300)],
)  # fmt: skip
def test_sums_are_exact_in_decimals(terms, total):
    assert repr(exact_sum(*terms)) == repr(total)
    assert exact_sums([[term] for term in terms]) == [total]


@given(st.lists(floats, min_size=1, max_size=5), st.integers(1, 100))
@example([9007199254740992.0, 1.0], 1)
@example([3.0, 4503599627370497.0], 3)
def test_a_sum_is_the_float_nearest_to_that_of_the_texts(terms, times):
    wide = Context(prec=800)
    exact = exactly(terms) * times
    assert exact_sum(*terms, times=times) == float(wide.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


def test_a_spread_in_basis_points_has_no_noise():
    assert 100.0 * (3.0 - 4.48) == -148.00000000000006, "what it is for"
    assert exact_sum(3.0, -4.48, times=100) == -148.0


def test_a_difference_of_computed_numbers_has_twelve_digits_and_one_of_published_numbers_all():
    assert difference(4.375, 0.294117647059, computed=True) == 4.08088235294
    assert difference(4.375, 0.294117647059, computed=False) == 4.080882352941


@given(st.lists(moderate, min_size=1, max_size=6), st.lists(moderate, min_size=1, max_size=6))
def test_means_and_their_differences(these, those):
    exact = exactly(these) / len(these) - exactly(those) / len(those)
    assert mean_difference(these, those) == pytest.approx(float(exact), rel=1e-15, abs=0)
    assert mean_difference(these, these * 3) == 0.0
    assert mean(these) == pytest.approx(float(exactly(these) / len(these)), rel=1e-11)


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.0, "0"), (0.25, "0.25"), (4.2e15, "4200000000000000"), (1e16, "1e16"), (-35655000.0, "-35655000")],
)
def test_whole_numbers_are_written_alike_by_every_encoder(value, text):
    assert msgspec.json.encode(plain(value)).decode() == shortest(value) == text


# -- what the names of units say of money -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "money", "amount", "currency"),
    [
        ("usd", True, True, "USD"),
        ("usd_per_tonne", True, False, "USD"),
        ("local_currency_millions", True, True, "JPY"),
        ("currency", True, False, None),
        ("percentage_points", False, False, None),
        ("months", False, False, None),
    ],
)
def test_units(unit, money, amount, currency):
    assert (is_money(unit), is_amount(unit), currency_of(unit, "JPY")) == (money, amount, currency)


def test_a_company_counts_in_the_iso_code_of_its_currency():
    assert [money_of(code, per_share=per) for code, per in (("EUR", False), ("USD", True))] == ["eur", "usd_per_share"]
    assert currency_of(money_of("TWD", per_share=True), None) == "TWD"


# -- texts of others as a terminal may be shown them ------------------------------------------------------------------


def test_what_may_be_obeyed_is_marked_and_what_parts_is_a_blank():
    assert one_line("a\x1b[2Jb\x9bc\u202ed\u200be\x00") == f"a{MARK}[2Jb{MARK}c{MARK}d{MARK}e{MARK}"
    assert one_line("a\nb\rc\td\u2028e\u00a0f") == "a b c d e f"
    assert one_line("\ud800\U000e0041") == MARK * 2


@given(st.text())
def test_a_text_stays_as_long_and_what_can_be_shown_stays(text):
    shown = one_line(text)
    assert len(shown) == len(text)
    assert shown.isprintable()
    assert all(a == b for a, b in zip(text, shown, strict=True) if a.isprintable())


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_json_says_the_same_escaped(record):
    line = escaped(json.dumps(record, ensure_ascii=False))
    assert json.loads(line) == record
    assert line.isprintable()
