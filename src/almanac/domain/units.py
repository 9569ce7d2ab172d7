"""
What the name of a unit says of money. Units of countries are in the catalogue; companies' money is counted in their own.

    usd  usd_millions  usd_per_barrel     US dollars, whatever country they are of
    local_currency_billions  per_usd      the currency of the country, which is said beside it
    eur  jpy_per_share                    money of a company, by the ISO code of the currency
"""

from __future__ import annotations

import re

_NAME = re.compile(r"(?P<currency>[a-z]{3}|local_currency)(_millions|_billions|_per_(?P<thing>[a-z]+))?")
#: So many units of the local currency for one of another.
_EXCHANGE = re.compile(r"per_[a-z]{3}")
#: A unit of money in a list of fields, where each company counts in its own currency.
CURRENCY, CURRENCY_PER_SHARE = "currency", "currency_per_share"
LOCAL = "local_currency"


def money_of(currency: str, *, per_share: bool = False) -> str:
    """
    The unit of a company's money, by the ISO code of the currency.

    >>> money_of("EUR"), money_of("USD", per_share=True)
    ('eur', 'usd_per_share')
    """
    return currency.lower() + ("_per_share" if per_share else "")


def is_money(unit: str | None) -> bool:
    """
    Whether numbers in a unit are money, or a price of something: such a unit is never told without its currency.

    >>> [is_money(unit) for unit in ("usd_billions", "eur_per_share", "local_currency", "per_usd", "index", None)]
    [True, True, True, False, False, False]
    """
    return unit is not None and (unit in {CURRENCY, CURRENCY_PER_SHARE} or _NAME.fullmatch(unit) is not None)


def is_amount(unit: str | None) -> bool:
    """
    Whether numbers in a unit are amounts of money, which can be added up, and not prices of something.

    >>> [is_amount(unit) for unit in ("usd_millions", "local_currency", "usd_per_barrel", "percent")]
    [True, True, False, False]
    """
    found = None if unit is None else _NAME.fullmatch(unit)
    return found is not None and found["thing"] is None


def currency_of(unit: str | None, local: str | None) -> str | None:
    """
    ISO code of the currency that numbers in a unit are counted in; None where they count no money.

    `local`: the code that local currency stands for, None where that is not known. An exchange rate is counted in the
    local currency.

    >>> [currency_of(unit, "JPY") for unit in ("usd_millions", "local_currency", "per_usd", "eur", "percent")]
    ['USD', 'JPY', 'JPY', 'EUR', None]
    """
    if unit is None:
        return None
    if _EXCHANGE.fullmatch(unit):
        return local
    found = _NAME.fullmatch(unit)
    if found is None:
        return None
    return local if found["currency"] == LOCAL else found["currency"].upper()
