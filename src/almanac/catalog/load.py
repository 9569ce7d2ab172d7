"""Read the catalogue and check it whole: any contradiction is an error at start-up, never a surprise at ingest."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec

from almanac.catalog import succession
from almanac.catalog.lines import plain
from almanac.catalog.services import Areas, Service, expanded
from almanac.catalog.services import problems as service_problems
from almanac.domain.cadence import Cadence
from almanac.domain.periods import Frequency
from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit
from almanac.domain.rights import Exposure

CATEGORIES = frozenset(
    [
        "inflation",
        "labor",
        "growth",
        "housing",
        "external",
        "income",
        "consumption",
        "rates",
        "money",
        "credit",
        "fiscal",
        "sentiment",
        "demographics",
        "fx",
        "commodities",
        "fundamentals",
    ]
)
PROVIDER_KINDS = frozenset(["central_bank", "statistics_office", "treasury", "regulator", "multilateral", "service"])


class CatalogError(Exception):
    """The catalogue contradicts itself. Every problem found is one line of the message."""


class Formula(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A derived indicator: what it means, and which operator computes it from which inputs.

    `inputs` are slugs; `a|b` means the first of these that a source has. `entity:slug` fixes the entity of an input.
    """

    slug: str
    name: str
    description: str
    category: str
    unit: str
    formula: str
    operator: str
    inputs: tuple[str, ...]
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


class Catalog(msgspec.Struct, frozen=True):
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

    def providers_sources(self, name: str) -> list[str]:
        """
        Source ids a command-line name means: an id, a provider's id, or the word before a source id's first dash.

        Raises KeyError where it means none.
        """
        if name in self.sources:
            return [name]
        found = sorted(
            s.id
            for s in self.sources.values()
            if not s.simulated and (s.provider == name or s.id.startswith(name + "-"))
        )
        if not found:
            raise KeyError(name)
        return found


def load(extra: Iterable[Mapping[str, Any]] = ()) -> Catalog:
    """The catalogue of the package, with `extra` parts (the simulated world's) added to it. Raises CatalogError."""
    return with_indicators(build([*_packaged(), *extra]), _of_companies())


def with_indicators(catalog: Catalog, more: Iterable[Indicator]) -> Catalog:
    """A catalogue with indicators that no formula of it computes and no series of it feeds. Raises CatalogError."""
    every = dict(catalog.indicators)
    twice = [one.slug for one in more if every.setdefault(one.slug, one) is not one]
    grown = msgspec.structs.replace(catalog, indicators=every)
    problems = [f"indicator {slug} is there twice" for slug in twice] + list(_check(grown))
    if problems:
        raise CatalogError("\n".join(problems))
    return grown


@functools.cache
def _of_companies() -> tuple[Indicator, ...]:
    """Lines of statements, their raw facts, ratios and scores."""
    from almanac.catalog import companies, measures  # noqa: PLC0415  (they raise this module's error)

    return (*companies.indicators(), *measures.indicators())


@functools.cache
def shipped() -> Catalog:
    """The catalogue of the package alone, built once."""
    return load()


@functools.cache
def _packaged() -> tuple[Mapping[str, Any], ...]:
    return tuple(_read(files(__package__)))


