"""The place of each operation of the interface in the Python client, and its declaration there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.params import Param

from .markdown import table
from .tables_interface import every

#: Operation → resource and method; a method without a resource belongs to the client itself.
METHODS: Mapping[str, tuple[str, str]] = {
    "listObservations": ("observations", "list"),
    "listLatestObservations": ("observations", "latest"),
    "listVintages": ("observations", "vintages"),
    "listChanges": ("observations", "changes"),
    "getProvenance": ("observations", "provenance"),
    "listIndicators": ("indicators", "list"),
    "getIndicator": ("indicators", "get"),
    "listIndicatorSeries": ("indicators", "series"),
    "listDerivedIndicators": ("derived", "list"),
    "getDerivedIndicator": ("derived", "get"),
    "listDerivedIndicatorEntities": ("derived", "entities"),
    "listDerivedObservations": ("derived", "observations"),
    "listCountries": ("countries", "list"),
    "getCountry": ("countries", "get"),
    "resolveEntity": ("entities", "resolve"),
    "listEntityAliases": ("entities", "aliases"),
    "listCompanies": ("companies", "list"),
    "getCompanyProfile": ("companies", "profile"),
    "getCompanyFinancials": ("companies", "financials"),
    "getRates": ("rates", "get"),
    "listRatesHistory": ("rates", "history"),
    "getCountryBrief": ("briefs", "get"),
    "listReleaseSummaries": ("releases", "list"),
    "screenEntities": ("screener", "screen"),
    "listScreenerFilters": ("screener", "fields"),
    "screenCompanies": ("equities", "screen"),
    "listEquityScreenerFilters": ("equities", "fields"),
    "listEvents": ("events", "list"),
    "listSources": ("sources", "list"),
    "listProviders": ("providers", "list"),
    "getCoverage": ("", "coverage"),
    "getOverview": ("", "overview"),
    "getDescription": ("", "description"),
}
ABOUT: Mapping[str, str] = {
    "observations": "Values of series, their published states, what changed, and where they come from.",
    "indicators": "The concepts of the catalogue, and the series behind them.",
    "derived": "Indicators that are computed by a formula, and their values.",
    "countries": "Countries and regions.",
    "entities": "Names of countries, regions and companies, and which one a name means.",
    "companies": "Companies with their scores, profiles and statements.",
    "rates": "Sovereign spreads and slopes.",
    "briefs": "Countries in words.",
    "releases": "What publications said, beside what was known before.",
    "screener": "Countries by their latest readings.",
    "equities": "Companies by their latest figures.",
    "events": "Official events: releases, decisions, filings.",
    "sources": "Feeds, with their licences.",
    "providers": "Publishers.",
}


class SurfaceError(Exception):
    """An operation has no method, a method no operation, or a resource no words. The message names them and the table."""


class Method(NamedTuple):
    """One method of the client and the endpoint it asks."""

    resource: str
    name: str
    endpoint: Endpoint

    @property
    def constant(self) -> str:
        """Name of the operation's constant in the client."""
        return camel_to_snake(self.endpoint.operation_id).upper()

    @property
    def record(self) -> str:
        """Name of the record, as the client calls it."""
        assert self.endpoint.record is not None
        return self.endpoint.record.__name__

    @property
    def braces(self) -> tuple[Param, ...]:
        return self.endpoint.braces

    @property
    def query(self) -> list[Param]:
        """Parameters in the order of a signature: the required ones first, then as declared."""
        params = list(self.endpoint.by_name.values())
        return sorted(params, key=lambda param: not param.required)


def camel_to_snake(text: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in text)


def methods() -> list[Method]:
    """Every operation with its method, in the order above. Raises SurfaceError where a table lacks one, or has one too many."""
    by_operation = {one.operation_id: one for one in every()}
    named = {resource for resource, _ in METHODS.values()} - {""}
    faults = [
        f"{table} of tools/docs/client_surface.py {verb} {', '.join(sorted(names))}"
        for table, verb, names in (
            ("METHODS", "has no method of the client for", by_operation.keys() - METHODS.keys()),
            ("METHODS", "names no operation:", METHODS.keys() - by_operation.keys()),
            ("ABOUT", "has no sentence for", named - ABOUT.keys()),
            ("ABOUT", "names no resource:", ABOUT.keys() - named),
        )
        if names
    ]
    if faults:
        raise SurfaceError("; ".join(faults))
    return [Method(resource, name, by_operation[one]) for one, (resource, name) in METHODS.items()]


def resources(found: list[Method]) -> Iterator[tuple[str, list[Method]]]:
    """Resources with their methods, those of the client itself under the empty name."""
    for resource in dict.fromkeys(one.resource for one in found):
        yield resource, [one for one in found if one.resource == resource]


def choices(found: list[Method]) -> dict[tuple[str, tuple[str, ...]], str]:
    """Words that a parameter takes → the name of their type: of the parameter, and where two differ of the resource too."""
    named: dict[tuple[str, tuple[str, ...]], str] = {}
    for method in found:
        for param in method.query:
            words = tuple(param.names)
            if not words or is_boolean(param) or (param.name, words) in named:
                continue
            name = _camel(param.name)
            if name in named.values():
                name = _camel(f"{method.resource}_{method.name}") + name
            named[param.name, words] = name
    return {key: f"{name}Choice" for key, name in named.items()}


def is_boolean(param: Param) -> bool:
    return set(param.names) == {"true", "false"}


def _camel(snake: str) -> str:
    return "".join(word.title() for word in snake.split("_"))


def table_of_methods() -> str:
    """A line for each resource, for the page on the client."""
    rows = []
    for resource, own in resources(methods()):
        names = [f"`{one.name}` ({one.endpoint.path})" for one in own]
        rows.append((f"`.{resource}`" if resource else "the client itself", ", ".join(names)))
    return table(("Resource", "Methods"), rows)


TABLES = {"client-methods": table_of_methods}
