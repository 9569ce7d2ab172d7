"""Lines of the simulated companies' reports: the tags by which they state the columns of their books, as time goes by."""

from __future__ import annotations

import functools
from typing import NamedTuple

import msgspec

from almanac.sandbox.companies.books import RESTRICTED_SINCE
from almanac.sandbox.companies.filers import HABITS, Filer, data

_CONTRACT = "RevenueFromContractWithCustomer{}AssessedTax"
#: The fiscal year from which sales are tagged by the newer standard.
_NEW_REVENUE = 2018
#: From this fiscal year on reports are in dollars (`other_currency`), or by the international standard (`other_standard`).
_CHANGED = 2024


class Line(NamedTuple):
    """
    A line of a report: `kind` says how its value comes from the books' column `source`.

    Kinds: `income` and `cash` (flows; the second only from the year's beginning), `level`, `average`, `earnings`,
    `declared` (per share), `cover` and `float` (of the report's first page).
    """

    kind: str
    source: str
    taxonomy: str
    tag: str


class TaggedShare(msgspec.Struct, frozen=True):
    """A tag that states a share of a column, in whole units of its scale, or the `rest` that this share leaves of it."""

    tag: str
    share: float = 1.0
    rest: bool = False

    def of(self, value: float, scale: int) -> int:
        """Return its part of a value."""
        part = round(value * self.share / scale) * scale
        return round(value) - part if self.rest else part


class _LineRule(msgspec.Struct, frozen=True):
    kind: str
    source: str
    tags: tuple[str, ...]
    when: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()


class _LineRules(msgspec.Struct, frozen=True):
    """The data file: rules by the books that a company keeps, and the tags of kinds that report as few others do."""

    owners: tuple[_LineRule, ...]
    goods: tuple[_LineRule, ...]
    finance: tuple[_LineRule, ...]
    fund: tuple[_LineRule, ...]
    shell: tuple[_LineRule, ...]
    abroad: tuple[_LineRule, ...]
    kinds: dict[str, dict[str, tuple[TaggedShare, ...]]]

    def of_books(self, books: str) -> tuple[_LineRule, ...]:
        rules: tuple[_LineRule, ...] = getattr(self, books)
        return self.owners + rules if books in {"goods", "finance"} else rules


_RULES = msgspec.convert(data("statement_lines"), _LineRules)


@functools.lru_cache(maxsize=8192)
def lines(company: Filer, label: int, recast: str = "") -> tuple[Line, ...]:
    """Return the lines of a report for the fiscal year `label`; `recast`: how it shows older periods anew, if it does."""
    by_gaap = company.kind == "other_standard" and label < _CHANGED
    abroad = company.seat is not None and not by_gaap
    books, taxonomy = ("abroad", "ifrs-full") if abroad else (company.trade.books, "us-gaap")
    conditions = _conditions(company, label)
    rows = [
        (rule.kind, rule.source, rule.tags[company.number % len(rule.tags)])
        for rule in _RULES.of_books(books)
        if rule.when <= conditions and not rule.unless & conditions
    ]
    if books == "goods":
        rows.append(("income", "revenue", _revenue(company, label)))
    if not abroad and recast in {"narrowed", "spun_off"}:
        # The total in another tag than before; of a narrowed one what is left in it.
        before = next(tag for _, source, tag in rows if source == "revenue")
        rows = [row for row in rows if row[1] != "revenue"]
        if recast == "narrowed":
            rows += [("income", "contracts", before), ("income", "revenue", "Revenues")]
        else:
            rows.append(("income", "revenue", _CONTRACT.format("Excluding")))
    cover = [("float", "EntityPublicFloat")] if company.two_classes or not company.seat else []
    if not company.two_classes:  # stated by class, which this feed leaves out
        cover.append(("cover", "EntityCommonStockSharesOutstanding"))
    return (
        *(Line(kind, source, taxonomy, tag) for kind, source, tag in rows),
        *(Line(kind, "", "dei", tag) for kind, tag in cover),
    )


def in_dollars(company: Filer, label: int) -> bool:
    """Return whether a company that keeps its books in euros reports in dollars."""
    return company.kind == "other_currency" and label >= _CHANGED


def tags_of_kind(kind: str, source: str) -> tuple[TaggedShare, ...] | None:
    """Return the tags by which a kind of company states a column of its books, or None for the usual one."""
    return _RULES.kinds.get(kind, {}).get(source)


def _conditions(company: Filer, label: int) -> frozenset[str]:
    """Return the names of all conditions of the rules that hold for a company in a fiscal year."""
    number, trade, recast = company.number, company.trade, company.recast
    bank = trade.name == "banks"
    conditions = {habit: company.has(habit) for habit in HABITS} | {
        "all_cash": label >= RESTRICTED_SINCE,
        "newer": label >= _NEW_REVENUE,
        "pays": company.pays,
        "equity_method": number % 4 == 1,
        "research": trade.research > 0,
        "inventory": trade.inventory_days > 0,
        "property": trade.name == "property",
        "nonoperating": number % 6 == 1 and label >= 2024,
        "selling_in_parts": number % 6 == 5,
        "costs": number % 7 == 4,
        "discontinued": recast is not None and recast[1] == "discontinued" and label > recast[0],
        "no_total": bank and number % 7 == 0,
        "net_revenue": bank and number % 3 == 0,
    }
    return frozenset(name for name, holds in conditions.items() if holds)


def _revenue(company: Filer, label: int) -> str:
    newer, trade, choice = label >= _NEW_REVENUE, company.trade.name, company.number % 5
    if trade == "property":
        return "Revenues" if newer or company.number % 2 else "RealEstateRevenueNet"
    if trade == "utilities" and company.number % 2:
        return "RegulatedAndUnregulatedOperatingRevenue"
    if choice == 3 or (choice == 4 and not newer):
        return "Revenues"
    if newer:
        return _CONTRACT.format("Including" if choice == 4 else "Excluding")
    return "SalesRevenueGoodsNet" if trade == "shops" else "SalesRevenueNet"
