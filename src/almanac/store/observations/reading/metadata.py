"""
The metadata that readers keep in memory: reference records, orders of preference, and one `SeriesInfo` for each series met.

All of it belongs to one *reference version*: when the store's moves on, it is read anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit
from almanac.domain.releases import Release
from almanac.domain.rights import Consent, Exposure, derived, effective
from almanac.domain.units import currency_of
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import greatest, number_list
from almanac.store.observations import specs
from almanac.store.observations.ids import found_by, hash_part, series_hash

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

_read_ids = msgspec.json.Decoder(tuple[str, ...]).decode


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
    #: `series_hash` of its id.
    hash: int
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
    #: Its publisher states another unit than the catalogue, or that of a series which it is computed from.
    misstated: bool

    @property
    def allows_derivatives(self) -> bool:
        """Return whether values computed from it may be sent though its own may not: never those of numbers in a wrong unit."""
        return self.source.rights.derivatives_allowed and not self.misstated

    @property
    def id_part(self) -> str:
        """Return what the ids of its rows begin with, behind `obs_`."""
        return hash_part(self.hash)


class RowOrigin(NamedTuple):
    """Constants of all rows of a series that have the same lineage."""

    series: SeriesInfo
    #: Ids of the series it was computed from.
    inputs: tuple[str, ...]
    rights: SeriesRights
    #: Seasonal adjustment, type of curve and compounding; of a row with a lineage of its own those that all of its inputs have in common.
    method: tuple[str | None, ...]

    @property
    def metadata(self) -> tuple[Any, ...]:
        """Return the values of `METADATA`; None for what does not apply."""
        series = self.series
        spec = series.spec
        adjustment, curve, compounding = self.method
        return (
            series.id, spec.code if series.kind == "raw" else None, adjustment, spec.annualized or None, spec.composition,
            curve, compounding, spec.scale or None, series.currency, spec.discontinued or None, series.simulated or None,
        )  # fmt: skip

    @property
    def stated(self) -> dict[str, Any]:
        """Return the series-level metadata of a row, only what applies."""
        return {name: value for name, value in zip(METADATA, self.metadata, strict=True) if value is not None}


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
        self._by_id: dict[str, SeriesInfo] = {}
        self._topics: dict[tuple[str, str], tuple[Topic, ...]] = {}
        self._contested: dict[int, bool] = {}
        self._lineages: dict[int, tuple[str, ...]] = {}
        #: By source and lineage.
        self._mixed: dict[tuple[str, int], SeriesRights] = {}
        self._rights: dict[tuple[Exposure, str | None, str, str, str], SeriesRights] = {}
        #: By source and what its inputs differ in, beside what is named by identity.
        self._derived: dict[
            tuple[str, frozenset[tuple[int, str, bool, bool]]], tuple[SeriesRights, list[SeriesRights]]
        ] = {}

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
        return self.several([number])[number] if series is None else series

    def several(self, numbers: Iterable[int]) -> dict[int, SeriesInfo]:
        """Return series by their numbers, as `series` does: those that are not known yet are read at once."""
        series: dict[int, SeriesInfo] = {}
        missing = []
        for number in set(numbers):
            known = self._series.get(number)
            if known is None:
                missing.append((number,))
            else:
                series[number] = known
        if missing:
            series.update((info.number, info) for info in self._load(list(self._db.seek(_SERIES, missing))))
        return series

    def topics(self, indicator: str, entity: str) -> tuple[Topic, ...]:
        """Return the topics of an indicator and an entity. A new topic is a new reference version."""
        topics = self._topics.get((indicator, entity))
        if topics is None:
            sql = "SELECT topic, frequency, kind FROM topic WHERE indicator = ? AND entity = ? ORDER BY frequency"
            rows = self._db.execute(sql, (indicator, entity))
            topics = _hold(self._topics, (indicator, entity), tuple(Topic(*row) for row in rows))
        return topics

    def contested(self, topics: Iterable[int]) -> set[int]:
        """Return those of some topics that have several series."""
        known = self._contested
        missing: list[int] = []
        several: set[int] = set()
        for topic in topics:
            if (is_contested := known.get(topic)) is None:
                missing.append(topic)
            elif is_contested:
                several.add(topic)
        if missing:
            counts = dict(self._db.seek(_COUNTS, [(topic,) for topic in missing]))
            several.update(topic for topic in missing if _hold(known, topic, counts.get(topic, 0) > 1))
        return several

    def series_by_id(self, identifier: str) -> SeriesInfo | None:
        """Return a series by its id; None where there is none."""
        return self.by_ids([identifier]).get(identifier)

    def by_ids(self, identifiers: Iterable[str]) -> dict[str, SeriesInfo]:
        """Return those series that there are by their ids."""
        series: dict[str, SeriesInfo] = {}
        missing = []
        for identifier in set(identifiers):
            known = self._by_id.get(identifier)
            if known is None:
                missing.append(found_by(identifier))
            else:
                series[identifier] = known
        if missing:
            series.update((info.id, info) for info in self._load(list(self._db.seek(_SERIES_NAMED, missing))))
        return series

    def custom_freshness(self) -> list[int]:
        """Return the numbers of the series whose freshness does not follow from their frequency and newest period alone."""
        rows = self._db.execute("SELECT series FROM series JOIN spec USING(spec) WHERE judged_otherwise = 1")
        return [number for (number,) in rows]

    def lineage(self, number: int) -> tuple[str, ...]:
        """Return the series ids behind a lineage number; none for 0."""
        return self.lineages([number])[number]

    def lineages(self, numbers: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """Return the series ids behind lineage numbers; none for 0."""
        every: dict[int, tuple[str, ...]] = {}
        missing = []
        for number in set(numbers):
            known = self._lineages.get(number)
            if known is None:
                missing.append((number,))
                known = ()
            every[number] = known
        if missing:
            for number, text in self._db.seek(_LINEAGE, missing):
                every[number] = _hold(self._lineages, number, _read_ids(text))
        return every

    def row_rights(self, series: SeriesInfo, lineage: int) -> SeriesRights:
        """Return the rights of a row: its series', unless the row has a lineage of its own."""
        if not lineage:
            return series.rights
        rights = self._mixed.get((series.source.id, lineage))
        return self.origins([(series.number, lineage)])[0].rights if rights is None else rights

    def origins(self, pairs: Sequence[tuple[int, int]]) -> list[RowOrigin]:
        """Return what rows follow from, each pair being the numbers of a series and of the row's lineage, as `row_rights` does."""
        series = self.several([number for number, _ in pairs])
        lineages = self.lineages({lineage for _, lineage in pairs if lineage})
        inputs = self.by_ids(chain.from_iterable(lineages.values()))
        origins: list[RowOrigin] = []
        for number, lineage in pairs:
            info = series[number]
            if not lineage:
                origins.append(RowOrigin(info, info.inputs, info.rights, _method(info.spec)))
                continue
            ids = lineages[lineage]
            infos = [inputs[name] for name in ids if name in inputs]
            key = (info.source.id, lineage)
            rights = self._mixed.get(key) or _hold(self._mixed, key, self._derived_rights(info.source, infos))
            origins.append(RowOrigin(info, ids, rights, _common({_method(one.spec) for one in infos})))
        return origins

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
        for identifier, source, exposure, tightened, kind in self._db.execute(_INPUTS, (json.dumps(sorted(hashes)),)):
            rights = self.sources[source].rights
            strictest = effective(rights, Exposure(exposure), self.consents.get(source))
            allows = rights.derivatives_allowed and tightened != Exposure.blocked
            passes = allows or strictest is Exposure.public
            shuts[identifier] = not passes if kind == "raw" else None
        shut: dict[int, bool] = {}
        for lineage, ids in inputs.items():
            judged = [shuts[identifier] for identifier in ids if identifier in shuts]
            if judged and None not in judged:
                shut[lineage] = any(judged)
        return shut

    def _load(self, rows: Sequence[Any]) -> list[SeriesInfo]:
        """Return the series that some rows of `_SERIES_READ` are, which are remembered."""
        inputs = self._all_inputs(rows)
        known = self.by_ids(chain.from_iterable(inputs.values()))
        loaded = []
        for number, identifier, key, topic, body, owner, lineage, tightened, reason, kind in rows:
            spec = specs.read(body, owner)
            source = self.sources[spec.source]
            entity = self.entities.get(owner)
            every = [known[name] for name in inputs.get(number, ()) if name in known]
            if kind == "derived":
                rights = self._derived_rights(source, every)
            else:
                rights = self._raw_rights(spec, source, Exposure(tightened), reason)
            info = SeriesInfo(
                number, identifier, key, topic, spec, kind, source,
                inputs=inputs[number] if lineage else (),
                read_from=tuple(sorted(set(chain.from_iterable({info.read_from for info in every})))) or (source.id,),
                simulated=source.simulated or any(info.simulated for info in every),
                currency=currency_of(spec.unit, spec.currency or (None if entity is None else entity.currency)),
                rights=rights,
                # Its publisher states another unit than the catalogue: neither is told as that of the numbers withheld for it.
                unit=None if tightened == Exposure.blocked else spec.unit,
                page=spec.page_url or (source.homepage if kind == "raw" else None),
                misstated=tightened == Exposure.blocked or any(info.misstated for info in every),
            )  # fmt: skip
            loaded.append(info)
            if len(self._series) >= _SERIES_HELD:
                self._series.clear()
                self._by_id.clear()
            self._series[number] = self._by_id[identifier] = info
        return loaded

    def _all_inputs(self, rows: Sequence[Any]) -> dict[int, tuple[str, ...]]:
        """
        Return the ids of what some derived series are computed from, by their numbers; of rows of `_SERIES_READ`.

        Where every row has a lineage of its own, the series as a whole is computed from all of them, so it is as shut as the strictest.
        """
        shared = {row[0]: row[6] for row in rows if row[9] == "derived"}
        several = [(row[3], row[0]) for row in rows if shared.get(row[0]) == 0]
        mixed: dict[int, set[int]] = {number: set() for _, number in several}
        for number, lineage in self._db.seek(_OWN_LINEAGES, several):
            mixed[number].add(lineage)
        ids = self.lineages(chain(shared.values(), *mixed.values()))
        inputs = {number: ids[lineage] for number, lineage in shared.items()}
        for number, lineages in mixed.items():
            inputs[number] = tuple(sorted(set(chain.from_iterable(ids[lineage] for lineage in lineages))))
        return inputs

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
        return self._shared_rights(
            exposure, why, spec.license or rights.license, rights.asks_for, spec.attribution or rights.attribution
        )

    def _derived_rights(self, source: Source, infos: Sequence[SeriesInfo]) -> SeriesRights:
        """Return the rights of what was computed from some series. Most are computed from what is alike."""
        alike = {(id(info.rights), info.source.id, info.simulated, info.misstated): info for info in infos}
        key = (source.id, frozenset(alike))
        known = self._derived.get(key)
        if known is not None:
            return known[0]
        rights = self._rights_from(source, infos)
        if (
            rights.reason is None
        ):  # a reason names series. An identity is that of an object for as long as there is the object
            _hold(self._derived, key, (rights, [info.rights for info in alike.values()]))
        return rights

    def _rights_from(self, source: Source, infos: Sequence[SeriesInfo]) -> SeriesRights:
        exposure = derived((i.rights.exposure, i.allows_derivatives) for i in infos)
        why = None
        if not infos:
            why = "the series it was computed from are not known any more"
        elif exposure is not Exposure.public:
            shut = [i for i in infos if i.rights.withheld and not i.allows_derivatives]
            named = "; ".join(f"{i.id}: {i.rights.reason}" for i in shut)
            why = f"computed from series whose values may not be redistributed ({named})"
        if any(i.simulated for i in infos):
            attribution = "Simulated, not real data"
        else:
            attributions = sorted({i.rights.attribution for i in infos})
            attribution = (
                f"Calculated by Almanac from: {'; '.join(attributions)}" if attributions else source.rights.attribution
            )
        licenses = "; ".join(sorted({i.rights.license for i in infos}))
        return self._shared_rights(
            exposure, why, licenses or source.rights.license, source.rights.asks_for, attribution
        )

    def _shared_rights(
        self, exposure: Exposure, reason: str | None, license_: str, license_class: str, attribution: str
    ) -> SeriesRights:
        """Return rights with the object that says them; equal ones are one object, for they hardly differ."""
        key = (exposure, reason, license_, license_class, attribution)
        return self._rights.get(key) or _hold(self._rights, key, _rights(*key))


