"""Reference records: who publishes, what is measured, and about whom."""

from __future__ import annotations

from datetime import date
from typing import Literal

import msgspec

from almanac.domain.periods import Frequency
from almanac.domain.rights import Exposure, Rights


class PublisherLimit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a publisher wants to be asked: how many requests it allows, over all its sources together; None: it says nothing."""

    per_second: float | None = None
    per_minute: int | None = None
    per_hour: int | None = None
    per_day: int | None = None
    #: The same for who has a key.
    per_day_with_key: int | None = None
    #: Hours for which it answers 403 to whoever asked too much.
    shut_out_hours: float | None = None
    #: Hosts whose requests count, where others of its hosts are beside that; none: all of them.
    hosts: tuple[str, ...] = ()
    #: Seconds of silence before an answer begins that are nothing unusual.
    silent_seconds: float | None = None


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A publisher. `kind`: central_bank, statistics_office, treasury, regulator, multilateral, service."""

    id: str
    name: str
    kind: str
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
    #: The publisher documents one fixed publication time (see `release_url`): `same_day` or none.
    declared_release: str | None = None
    release_url: str | None = None
    #: Name of the setting that holds the key this source needs, if any.
    key_setting: str | None = None
    #: The source answers without that key too, only less at a time.
    key_optional: bool = False
    #: How often the publisher has something new, as a cron line in UTC.
    cadence: str | None = None
    #: When it is asked where several wait: what rates and briefs need `first`; `last` one that takes hours, between whose
    #: requests others have their turns.
    turn: Literal["first", "then", "last"] = "then"
    simulated: bool = False

    @property
    def key_required(self) -> bool:
        """Whether nothing can be asked without its key."""
        return self.key_setting is not None and not self.key_optional


#: What an indicator is about.
INDICATOR_CATEGORIES = (
    "inflation", "labor", "growth", "housing", "external", "income", "consumption", "rates", "money", "credit", "fiscal",
    "sentiment", "demographics", "fx", "commodities", "fundamentals",
)  # fmt: skip


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit of measure. `scale` is the power of ten its name already says (`usd_millions`: 6)."""

    id: str
    label: str
    scale: int = 0


class PublishedName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a publisher calls its series of an indicator. `source`: id of the feed that has it."""

    name: str
    source: str


class Indicator(msgspec.Struct, frozen=True, kw_only=True):
    """A concept with one meaning everywhere, raw from a source or derived by a formula. `category`: one of INDICATOR_CATEGORIES."""

    slug: str
    name: str
    description: str
    category: str
    kind: str
    unit: str | None = None
    seasonal_adjustment: str | None = None
    formula: str | None = None
    inputs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    screenable: bool = True
    #: Source ids in order of preference; sources not named come after, by id.
    preferred: tuple[str, ...] = ()
    #: Names that publishers give it, by which people look for it.
    published_as: tuple[PublishedName, ...] = ()

    @property
    def id(self) -> str:
        return f"indicator_{self.slug}"

    @property
    def other_names(self) -> tuple[str, ...]:
        """Names beside the slug that mean it wherever a name does: short ones, then those of publishers."""
        return (*self.aliases, *(one.name for one in self.published_as))


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """A country, region or company. Codes are those of ISO 3166-1; a place without any goes by those among its aliases."""

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
    #: What it was called before.
    former_names: tuple[str, ...] = ()
    #: The rates scope this entity answers for (`USA`, `EUR`), if any.
    rates_scope: str | None = None


#: Between a native code and the currency of its amounts, where that is not the place's of today.
IN_CURRENCY = "|"


class SeriesSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the catalogue says of one native series: the topic it feeds and how to read its numbers."""

    source: str
    native: str
    indicator: str
    entity: str
    frequency: Frequency
    #: None: a score, which has none.
    unit: str | None
    name: str
    #: Power of ten that the published number must be multiplied by to reach the base unit, where the unit does not say it.
    scale: int = 0
    seasonal_adjustment: str | None = None
    annualized: bool = False
    #: What an index is 100 in, and whose prices a volume counts in; kept with each value that does not say it itself.
    basis: str | None = None
    price_basis: str | None = None
    #: First day on which values were published on that base; those published before have no label. None: all are on it.
    based_from: date | None = None
    #: Who belongs to an aggregate of countries.
    composition: str | None = None
    curve_type: str | None = None
    compounding: str | None = None
    exposure: Exposure = Exposure.public
    reason: str | None = None
    license: str | None = None
    attribution: str | None = None
    allowance_days: int | None = None
    #: A value that stands until it is changed (a policy rate): fresh as long as its source was read of late, however
    #: old the newest period is.
    judged_by_fetch: bool = False
    discontinued: bool = False
    page_url: str | None = None
    notes: str | None = None
    #: ISO code of the currency, where the unit is a local currency that is not the entity's own.
    currency: str | None = None
    #: What tells this series from the source's main one of the same topic: a currency other than the filer's own, a former
    #: base year. The main one is preferred, then variants in the order of their names.
    variant: str | None = None
    #: First day this native code speaks for its series; the code it succeeds does before. None: from the beginning.
    from_date: date | None = None
    #: Native code of the same series whose numbers this one repeats; what a copy leaves out is no withdrawal.
    copy_of: str | None = None

    @property
    def code(self) -> str:
        """The publisher's own code: the native one without the currency of a series of its own."""
        return self.native.partition(IN_CURRENCY)[0]

    @property
    def id(self) -> str:
        """`us-treasury-par:country_usa:gov_yield_10y:D`; a variant follows the frequency."""
        main = f"{self.source}:{self.entity}:{self.indicator}:{self.frequency.value}"
        return main if self.variant is None else f"{main}:{self.variant}"
