"""
The lines of company statements: which tags of the filings are each line whole, which are a part of it, and what it must
agree with; and the styles in which companies report.

Read from companies/items.toml and styles.toml and checked whole; every contradiction is one line of a CatalogError.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.records import CatalogError
from almanac.domain.companies import raw_slug
from almanac.domain.reference import Indicator

STATEMENTS = ("income", "balance", "cash_flow")
KINDS = ("flow", "average", "per_share", "instant", "cover")
UNITS = ("money", "shares", "per_share")
TEMPLATES = ("industrial", "bank", "insurer", "reit", "fund")


class Term(NamedTuple):
    """One operand of a candidate (`name`: a tag) or of a formula (`name`: an item)."""

    sign: int
    name: str
    optional: bool


#: A sum; one term that is not optional: the value itself.
Expression = tuple[Term, ...]


class Style(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A way to report. A period has the style of which it has most `signs`, its tags; of none the one of its industry."""

    key: str
    description: str
    signs: tuple[str, ...] = ()
    #: Kinds of company, by industry code, that are taken to report so where no tags tell.
    templates: tuple[str, ...] = ()


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """
    One line of a statement. `candidates` are for every company, `for_style` are tried before them.

    `proven`, `slices`, `lines`, `parts`, `notes`, `largest`, `undisputed`, `at_least`, `proofs` and `agrees` tell the whole from its parts, as the file says.
    """

    key: str
    statement: str
    kind: str
    unit: str
    name: str
    description: str
    additive: bool
    served: bool
    templates: frozenset[str]
    candidates: tuple[Expression, ...]
    for_style: Mapping[str, tuple[Expression, ...]]
    proven: tuple[Expression, ...]
    formulas: tuple[Expression, ...]
    slices: frozenset[str]
    parts: tuple[str, ...]
    #: Slices that name a line of business.
    lines: frozenset[str]
    notes: tuple[str, ...]
    largest: bool
    undisputed: bool
    #: Sums of items that this one is not less than.
    at_least: tuple[Expression, ...]
    proofs: tuple[Expression, ...]
    agrees: bool
    positive: bool
    expected: bool
    #: A value below zero is an error of a filing, or of a difference.
    never_negative: bool = False

    @property
    def is_instant(self) -> bool:
        """Whether the item has one day, not a span."""
        return self.kind in {"instant", "cover"}

    def candidates_for(self, style: str) -> tuple[Expression, ...]:
        """Candidates in order for a period reported in that style."""
        return (*self.for_style.get(style, ()), *self.candidates)

    def tags(self) -> frozenset[str]:
        """All tags any candidate names, with their taxonomy."""
        every = (self.candidates, self.proven, *self.for_style.values())
        return frozenset(term.name for group in every for expression in group for term in expression)


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One [[item]] as it is written."""

    key: str
    statement: str
    kind: str
    unit: str
    name: str
    description: str
    additive: bool = False
    served: bool = True
    us_gaap: tuple[str, ...] = ()
    ifrs: tuple[str, ...] = ()
    dei: tuple[str, ...] = ()
    proven: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    templates: tuple[str, ...] = TEMPLATES
    for_style: dict[str, tuple[str, ...]] = {}
    slices: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    largest: bool = False
    undisputed: bool = False
    at_least: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    agrees: bool = False
    positive: bool = False
    expected: bool = False
    never_negative: bool = False


_OPERAND = re.compile(r"(?P<sign>[+-]?)\s*(?P<name>(?:[a-z-]+:)?[A-Za-z_][A-Za-z0-9_]*)(?P<optional>\??)")


def expression(text: str, taxonomy: str = "") -> Expression:
    """
    Read `A - B?`; names without a taxonomy get the one given. Raises ValueError quoting what cannot be read.

    >>> expression("LongTermDebt - LongTermDebtCurrent?", "us-gaap")[1]
    Term(sign=-1, name='us-gaap:LongTermDebtCurrent', optional=True)
    """
    terms: list[Term] = []
    place, written = 0, text.strip()
    while place < len(written):
        match = _OPERAND.match(written, place)
        if match is None or bool(match["sign"]) != bool(terms):
            raise ValueError(f"{text!r} is no sum of names such as 'A + B - C?'")
        name = match["name"]
        if taxonomy and ":" not in name:
            name = f"{taxonomy}:{name}"
        terms.append(Term(-1 if match["sign"] == "-" else 1, name, bool(match["optional"])))
        place = match.end()
        place += len(written[place:]) - len(written[place:].lstrip())
    if not terms:
        raise ValueError("a sum without operands")
    return tuple(terms)


@functools.cache
def items() -> Mapping[str, Item]:
    """All items by key, in the order of the statements. Raises CatalogError."""
    text = files("almanac.catalog").joinpath("data", "companies", "items.toml").read_text("utf-8")
    return read(tomllib.loads(text))


def read(part: Mapping[str, Any]) -> Mapping[str, Item]:
    """The items of a parsed file. Raises CatalogError with one line per problem."""
    problems = [f"unknown table [[{table}]]" for table in part if table != "item"]
    found: dict[str, Item] = {}
    for raw in part.get("item", ()):
        try:
            line = msgspec.convert(raw, _Line)
            item = _item(line)
        except (msgspec.ValidationError, ValueError) as error:
            problems.append(f"item {raw.get('key')}: {error}")
            continue
        if item.key in found:
            problems.append(f"item {item.key} is there twice")
        found[item.key] = item
    problems += _check(found)
    if problems:
        raise CatalogError("\n".join(problems))
    return found


def _tagged(name: str) -> str:
    return name if ":" in name else f"us-gaap:{name}"


def _item(line: _Line) -> Item:
    candidates = [
        expression(text, taxonomy)
        for taxonomy, texts in (("dei", line.dei), ("us-gaap", line.us_gaap), ("ifrs-full", line.ifrs))
        for text in texts
    ]
    return Item(
        key=line.key,
        statement=line.statement,
        kind=line.kind,
        unit=line.unit,
        name=line.name,
        description=line.description,
        additive=line.additive or line.kind == "flow",
        served=line.served,
        templates=frozenset(line.templates),
        candidates=tuple(candidates),
        for_style={name: tuple(expression(t, "us-gaap") for t in texts) for name, texts in line.for_style.items()},
        proven=tuple(expression(text, "us-gaap") for text in line.proven),
        formulas=tuple(expression(text) for text in line.formulas),
        slices=frozenset(_tagged(name) for name in line.slices),
        parts=tuple(_tagged(name) for name in line.parts),
        lines=frozenset(_tagged(name) for name in line.lines),
        notes=tuple(_tagged(name) for name in line.notes),
        largest=line.largest,
        undisputed=line.undisputed,
        at_least=tuple(expression(text) for text in line.at_least),
        proofs=tuple(expression(text) for text in line.proofs),
        agrees=line.agrees,
        positive=line.positive,
        expected=line.expected,
        never_negative=line.never_negative,
    )


_UNIT_OF_KIND = {"flow": "money", "average": "shares", "per_share": "per_share", "cover": "shares", "instant": "money"}


def _check(found: Mapping[str, Item]) -> Iterator[str]:
    for item in found.values():
        where = f"item {item.key}"
        for value, allowed, what in (
            (item.statement, STATEMENTS, "statement"),
            (item.kind, KINDS, "kind"),
            (item.unit, UNITS, "unit"),
        ):
            if value not in allowed:
                yield f"{where}: {what} must be one of {', '.join(allowed)}, not {value}"
        if _UNIT_OF_KIND.get(item.kind, item.unit) != item.unit:
            yield f"{where}: a {item.kind} is not counted in {item.unit}"
        if item.is_instant != (item.statement == "balance"):
            yield f"{where}: a {item.kind} does not belong on the {item.statement} statement"
        if item.additive and item.is_instant:
            yield f"{where}: a {item.kind} is not additive"
        if not item.candidates and not item.formulas:
            yield f"{where}: neither tags nor formulas"
        if (item.agrees or item.proven) and not item.proofs:
            yield f"{where}: it must agree, and with nothing"
        for name in sorted(item.slices - item.tags()):
            yield f"{where}: {name} is a slice and no candidate"
        for name in sorted(item.lines - item.slices):
            yield f"{where}: {name} is a line of business and no slice"
        for name in sorted({*item.notes} - item.tags()):
            yield f"{where}: {name} is a note and in no candidate"
        for name in sorted({*item.templates} - set(TEMPLATES)):
            yield f"{where}: unknown template {name}"
        for name in sorted(item.for_style.keys() - styles().keys()):
            yield f"{where}: unknown style {name}"
        for what, sum_ in [
            *(("formula", one) for one in item.formulas),
            *(("proof", one) for one in (*item.proofs, *item.at_least)),
        ]:
            for term in sum_:
                if ":" in term.name:
                    yield f"{where}: {term.name} is a tag in its {what}"
                elif term.name not in found:
                    yield f"{where}: unknown item {term.name} in its {what}"
                elif found[term.name].is_instant != item.is_instant:
                    yield f"{where}: {term.name} in its {what} is of another kind"
    yield from _circles(found)


def _circles(found: Mapping[str, Item]) -> Iterator[str]:
    done: set[str] = set()

    def visit(key: str, path: tuple[str, ...]) -> Iterator[str]:
        if key in path:
            yield f"item {key} is computed from itself: {' → '.join((*path, key))}"
        elif key in found and key not in done:
            for formula in found[key].formulas:
                for term in formula:
                    yield from visit(term.name, (*path, key))
            done.add(key)

    for key in found:
        yield from visit(key, ())


@functools.cache
def styles() -> Mapping[str, Style]:
    """All styles by key; the first is that of a period that nothing tells of. Raises CatalogError."""
    text = files("almanac.catalog").joinpath("data", "companies", "styles.toml").read_text("utf-8")
    try:
        read_ = msgspec.convert(tomllib.loads(text)["style"], list[Style])
    except (msgspec.ValidationError, KeyError) as error:
        raise CatalogError(f"styles: {error}") from None
    unknown = sorted({name for style in read_ for name in style.templates} - set(TEMPLATES))
    if unknown:
        raise CatalogError(f"styles: unknown template {unknown[0]}")
    return {style.key: style for style in read_}


#: Told by the reader, not by a filer: that a later report gives the balance sheet of a day anew.
SHEET_ANEW = "pre:BalanceSheet"


@functools.cache
def wanted_tags() -> frozenset[str]:
    """Every tag some item may be read from or is told by, with its taxonomy: `us-gaap:NetIncomeLoss`."""
    return frozenset(
        [SHEET_ANEW]
        + [tag for item in items().values() for tag in (*item.tags(), *item.parts)]
        + [_tagged(tag) for style in styles().values() for tag in style.signs]
    )


def served() -> list[Item]:
    """Items that are on statements, in their order."""
    return [item for item in items().values() if item.served]


# -- catalogue records ------------------------------------------------------------------------------------------------


@functools.cache
def indicators() -> tuple[Indicator, ...]:
    """
    Catalogue records: one per served item (derived), one per wanted tag (raw, not for screeners).

    Money and amounts per share have no unit of their own: it is that of the series, by the filer's currency.
    """
    of_items = [_of_item(item) for item in served()]
    return (*of_items, *(_of_tag(tag) for tag in sorted(wanted_tags())))


def _of_item(item: Item) -> Indicator:
    return Indicator(
        slug=item.key,
        name=item.name,
        description=item.description,
        category="fundamentals",
        kind="derived",
        unit="shares" if item.unit == "shares" else None,
        formula=formula_text(item),
        inputs=tuple(dict.fromkeys(raw_slug(tag) for tag in _inputs(item, set()))),
        # A flow is screened by its sum over twelve months: quarters of a seasonal trade, and years, do not compare.
        screenable=item.is_instant,
    )


def _inputs(item: Item, seen: set[str]) -> Iterable[str]:
    """Tags of an item and of the items its formulas name, in the order they are tried."""
    seen.add(item.key)
    for group in (item.candidates, *item.for_style.values()):
        for candidate in group:
            yield from (term.name for term in candidate)
    for formula in item.formulas:
        for term in formula:
            if term.name not in seen:
                yield from _inputs(items()[term.name], seen)


def formula_text(item: Item) -> str:
    """How the item is come by, for people: the candidates in order, then the formulas."""
    texts = list(dict.fromkeys(_written(expression_) for expression_ in (*item.candidates, *item.formulas)))
    return "first of: " + "; ".join(texts) if len(texts) > 1 else texts[0]


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
