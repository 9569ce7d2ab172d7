"""What the names of units say of money."""

import pytest

from almanac.domain.units import currency_of, is_amount, is_money, money_of


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
