"""
The measures computed from companies' statements: twelve months of each flow, ratios and scores.

Ratios and scores are data/companies/measures.toml, twelve-month figures follow from the items.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

import msgspec

from almanac.catalog import checks, companies, tables
from almanac.catalog.sectors import TEMPLATES, Template
from almanac.domain.reference import Indicator

#: Behind an item's key: twelve months of it.
TTM = "_ttm"


class Measure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One figure computed from statements. `inputs` are slugs of items and of twelve-month figures."""

    key: str
    kind: Literal["ttm", "ratio", "score"]
    name: str
    description: str
    formula: str
    inputs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    #: Kinds of company that it says nothing about.
    except_: frozenset[Template] = msgspec.field(default=frozenset(), name="except")
    aliases: tuple[str, ...] = ()
    #: Of a twelve-month figure money, shares or per_share (of the filer's currency), as the item has it.
    of_item: str | None = None

    @property
    def unit(self) -> str | None:
        """Return the unit; None: a score."""
        return "ratio" if self.kind == "ratio" else self.of_item

    @functools.cached_property
    def templates(self) -> frozenset[str]:
        """Return the kinds of company that it applies to."""
        return frozenset(TEMPLATES) - self.except_

    @property
    def item(self) -> str:
        """Return of a twelve-month figure the item it is of."""
        return self.key.removesuffix(TTM)


class _Measures(msgspec.Struct, frozen=True):
    measure: tuple[Measure, ...]


@functools.cache
def measures() -> Mapping[str, Measure]:
    """Return all measures by slug: twelve-month figures in the order of the items, then ratios and scores. Raise CatalogError."""
    items = companies.items()
    sums = [_twelve_months(item) for item in items.values() if item.served and not item.is_instant]
    file, check = "companies/measures.toml", lambda table: checks.measures(table.measure, sums, items)
    return {measure.key: measure for measure in (*sums, *tables.read(file, _Measures, check).measure)}


@functools.cache
def of_kind(kind: str) -> tuple[Measure, ...]:
    """Return the measures of kind ttm, ratio or score, in their order."""
    return tuple(measure for measure in measures().values() if measure.kind == kind)


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
        of_item=item.unit,
        name=f"{item.name}, twelve months",
        description=f"{item.description} {description}",
        formula=formula,
        inputs=(item.key,),
        except_=frozenset(get_args(Template)) - item.templates,
    )


@functools.cache
def indicators() -> tuple[Indicator, ...]:
    """Return the catalogue records of all measures. Money and amounts per share have no unit of their own: it is the series'."""
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
