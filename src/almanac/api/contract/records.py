"""What the shapes of records on the wire have in common. Every record always has every field listed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import msgspec

from almanac.domain.fields import Exposure, LicenseClass, says
from almanac.domain.numbers import shortest

#: Fields that several records of companies have.
CompanyName = Annotated[str, says("Its name today.")]
Ticker = Annotated[str | None, says("Its ticker. Null: it has none, or is no longer listed.", "AAPL")]
Cik = Annotated[str | None, says("Number at the U.S. SEC, ten digits. Null: none.", "0000320193")]
Domicile = Annotated[str | None, says("Id of its country, the domicile. Null: not known.", "country_usa")]
Quality = Annotated[
    Literal["ok", "warning", "failed"], says("The worst that checks say of the statements it rests on.")
]
FiscalPart = Literal["FY", "Q1", "Q2", "Q3", "Q4", "H1", "H2"]


class Record(msgspec.Struct, kw_only=True, rename="camel"):
    """
    Base of all records: camel-case names, nothing left out. More fields may come with a later version.

    Where a record shares its name with what it shows, its class ends in `Schema`; the description leaves that out.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # The description takes a schema's name and title from its class.
        cls.__name__ = cls.__name__.removesuffix("Schema")

    @classmethod
    def from_attributes(cls, thing: object, **fields: Any) -> Self:
        """Return a record with these fields, and all others as the thing has them under the same names."""
        same = {name: getattr(thing, name) for name in cls.__struct_fields__ if name not in fields}
        return cls(**same, **fields)


def wire_number(value: float | None) -> Any:
    """Return a number as the wire writes it: the shortest text that reads back as the same float. None stays null."""
    return None if value is None else msgspec.Raw(shortest(value).encode())


class WarningSchema(Record):
    """What was asked in vain, though the answer is a good one: a value of a parameter that names nothing here, say."""

    parameter: Annotated[str, says("The parameter that the value was given to.", "indicator_id")]
    value: Annotated[str, says("The value, or the clause of a filter, as it was written.", "gov_yeild_2y")]
    reason: Annotated[str, says("For people: a sentence that goes on from the value.", "names no indicator")]
    suggestion: Annotated[str | None, says("What may have been meant. Null: nothing is near.", "gov_yield_2y")]


class RowRights(Record):
    """What may be done with a row's value."""

    exposure: Exposure
    redistributable: Annotated[bool, says("Whether the value may be passed on.")]
    value_withheld: Annotated[bool, says("True: there is a value, and it is not sent.")]
    reason: Annotated[str | None, says("Why the value is withheld. Null: it is not.")]
    license: Annotated[str, says("The terms it is published under, by name.", "CC BY 4.0")]
    license_class: LicenseClass
    attribution: Annotated[str, says("What to write beside the value when showing it.")]
