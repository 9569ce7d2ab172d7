"""
The metadata that readers keep in memory: reference records, orders of preference, and one `SeriesInfo` for each series met.

All of it belongs to one *reference version*: when the store's moves on, it is read anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit
from almanac.domain.releases import Release
from almanac.domain.rights import Consent, Exposure, derived, effective
from almanac.domain.units import currency_of
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import greatest, number_list
from almanac.store.observations import specs
from almanac.store.observations.ids import NAMED, found_by, series_hash, series_part

#: Rank of a source that the order of an indicator does not name.
_UNNAMED = 1_000
#: Source of values computed from the preferred inputs of several sources.
MIXED_SOURCE = "almanac-derived"
_SERIES_HELD = 50_000
#: What is held of rows that have a lineage of their own, of each kind: nearly every figure derived of a company has one.
#: Measured: 14 MiB in all. What is thrown out is read again.
_LINEAGES_HELD = 20_000

#: Below this many lineages their series are looked up one by one, and remembered.
_FEW_LINEAGES = 200

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Topic(NamedTuple):
    """What sources compete for: an indicator of an entity in a frequency."""

    number: int
    frequency: str
    kind: str


class SeriesRights(msgspec.Struct, frozen=True):
    """Rights of a series' rows, and the `rights` object that says them."""

    exposure: Exposure
    reason: str | None
    license: str
    #: Of LICENSE_CLASSES, that of the source.
    license_class: str
    attribution: str
    #: The `rights` object of a row, as JSON.
    encoded: bytes

    @property
    def withheld(self) -> bool:
        """Return whether values may not be sent."""
        return self.exposure is not Exposure.public


class SeriesInfo(msgspec.Struct, frozen=True):
    """A series as a reader knows it."""

    number: int
    id: str
    #: What the ids of its rows begin with, behind `obs_`.
    id_part: str
    topic: int
    spec: SeriesSpec
    kind: str
    source: Source
    inputs: tuple[str, ...]
    #: Ids of the sources it was read from, of a computed one those of its inputs.
    read_from: tuple[str, ...]
    #: The source is simulated, or one of the series it is computed from is.
    simulated: bool
    #: ISO code of the money it counts in; None where it counts none.
    currency: str | None
    rights: SeriesRights
    #: Unit of its numbers; None where its publisher states another one than the catalogue.
    unit: str | None
    #: The page a person would check a value on; None for what was computed here.
    page: str | None
    #: Its part of the `metadata` object of a row.
    metadata: dict[str, Any]


