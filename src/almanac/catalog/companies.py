"""
The lines of company statements: which tags of the filings are each line whole, which are a part of it, and what it must
agree with; and the styles in which companies report.

They are data/companies/items.toml and styles.toml.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import msgspec

from almanac.catalog import checks, tables
from almanac.catalog.sectors import Template
from almanac.domain.companies import raw_slug
from almanac.domain.reference import Indicator


class Term(NamedTuple):
    """One operand of a candidate (`name`: a tag) or of a formula (`name`: an item)."""

    sign: int
    name: str
    optional: bool


class Expression(tuple[Term, ...]):
    """A sum; one term that is not optional: the value itself."""

    __slots__ = ()
    #: Of names that are written without one.
    taxonomy: ClassVar[str] = ""


class Style(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A way to report. A period has the style of which it has most `signs`, its tags; of none the one of its industry."""

    key: str
    description: str
    signs: tuple[str, ...] = ()
    #: Kinds of company, by industry code, that are taken to report so where no tags tell.
    templates: tuple[Template, ...] = ()


_OPERAND = re.compile(r"(?P<sign>[+-]?)\s*(?P<name>(?:[a-z-]+:)?[A-Za-z_][A-Za-z0-9_]*)(?P<optional>\??)\s*")


def expression(text: str, taxonomy: str = "") -> Expression:
    """
    Parse `A - B?`; names without a taxonomy get the one given. Raise ValueError quoting what cannot be read.

    >>> expression("LongTermDebt - LongTermDebtCurrent?", "us-gaap")[1]
    Term(sign=-1, name='us-gaap:LongTermDebtCurrent', optional=True)
    """
    terms: list[Term] = []
    place, written = 0, text.strip()
    while place < len(written) or not terms:
        match = _OPERAND.match(written, place)
        if match is None or bool(match["sign"]) != bool(terms):
            raise ValueError(f"{text!r} is no sum of names such as 'A + B - C?'")
        name = match["name"] if not taxonomy or ":" in match["name"] else f"{taxonomy}:{match['name']}"
        terms.append(Term(-1 if match["sign"] == "-" else 1, name, bool(match["optional"])))
        place = match.end()
    return Expression(terms)


class _UsGaap(Expression):
    """A sum of tags, those without a taxonomy of us-gaap."""

    taxonomy = "us-gaap"


class _Ifrs(Expression):
    taxonomy = "ifrs-full"


class _Dei(Expression):
    taxonomy = "dei"


#: What each kind of item is counted in.
_UNITS: dict[str, Literal["money", "shares", "per_share"]] = {
    "flow": "money", "instant": "money", "average": "shares", "cover": "shares", "per_share": "per_share",
}  # fmt: skip


class Item(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One line of a statement, as items.toml explains its fields."""

    key: str
    statement: Literal["income", "balance", "cash_flow"]
    kind: Literal["flow", "average", "per_share", "instant", "cover"]
    name: str
    description: str
    additive: bool = False
    served: bool = True
    dei: tuple[_Dei, ...] = ()
    us_gaap: tuple[_UsGaap, ...] = ()
    ifrs: tuple[_Ifrs, ...] = ()
    proven: tuple[_UsGaap, ...] = ()
    formulas: tuple[Expression, ...] = ()
    templates: frozenset[Template] = frozenset(get_args(Template))
    #: Candidates that are tried before all others, by style.
    for_style: dict[str, tuple[_UsGaap, ...]] = {}
    slices: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
    #: Slices that name a line of business.
    lines: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    largest: bool = False
    undisputed: bool = False
    #: Sums of items that this one is not less than.
    at_least: tuple[Expression, ...] = ()
    proofs: tuple[Expression, ...] = ()
    agrees: bool = False
    positive: bool = False
    expected: bool = False
    #: A value below zero is an error of a filing, or of a difference, but for some kinds of company.
    never_negative: bool = False
    signed_for: frozenset[Template] = frozenset()

    def __post_init__(self) -> None:
        for field in ("slices", "parts", "lines", "notes"):
            names = getattr(self, field)
            msgspec.structs.force_setattr(self, field, type(names)(_tagged(name) for name in names))
        msgspec.structs.force_setattr(self, "additive", self.additive or self.kind == "flow")

    @property
    def unit(self) -> Literal["money", "shares", "per_share"]:
        """Return in what it is counted."""
        return _UNITS[self.kind]

    @property
    def is_instant(self) -> bool:
        """Tell whether the item has one day, not a span."""
        return self.kind in {"instant", "cover"}

    def signed(self, template: str) -> Item:
        """Return the item as it is for a kind of company: it may be below zero for some."""
        return msgspec.structs.replace(self, never_negative=False) if template in self.signed_for else self

    @functools.cached_property
    def candidates(self) -> tuple[Expression, ...]:
        """Return the candidates for every company, in order."""
        return (*self.dei, *self.us_gaap, *self.ifrs)

    def candidates_for(self, style: str) -> tuple[Expression, ...]:
        """Return the candidates in order for a period reported in that style."""
        return (*self.for_style.get(style, ()), *self.candidates)

    def tags(self) -> frozenset[str]:
        """Return all tags that any candidate names, with their taxonomy."""
        every = (self.candidates, self.proven, *self.for_style.values())
        return frozenset(term.name for group in every for expression in group for term in expression)


def _tagged(name: str) -> str:
    return name if ":" in name else f"us-gaap:{name}"


def _sum(kind: Any, text: Any) -> Any:
    """Decode a sum of tags or items from its text."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no text")
    return kind(expression(text, kind.taxonomy))


