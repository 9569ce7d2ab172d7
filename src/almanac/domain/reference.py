"""Reference records: publishers, indicators, units, entities and series."""

from __future__ import annotations

from datetime import date
from typing import Literal, get_args

import msgspec

from almanac.domain.periods import Frequency
from almanac.domain.rights import Exposure, Rights


class PublisherLimit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A publisher's request limits, shared by all its sources. None means that it states no such limit."""

    per_second: float | None = None
    per_minute: int | None = None
    per_hour: int | None = None
    per_day: int | None = None
    #: The daily limit for holders of a key.
    per_day_with_key: int | None = None
    #: Hours of 403 answers for clients that exceeded a limit.
    shut_out_hours: float | None = None
    #: Hosts whose requests count, if not all of the publisher's hosts do; empty: all of them.
    hosts: tuple[str, ...] = ()
    #: Usual seconds of silence before an answer begins.
    silent_seconds: float | None = None


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A publisher."""

    id: str
    name: str
    kind: Literal["central_bank", "statistics_office", "treasury", "regulator", "multilateral", "service"]
    homepage: str
    attribution: str
    country: str | None = None
    limit: PublisherLimit | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One feed of a provider, with one licence, read by one connector."""

    id: str
    provider: str
    name: str
    description: str
    homepage: str
    connector: str
    rights: Rights
    frequencies: tuple[Frequency, ...] = ()
    stores_vintages: bool = False
    #: The publisher documents one fixed publication time (see `release_url`).
    declared_release: Literal["same_day"] | None = None
    release_url: str | None = None
    #: Name of the setting that holds the key this source needs, if any.
    key_setting: str | None = None
    #: True if the source answers without the key too, with less at a time.
    key_optional: bool = False
    #: How often the publisher has new data, as a cron line in UTC.
    cadence: str | None = None
    #: Priority among waiting sources: `first` for what rates and briefs need; `last` for one that takes hours and lets
    #: others go between its requests.
    turn: Literal["first", "then", "last"] = "then"
    simulated: bool = False

    @property
    def key_required(self) -> bool:
        """True if the source can't be asked at all without its key."""
        return self.key_setting is not None and not self.key_optional


#: Subject of an indicator.
IndicatorCategory = Literal[
    "inflation", "labor", "growth", "housing", "external", "income", "consumption", "rates", "money", "credit", "fiscal",
    "sentiment", "demographics", "fx", "commodities", "fundamentals",
]  # fmt: skip
INDICATOR_CATEGORIES: tuple[IndicatorCategory, ...] = get_args(IndicatorCategory)


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit of measure. `scale` is the power of ten that its name includes (`usd_millions`: 6)."""

    id: str
    label: str
    scale: int = 0


class PublishedName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A publisher's name for its series of an indicator. `source` is the id of the feed that has it."""

    name: str
    source: str


class Indicator(msgspec.Struct, frozen=True, kw_only=True):
    """A concept with one meaning everywhere, either raw from a source or derived by a formula."""

    slug: str
    name: str
    description: str
    category: IndicatorCategory
    kind: Literal["raw", "derived"]
    unit: str | None = None
    seasonal_adjustment: str | None = None
    formula: str | None = None
    inputs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    screenable: bool = True
    #: Source ids in order of preference. Other sources follow, by id.
    preferred: tuple[str, ...] = ()
    #: Publishers' names of the indicator, which people search for.
    published_as: tuple[PublishedName, ...] = ()

    @property
    def id(self) -> str:
        return f"indicator_{self.slug}"

    @property
    def other_names(self) -> tuple[str, ...]:
        """Other names that are accepted in place of the slug: short aliases first, then the publishers' names."""
        return (*self.aliases, *(one.name for one in self.published_as))


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """A country, region or company. Codes follow ISO 3166-1; a place without one is found by a code among its aliases."""

    id: str
    slug: str
    name: str
    kind: str
    iso2: str | None = None
    iso3: str | None = None
    iso_numeric: str | None = None
    region: str | None = None
    income_group: str | None = None
    currency: str | None = None
    aliases: tuple[str, ...] = ()
    #: Its earlier names.
    former_names: tuple[str, ...] = ()
    #: The rates scope this entity answers for (`USA`, `EUR`), if any.
    rates_scope: str | None = None


#: Separates a native code from the currency of its amounts, if that isn't the place's present one.
IN_CURRENCY = "|"


class SeriesSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The catalogue's description of one native series: the topic it feeds and how to read its numbers."""

    source: str
    native: str
    indicator: str
    entity: str
    frequency: Frequency
    #: None: a score, which has no unit.
    unit: str | None
    name: str
    #: Power of ten to multiply the published number by to reach the base unit, if the unit doesn't include it.
    scale: int = 0
    seasonal_adjustment: str | None = None
    annualized: bool = False
    #: The base year of an index and the price base of a volume, added to values that don't state them.
    basis: str | None = None
    price_basis: str | None = None
    #: First day of publication on that base. Earlier values have no label. None: all values are on it.
    based_from: date | None = None
    #: Members of an aggregate of countries.
    composition: str | None = None
    curve_type: str | None = None
    compounding: str | None = None
    exposure: Exposure = Exposure.public
    reason: str | None = None
    license: str | None = None
    attribution: str | None = None
    allowance_days: int | None = None
    #: True for a value that stands until it is changed (a policy rate). It is fresh while its source is read, however
    #: old the newest period is.
    judged_by_fetch: bool = False
    discontinued: bool = False
    page_url: str | None = None
    notes: str | None = None
    #: ISO code of the local currency, if it isn't the entity's own.
    currency: str | None = None
    #: Distinguishes this series from the source's main one of the same topic: a currency other than the filer's own, a
    #: former base year. The main one is preferred, then variants by name.
    variant: str | None = None
    #: First day that this native code covers in its series; the code before it covers earlier days. None: from the
    #: beginning.
    from_date: date | None = None
    #: Native code of the same series that this one repeats. Values missing from a copy are not withdrawn.
    copy_of: str | None = None

    @property
    def code(self) -> str:
        """The publisher's own code: the native code without the currency that marks a separate series."""
        return self.native.partition(IN_CURRENCY)[0]

    @property
    def id(self) -> str:
        """The series id, such as `us-treasury-par:country_usa:gov_yield_10y:D`. A variant follows the frequency."""
        main = f"{self.source}:{self.entity}:{self.indicator}:{self.frequency.value}"
        return main if self.variant is None else f"{main}:{self.variant}"