class MetadataCache:
    """Reference records and series of one reference version. Look-ups of names are case-insensitive."""

    def __init__(self, connection: Database, reference: int) -> None:
        self._db = connection
        self.reference = reference
        self.providers = self._records("provider", Provider)
        self.sources = self._records("source", Source)
        self.indicators = {i.slug: i for i in self._records("indicator", Indicator).values()}
        self.entities = self._records("entity", Entity)
        self.consents = self._records("consent", Consent)
        self.units = self._records("unit", Unit)
        self.releases = self._records("release", Release)
        self._indicator_names: dict[str, str] = {}
        for indicator in self.indicators.values():
            for name in (indicator.slug, indicator.id, *indicator.other_names):
                self._indicator_names[name.lower()] = indicator.slug
        self._entity_names: dict[str, str] = {}
        self._country_names: dict[str, str] = {}
        for entity in self.entities.values():
            for name in (entity.id, entity.slug):
                self._entity_names[name.lower()] = entity.id
            if entity.kind in {"country", "region"}:
                for code in (entity.id, entity.slug, entity.iso2, entity.iso3, entity.iso_numeric, entity.rates_scope):
                    if code:
                        self._country_names[code.lower()] = entity.id
                if entity.iso2 is None:
                    for alias in entity.aliases:
                        if alias.isupper():
                            self._country_names.setdefault(alias.lower(), entity.id)
        self._orders: dict[str, list[tuple[int, dict[str, int]]]] = {}
        for name, from_version, sources in connection.execute(
            "SELECT indicator, from_version, sources FROM preference ORDER BY indicator, from_version"
        ):
            ranks = {source: rank for rank, source in enumerate(json.loads(sources))}
            self._orders.setdefault(name, []).append((from_version, ranks))
        self._series: dict[int, SeriesInfo] = {}
        self._by_id: dict[str, int] = {}
        self._topics: dict[tuple[str, str], tuple[Topic, ...]] = {}
        self._of_topic: dict[int, tuple[int, ...]] = {}
        self._lineages: dict[int, tuple[str, ...]] = {}
        #: By source and lineage; equal ones are one object, for they hardly differ.
        self._mixed: dict[tuple[str, int], SeriesRights] = {}
        self._rights: dict[SeriesRights, SeriesRights] = {}
        self._said: dict[tuple[int, int], dict[str, Any]] = {}

    def read_by(self, connection: Database) -> MetadataCache:
        """Return the same cache for another thread's connection. They share what they learn: it follows from the reference version."""
        shared = copy.copy(self)
        shared._db = connection  # noqa: SLF001  (a copy of our own)
        return shared

    def _records(self, kind: str, record: type[T]) -> dict[str, T]:
        rows = self._db.execute("SELECT id, body FROM record WHERE kind = ? ORDER BY id", (kind,))
        return {identifier: msgspec.json.decode(body, type=record) for identifier, body in rows}

    # -- names ------------------------------------------------------------------------------------------------------

    def indicator(self, name: str) -> Indicator | None:
        """Return an indicator by slug, `indicator_` id or alias."""
        slug = self._indicator_names.get(name.lower())
        return self.indicators[slug] if slug else None

    def entity(self, name: str) -> Entity | None:
        """Return any entity by id or slug. Companies are looked up when asked for. Call it inside the reading transaction."""
        identifier = self._entity_names.get(name.lower())
        if identifier is not None:
            return self.entities[identifier]
        sql = "SELECT entity, slug, name, currency FROM company WHERE entity = ?1 OR slug = ?1"
        row = self._db.execute(sql, (name.lower(),)).fetchone()
        return None if row is None else Entity(id=row[0], slug=row[1], name=row[2], kind="company", currency=row[3])

    def country(self, name: str) -> Entity | None:
        """Return a country or region by id, slug, ISO-2, ISO-3 or ISO number; one without ISO codes by those in use (EUR, XK, G7)."""
        identifier = self._country_names.get(name.lower())
        return None if identifier is None else self.entities[identifier]

    # -- preference -------------------------------------------------------------------------------------------------

    def rank(self, indicator: str, source: str, variant: str, version: int) -> tuple[int, str, str]:
        """
        Return the place of a source's series among those of an indicator, at a data version; lower is preferred.

        Of one source the main series (variant "") stands before its variants.
        """
        ranks: dict[str, int] = {}
        for from_version, order in self._orders.get(indicator, ()):
            if from_version <= version:
                ranks = order
        return (ranks.get(source, _UNNAMED), source, variant)

    def preference_key(self, number: int, lineage: int, version: int) -> tuple[bool, int, str, str]:
        """Return the sort key of the rows of one cell, the preferred one first: a withheld row never wins over a public one; then `rank`."""
        series = self.series(number)
        return (self.row_rights(series, lineage).withheld, *self.rank_of(series, version))

    def rank_of(self, series: SeriesInfo, version: int) -> tuple[int, str, str]:
        """Return the `rank` of a series. No two of one topic have the same."""
        return self.rank(series.spec.indicator, series.source.id, series.spec.variant or "", version)

    # -- series -----------------------------------------------------------------------------------------------------

    def series(self, number: int) -> SeriesInfo:
        """Return a series by its number, read when first asked for. Call it inside the reading transaction."""
        series = self._series.get(number)
        if series is None:
            series = self._load(number)
            if len(self._series) >= _SERIES_HELD:
                self._series.clear()
                self._by_id.clear()
            self._series[number] = series
            self._by_id[series.id] = number
        return series

    def topics(self, indicator: str, entity: str) -> tuple[Topic, ...]:
        """Return the topics of an indicator and an entity. A new topic is a new reference version."""
        topics = self._topics.get((indicator, entity))
        if topics is None:
            sql = "SELECT topic, frequency, kind FROM topic WHERE indicator = ? AND entity = ? ORDER BY frequency"
            rows = self._db.execute(sql, (indicator, entity))
            topics = _hold(self._topics, (indicator, entity), tuple(Topic(*row) for row in rows))
        return topics

    def series_of(self, topic: int) -> tuple[int, ...]:
        """Return the numbers of the series of a topic."""
        numbers = self._of_topic.get(topic)
        if numbers is None:
            rows = self._db.execute("SELECT series FROM series WHERE topic = ?", (topic,))
            numbers = _hold(self._of_topic, topic, tuple(number for (number,) in rows))
        return numbers

    def series_by_id(self, identifier: str) -> SeriesInfo | None:
        """Return a series by its id; None where there is none."""
        number = self._by_id.get(identifier)
        if number is None:
            number = self._db.execute(f"SELECT series FROM series WHERE {NAMED}", found_by(identifier)).get
        return None if number is None else self.series(number)

    def custom_freshness(self) -> list[int]:
        """Return the numbers of the series whose freshness does not follow from their frequency and newest period alone."""
        rows = self._db.execute("SELECT series FROM series JOIN spec USING(spec) WHERE judged_otherwise = 1")
        return [number for (number,) in rows]

    def lineage(self, number: int) -> tuple[str, ...]:
        """Return the series ids behind a lineage number; none for 0."""
        found = self._lineages.get(number)
        if found is None:
            text = self._db.execute("SELECT inputs FROM lineage WHERE lineage = ?", (number,)).get
            found = _hold(self._lineages, number, tuple(json.loads(text)) if text else ())
        return found

    def row_rights(self, series: SeriesInfo, lineage: int) -> SeriesRights:
        """Return the rights of a row: its series', unless the row has a lineage of its own."""
        if not lineage:
            return series.rights
        key = (series.source.id, lineage)
        found = self._mixed.get(key)
        if found is None:
            made = self._derived_rights(series.source, self.lineage(lineage))
            found = self._rights.get(made) or _hold(self._rights, made, made)
            _hold(self._mixed, key, found)
        return found

    def row_metadata(self, series: SeriesInfo, lineage: int) -> dict[str, Any]:
        """
        Return series-level metadata of a row: its series', unless the row has a lineage of its own.

        Then adjustment, curve and compounding are those that all of its inputs have in common.
        """
        if not lineage:
            return series.metadata
        key = (series.number, lineage)
        found = self._said.get(key)
        if found is None:
            specs = [info.spec for name in self.lineage(lineage) if (info := self.series_by_id(name)) is not None]
            said = {name: _common(getattr(spec, name) for spec in specs) for name in _FROM_INPUTS}
            spec = msgspec.structs.replace(series.spec, **said)
            found = _hold(self._said, key, _metadata(spec, series.kind, series.currency, simulated=series.simulated))
        return found

    def withheld(self, origins: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return which of many rows, each by the numbers of its series and its lineage, have values that may not be sent."""
        every = set(origins)
        lineages = {lineage for _, lineage in every if lineage}
        shut = self._judged(lineages) if len(lineages) >= _FEW_LINEAGES else {}
        return {
            (number, lineage)
            for number, lineage in every
            if (shut[lineage] if lineage in shut else self.row_rights(self.series(number), lineage).withheld)
        }

    def _judged(self, lineages: Iterable[int]) -> dict[int, bool]:
        """
        Return whether each lineage shuts a value, without loading every series.

        A lineage with a derived series in it is left out, and so is one whose series are all lost.
        """
        rows = self._db.execute(_LINEAGES, (json.dumps(sorted(lineages)),))
        inputs: dict[int, list[str]] = {lineage: json.loads(ids) for lineage, ids in rows}
        hashes = {series_hash(identifier) for identifier in set(chain.from_iterable(inputs.values()))}
        # Whether each series shuts a value; None: it is derived itself.
        shuts: dict[str, bool | None] = {}
        for identifier, source, exposure, kind in self._db.execute(_INPUTS, (json.dumps(sorted(hashes)),)):
            rights = self.sources[source].rights
            strictest = effective(rights, Exposure(exposure), self.consents.get(source))
            passes = rights.derivatives_allowed or strictest is Exposure.public
            shuts[identifier] = not passes if kind == "raw" else None
        shut: dict[int, bool] = {}
        for lineage, ids in inputs.items():
            judged = [shuts[identifier] for identifier in ids if identifier in shuts]
            if judged and None not in judged:
                shut[lineage] = any(judged)
        return shut

    def _load(self, number: int) -> SeriesInfo:
        row: Any = self._db.execute(
            "SELECT s.id, s.topic, p.body, t.entity, s.lineage, s.exposure, s.reason, t.kind FROM series s"
            " CROSS JOIN topic t USING(topic) CROSS JOIN spec p USING(spec) WHERE s.series = ?",
            (number,),
        ).fetchone()
        identifier, topic, body, owner, lineage, tightened, reason, kind = row
        spec = specs.read(body, owner)
        source = self.sources[spec.source]
        inputs = self.lineage(lineage)
        if kind == "derived":
            # Where every row has a lineage of its own, the series as a whole is as shut as the strictest of them.
            every = inputs or self._all_inputs(topic, number)
            rights = self._derived_rights(source, every)
        else:
            every = ()
            rights = self._raw_rights(spec, source, Exposure(tightened), reason)
        entity = self.entities.get(spec.entity)
        currency = currency_of(spec.unit, spec.currency or (None if entity is None else entity.currency))
        infos = [info for name in every if (info := self.series_by_id(name)) is not None]
        simulated = source.simulated or any(info.simulated for info in infos)
        read_from = tuple(sorted({one for info in infos for one in info.read_from})) or (source.id,)
        # Its publisher states another unit than the catalogue: neither is told as that of the numbers withheld for it.
        unit = None if tightened == Exposure.blocked else spec.unit
        return SeriesInfo(
            number, identifier, series_part(identifier), topic, spec, kind, source, inputs, read_from, simulated, currency, rights,
            unit=unit,
            page=spec.page_url or (source.homepage if kind == "raw" else None),
            metadata=_metadata(spec, kind, currency, simulated=simulated),
        )  # fmt: skip

    def _all_inputs(self, topic: int, number: int) -> tuple[str, ...]:
        found = self._db.execute(
            "SELECT DISTINCT lineage FROM vintages WHERE topic = ? AND series = ?", (topic, number)
        )
        return tuple(sorted({name for (lineage,) in list(found) for name in self.lineage(lineage)}))

    def _raw_rights(self, spec: SeriesSpec, source: Source, tightened: Exposure, reason: str | None) -> SeriesRights:
        rights = source.rights
        exposure = effective(rights, max(spec.exposure, tightened), self.consents.get(source.id))
        if exposure is Exposure.public:
            why = None
        elif exposure == spec.exposure and spec.reason:
            why = spec.reason
        elif exposure == tightened and reason:
            why = reason
        elif exposure == rights.exposure and rights.reason:
            why = rights.reason
        else:
            why = rights.channel_reason or rights.reason or f"{source.name} may not be redistributed"
        return _rights(
            exposure, why, spec.license or rights.license, rights.asks_for, spec.attribution or rights.attribution
        )

    def _derived_rights(self, source: Source, inputs: Iterable[str]) -> SeriesRights:
        infos = [info for info in (self.series_by_id(name) for name in inputs) if info is not None]
        exposure = derived((i.rights.exposure, i.source.rights.derivatives_allowed) for i in infos)
        shut = [i for i in infos if i.rights.withheld and not i.source.rights.derivatives_allowed]
        why = None
        if not infos:
            why = "the series it was computed from are not known any more"
        elif exposure is not Exposure.public:
            named = "; ".join(f"{i.id}: {i.rights.reason}" for i in shut)
            why = f"computed from series whose values may not be redistributed ({named})"
        attributions = sorted({i.rights.attribution for i in infos})
        if any(i.simulated for i in infos):
            attribution = "Simulated, not real data"
        else:
            attribution = (
                f"Calculated by Almanac from: {'; '.join(attributions)}" if attributions else source.rights.attribution
            )
        licenses = sorted({i.rights.license for i in infos})
        return _rights(exposure, why, "; ".join(licenses) or source.rights.license, source.rights.asks_for, attribution)


_LINEAGES = f"SELECT l.lineage, l.inputs FROM {number_list('?')} n CROSS JOIN lineage l ON l.lineage = n.value"
#: By what leads to a series from its id: there is no index of the ids themselves.
_INPUTS = (
    f"SELECT s.id, s.source, {greatest('s.exposure', 'p.exposure')}, t.kind"
    f" FROM {number_list('?')} n CROSS JOIN series s ON s.hash = n.value"
    " CROSS JOIN spec p USING(spec) CROSS JOIN topic t ON t.topic = s.topic"
)


def _hold(held: dict[K, T], key: K, value: T) -> T:
    """Remember a value and return it; where so many are remembered, forget the others. Threads share them, so nobody reads one back."""
    if len(held) >= _LINEAGES_HELD:
        held.clear()
    held[key] = value
    return value


def _rights(
    exposure: Exposure, reason: str | None, license_: str, license_class: str, attribution: str
) -> SeriesRights:
    public = exposure is Exposure.public
    body = {
        "exposure": exposure.name,
        "redistributable": public,
        "valueWithheld": not public,
        "reason": reason,
        "license": license_,
        "licenseClass": license_class,
        "attribution": attribution,
    }
    return SeriesRights(
        exposure,
        reason,
        license_,
        license_class,
        attribution,
        encoded=msgspec.json.encode(body),
    )


#: What a computed row takes over from the series it was computed from, where these are of one mind.
_FROM_INPUTS = ("seasonal_adjustment", "curve_type", "compounding")


def _common(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _metadata(spec: SeriesSpec, kind: str, currency: str | None, *, simulated: bool) -> dict[str, Any]:
    """Return series-level metadata, only what applies."""
    metadata: dict[str, Any] = {
        "seriesId": spec.id,
        "nativeId": spec.code if kind == "raw" else None,
        "seasonalAdjustment": spec.seasonal_adjustment,
        "annualized": spec.annualized or None,
        "composition": spec.composition,
        "curveType": spec.curve_type,
        "compounding": spec.compounding,
        "scale": spec.scale or None,
        "currency": currency,
        "discontinued": spec.discontinued or None,
        "simulated": simulated or None,
    }
    return {key: value for key, value in metadata.items() if value is not None}
