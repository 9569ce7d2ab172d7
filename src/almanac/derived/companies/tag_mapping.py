"""What applies to companies of one kind: which tags their items are read from, in which order, and what those must be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from almanac.catalog.companies import Expression, Item
from almanac.derived.companies.facts import Signs
from almanac.derived.companies.quarters import Sought

#: What quarters of earnings and average shares are computed from, beside their tags.
BESIDE = {
    "earnings_per_share_basic": ("net_income_to_common", "weighted_average_shares_basic"),
    "earnings_per_share_diluted": ("net_income_to_common", "weighted_average_shares_diluted"),
    "weighted_average_shares_diluted": ("net_income_to_common", "weighted_average_shares_basic"),
}
#: The balance that is no line of the sheet: what a cash-flow statement begins and ends with is of its own basis.
_OF_THE_CASH_FLOW = "cash_of_cash_flow_statement"
#: Items that are a gain or a loss together.
_INCOMES = (
    "net_income",
    "net_income_to_common",
    "income_before_tax",
    "earnings_per_share_basic",
    "earnings_per_share_diluted",
)


class TagMapping(NamedTuple):
    """What applies to companies of one template, worked out once."""

    #: Items in an order in which each comes after all that it needs.
    order: tuple[Item, ...]
    candidates: Mapping[str, tuple[Expression, ...]]
    #: Tag → keys of the items read from it.
    direct: Mapping[str, frozenset[str]]
    #: Item → keys of the items computed from it.
    dependents: Mapping[str, frozenset[str]]
    #: Tags that show that a period was reported.
    core: frozenset[str]
    #: Items with candidates of the template's own: their order is sure, so no other tag dominates them.
    settled: frozenset[str]
    #: Which tags must have a sign.
    signs: Signs
    #: Item → what it asks of its tags.
    sought: Mapping[str, Sought]


def mapping_for(items: Mapping[str, Item], template: str) -> TagMapping:
    """The mapping for a template. `items` are those of the catalogue."""
    mine = {key: item for key, item in items.items() if template in item.templates}
    order: list[Item] = []
    done: set[str] = set()

    def visit(key: str) -> None:
        if key in done or key not in mine:
            return
        done.add(key)
        for needed in needs(mine[key]):
            visit(needed)
        order.append(mine[key])

    for key in mine:
        visit(key)
    direct: dict[str, set[str]] = {}
    dependents: dict[str, set[str]] = {item.key: set() for item in order}
    for item in order:
        for candidate in item.candidates_for(template):
            for term in candidate:
                direct.setdefault(term.name, set()).add(item.key)
        for proving in item.proof:
            for tag in mine[proving.name].tags() if proving.name in mine else ():
                direct.setdefault(tag, set()).add(item.key)
        for needed in needs(item):
            if needed in dependents:
                dependents[needed].add(item.key)
    signs = _signs(mine, template)
    for tags, concerned in ((signs.incomes, signs.incomes), (signs.before_tax + signs.after_tax, signs.taxes)):
        touched = {key for tag in concerned for key in direct.get(tag, ())}
        for tag in tags:
            direct[tag] |= touched
    # What revenue can be added up from is no revenue.
    parts = {tag for key in ("gross_profit", "cost_of_revenue") if key in mine for tag in mine[key].tags()}
    core = frozenset(
        tag
        for key in ("revenue", "net_income", "net_cash_flow_from_operations", "income_before_tax")
        if key in mine
        for tag in mine[key].tags() - parts
    )
    return TagMapping(
        tuple(order),
        {item.key: item.candidates_for(template) for item in order},
        {tag: frozenset(keys) for tag, keys in direct.items()},
        {key: frozenset(keys) for key, keys in dependents.items()},
        core,
        frozenset(item.key for item in order if template in item.for_template),
        signs,
        {item.key: _sought(item, mine, template) for item in order},
    )


def _alone(item: Item, template: str) -> tuple[str, ...]:
    """Tags of an item that can be its value without another, in order."""
    found = [
        candidate[0].name
        for candidate in item.candidates_for(template)
        if all(term.optional for term in candidate[1:]) and candidate[0].sign > 0
    ]
    return tuple(dict.fromkeys(found))


def _sought(item: Item, items: Mapping[str, Item], template: str) -> Sought:
    shares = items.get("weighted_average_shares_basic") if item.kind == "per_share" else None
    return Sought(
        item.additive,
        item.never_negative,
        _alone(item, template),
        math.inf if item.dominance is None else item.dominance,
        () if shares is None else _alone(shares, template),
        item.is_instant and item.key != _OF_THE_CASH_FLOW,
    )


def _signs(items: Mapping[str, Item], template: str) -> Signs:
    every = {key: _alone(item, template) for key, item in items.items()}
    positive = {tag for key, item in items.items() if item.never_negative for tag in every[key]}
    incomes = tuple(dict.fromkeys(tag for key in _INCOMES if key in every for tag in every[key]))
    after_tax = tuple(tag for tag in every.get("net_income", ()))
    return Signs(
        frozenset(positive),
        incomes,
        frozenset(every.get("income_tax", ())),
        every.get("income_before_tax", ()),
        # With minority interests first: that is what the tax leads to.
        tuple(sorted(after_tax, key=lambda tag: not tag.endswith("ProfitLoss"))),
    )


def needs(item: Item) -> Iterable[str]:
    """Keys of the items an item is computed from."""
    yield from BESIDE.get(item.key, ())
    for formula in item.formulas:
        yield from (term.name for term in formula)
