"""What applies to companies of one kind: which tags their items are read from, in which order, and what those must be."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from almanac.catalog.companies import Expression, Item, Style
from almanac.derived.companies.facts import Signs
from almanac.derived.companies.reading.quarters import TagCriteria

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


class Reading(NamedTuple):
    """How items are read in one style."""

    candidates: Mapping[str, tuple[Expression, ...]]
    #: How many of an item's candidates count without proof: the others come last.
    sure: Mapping[str, int]
    #: Item → what it asks of its tags.
    criteria: Mapping[str, TagCriteria]
    #: How many of an item's candidates are the style's own, and so sure that no other tag dwarfs them.
    own: Mapping[str, int]


class TagMapping(NamedTuple):
    """What applies to companies of one template, worked out once."""

    #: Items in an order in which each comes after all that it needs.
    order: tuple[Item, ...]
    #: Item → keys of the items computed from it, or chosen by it.
    dependents: Mapping[str, frozenset[str]]
    #: Tags that show that a period was reported.
    core: frozenset[str]
    #: Tags that show that a balance sheet was.
    whole_sheet: frozenset[str]
    #: Which tags must have a sign.
    signs: Signs
    #: Style → how items are read in it.
    styles: Mapping[str, Reading]
    #: Tag that is a sign of a style → the style.
    signs_of_style: Mapping[str, str]
    #: The style of a period without any sign.
    style: str
    #: Items whose candidates are weighed against each other: the first with a value is not always it.
    weighed: frozenset[str]
    #: Item → tags of the items that prove it, where a candidate is made of them.
    made_of_proof: Mapping[str, frozenset[str]]
    #: Item → place in the order.
    places: Mapping[str, int]
    #: Items that are computed from others: not all lines mean something for every kind of company.
    computed: frozenset[str]

    @property
    def reading(self) -> Reading:
        """How items are read where nothing tells the style."""
        return self.styles[self.style]


def mapping_for(items: Mapping[str, Item], template: str, styles: Mapping[str, Style]) -> TagMapping:
    """Return the mapping for a template. `items` and `styles` are those of the catalogue."""
    items = {key: item.signed(template) for key, item in items.items()}
    order = _ordered(items)
    places = {item.key: place for place, item in enumerate(order)}
    dependents: dict[str, set[str]] = {item.key: set() for item in order}
    for item in order:
        proving = {term.name for sum_ in (*item.proofs, *item.at_least) for term in sum_}
        if item.notes and NET_INCOME in items:
            proving.add(NET_INCOME)  # how finely income is stated tells notes from statements
        # What comes before is looked at as it was read, what comes after by all that it may be read from.
        for needed in {*needs(item), *(key for key in proving if places[key] < places[item.key])}:
            dependents[needed].add(item.key)
    signs_of_style = {f"us-gaap:{tag}": style.key for style in styles.values() for tag in style.signs}
    # What revenue can be added up from is no revenue.
    parts = {tag for key in ("gross_profit", "cost_of_revenue") if key in items for tag in items[key].tags()}
    core = frozenset(
        tag
        for key in ("revenue", "net_income", "net_cash_flow_from_operations", "income_before_tax")
        if key in items
        for tag in items[key].tags() - parts
    )
    return TagMapping(
        order,
        {key: frozenset(keys) for key, keys in dependents.items()},
        core,
        frozenset(
            tag for key in ("total_assets", "liabilities_and_equity") if key in items for tag in items[key].tags()
        ),
        _signs(items),
        {key: _reading(order, items, key) for key in styles},
        signs_of_style,
        next((key for key, style in styles.items() if template in style.templates), next(iter(styles))),
        frozenset(
            item.key for item in order if item.proofs or item.parts or item.largest or item.undisputed or item.slices
        ),
        {item.key: _made_of_proof(item, items) for item in order},
        places,
        frozenset(item.key for item in order if template in item.templates),
    )


def _made_of_proof(item: Item, items: Mapping[str, Item]) -> frozenset[str]:
    for proof in item.proofs:
        tags = frozenset(tag for term in proof for tag in items[term.name].tags())
        # A single tag is stated by itself, even where another line's sums name it.
        if any(len(candidate) > 1 and {term.name for term in candidate} <= tags for candidate in item.candidates):
            return tags
    return frozenset()


def limited_to(mapping: TagMapping, filed: Container[str]) -> TagMapping:
    """Leave out the candidates and signs that a filer never has: what is no tag of any filing is not looked for at each period."""
    signs = {tag: style for tag, style in mapping.signs_of_style.items() if tag in filed}
    styles = {style: _of_filed(reading, filed) for style, reading in mapping.styles.items()}
    return mapping._replace(styles=styles, signs_of_style=signs)


def _of_filed(reading: Reading, filed: Container[str]) -> Reading:
    kept = {
        key: [
            place
            for place, candidate in enumerate(candidates)
            if any(term.name in filed for term in candidate)
            and all(term.optional or term.name in filed for term in candidate)
        ]
        for key, candidates in reading.candidates.items()
    }
    return reading._replace(
        candidates={key: tuple(reading.candidates[key][place] for place in places) for key, places in kept.items()},
        sure={key: sum(place < reading.sure[key] for place in places) for key, places in kept.items()},
        own={key: sum(place < reading.own[key] for place in places) for key, places in kept.items()},
    )


def _ordered(items: Mapping[str, Item]) -> tuple[Item, ...]:
    order: list[Item] = []
    done: set[str] = set()

    def visit(key: str) -> None:
        if key in done:
            return
        done.add(key)
        for needed in needs(items[key]):
            visit(needed)
        order.append(items[key])

    for key in items:
        visit(key)
    return tuple(order)


def _reading(order: Iterable[Item], items: Mapping[str, Item], style: str) -> Reading:
    return Reading(
        {item.key: (*item.candidates_for(style), *item.proven) for item in order},
        {item.key: len(item.candidates_for(style)) for item in order},
        {item.key: _criteria(item, items, style) for item in order},
        {item.key: len(item.for_style.get(style, ())) for item in order},
    )


def _alone(item: Item, style: str = "") -> tuple[str, ...]:
    """Tags of an item that can be its value without another, in order."""
    found = [
        candidate[0].name
        for candidate in item.candidates_for(style)
        if all(term.optional for term in candidate[1:]) and candidate[0].sign > 0
    ]
    return tuple(dict.fromkeys(found))


def _criteria(item: Item, items: Mapping[str, Item], style: str) -> TagCriteria:
    shares = items.get("weighted_average_shares_basic") if item.kind in {"per_share", "average"} else None
    return TagCriteria(
        item.additive,
        item.never_negative,
        _alone(item, style),
        DWARFS if (item.largest or item.undisputed) and style not in item.for_style else math.inf,
        () if shares is None else _alone(shares),
        item.is_instant and item.key not in _OF_THE_CASH_FLOW,
    )


def _signs(items: Mapping[str, Item]) -> Signs:
    every = {key: _alone(item) for key, item in items.items()}
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
