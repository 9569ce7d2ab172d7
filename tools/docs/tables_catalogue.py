"""Tables of the catalogue: providers, sources with their rights, indicators, formulas, units, operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import groupby

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.derived.macro.cross_sections import PEER_COMPARISONS
from almanac.derived.macro.operators import _OPERATORS
from almanac.domain.reference import Indicator, Source
from almanac.domain.rights import Exposure

from .markdown import code, table


@cache
def catalog() -> Catalog:
    return shipped()


def providers() -> str:
    rows = [(f"`{p.id}`", p.name, p.kind, p.homepage) for p in sorted(catalog().providers.values(), key=lambda p: p.id)]
    return table(("Id", "Name", "Kind", "Home page"), rows)


def publishers() -> str:
    """Whose feeds a connector reads, in one line."""
    read = {source.provider for source in catalog().sources.values() if source.connector and not source.simulated}
    return "; ".join(sorted(catalog().providers[name].name for name in read)) + "."


def sources() -> str:
    """Feeds that a connector reads, and what may be done with them."""
    blocks = []
    for source in sorted(catalog().sources.values(), key=lambda s: s.id):
        rights = source.rights
        facts = {
            "Provider": f"`{source.provider}`",
            "Connector": f"`{source.connector}`" if source.connector else "none: Almanac computes it",
            "Series mapped": str(len(catalog().series.get(source.id, {}))) if source.connector else "",
            "Frequencies": ", ".join(f.word for f in source.frequencies),
            "Publishes its vintages": "yes" if source.stores_vintages else "no",
            "Stated publication time": _declared(source),
            "Key needed": _key(source),
            "Licence": rights.license,
            "Attribution": rights.attribution,
            "Values are sent": _sent(source),
            "Derived values": "may be sent" if rights.derivatives_allowed else "as strict as the strictest input",
            "Commercial use": rights.commercial_use,
            "Changes": rights.modification_rule or "",
            "Terms": rights.terms_url or "",
        }
        rows = [(name, text) for name, text in facts.items() if text]
        blocks.append(f"### {source.id}\n\n{source.name}. {source.description}\n\n{table(('', ''), rows)}")
    return "\n\n".join(blocks)


def _key(source: Source) -> str:
    if source.key_setting is None:
        return "no"
    return f"`{source.key_setting}`" + (", optional" if source.key_optional else "")


def _declared(source: Source) -> str:
    return f"each business day, for that day ({source.release_url})" if source.declared_release else ""


def _sent(source: Source) -> str:
    rights = source.rights
    if rights.exposure is not Exposure.public:
        return f"no ({rights.exposure.name}): {rights.reason}"
    if rights.channel is not Exposure.public:
        return f"only with the operator's recorded consent ({rights.channel.name}): {rights.channel_reason}"
    return "yes"


def indicators() -> str:
    """Raw indicators by category, each with the sources that have series of it."""
    found = catalog()
    having: dict[str, dict[str, int]] = {}
    for source, by_native in found.series.items():
        for spec in by_native.values():
            counts = having.setdefault(spec.indicator, {})
            counts[source] = counts.get(source, 0) + 1
    raw = sorted((i for i in found.indicators.values() if i.kind == "raw"), key=lambda i: (i.category, i.slug))
    blocks = []
    for category, members in groupby(raw, key=lambda i: i.category):
        rows = [
            (
                f"`{i.slug}`",
                i.name,
                f"`{i.unit}`" if i.unit else "that of the series",
                ", ".join(f"`{source}` ({n})" for source, n in sorted(having.get(i.slug, {}).items())) or "none yet",
                i.description + _published_as(i),
            )
            for i in members
        ]
        blocks.append(f"### {category}\n\n" + table(("Slug", "Name", "Unit", "Sources (series)", "Meaning"), rows))
    return "\n\n".join(blocks)


def _published_as(indicator: Indicator) -> str:
    """Return the publishers' names of an indicator, each with its source."""
    if not indicator.published_as:
        return ""
    return " Published as " + ", ".join(f"“{one.name}” (`{one.source}`)" for one in indicator.published_as) + "."


def formulas() -> str:
    rows = [
        (
            f"`{f.slug}`",
            f.name,
            f.formula,
            code(f.inputs),
            f"`{f.operator}`",
            f"`{f.unit}`" if f.unit else "none",
            f.description,
        )
        for f in sorted(catalog().formulas.values(), key=lambda f: f.slug)
    ]
    return table(("Slug", "Name", "Formula", "Inputs", "Operator", "Unit", "Meaning"), rows)


def operators() -> str:
    """Return the table of operators. The words are the first sentence of each operator's docstring."""
    rows = [
        (f"`{name}`", " ".join((make.__doc__ or "").strip().split("\n\n")[0].split()))
        for name, make in sorted({**_OPERATORS, **PEER_COMPARISONS}.items())
    ]
    return table(("Operator", "Computes"), rows)


def units() -> str:
    rows = [(f"`{u.id}`", u.label, f"10^{u.scale}" if u.scale else "") for u in catalog().units.values()]
    return table(("Unit", "Label", "Power of ten it says"), rows)


TABLES: dict[str, Callable[..., str]] = {
    "providers": providers,
    "publishers": publishers,
    "sources": sources,
    "indicators": indicators,
    "formulas": formulas,
    "operators": operators,
    "units": units,
}
