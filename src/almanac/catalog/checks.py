"""What contradicts what in a catalogue put together: one line for each problem, naming the record at fault."""

from __future__ import annotations

from collections.abc import Iterator

from almanac.catalog import currencies, services, succession
from almanac.catalog.records import PROVIDER_KINDS, Catalog, Formula, input_slugs, is_simulated
from almanac.domain.cadence import Cadence
from almanac.domain.reference import INDICATOR_CATEGORIES, Indicator, SeriesSpec, Source
from almanac.domain.rights import LICENSE_CLASSES, Exposure
from almanac.domain.units import currency_of, is_money


def contradictions(catalog: Catalog) -> Iterator[str]:
    """Every contradiction, one line each."""
    for indicator in catalog.indicators.values():
        yield from _indicator(indicator, catalog)
    yield from _shared_names(catalog)
    for provider in catalog.providers.values():
        if provider.kind not in PROVIDER_KINDS:
            yield f"provider {provider.id}: unknown kind {provider.kind}"
    for source in catalog.sources.values():
        yield from _source(source, catalog)
    for formula in catalog.formulas.values():
        yield from _formula(formula, catalog)
    yield from _circles(catalog)
    yield from currencies.problems(catalog.currencies, catalog.changeovers, catalog.entities)
    yield from services.problems(catalog.services, catalog.sources, catalog.series)
    for source_id, natives in catalog.series.items():
        if source_id not in catalog.sources:
            yield f"series of unknown source {source_id}"
        for spec in natives.values():
            yield from _series(spec, catalog)
        yield from succession.problems(source_id, natives)


def _indicator(indicator: Indicator, catalog: Catalog) -> Iterator[str]:
    named = f"indicator {indicator.slug}"
    if indicator.category not in INDICATOR_CATEGORIES:
        yield f"{named}: unknown category {indicator.category}"
    if indicator.unit is not None and indicator.unit not in catalog.units:
        yield f"{named}: unknown unit {indicator.unit}"
    if indicator.kind not in {"raw", "derived"}:
        yield f"{named}: kind must be raw or derived"
    for source in indicator.preferred:
        if source not in catalog.sources:
            yield f"{named}: unknown source {source} in its order"
    for one in indicator.published_as:
        if all(spec.indicator != indicator.slug for spec in catalog.series.get(one.source, {}).values()):
            yield f"{named}: {one.source} has no series of it to be called {one.name}"


def _shared_names(catalog: Catalog) -> Iterator[str]:
    """Names by which people find a record, given to two."""
    owners: dict[str, str] = {}
    for indicator in catalog.indicators.values():
        for name in (indicator.slug, *indicator.other_names):
            if owners.setdefault(name.lower(), indicator.slug) != indicator.slug:
                yield f"indicator name {name} belongs to both {owners[name.lower()]} and {indicator.slug}"
    entities: dict[str, str] = {}
    scopes: dict[str, str] = {}
    for entity in catalog.entities.values():
        for word in filter(None, (entity.slug, entity.iso2, entity.iso3)):
            if entities.setdefault(word.lower(), entity.id) != entity.id:
                yield f"entity name {word} belongs to both {entities[word.lower()]} and {entity.id}"
        if entity.rates_scope is not None and scopes.setdefault(entity.rates_scope, entity.id) != entity.id:
            yield f"rates scope {entity.rates_scope} belongs to both {scopes[entity.rates_scope]} and {entity.id}"


def _source(source: Source, catalog: Catalog) -> Iterator[str]:
    named = f"source {source.id}"
    if source.provider not in catalog.providers:
        yield f"{named}: unknown provider {source.provider}"
    if is_simulated(source.id) != source.simulated:
        yield f"{named}: simulated is {str(source.simulated).lower()}, which its id contradicts"
    if source.declared_release not in {None, "same_day"}:
        yield f"{named}: declared_release must be same_day"
    if source.declared_release and not source.release_url:
        yield f"{named}: a declared release needs release_url"
    if source.cadence is not None:
        try:
            Cadence(source.cadence)
        except ValueError as error:
            yield f"{named}: cadence: {error}"
    rights = source.rights
    if rights.license_class is not None and rights.license_class not in LICENSE_CLASSES:
        yield f"{named}: unknown license_class {rights.license_class}, allowed are {', '.join(LICENSE_CLASSES)}"
    elif rights.license_class not in {None, rights.asks_for}:
        yield f"{named}: license_class is {rights.license_class}, its other rights say {rights.asks_for}"
    if rights.exposure is not Exposure.public and not rights.reason:
        yield f"{named}: exposure {rights.exposure.name} needs a reason"
    if rights.channel is not Exposure.public and not rights.channel_reason:
        yield f"{named}: channel {rights.channel.name} needs a channel_reason"


def _formula(formula: Formula, catalog: Catalog) -> Iterator[str]:
    named = f"derived {formula.slug}"
    if not formula.inputs:
        yield f"{named}: a formula without inputs"
    inputs = [part for text in formula.inputs for part in input_slugs(text)]
    for entity, slug in inputs:
        if slug not in catalog.indicators:
            yield f"{named}: unknown input {slug}"
        if entity is not None and entity not in catalog.entities:
            yield f"{named}: unknown entity {entity}"
    for entity in (*formula.except_entities, *formula.redefined):
        if entity not in catalog.entities:
            yield f"{named}: unknown entity {entity}"


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


def _series(spec: SeriesSpec, catalog: Catalog) -> Iterator[str]:
    named = f"series {spec.source} {spec.native}"
    if spec.indicator not in catalog.indicators:
        yield f"{named}: unknown indicator {spec.indicator}"
    elif catalog.indicators[spec.indicator].kind == "derived":
        yield f"{named}: {spec.indicator} is derived"
    if spec.entity not in catalog.entities:
        yield f"{named}: unknown entity {spec.entity}"
    if spec.unit not in catalog.units:
        yield f"{named}: unknown unit {spec.unit}"
    entity = catalog.entities.get(spec.entity)
    if is_money(spec.unit) and entity is not None and currency_of(spec.unit, spec.currency or entity.currency) is None:
        yield f"{named}: money in {spec.unit}, and neither it nor {spec.entity} has a currency"
    if spec.exposure is not Exposure.public and not spec.reason:
        yield f"{named}: exposure {spec.exposure.name} needs a reason"
