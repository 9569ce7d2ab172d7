"""The catalogue as records: formulas, and the whole of it by id or slug."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from datetime import date
from typing import Annotated, Any

import msgspec

from almanac.catalog.currencies import Changeover, Currencies, Currency
from almanac.catalog.services import Service
from almanac.catalog.succession import stretches
from almanac.domain.errors import UserError
from almanac.domain.periods import Frequency
from almanac.domain.reference import Entity, Indicator, IndicatorCategory, Provider, SeriesSpec, Source, Unit

#: What the ids of simulated sources begin with, and of no other source: the catalogue is checked for it.
_SIMULATED = "sandbox-"


def is_simulated(source: str) -> bool:
    """Return `Source.simulated` from no more than an id: that of a capture or of a stored row."""
    return source.startswith(_SIMULATED)


def simulated_copy(source: str, sources: Collection[str]) -> str | None:
    """Return the simulated copy of a source, if it is among `sources`; else None."""
    copy = _SIMULATED + source
    return copy if copy in sources else None


class CatalogError(UserError):
    """The catalogue contradicts itself. Every problem found is one line of the message."""


class Formula(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A derived indicator: what it means, and which operator computes it from which inputs.

    `inputs` are slugs; `a|b` means the first of these that a source has. `entity:slug` fixes the entity of an input.
    """

    slug: str
    name: str
    description: str
    category: IndicatorCategory
    formula: str
    operator: str
    inputs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    #: None: a score, which has none.
    unit: str | None = None
    params: dict[str, Any] = {}
    #: Only series whose publisher adjusted them for the season qualify as inputs.
    seasonally_adjusted_only: bool = False
    #: Entities that never have this indicator (a spread against oneself).
    except_entities: tuple[str, ...] = ()
    frequencies: tuple[Frequency, ...] = ()
    #: Entity → first days of another definition of its input: what happens across one is no move.
    redefined: dict[str, tuple[date, ...]] = {}
    aliases: tuple[str, ...] = ()
    screenable: bool = True


def input_slugs(text: str) -> list[tuple[str | None, str]]:
    """Split an input of a formula (`cpi_index_nsa|cpi_index`) into its alternatives as (entity or None, slug)."""
    return [
        (entity if separator else None, slug)
        for entity, separator, slug in (alternative.rpartition(":") for alternative in text.split("|"))
    ]


class Catalog(msgspec.Struct, frozen=True, dict=True):
    """The whole catalogue, checked. Mappings are keyed by id or slug."""

    units: Mapping[str, Unit]
    providers: Mapping[str, Provider]
    sources: Mapping[str, Source]
    entities: Mapping[str, Entity]
    indicators: Mapping[str, Indicator]
    formulas: Mapping[str, Formula]
    #: source id → native code → series
    series: Mapping[str, Mapping[str, SeriesSpec]]
    services: Mapping[str, Service] = {}
    currencies: Mapping[str, Currency] = {}
    changeovers: Mapping[str, Changeover] = {}

    @functools.cached_property
    def money(self) -> Currencies:
        """Return what is known of currencies, to tell in which one amounts are."""
        return Currencies(self.currencies.values(), self.changeovers.values(), self.entities.values())

    @functools.cached_property
    def series_by_id(self) -> Mapping[str, SeriesSpec]:
        """Return series by id: where several native codes make one up, the record of the newest."""
        every = (stretches(of_source).values() for of_source in self.series.values())
        return {one.series.id: one.series for several in every for one in several}
