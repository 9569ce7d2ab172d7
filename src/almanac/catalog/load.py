"""Read the catalogue and check it whole: any contradiction is an error at start-up, never a surprise at ingest."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec

from almanac.catalog import companies, measures
from almanac.catalog.checks import contradictions
from almanac.catalog.currencies import Changeover, Currency
from almanac.catalog.lines import plain
from almanac.catalog.preferences import Preference, placed
from almanac.catalog.preferences import problems as preference_problems
from almanac.catalog.records import Catalog, CatalogError, Formula, input_slugs
from almanac.catalog.services import Areas, Service, expanded
from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit


def load(extra: Iterable[Mapping[str, Any]] = ()) -> Catalog:
    """The catalogue of the package, with `extra` parts (the simulated world's) added to it. Raises CatalogError."""
    return with_indicators(build([*_packaged(), *extra]), _of_companies())


def with_indicators(catalog: Catalog, more: Iterable[Indicator]) -> Catalog:
    """A catalogue with indicators that no formula of it computes and no series of it feeds. Raises CatalogError."""
    every = dict(catalog.indicators)
    twice = [one.slug for one in more if every.setdefault(one.slug, one) is not one]
    grown = msgspec.structs.replace(catalog, indicators=every)
    problems = [f"indicator {slug} is there twice" for slug in twice] + list(contradictions(grown))
    if problems:
        raise CatalogError("\n".join(problems))
    return grown


@functools.cache
def _of_companies() -> tuple[Indicator, ...]:
    """Lines of statements, their raw facts, ratios and scores."""
    return (*companies.indicators(), *measures.indicators())


@functools.cache
def shipped() -> Catalog:
    """The catalogue of the package alone, built once."""
    return load()


@functools.cache
def _packaged() -> tuple[Mapping[str, Any], ...]:
    return tuple(_read(files(__package__).joinpath("data")))


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


def source_ids() -> frozenset[str]:
    """Sources that settings may name, without making the whole catalogue."""
    return frozenset(line["id"] for part in _packaged() for line in part.get("source", ()))


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
    "currency": Currency,
    "changeover": Changeover,
}


def build(parts: Iterable[Mapping[str, Any]]) -> Catalog:
    """Put parts together and check the whole. Raises CatalogError with one line per problem."""
    problems: list[str] = []
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    parts = list(parts)
    for part in parts:
        known = {*_TABLES, "series", "preference"}
        problems += [f"unknown table [[{table}]]" for table in part if table not in known]
        for table, records in tables.items():
            for line in part.get(table, ()):
                problems += _enter(line, table, records)
    # Series last: a line may stand for one series of every entity.
    series: dict[str, dict[str, SeriesSpec]] = {}
    guesses: set[tuple[str, str]] = set()
    for part in parts:
        for group in part.get("series", ()):
            problems += _map(group, tables, series, guesses)
    preferences: list[Preference] = []
    for part in parts:
        for line in part.get("preference", ()):
            problems += _prefer(line, preferences)
    raw, formulas = placed(preferences, tables["indicator"], series), tables["derived"]
    problems += preference_problems(preferences, raw, series)
    problems += [f"indicator {slug} is both raw and derived" for slug in formulas if slug in raw]
    catalog = Catalog(
        tables["unit"],
        tables["provider"],
        tables["source"],
        tables["entity"],
        raw | {slug: _indicator(formula) for slug, formula in formulas.items() if slug not in raw},
        formulas,
        series,
        tables["service"],
        frozenset(guesses),
        tables["currency"],
        tables["changeover"],
    )
    problems += contradictions(catalog)
    if problems:
        raise CatalogError("\n".join(problems))
    return catalog


def _enter(line: Mapping[str, Any], table: str, records: dict[str, Any]) -> Iterator[str]:
    """Read one line of a table into its records; what is wrong with it."""
    named = f"{table} {line.get('id') or line.get('slug')}"
    try:
        record: Any = msgspec.convert(plain(line), _TABLES[table])
    except msgspec.ValidationError as error:
        yield f"{named}: {error}"
        return
    unknown = sorted(set(line) - set(record.__struct_fields__))
    if unknown:
        yield f"{named}: unknown field {', '.join(unknown)}"
    key = record.slug if table in {"indicator", "derived"} else record.id
    if key in records:
        yield f"{table} {key} is there twice"
    records[key] = record


def _former_money(changeovers: Mapping[str, Changeover]) -> dict[str, list[str]]:
    """Former currencies by the entity that had them."""
    found: dict[str, list[str]] = {}
    for one in changeovers.values():
        found.setdefault(one.entity, []).append(one.currency)
    return found


def _map(
    group: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    series: dict[str, dict[str, SeriesSpec]],
    guesses: set[tuple[str, str]],
) -> Iterator[str]:
    """Read one group of native codes into the series of their sources; what is wrong with it."""
    if not group.get("codes"):
        yield f"series group of {group.get('source')} has no codes"
    defaults = {key: value for key, value in group.items() if key != "codes"}
    for code in group.get("codes", ()):
        pattern = {**defaults, **code}
        guess, elsewhere = pattern.pop("guess", False), pattern.pop("elsewhere", False)
        for name, mark in (("guess", guess), ("elsewhere", elsewhere)):
            if not isinstance(mark, bool):
                yield f"series {pattern.get('native')}: {name} is true or false"
        if guess and elsewhere:
            yield f"series {pattern.get('native')}: a guess was not seen elsewhere"
        try:
            for line in expanded(pattern, tables["areas"], tables["entity"], _former_money(tables["changeover"])):
                yield from _specify(line, series)
                if guess and "copy_of" not in line:
                    guesses.add((line["source"], line["native"]))
        except msgspec.ValidationError as error:
            yield f"series {pattern.get('native')}: {error}"


def _specify(line: Mapping[str, Any], series: dict[str, dict[str, SeriesSpec]]) -> Iterator[str]:
    unknown = sorted(set(line) - set(SeriesSpec.__struct_fields__))
    if unknown:
        yield f"series {line.get('native')}: unknown field {', '.join(unknown)}"
    spec = msgspec.convert(plain(line), SeriesSpec)
    natives = series.setdefault(spec.source, {})
    if spec.native in natives:
        yield f"series {spec.source} {spec.native} is mapped twice"
    natives[spec.native] = spec


def _prefer(line: Mapping[str, Any], preferences: list[Preference]) -> Iterator[str]:
    try:
        preferences.append(msgspec.convert(line, Preference))
    except msgspec.ValidationError as error:
        yield f"preference of {line.get('source')}: {error}"
    unknown = sorted(set(line) - set(Preference.__struct_fields__))
    if unknown:
        yield f"preference of {line.get('source')}: unknown field {', '.join(unknown)}"


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
