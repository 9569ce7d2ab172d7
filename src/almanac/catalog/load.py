"""Read the catalogue and check it whole: any contradiction is an error at start-up, never a surprise at ingest."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import msgspec

from almanac.catalog import checks, companies, measures
from almanac.catalog.currencies import Changeover, Currency
from almanac.catalog.records import Catalog, Formula, Preference, input_slugs
from almanac.catalog.services import Areas, Service, expanded
from almanac.catalog.tables import Problems, convert, decode, packaged
from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit


class _File(msgspec.Struct, frozen=True):
    """The tables that a part of the catalogue may hold. A line of `series` may stand for one series of every entity."""

    unit: tuple[Unit, ...] = ()
    provider: tuple[Provider, ...] = ()
    source: tuple[Source, ...] = ()
    entity: tuple[Entity, ...] = ()
    indicator: tuple[Indicator, ...] = ()
    derived: tuple[Formula, ...] = ()
    service: tuple[Service, ...] = ()
    areas: tuple[Areas, ...] = ()
    currency: tuple[Currency, ...] = ()
    changeover: tuple[Changeover, ...] = ()
    preference: tuple[Preference, ...] = ()
    series: tuple[dict[str, Any], ...] = ()


def load(extra: Iterable[Mapping[str, Any]] = ()) -> Catalog:
    """Return the catalogue of the package with `extra` parts (the simulated world's) added. Raise CatalogError."""
    own = _packaged()
    return build([*own.values(), *extra], [*own], (*companies.indicators(), *measures.indicators()))


@functools.cache
def shipped() -> Catalog:
    """Return the catalogue of the package alone, built once."""
    return load()


@functools.cache
def _packaged() -> Mapping[str, Mapping[str, Any]]:
    """Read all files but those about companies and events, which are tables of their own."""
    data = resources.files(__package__).joinpath("data")
    names = sorted(
        f"{folder}{file.name}"
        for folder in ("", "indicators/", "series/")
        for file in data.joinpath(folder).iterdir()
        if file.name.endswith(".toml")
    )
    return {name: packaged(name) for name in names}


def source_ids() -> frozenset[str]:
    """Return the sources that settings may name, without making the whole catalogue."""
    return frozenset(line["id"] for part in _packaged().values() for line in part.get("source", ()))


def build(parts: Iterable[Mapping[str, Any]], names: Sequence[str] = (), more: Iterable[Indicator] = ()) -> Catalog:
    """
    Put parts together and check the whole. `names` are the files of the first parts, `more` indicators without a formula.

    Raise CatalogError with one line per problem: all that cannot be read, or if all can, all contradictions.
    """
    problems = Problems()
    parts = list(parts)
    read: list[tuple[str, _File]] = []
    for part, problems.file in zip(parts, [*names, *[""] * (len(parts) - len(names))], strict=True):
        read.append((problems.file, decode(part, _File, problems)))
    problems.file = ""

    def table(name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _, one in read:
            for record in getattr(one, name):
                key = record.slug if hasattr(record, "slug") and name != "entity" else record.id
                if found.setdefault(key, record) is not record:
                    problems.add(f"{name} {key}", "is there twice")
        return found

    tables = {name: table(name) for name in _File.__struct_fields__ if name not in {"preference", "series"}}
    series: dict[str, dict[str, SeriesSpec]] = {}
    former: dict[str, list[str]] = {}
    for change in tables["changeover"].values():
        former.setdefault(change.entity, []).append(change.currency)
    for file, one in read:
        for group in one.series:
            problems.files.setdefault(f"series {group.get('source')}", file)
            _map(group, tables["areas"], tables["entity"], former, series, problems)
    # What could not be read would be missing everywhere else.
    problems.check([])
    preferences = [preference for _, one in read for preference in one.preference]
    formulas = tables["derived"]
    indicators = _placed(preferences, tables["indicator"], series)
    for indicator in (*map(_indicator, formulas.values()), *more):
        if indicators.setdefault(indicator.slug, indicator) is not indicator:
            twice = "both raw and derived" if indicator.slug in formulas else "there twice"
            problems.add(f"indicator {indicator.slug}", f"is {twice}")
    catalog = Catalog(
        tables["unit"], tables["provider"], tables["source"], tables["entity"], indicators, formulas, series,
        tables["service"], tables["currency"], tables["changeover"],
    )  # fmt: skip
    problems.check(checks.contradictions(catalog, preferences))
    return catalog


def _map(
    group: Mapping[str, Any],
    areas: Mapping[str, Areas],
    entities: Mapping[str, Entity],
    former: Mapping[str, list[str]],
    series: dict[str, dict[str, SeriesSpec]],
    problems: Problems,
) -> None:
    """Read one group of native codes into the series of their sources."""
    try:
        codes = convert(group.get("codes", []), list[dict[str, Any]])
    except msgspec.ValidationError as error:
        problems.add(f"series {group.get('source')}", f"codes: {error}")
        return
    if not codes:
        problems.add(f"series {group.get('source')}", "a group has no codes")
    for code in codes:
        pattern = {name: value for name, value in {**group, **code}.items() if name != "codes"}
        where = f"series {pattern.get('source')} {pattern.get('native')}"
        # Marks for those who look after the file: not seen in a response, or seen in another place than the publisher's.
        marks = {name: pattern.pop(name) for name in ("guess", "elsewhere") if name in pattern}
        for name, mark in marks.items():
            if not isinstance(mark, bool):
                problems.add(where, f"{name} is true or false")
        if all(marks.get(name) for name in ("guess", "elsewhere")):
            problems.add(where, "a guess was not seen elsewhere")
        try:
            for line in expanded(pattern, areas, entities, former):
                spec = convert(line, SeriesSpec)
                if series.setdefault(spec.source, {}).setdefault(spec.native, spec) is not spec:
                    problems.add(f"series {spec.source} {spec.native}", "is mapped twice")
        except msgspec.ValidationError as error:
            problems.add(where, str(error))


def _placed(
    preferences: Iterable[Preference],
    indicators: Mapping[str, Indicator],
    series: Mapping[str, Mapping[str, SeriesSpec]],
) -> dict[str, Indicator]:
    """Return the indicators with every source in its place; what is unknown is passed over, for the checks to name."""
    orders = {slug: list(indicator.preferred) for slug, indicator in indicators.items()}
    for preference in sorted(preferences):
        for slug in preference.indicators or preference.fed(series):
            order = orders.get(slug, [])
            place = min((order.index(source) for source in preference.before if source in order), default=len(order))
            order.insert(place, preference.source)
    return {
        slug: msgspec.structs.replace(indicator, preferred=tuple(orders[slug]))
        for slug, indicator in indicators.items()
    }


def _indicator(formula: Formula) -> Indicator:
    """Return the record of the indicator that a formula computes."""
    same = ("slug", "name", "description", "category", "unit", "formula", "aliases", "screenable")
    inputs = dict.fromkeys(slug for text in formula.inputs for _, slug in input_slugs(text))
    return Indicator(kind="derived", inputs=tuple(inputs), **{name: getattr(formula, name) for name in same})
