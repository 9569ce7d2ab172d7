"""What applies to companies of one kind: which tags their items are read from, in which order, and what those must be."""

from __future__ import annotations

import functools
import math
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from almanac.catalog import companies as catalogue
from almanac.catalog.companies import Expression, Item
from almanac.derived.companies.facts import Signs

#: What quarters of earnings and average shares are computed from, beside their tags.
BESIDE = {
    "earnings_per_share_basic": ("net_income_to_common", "weighted_average_shares_basic"),
    "earnings_per_share_diluted": ("net_income_to_common", "weighted_average_shares_diluted"),
    "weighted_average_shares_diluted": ("net_income_to_common", "weighted_average_shares_basic"),
}
#: The balance that is no line of the sheet: what a cash-flow statement begins and ends with is of its own basis.
_OF_THE_CASH_FLOW = {"cash_of_cash_flow_statement", "cash_with_restricted_cash", "cash_of_disposal_group"}
#: Items that are a gain or a loss together.
_INCOMES = (
    "net_income",
    "net_income_to_common",
    "income_before_tax",
    "earnings_per_share_basic",
    "earnings_per_share_diluted",
)
NET_INCOME, SHARES_OUTSTANDING = "net_income", "shares_outstanding"
#: Days after a period's end within which the cover of its report counts shares.
COVER_DAYS = 130
#: A tag this many times another of an item is the total that the other one is a slice of, whatever their order.
DWARFS = 1.5


class TagCriteria(NamedTuple):
    """Demands of an item on the periods of its tags."""

    #: Whether parts are differences of longer periods.
    additive: bool
    never_negative: bool = False
    #: Tags of which one may hold the total, and how many times the value is then a slice of it.
    rivals: tuple[str, ...] = ()
    dominance: float = math.inf
    #: Of amounts per share and averages of shares: tags of the basic average.
    shares: tuple[str, ...] = ()
    #: Whether a balance must be of the same sheet as others.
    whole: bool = False


class Candidate(NamedTuple):
    """Sum of tags that an item may be."""

    terms: Expression
    #: Whether it is the style's own, and so sure that no other tag dwarfs it.
    own: bool
    #: Whether it is mostly another line, so that it counts only where arithmetic says so.
    proven: bool


class ItemRule(NamedTuple):
    """Reading of one item in one style."""

    #: In order; those that need proof come last.
    candidates: tuple[Candidate, ...]
    criteria: TagCriteria
    #: Tags of the items that prove this one, where a candidate is made of them.
    made_of_proof: frozenset[str]


class TagMapping(NamedTuple):
    """Rules for companies of one template, worked out once."""

    #: Items in an order in which each comes after all that it needs, and the place of each.
    order: tuple[Item, ...]
    places: Mapping[str, int]
    #: Item → keys of the items computed from it, or chosen by it.
    dependents: Mapping[str, frozenset[str]]
    #: Tags that show that a period was reported.
    core: frozenset[str]
    #: Tags that show that a balance sheet was.
    whole_sheet: frozenset[str]
    #: Which tags must have a sign.
    signs: Signs
    #: How items are read where nothing tells the style.
    rules: Mapping[str, ItemRule]
    #: Style → the items that may be read otherwise in it.
    of_style: Mapping[str, Mapping[str, ItemRule]]
    #: Tag that is a sign of a style → the style.
    signs_of_style: Mapping[str, str]
    #: The style of a period without any sign.
    style: str


@functools.lru_cache(maxsize=8)
def mapping_for(template: str) -> TagMapping:
    """Return the mapping for a template, by the items and styles of the catalogue."""
    items = {key: item.signed(template) for key, item in catalogue.items().items()}
    styles = catalogue.styles()
    order = _ordered(items)
    places = {item.key: place for place, item in enumerate(order)}
    dependents: dict[str, set[str]] = {item.key: set() for item in order}
    for item in order:
        proving = {term.name for sum_ in (*item.proofs, *item.at_least) for term in sum_}
        if item.notes:
            proving.add(NET_INCOME)  # how finely income is stated tells notes from statements
        # What comes before is looked at as it was read, what comes after by all that it may be read from.
        for needed in {*needs(item), *(key for key in proving if places[key] < places[item.key])}:
            dependents[needed].add(item.key)

    def tags(*keys: str) -> frozenset[str]:
        return frozenset(tag for key in keys for tag in items[key].tags())

    style = next((key for key, style in styles.items() if template in style.templates), next(iter(styles)))
    # What revenue can be added up from is no revenue.
    costs = tags("gross_profit", "cost_of_revenue")
    core = tags("revenue", "net_income", "net_cash_flow_from_operations", "income_before_tax") - costs
    return TagMapping(
        order,
        places,
        {key: frozenset(keys) for key, keys in dependents.items()},
        core,
        tags("total_assets", "liabilities_and_equity"),
        _signs(items),
        {item.key: _rule(item, items, style) for item in order},
        {key: {item.key: _rule(item, items, key) for item in order if item.for_style} for key in styles},
        {f"us-gaap:{tag}": style.key for style in styles.values() for tag in style.signs},
        style,
    )


