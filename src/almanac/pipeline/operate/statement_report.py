"""How good the statements of a store are: for each style of reporting and item, of how many filers it is served, or why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.companies import style_told, styles
from almanac.derived.companies.checks import FATAL
from almanac.domain.companies import is_periodic
from almanac.domain.periods import end_of
from almanac.domain.progress import Meter, counted, unmetered
from almanac.reports.statement_counts import ItemCount, StatementCounts
from almanac.store.companies import facts, filings
from almanac.store.companies.statements import BALANCE, CASH_FLOW, FREQUENCIES, INCOME, newest
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.selection import EVER

_TYPES = {INCOME: "income", BALANCE: "balance", CASH_FLOW: "cash_flow"}
#: Any moment; more statements of a kind and frequency than any company has.
_ALL = 100_000
#: Days by which the day that a report is about may differ from the last day of its periods.
_SNAP = 10


class StyleShares(msgspec.Struct, frozen=True, rename="camel"):
    """
    One style over all its statements. `own_periods`: quarters, halves and years that a periodic report is about.

    `filers`: companies whose newest statement is of the style; their earlier ones may be of another.
    """

    style: str
    filers: int
    own_periods: int
    own_periods_with_revenue: int
    balance_sheets: int
    balance_sheets_with_total_assets: int
    statements: int
    ok: int
    warning: int
    failed: int


class StatementReport(msgspec.Struct, frozen=True, rename="camel"):
    """`items` counts of each filer the newest statement of each type; `shares` counts all statements, as they stand now."""

    shares: list[StyleShares]
    items: list[ItemCount]


class _Told(NamedTuple):
    """One statement as it stands: its type, last day (an ordinal), body and whether a report of its own is about it."""

    type: str
    end: int
    body: dict[str, Any]
    own: bool


def statement_report(view: View, meter: Meter = unmetered) -> StatementReport:
    """Look at every statement of the store as it stands."""
    every, last = StatementCounts(FATAL), StatementCounts(FATAL)
    filers: Counter[str] = Counter()
    for entity in counted(facts.entities(view), meter, "companies"):
        traits = facts.company(view, entity)
        told = list(_read_statements(view, entity))
        if traits is None or not told:
            continue
        signs = _signs(view, entity, traits.source)
        own = {end: style_told(signs.get(end, {}), traits.template) for end in {one.end for one in told}}
        for one in told:
            every.add(own[one.end], one.type, one.body, own=one.own)
        style = own[max(own)]
        filers[style] += 1
        # Of each type the first is the newest, of one day the annual one.
        for one in {one.type: one for one in reversed(told)}.values():
            last.add(style, one.type, one.body)
    return StatementReport([_shares(every, style, filers[style]) for style in every.kinds()], list(last.rows()))


def _read_statements(view: View, entity: str) -> Iterator[_Told]:
    """All statements of a company, of each type the newest first."""
    dates = {
        one.report_date
        for one in filings.of(view, entity).values()
        if one.report_date is not None and is_periodic(one.form)
    }
    about = {date + days for date in dates for days in range(-_SNAP, _SNAP + 1)}
    for kind, type_ in _TYPES.items():
        for row in newest(
            view, entity, kind, FREQUENCIES, version=view.version, known_by=EVER, ends_from=None, limit=_ALL
        ):
            end = end_of(row.period).toordinal()
            yield _Told(type_, end, msgspec.json.decode(row.body), end in about)


def _signs(view: View, entity: str, source: str) -> dict[int, Counter[str]]:
    """Of each style, how many of its signs a company gives for a day; by day."""
    style_of = {f"us-gaap:{tag}": style.key for style in styles().values() for tag in style.signs}
    found: dict[int, Counter[str]] = {}
    # A tag is a series for each length of its periods: it is one sign.
    for tag, end in set(facts.ends_of_tags(view, entity, source, style_of)):
        found.setdefault(end, Counter())[style_of[tag]] += 1
    return found


def _shares(counts: StatementCounts, style: str, filers: int) -> StyleShares:
    verdicts = [counts.status[style, verdict] for verdict in ("ok", "warning", "failed")]
    return StyleShares(
        style,
        filers,
        counts.own[style, "income"],
        counts.own_served[style, "revenue"],
        counts.types[style, "balance"],
        counts.served[style, "total_assets"],
        sum(verdicts),
        *verdicts,
    )