def _read(folder: Traversable) -> Iterator[Mapping[str, Any]]:
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.is_dir():
            # Files about companies and about events have readers of their own.
            if item.name not in {"companies", "events"}:
                yield from _read(item)
        elif item.name.endswith(".toml"):
            try:
                yield tomllib.loads(item.read_text("utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise CatalogError(f"{item.name}: {error}") from None


#: Tables a part may hold, and the record each line of one is.
_TABLES: dict[str, type[msgspec.Struct]] = {
    "unit": Unit,
    "provider": Provider,
    "source": Source,
    "entity": Entity,
    "indicator": Indicator,
    "derived": Formula,
    "service": Service,
    "areas": Areas,
}


def build(parts: Iterable[Mapping[str, Any]]) -> Catalog:
    """Put parts together and check the whole. Raises CatalogError with one line per problem."""
    problems: list[str] = []
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    series: dict[str, dict[str, SeriesSpec]] = {}
    parts = list(parts)
    for part in parts:
        for table in part:
            if table not in _TABLES and table != "series":
                problems.append(f"unknown table [[{table}]]")
        for table, record in _TABLES.items():
            for line in part.get(table, ()):
                try:
                    read: Any = msgspec.convert(plain(line), record)
                    unknown = set(line) - set(record.__struct_fields__)
                    if unknown:
                        problems.append(
                            f"{table} {line.get('id') or line.get('slug')}: unknown field {', '.join(sorted(unknown))}"
                        )
                except msgspec.ValidationError as error:
                    problems.append(f"{table} {line.get('id') or line.get('slug')}: {error}")
                    continue
                key = read.slug if table in {"indicator", "derived"} else read.id
                if key in tables[table]:
                    problems.append(f"{table} {key} is there twice")
                tables[table][key] = read
    # Series last: a line may stand for one series of every entity.
    for part in parts:
        for group in part.get("series", ()):
            defaults = {key: value for key, value in group.items() if key != "codes"}
            if not group.get("codes"):
                problems.append(f"series group of {group.get('source')} has no codes")
            for code in group.get("codes", ()):
                pattern = {**defaults, **code}
                try:
                    for line in expanded(pattern, tables["areas"], tables["entity"]):
                        unknown = set(line) - set(SeriesSpec.__struct_fields__)
                        if unknown:
                            problems.append(f"series {line.get('native')}: unknown field {', '.join(sorted(unknown))}")
                        spec = msgspec.convert(plain(line), SeriesSpec)
                        natives = series.setdefault(spec.source, {})
                        if spec.native in natives:
                            problems.append(f"series {spec.source} {spec.native} is mapped twice")
                        natives[spec.native] = spec
                except msgspec.ValidationError as error:
                    problems.append(f"series {pattern.get('native')}: {error}")
    for formula in tables["derived"].values():
        if formula.slug in tables["indicator"]:
            problems.append(f"indicator {formula.slug} is both raw and derived")
    for formula in tables["derived"].values():
        tables["indicator"].setdefault(formula.slug, _indicator(formula))
    catalog = Catalog(
        tables["unit"],
        tables["provider"],
        tables["source"],
        tables["entity"],
        tables["indicator"],
        tables["derived"],
        series,
        tables["service"],
    )
    problems += _check(catalog)
    if problems:
        raise CatalogError("\n".join(problems))
    return catalog


def _indicator(formula: Formula) -> Indicator:
    return Indicator(
        slug=formula.slug,
        name=formula.name,
        description=formula.description,
        category=formula.category,
        kind="derived",
        unit=formula.unit,
        formula=formula.formula,
        inputs=tuple(dict.fromkeys(slug for text in formula.inputs for _, slug in input_slugs(text))),
        aliases=formula.aliases,
        screenable=formula.screenable,
    )


def input_slugs(text: str) -> list[tuple[str | None, str]]:
    """Alternatives of one input of a formula as (entity or None, slug): `cpi_index_nsa|cpi_index`."""
    found: list[tuple[str | None, str]] = []
    for alternative in text.split("|"):
        entity, separator, slug = alternative.rpartition(":")
        found.append((entity if separator else None, slug))
    return found


def _check(catalog: Catalog) -> Iterator[str]:
    """Every contradiction, one line each."""
    names: dict[str, str] = {}
    for indicator in catalog.indicators.values():
        if indicator.category not in CATEGORIES:
            yield f"indicator {indicator.slug}: unknown category {indicator.category}"
        if indicator.unit is not None and indicator.unit not in catalog.units:
            yield f"indicator {indicator.slug}: unknown unit {indicator.unit}"
        if indicator.kind not in {"raw", "derived"}:
            yield f"indicator {indicator.slug}: kind must be raw or derived"
        for source in indicator.preferred:
            if source not in catalog.sources:
                yield f"indicator {indicator.slug}: unknown source {source} in its order"
        for name in (indicator.slug, *indicator.aliases):
            if names.setdefault(name, indicator.slug) != indicator.slug:
                yield f"indicator name {name} belongs to both {names[name]} and {indicator.slug}"
    slugs: dict[str, str] = {}
    scopes: dict[str, str] = {}
    for entity in catalog.entities.values():
        for word in filter(None, (entity.slug, entity.iso2, entity.iso3)):
            if slugs.setdefault(word.lower(), entity.id) != entity.id:
                yield f"entity name {word} belongs to both {slugs[word.lower()]} and {entity.id}"
        if entity.rates_scope is not None and scopes.setdefault(entity.rates_scope, entity.id) != entity.id:
            yield f"rates scope {entity.rates_scope} belongs to both {scopes[entity.rates_scope]} and {entity.id}"
    for provider in catalog.providers.values():
        if provider.kind not in PROVIDER_KINDS:
            yield f"provider {provider.id}: unknown kind {provider.kind}"
    for source_record in catalog.sources.values():
        if source_record.provider not in catalog.providers:
            yield f"source {source_record.id}: unknown provider {source_record.provider}"
        if source_record.declared_release not in {None, "same_day"}:
            yield f"source {source_record.id}: declared_release must be same_day"
        if source_record.declared_release and not source_record.release_url:
            yield f"source {source_record.id}: a declared release needs release_url"
        yield from _cadence_problems(source_record)
        rights = source_record.rights
        if rights.exposure is not Exposure.public and not rights.reason:
            yield f"source {source_record.id}: exposure {rights.exposure.name} needs a reason"
        if rights.channel is not Exposure.public and not rights.channel_reason:
            yield f"source {source_record.id}: channel {rights.channel.name} needs a channel_reason"
    for formula in catalog.formulas.values():
        if not formula.inputs:
            yield f"derived {formula.slug}: a formula without inputs"
        for text in formula.inputs:
            for named_entity, slug in input_slugs(text):
                if slug not in catalog.indicators:
                    yield f"derived {formula.slug}: unknown input {slug}"
                if named_entity is not None and named_entity not in catalog.entities:
                    yield f"derived {formula.slug}: unknown entity {named_entity}"
        for entity_id in (*formula.except_entities, *formula.redefined):
            if entity_id not in catalog.entities:
                yield f"derived {formula.slug}: unknown entity {entity_id}"
    yield from _circles(catalog)
    yield from service_problems(catalog.services, catalog.sources, catalog.series)
    for source_id, natives in catalog.series.items():
        if source_id not in catalog.sources:
            yield f"series of unknown source {source_id}"
        for spec in natives.values():
            if spec.indicator not in catalog.indicators:
                yield f"series {source_id} {spec.native}: unknown indicator {spec.indicator}"
            elif catalog.indicators[spec.indicator].kind == "derived":
                yield f"series {source_id} {spec.native}: {spec.indicator} is derived"
            if spec.entity not in catalog.entities:
                yield f"series {source_id} {spec.native}: unknown entity {spec.entity}"
            if spec.unit not in catalog.units:
                yield f"series {source_id} {spec.native}: unknown unit {spec.unit}"
            if spec.exposure is not Exposure.public and not spec.reason:
                yield f"series {source_id} {spec.native}: exposure {spec.exposure.name} needs a reason"
        yield from succession.problems(source_id, natives)


def _cadence_problems(source: Source) -> Iterator[str]:
    if source.cadence is None:
        return
    try:
        Cadence(source.cadence)
    except ValueError as error:
        yield f"source {source.id}: cadence: {error}"


def _circles(catalog: Catalog) -> Iterator[str]:
    done: set[str] = set()

    def visit(slug: str, path: tuple[str, ...]) -> Iterator[str]:
        if slug in path:
            yield f"derived {slug} is computed from itself: {' → '.join((*path, slug))}"
        elif slug not in done and slug in catalog.formulas:
            for text in catalog.formulas[slug].inputs:
                for _, named in input_slugs(text):
                    yield from visit(named, (*path, slug))
            done.add(slug)

    for slug in catalog.formulas:
        yield from visit(slug, ())
