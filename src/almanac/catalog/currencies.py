"""
In which currency amounts of a local currency are: as a message states it, else that of the place on the day of the edition.

A currency is a place's for a time. Amounts in another than the one of today make a series of its own, a variant by the
code of the currency (`imf:country_bgr:real_gdp:A:bgn`), so a change of currency is no revision.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from datetime import date

import msgspec

from almanac.domain.reference import IN_CURRENCY, Entity, SeriesSpec
from almanac.domain.units import LOCAL, currency_of

#: What messages write of amounts in whatever currency is the place's, or of none.
_NOT_SAID = frozenset(["", "_Z", "_X", "XDC", "NAC", "DOMESTIC"])


class Currency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A currency: its ISO 4217 code, and what publishers call it in words."""

    id: str
    names: tuple[str, ...]


class Changeover(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place that went over to another currency. `until`: the first day of the other one."""

    entity: str
    currency: str
    until: date

    @property
    def id(self) -> str:
        """Return what tells it from others."""
        return f"{self.entity} {self.currency}"


class UnknownCurrency(Exception):  # noqa: N818  (the name says what was met)
    """A message states a currency that nobody knows. Its amounts are not to be read as those of another."""


class Currencies:
    """The currencies that there are, and those that places have and had."""

    def __init__(
        self,
        currencies: Iterable[Currency] = (),
        changeovers: Iterable[Changeover] = (),
        entities: Iterable[Entity] = (),
    ) -> None:
        self._today = {entity.id: entity.currency for entity in entities}
        self._codes: dict[str, set[str]] = defaultdict(set)
        for currency in currencies:
            for name in (currency.id, *currency.names):
                self._codes[_plain(name)].add(currency.id)
        self._former: dict[str, list[Changeover]] = defaultdict(list)
        for change in sorted(changeovers, key=lambda change: change.until):
            self._former[change.entity].append(change)

    def of_day(self, entity: str, day: date) -> str | None:
        """Return the ISO code of a place's currency on a day; None where it has none."""
        former = (change.currency for change in self._former.get(entity, ()) if day < change.until)
        return next(former, self._today.get(entity))

    def native(self, native: str, spec: SeriesSpec, stated: str | None, day: date) -> str:
        """
        Return the native code of amounts that a message of that day has: with their currency if that is not the place's
        of today. Amounts of no local currency, and of one that the catalogue states, keep their code.

        Raise UnknownCurrency naming what the message states if nobody knows it.
        """
        today = self._today.get(spec.entity)
        if today is None or spec.currency is not None or currency_of(spec.unit, LOCAL) != LOCAL:
            return native
        code = self.of_day(spec.entity, day)
        if stated is not None and stated.strip() not in _NOT_SAID:
            # One name of several currencies is that of the place, and of the day.
            codes = self._codes.get(_plain(stated), set())
            likely = [code, today, *(change.currency for change in self._former.get(spec.entity, ()))]
            likely += codes if len(codes) == 1 else ()
            code = next((each for each in likely if each in codes), None)
            if code is None:
                raise UnknownCurrency(stated)
        return native if code in {None, today} else f"{native}{IN_CURRENCY}{code}"


def apart(native: str) -> tuple[str, str | None]:
    """Split a native code into the publisher's own and the currency of its amounts, if that is not the place's of today."""
    plain, _, code = native.partition(IN_CURRENCY)
    return plain, code or None


def in_currency(spec: SeriesSpec, code: str) -> SeriesSpec:
    """Return the series of the same amounts in another currency than the place's of today."""
    variant = code.lower() if spec.variant is None else f"{spec.variant}-{code.lower()}"
    return msgspec.structs.replace(
        spec,
        native=f"{spec.native}{IN_CURRENCY}{code}",
        currency=code,
        variant=variant,
        name=f"{spec.name}, amounts in {code}",
    )


def _plain(name: str) -> str:
    """Return a name without capitals, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", name.casefold()).replace("ł", "l")
    letters = "".join(letter for letter in letters if letter not in "'.’" and not unicodedata.combining(letter))
    return " ".join("".join(letter if letter.isalnum() else " " for letter in letters).split())