_SERIES_READ = (
    "SELECT s.series, s.id, s.hash, s.topic, p.body, t.entity, s.lineage, s.exposure, s.reason, t.kind FROM {keys}series s"
    " CROSS JOIN topic t ON t.topic = s.topic CROSS JOIN spec p ON p.spec = s.spec"
)
_SERIES = f"{_SERIES_READ} WHERE s.series = k.column1"
_SERIES_NAMED = f"{_SERIES_READ} WHERE s.hash = k.column1 AND s.id = k.column2"
_COUNTS = "SELECT s.topic, count(*) FROM {keys}series s WHERE s.topic = k.column1 GROUP BY s.topic"
_LINEAGE = "SELECT l.lineage, l.inputs FROM {keys}lineage l WHERE l.lineage = k.column1"
_OWN_LINEAGES = (
    "SELECT DISTINCT x.series, x.lineage FROM {keys}vintages x WHERE x.topic = k.column1 AND x.series = k.column2"
)
_LINEAGES = f"SELECT l.lineage, l.inputs FROM {number_list('?')} n CROSS JOIN lineage l ON l.lineage = n.value"
#: By what leads to a series from its id: there is no index of the ids themselves.
_INPUTS = (
    f"SELECT s.id, s.source, {greatest('s.exposure', 'p.exposure')}, s.exposure, t.kind"
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


#: Names of the series-level metadata of a row.
METADATA = (
    "seriesId", "nativeId", "seasonalAdjustment", "annualized", "composition", "curveType", "compounding", "scale", "currency",
    "discontinued", "simulated",
)  # fmt: skip
#: What a computed row takes over from the series it was computed from, where these are of one mind.
_METHOD = ("seasonal_adjustment", "curve_type", "compounding")
_method = attrgetter(*_METHOD)


def _common(several: Collection[tuple[str | None, ...]]) -> tuple[str | None, ...]:
    """Return the values that all have, in each place; None where they differ."""
    if len(several) == 1:
        return next(iter(several))
    places = [set(values) for values in zip(*several, strict=True)] or [set()] * len(_METHOD)
    return tuple(values.pop() if len(values) == 1 else None for values in places)
