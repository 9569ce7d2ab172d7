"""What the shapes of records on the wire have in common. Every record always has every field listed."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Record(msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """
    Base of all records: camel-case names, nothing left out, nothing more.

    Where a record shares its name with what it shows, its class ends in `Schema`; the description leaves that out.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # The description takes a schema's name and title from its class.
        cls.__name__ = cls.__name__.removesuffix("Schema")


Time = str
Freshness = Literal["fresh", "stale", "unknown"]


class WarningSchema(Record):
    """
    What was asked in vain, though the answer is a good one: a value of a parameter that names nothing here, say.

    `reason` is a sentence that goes on from the value; `suggestion` is what may have been meant.
    """

    parameter: str
    value: str
    reason: str
    suggestion: str | None


class RowRights(Record):
    """What may be done with a row's value."""

    exposure: Literal["public", "internal_only", "restricted", "blocked"]
    redistributable: bool
    value_withheld: bool
    reason: str | None
    license: str
    attribution: str
