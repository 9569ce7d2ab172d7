"""
What a reader holds in memory: reference records, orders of preference, and one `SeriesInfo` for each series met.

Everything here belongs to one *reference version*; when the store's moves on, the whole directory is read anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import msgspec

from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit
from almanac.domain.releases import Release
from almanac.domain.rights import Consent, Exposure, derived, effective
from almanac.domain.units import currency_of
from almanac.store.engine.protocol import Database
from almanac.store.observations import specs
from almanac.store.observations.ids import NAMED, found_by, series_part
from almanac.store.observations.reading.series_info import SeriesInfo, SeriesRights

#: Rank of a source that the order of an indicator does not name.
_UNNAMED = 1_000
#: Source of values computed from the preferred inputs of several sources.
MIXED_SOURCE = "almanac-derived"
_SERIES_HELD = 50_000
#: What is held of rows that have a lineage of their own, of each kind: nearly every figure derived of a company has one.
#: Measured: 14 MiB in all. What is thrown out is read again.
_LINEAGES_HELD = 20_000

_JUDGED_OTHERWISE = "SELECT series FROM series JOIN spec USING(spec) WHERE judged_otherwise = 1"

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Directory:
    """Reference records and series of one reference version. Look-ups are case-insensitive."""

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
        self._lineages: dict[int, tuple[str, ...]] = {}
        #: By source and lineage; equal ones are one object, for they hardly differ.
        self._mixed: dict[tuple[str, int], SeriesRights] = {}
        self._rights: dict[SeriesRights, SeriesRights] = {}
        self._said: dict[tuple[int, int], dict[str, Any]] = {}
        self._judged_otherwise: list[int] | None = None

    def read_by(self, connection: Database) -> Directory:
        """
        Let another thread have this directory, which asks by a connection of its own. What one of them learns all know: it follows
        from the reference version alone.
        """
        found = copy.copy(self)
        found._db = connection  # noqa: SLF001  (a copy of our own)
        return found

    def _records(self, kind: str, record: type[T]) -> dict[str, T]:
        found = self._db.execute("SELECT id, body FROM record WHERE kind = ? ORDER BY id", (kind,))
        return {identifier: msgspec.json.decode(body, type=record) for identifier, body in found}

    # -- names ------------------------------------------------------------------------------------------------------

    def indicator(self, name: str) -> Indicator | None:
        """By slug, `indicator_` id or alias."""
        slug = self._indicator_names.get(name.lower())
        return self.indicators[slug] if slug else None

    def entity(self, name: str) -> Entity | None:
        """Any entity, by id or slug. Companies are looked up when asked for. Call it inside the reading transaction."""
        found = self._entity_names.get(name.lower())
        return self.entities[found] if found else self._company(name.lower())

    def _company(self, name: str) -> Entity | None:
        found = self._db.execute(
            "SELECT entity, slug, name, currency FROM company WHERE entity = ?1 OR slug = ?1", (name,)
        ).fetchone()
        if found is None:
            return None
        return Entity(id=found[0], slug=found[1], name=found[2], kind="company", currency=found[3])

    def country(self, name: str) -> Entity | None:
        """A country or region, by id, slug, ISO-2, ISO-3, ISO number; one without ISO codes by those in use (EUR, XK, G7)."""
        found = self._country_names.get(name.lower())
        return self.entities[found] if found else None

    # -- preference -------------------------------------------------------------------------------------------------

    def rank(self, indicator: str, source: str, variant: str, version: int) -> tuple[int, str, str]:
        """
        Place of a source's series among those of an indicator, at a data version; lower is preferred. Of one source the
        main series (variant "") stands before its variants.
        """
        ranks: dict[str, int] = {}
        for from_version, order in self._orders.get(indicator, ()):
            if from_version <= version:
                ranks = order
        return (ranks.get(source, _UNNAMED), source, variant)

    def preference_key(self, number: int, lineage: int, version: int) -> tuple[bool, int, str, str]:
        """What rows of one cell are chosen by, the least first: a withheld row never wins over a public one; then `rank`."""
        series = self.series(number)
        withheld = self.row_rights(series, lineage).withheld
        return (withheld, *self.rank_of(series, version))

    def rank_of(self, series: SeriesInfo, version: int) -> tuple[int, str, str]:
        """`rank` of a series. No two of one topic have the same."""
        return self.rank(series.spec.indicator, series.source.id, series.spec.variant or "", version)

    # -- series -----------------------------------------------------------------------------------------------------

    def series(self, number: int) -> SeriesInfo:
        """A series by its number, read on demand and held. Call it inside the reading transaction."""
        found = self._series.get(number)
        if found is None:
            found = self._load(number)
            if len(self._series) >= _SERIES_HELD:
                self._series.clear()
                self._by_id.clear()
            self._series[number] = found
            self._by_id[found.id] = number
        return found

    def series_by_id(self, identifier: str) -> SeriesInfo | None:
        number = self._by_id.get(identifier)
        if number is None:
            number = self._db.execute(f"SELECT series FROM series WHERE {NAMED}", found_by(identifier)).get
        return None if number is None else self.series(number)

    def judged_otherwise(self) -> list[int]:
        """Numbers of the series whose freshness does not follow from their frequency and newest period alone."""
        if self._judged_otherwise is None:
            found = self._db.execute(_JUDGED_OTHERWISE)
            self._judged_otherwise = [row[0] for row in found]
        return self._judged_otherwise

    def lineage(self, number: int) -> tuple[str, ...]:
        """Series ids behind a lineage number; none for 0."""
        found = self._lineages.get(number)
        if found is None:
            text = self._db.execute("SELECT inputs FROM lineage WHERE lineage = ?", (number,)).get
            found = _hold(self._lineages, number, tuple(json.loads(text)) if text else ())
        return found

    def row_rights(self, series: SeriesInfo, lineage: int) -> SeriesRights:
        """Rights of a row: its series', unless the row has a lineage of its own."""
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


def _hold(held: dict[K, T], key: K, value: T) -> T:
    """Hold one more; where so many are held, the others go. Threads share what is held: nobody looks there for it afterwards."""
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