class _Items(msgspec.Struct, frozen=True):
    item: tuple[Item, ...]


class _Styles(msgspec.Struct, frozen=True):
    style: tuple[Style, ...]


@functools.cache
def items() -> Mapping[str, Item]:
    """Return all items by key, in the order of the statements. Raise CatalogError with one line per problem."""
    table = tables.read("companies/items.toml", _Items, lambda table: checks.items(table.item, styles()), _sum)
    return {item.key: item for item in table.item}


@functools.cache
def styles() -> Mapping[str, Style]:
    """Return all styles by key; the first is that of a period that nothing tells of. Raise CatalogError."""
    return {style.key: style for style in tables.read("companies/styles.toml", _Styles).style}


#: Told by the reader, not by a filer: that a later report gives the balance sheet of a day anew.
SHEET_ANEW = "pre:BalanceSheet"


@functools.cache
def wanted_tags() -> frozenset[str]:
    """Return every tag that some item may be read from or is told by, with its taxonomy: `us-gaap:NetIncomeLoss`."""
    return frozenset(
        [SHEET_ANEW]
        + [tag for item in items().values() for tag in (*item.tags(), *item.parts)]
        + [_tagged(tag) for style in styles().values() for tag in style.signs]
    )


def served() -> list[Item]:
    """Return the items that are on statements, in their order."""
    return [item for item in items().values() if item.served]


# -- catalogue records ------------------------------------------------------------------------------------------------


@functools.cache
def indicators() -> tuple[Indicator, ...]:
    """
    Return catalogue records: one per served item (derived), one per wanted tag (raw, not for screeners).

    Money and amounts per share have no unit of their own: it is that of the series, by the filer's currency.
    """
    return (*map(_of_item, served()), *map(_of_tag, sorted(wanted_tags())))


def _of_item(item: Item) -> Indicator:
    texts = list(dict.fromkeys(map(_written, (*item.candidates, *item.formulas))))
    return Indicator(
        slug=item.key,
        name=item.name,
        description=item.description,
        category="fundamentals",
        kind="derived",
        unit="shares" if item.unit == "shares" else None,
        # For people: the candidates in order, then the formulas.
        formula="first of: " + "; ".join(texts) if len(texts) > 1 else texts[0],
        inputs=tuple(dict.fromkeys(raw_slug(tag) for tag in _inputs(item, set()))),
        # A flow is screened by its sum over twelve months: quarters of a seasonal trade, and years, do not compare.
        screenable=item.is_instant,
    )


def _inputs(item: Item, seen: set[str]) -> Iterable[str]:
    """Yield the tags of an item and of the items its formulas name, in the order they are tried."""
    seen.add(item.key)
    for group in (item.candidates, *item.for_style.values()):
        for candidate in group:
            yield from (term.name for term in candidate)
    for formula in item.formulas:
        for term in formula:
            if term.name not in seen:
                yield from _inputs(items()[term.name], seen)


def _written(terms: Expression) -> str:
    parts = [
        f"{'−' if term.sign < 0 else '+'} {term.name.rpartition(':')[2]}{' (if there)' if term.optional else ''}"
        for term in terms
    ]
    return " ".join(parts).removeprefix("+ ")


_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


_PRESENTED = {
    "pre:TotalRevenue": "The line that a company's own statement presents as total revenue, in a tag of its own.",
    SHEET_ANEW: "That a later report gives the balance sheet of this day anew, with other numbers: the day it was filed.",
}


def _of_tag(tag: str) -> Indicator:
    presented = tag.startswith("pre:")
    name = tag.partition(":")[2]
    words = " ".join(_WORD.findall(name))
    kinds = {item.unit for item in items().values() if tag in item.tags()}
    return Indicator(
        slug=raw_slug(tag),
        name=words[:1].upper() + words[1:].lower(),
        description=_PRESENTED[tag] if presented else f"The fact {tag} as companies file it, whatever they mean by it.",
        category="fundamentals",
        kind="raw",
        unit="shares" if kinds == {"shares"} else None,
        screenable=False,
    )