def limited_to(mapping: TagMapping, filed: Container[str]) -> TagMapping:
    """Leave out the candidates and signs that a filer never has: what is no tag of any filing is not looked for at each period."""
    return mapping._replace(
        rules=_of_filed(mapping.rules, filed),
        of_style={style: _of_filed(rules, filed) for style, rules in mapping.of_style.items()},
        signs_of_style={tag: style for tag, style in mapping.signs_of_style.items() if tag in filed},
    )


def _of_filed(rules: Mapping[str, ItemRule], filed: Container[str]) -> dict[str, ItemRule]:
    def is_filed(candidate: Candidate) -> bool:
        filed_terms = [term.name in filed for term in candidate.terms]
        return any(filed_terms) and all(
            term.optional or there for term, there in zip(candidate.terms, filed_terms, strict=True)
        )

    return {key: rule._replace(candidates=tuple(filter(is_filed, rule.candidates))) for key, rule in rules.items()}


def _ordered(items: Mapping[str, Item]) -> tuple[Item, ...]:
    order: dict[str, Item] = {}

    def visit(key: str) -> None:
        if key not in order:
            for needed in needs(items[key]):
                visit(needed)
            order[key] = items[key]

    for key in items:
        visit(key)
    return tuple(order.values())


def _rule(item: Item, items: Mapping[str, Item], style: str) -> ItemRule:
    made_of_proof = frozenset[str]()
    for proof in item.proofs:
        proving = frozenset(tag for term in proof for tag in items[term.name].tags())
        # A single tag is stated by itself, even where another line's sums name it.
        if any(len(candidate) > 1 and {term.name for term in candidate} <= proving for candidate in item.candidates):
            made_of_proof = proving
            break
    own = item.for_style.get(style, ())
    return ItemRule(
        (
            *(Candidate(terms, place < len(own), False) for place, terms in enumerate(item.candidates_for(style))),
            *(Candidate(terms, False, True) for terms in item.proven),
        ),
        TagCriteria(
            item.additive,
            item.never_negative,
            _alone(item, style),
            DWARFS if (item.largest or item.undisputed) and style not in item.for_style else math.inf,
            _alone(items["weighted_average_shares_basic"]) if item.kind in {"per_share", "average"} else (),
            item.is_instant and item.key not in _OF_THE_CASH_FLOW,
        ),
        made_of_proof,
    )


def _alone(item: Item, style: str = "") -> tuple[str, ...]:
    """Tags of an item that can be its value without another, in order."""
    tags = [
        candidate[0].name
        for candidate in item.candidates_for(style)
        if all(term.optional for term in candidate[1:]) and candidate[0].sign > 0
    ]
    return tuple(dict.fromkeys(tags))


def _signs(items: Mapping[str, Item]) -> Signs:
    every = {key: _alone(item) for key, item in items.items()}
    return Signs(
        frozenset(tag for key, item in items.items() if item.never_negative for tag in every[key]),
        tuple(dict.fromkeys(tag for key in _INCOMES for tag in every[key])),
        frozenset(every["income_tax"]),
        every["income_before_tax"],
        # With minority interests first: that is what the tax leads to.
        tuple(sorted(every[NET_INCOME], key=lambda tag: not tag.endswith("ProfitLoss"))),
    )


def needs(item: Item) -> Iterable[str]:
    """Keys of the items an item is computed from."""
    yield from BESIDE.get(item.key, ())
    for formula in item.formulas:
        yield from (term.name for term in formula)
