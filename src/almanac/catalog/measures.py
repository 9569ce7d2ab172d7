"""
What is computed from the statements of companies: twelve months of each flow, ratios, scores.

Ratios and scores are read from companies/measures.toml, twelve-month figures follow from the items. Checked whole;
every contradiction is one line of a CatalogError.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import msgspec

from almanac.catalog import companies
from almanac.catalog.records import CatalogError
from almanac.domain.reference import Indicator

#: Behind an item's key: twelve months of it.
TTM = "_ttm"
#: Unit of a kind of measure that has no money in it. A score has none.
_UNITS = {"ratio": "ratio", "score": None}


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """
    One figure computed from statements.

    `kind` ttm, ratio or score. `unit` money, shares, per_share (of the filer's currency), ratio; None: a score. `inputs`
    are slugs of items and of other measures; `templates` the kinds of company it applies to.
    """

    key: str
    kind: str
    unit: str | None
    name: str
    description: str
    formula: str
    inputs: tuple[str, ...]
    templates: frozenset[str]
    aliases: tuple[str, ...] = ()

    @property
    def item(self) -> str:
        """Of a twelve-month figure the item it is of."""
        return self.key.removesuffix(TTM)


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One [[measure]] as it is written."""

    key: str
    kind: str
    name: str
    description: str
    formula: str
    inputs: tuple[str, ...]
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
    aliases: tuple[str, ...] = ()


@functools.cache
def measures() -> Mapping[str, Measure]:
    """All measures by slug: twelve-month figures in the order of the items, then ratios and scores. Raises CatalogError."""
    text = files("almanac.catalog").joinpath("data", "companies", "measures.toml").read_text("utf-8")
    return read(tomllib.loads(text), companies.items())


@functools.cache
def of_kind(kind: str) -> tuple[Measure, ...]:
    """Measures of kind ttm, ratio or score, in their order."""
    return tuple(measure for measure in measures().values() if measure.kind == kind)


def read(part: Mapping[str, Any], items: Mapping[str, companies.Item]) -> Mapping[str, Measure]:
    """The measures of a parsed file over these items. Raises CatalogError with one line per problem."""
    problems = [f"unknown table [[{table}]]" for table in part if table != "measure"]
    found = {item.key + TTM: _twelve_months(item) for item in items.values() if item.served and not item.is_instant}
    for raw in part.get("measure", ()):
        try:
            line = msgspec.convert(raw, _Line)
        except msgspec.ValidationError as error:
            problems.append(f"measure {raw.get('key')}: {error}")
            continue
        if line.key in found or line.key in items:
            problems.append(f"measure {line.key} is there twice")
        if line.kind not in _UNITS:
            problems.append(f"measure {line.key}: kind must be one of {', '.join(_UNITS)}, not {line.kind}")
            continue
        for name in sorted(set(line.except_) - set(companies.TEMPLATES)):
            problems.append(f"measure {line.key}: unknown template {name}")
        found[line.key] = Measure(
            key=line.key,
            kind=line.kind,
            unit=_UNITS[line.kind],
            name=line.name,
            description=line.description,
            formula=line.formula,
            inputs=line.inputs,
            templates=frozenset(companies.TEMPLATES) - set(line.except_),
            aliases=line.aliases,
        )
    problems += _check(found, items)
    if problems:
        raise CatalogError("\n".join(problems))
    return found


def _check(found: Mapping[str, Measure], items: Mapping[str, companies.Item]) -> Iterator[str]:
    balances = {item.key for item in items.values() if item.served and item.is_instant}
    for measure in found.values():
        if not measure.inputs:
            yield f"measure {measure.key}: no inputs"
        if not measure.templates:
            yield f"measure {measure.key}: no kind of company has it"
        if measure.kind == "ttm":
            continue
        for name in measure.inputs:
            if name not in balances and (name not in found or found[name].kind != "ttm"):
                yield f"measure {measure.key}: unknown input {name}"


_HOW = {
    "flow": (
        "Twelve months ending with the period: at the end of a fiscal year the year; else the last year and the year to date less the year to date a year before, each as the newest report gives it; else four quarters. Where both are there and differ by more than rounding, the first is taken, with a warning. Of companies that report half-years two halves for four quarters, of those that report years only the year.",
        "fiscal year + year to date − year to date a year before; the fiscal year at its end; else the sum of four contiguous quarters",
    ),
    "average": (
        "Mean over the twelve months ending with the period. No value where a split divides them and the older figures do not reflect it yet.",
        "mean of four contiguous quarters; the fiscal year's at its end",
    ),
    "per_share": (
        "Over the twelve months ending with the period: the sum of four quarters' figures, at the end of a fiscal year the year's own. No value where a split divides them and the older figures do not reflect it yet.",
        "sum of four contiguous quarters; the fiscal year's at its end",
    ),
}


def _twelve_months(item: companies.Item) -> Measure:
    description, formula = _HOW[item.kind]
    return Measure(
        key=item.key + TTM,
        kind="ttm",
        unit=item.unit,
        name=f"{item.name}, twelve months",
        description=f"{item.description} {description}",
        formula=formula,
        inputs=(item.key,),
        templates=item.templates,
    )


@functools.cache
def indicators() -> tuple[Indicator, ...]:
    """Catalogue records of all measures. Money and amounts per share have no unit of their own: it is the series'."""
    return tuple(
        Indicator(
            slug=measure.key,
            name=measure.name,
            description=measure.description,
            category="fundamentals",
            kind="derived",
            unit=None if measure.unit in {"money", "per_share"} else measure.unit,
            formula=measure.formula,
            inputs=measure.inputs,
            aliases=measure.aliases,
        )
        for measure in measures().values()
    )
