"""
Money in the names of units. Units of country data are in the catalogue; company amounts use the company's own
currency.

    usd  usd_millions  usd_per_barrel     US dollars, whatever country they are of
    local_currency_billions  per_usd      the currency of the country, which is said beside it
    eur  jpy_per_share                    money of a company, by the ISO code of the currency
"""

from __future__ import annotations

import functools
import re

_NAME = re.compile(r"(?P<currency>[a-z]{3}|local_currency)(_millions|_billions|_per_(?P<thing>[a-z]+))?")
#: An exchange rate: units of local currency for one unit of another.
_EXCHANGE = re.compile(r"per_[a-z]{3}")
#: A unit of money in a list of fields, where each company counts in its own currency.
CURRENCY, CURRENCY_PER_SHARE = "currency", "currency_per_share"
LOCAL = "local_currency"


def money_of(currency: str, *, per_share: bool = False) -> str:
    """
    Return the unit of a company's money from the currency's ISO code.

    >>> money_of("EUR"), money_of("USD", per_share=True)
    ('eur', 'usd_per_share')
    """
    return currency.lower() + ("_per_share" if per_share else "")


def is_money(unit: str | None) -> bool:
    """
    Return whether a unit counts money or a price. Such a unit is never shown without its currency.

    >>> [is_money(unit) for unit in ("usd_billions", "eur_per_share", "local_currency", "per_usd", "index", None)]
    [True, True, True, False, False, False]
    """
    return unit is not None and (unit in {CURRENCY, CURRENCY_PER_SHARE} or _NAME.fullmatch(unit) is not None)


def is_amount(unit: str | None) -> bool:
    """
    Return whether a unit counts amounts of money, which can be added up, rather than prices.

    >>> [is_amount(unit) for unit in ("usd_millions", "local_currency", "usd_per_barrel", "percent")]
    [True, True, False, False]
    """
    found = None if unit is None else _NAME.fullmatch(unit)
    return found is not None and found["thing"] is None


@functools.lru_cache(maxsize=4_096)
def currency_of(unit: str | None, local: str | None) -> str | None:
    """
    Return the ISO code of the currency that a unit counts in, or None for a unit that isn't money.

    `local` is the code of the local currency, or None if it isn't known. An exchange rate counts in the local currency.

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
