"""Read the catalogue and check it whole: any contradiction is an error at start-up, never a surprise at ingest."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from itertools import chain, repeat
from typing import Annotated, Any

import msgspec

from almanac.catalog import checks, companies, measures
from almanac.catalog.currencies import Changeover, Currency
from almanac.catalog.records import Catalog, Formula, input_slugs
from almanac.catalog.services import Areas, Service, expanded
from almanac.catalog.tables import Problems, convert, decode, packaged
from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit

_Codes = Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]


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
    tables: dict[str, dict[str, Any]] = {name: {} for name in _File.__struct_fields__ if name != "series"}
    groups: list[dict[str, Any]] = []
    for part, problems.file in zip(parts, chain(names, repeat("")), strict=False):
        file = decode(part, _File, problems)
        for name, table in tables.items():
            for record in getattr(file, name):
                key = record.slug if name in {"indicator", "derived"} else record.id
                if table.setdefault(key, record) is not record:
                    problems.add(f"{name} {key}", "is there twice")
        for group in file.series:
            problems.files.setdefault(f"series {group.get('source')}", problems.file)
        groups += file.series
    problems.file = ""
    series: dict[str, dict[str, SeriesSpec]] = {}
    former: dict[str, list[str]] = {}
    for change in tables["changeover"].values():
        former.setdefault(change.entity, []).append(change.currency)
    for group in groups:
        _map(group, tables["areas"], tables["entity"], former, series, problems)
    # What could not be read would be missing everywhere else.
    problems.check([])
    formulas, indicators = tables["derived"], tables["indicator"]
    for indicator in (*map(_indicator, formulas.values()), *more):
        if indicators.setdefault(indicator.slug, indicator) is not indicator:
            twice = "both raw and derived" if indicator.slug in formulas else "there twice"
            problems.add(f"indicator {indicator.slug}", f"is {twice}")
    catalog = Catalog(
        tables["unit"], tables["provider"], tables["source"], tables["entity"], indicators, formulas, series,
        tables["service"], tables["currency"], tables["changeover"],
    )  # fmt: skip
    problems.check(checks.contradictions(catalog))
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
        codes = convert(group.get("codes", []), _Codes)
    except msgspec.ValidationError as error:
        problems.add(f"series {group.get('source')}", f"codes: {error}")
        return
    for code in codes:
        pattern = {name: value for name, value in {**group, **code}.items() if name != "codes"}
        where = f"series {pattern.get('source')} {pattern.get('native')}"
        # Marks for those who look after the file: not seen in a response, or seen in another place than the publisher's.
        guess, elsewhere = pattern.pop("guess", False), pattern.pop("elsewhere", False)
        if guess and elsewhere:
            problems.add(where, "a guess was not seen elsewhere")
        try:
            for line in expanded(pattern, areas, entities, former):
                spec = convert(line, SeriesSpec)
                if series.setdefault(spec.source, {}).setdefault(spec.native, spec) is not spec:
                    problems.add(f"series {spec.source} {spec.native}", "is mapped twice")
        except msgspec.ValidationError as error:
            problems.add(where, str(error))


def _indicator(formula: Formula) -> Indicator:
    """Return the record of the indicator that a formula computes."""
    same = ("slug", "name", "description", "category", "unit", "formula", "aliases", "screenable")
    inputs = dict.fromkeys(slug for text in formula.inputs for _, slug in input_slugs(text))
    return Indicator(kind="derived", inputs=tuple(inputs), **{name: getattr(formula, name) for name in same})
