"""Lines of the simulated companies' reports: the tags by which they state the columns of their books, as time goes by."""

from __future__ import annotations

import functools
from typing import NamedTuple

import msgspec

from almanac.sandbox.companies.books import RESTRICTED_SINCE
from almanac.sandbox.companies.filers import Filer
from almanac.sandbox.data import table

_CONTRACT = "RevenueFromContractWithCustomerExcludingAssessedTax"
#: The fiscal year from which sales are tagged by the newer standard.
_NEW_REVENUE = 2018
#: From this fiscal year on reports are in dollars (`other_currency`), or by the international standard (`other_standard`).
CHANGED = 2024


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


class _Rules(msgspec.Struct, frozen=True):
    """The table: rules by the books that a company keeps, and the tags of kinds that report as few others do."""

    books: dict[str, tuple[_LineRule, ...]]
    kinds: dict[str, dict[str, tuple[TaggedShare, ...]]]


_RULES = msgspec.convert(table("statement_lines"), _Rules)


@functools.lru_cache(maxsize=8192)
def lines(company: Filer, label: int, recast: str = "") -> tuple[Line, ...]:
    """Return the lines of a report for the fiscal year `label`; `recast`: how it shows older periods anew, if it does."""
    by_gaap = company.kind == "other_standard" and label < CHANGED
    abroad = company.seat is not None and not by_gaap
    books, taxonomy = ("abroad", "ifrs-full") if abroad else (company.trade.books, "us-gaap")
    conditions = _conditions(company, label)
    rules = (_RULES.books["owners"] if books in {"goods", "finance"} else ()) + _RULES.books[books]
    rows = [
        (rule.kind, rule.source, rule.tags[company.number % len(rule.tags)])
        for rule in rules
        if rule.when <= conditions and not rule.unless & conditions
    ]
    if not abroad and recast in {"narrowed", "spun_off"}:
        # The total in another tag than before; of a narrowed one what is left in it.
        before = next(tag for _, source, tag in rows if source == "revenue")
        rows = [row for row in rows if row[1] != "revenue"]
        if recast == "narrowed":
            rows += [("income", "contracts", before), ("income", "revenue", "Revenues")]
        else:
            rows.append(("income", "revenue", _CONTRACT))
    cover = [("float", "EntityPublicFloat")] if company.two_classes or not company.seat else []
    if not company.two_classes:  # stated by class, which this feed leaves out
        cover.append(("cover", "EntityCommonStockSharesOutstanding"))
    return (
        *(Line(kind, source, taxonomy, tag) for kind, source, tag in rows),
        *(Line(kind, "", "dei", tag) for kind, tag in cover),
    )


def tags_of_kind(kind: str, source: str) -> tuple[TaggedShare, ...] | None:
    """Return the tags by which a kind of company states a column of its books, or None for the usual one."""
    return _RULES.kinds.get(kind, {}).get(source)


def _conditions(company: Filer, label: int) -> frozenset[str]:
    """Return the names of all conditions of the rules that hold for a company in a fiscal year."""
    number, trade, recast = company.number, company.trade, company.recast
    bank = trade.name == "banks"
    conditions = {habit: company.has(habit) for habit in table("companies")["habits"]} | {
        "all_cash": label >= RESTRICTED_SINCE,
        "newer": label >= _NEW_REVENUE,
        "pays": company.pays,
        "equity_method": number % 4 == 1,
        "research": trade.research > 0,
        "inventory": trade.inventory_days > 0,
        "property": trade.name == "property",
        "regulated": trade.name == "utilities" and number % 2 == 1,
        "shops": trade.name == "shops",
        "nonoperating": number % 6 == 1 and label >= 2024,
        "selling_in_parts": number % 6 == 5,
        "costs": number % 7 == 4,
        "discontinued": recast is not None and recast[1] == "discontinued" and label > recast[0],
        "no_total": bank and number % 7 == 0,
        "net_revenue": bank and number % 3 == 0,
    }
    return frozenset(name for name, holds in conditions.items() if holds)
