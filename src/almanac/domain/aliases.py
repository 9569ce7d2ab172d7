"""Names of entities with the days they were used, and the aliases that follow from a country's reference record."""

from __future__ import annotations

from typing import NamedTuple

from almanac.domain.names import normal
from almanac.domain.reference import Entity

#: Schemes of an alias.
SCHEMES = ("name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other")


class Alias(NamedTuple):
    """One name of an entity. `valid_from` and `valid_to` are ordinal days, both inclusive; None means the day isn't known."""

    entity: str
    alias: str
    scheme: str
    primary: bool
    valid_from: int | None
    valid_to: int | None
    source: str | None
    #: The normal form that look-ups compare (domain.names.normal).
    norm: str

    def valid(self, day: int) -> bool:
        """
        Return whether the entity had this name on a day (an ordinal), as far as is known. A former name with a first
        day and no last day counts on that first day only, because it ended at an unknown later date.
        """
        last = self.valid_from if self.valid_to is None and self.scheme == "former_name" else self.valid_to
        return (self.valid_from is None or self.valid_from <= day) and (last is None or day <= last)


def of_place(entity: Entity) -> list[Alias]:
    """
    Return the aliases of a country or region: name, slug, ISO codes, alternative and former names, and its rates scope.
    An alternative name without a lowercase letter gets the scheme `other`, because it is a code.
    """
    told: dict[tuple[str, str], bool] = {("name", entity.name): True, ("slug", entity.slug): True}
    for scheme, code in (("iso2", entity.iso2), ("iso3", entity.iso3), ("other", entity.iso_numeric)):
        if code is not None:
            told[scheme, code] = scheme != "other"
    for alias in entity.aliases:
        told.setdefault(("name" if any(c.islower() for c in alias) else "other", alias), False)
    for former in entity.former_names:
        told.setdefault(("former_name", former), False)
    codes = {alias for _, alias in told}
    if entity.rates_scope is not None and entity.rates_scope not in codes:
        told["other", entity.rates_scope] = False
    return [
        Alias(entity.id, alias, scheme, primary, None, None, None, normal(alias, scheme))
        for (scheme, alias), primary in told.items()
    ]
