"""The rows of figures that the simulated companies' filings state: own periods and those for comparison."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from almanac.sandbox.companies.books import TrueBooks
from almanac.sandbox.companies.calendar import Calendar, FiscalYear
from almanac.sandbox.companies.cast import Filer
from almanac.sandbox.companies.filings import Paper, ReportedFigures, correction_day
from almanac.sandbox.companies.kinds import ADDED, PLACEHOLDER, dollars, in_dollars, tags
from almanac.sandbox.companies.tags import Line, lines

#: Tax on what an error or a sold business earned.
_TAX = 0.21
#: The part of a group that is spun off, as a share of what is left; what stays in a tag that is narrowed.
_PART, _LEFT = 0.6, 0.13


class Stated(NamedTuple):
    """One figure of one filing; days are ordinals, `start` None for an instant."""

    line: Line
    unit: str
    start: int | None
    end: int
    value: int | float
    paper: Paper


class ReportedSpans(NamedTuple):
    """Spans of quarters a filing shows, (first, last), its own first; and the quarters whose ends its balance sheet shows."""

    income: tuple[tuple[int, int], ...]
    cash: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]


def columns(calendar: Calendar, figures: ReportedFigures) -> ReportedSpans:
    """A year: it and the year before. A part of one: its last quarter and the year so far, and both a year earlier."""
    year, last = figures.year, figures.last
    before = _before(calendar, year)
    if figures.whole:
        own = (year.first, last)
        spans = (own, (before.first, before.last)) if before else (own,)
        return ReportedSpans(spans, spans, (last, before.last) if before else (last,))
    so_far = (year.first, last)
    cash = (so_far, (year.first - 4, last - 4)) if year.first >= 4 else (so_far,)
    quarters = ((last, last), (last - 4, last - 4)) if last >= 4 else ((last, last),)
    # Half-year reports abroad show the half only.
    halves = figures.period is None and last - year.first == 1
    income = cash if halves else quarters + (cash if last > year.first else ())
    return ReportedSpans(income, cash, (last, before.last) if before else (last,))


def _before(calendar: Calendar, year: FiscalYear) -> FiscalYear | None:
    place = calendar.years.index(year)
    return calendar.years[place - 1] if place else None


def stated(company: Filer, calendar: Calendar, books: TrueBooks, papers: list[Paper]) -> Iterator[Stated]:
    """Every figure of every filing that has some, filing by filing."""
    version = versions(company, calendar, books)
    money = company.currency
    for paper in papers:
        if paper.figures is not None:
            shown = columns(calendar, paper.figures)
            held, factor = version(paper), _splits(company, paper)
            for line in lines(company, paper.figures.year.label, _recast_in(company, paper)):
                rows = _line(company, calendar, held, paper, shown, line, money, factor)
                yield from _restate(company, paper.figures.year.label, rows) if company.kind else rows


def _line(
    company: Filer, calendar: Calendar, books: TrueBooks, paper: Paper, shown: ReportedSpans, line: Line, money: str,
    factor: int,
) -> Iterator[Stated]:  # fmt: skip
    kind, scale = line.kind, company.scale
    starts, ends = calendar.starts, calendar.ends
    if kind == "level":
        amounts = books.levels[line.source]
        for quarter in (*shown.levels, *_opening(company, paper, shown, line)):
            yield Stated(line, money, None, ends[quarter], amounts[quarter] * scale, paper)
    elif kind in {"income", "cash"}:
        sums = books.sums[line.source]
        for first, last in shown.income if kind == "income" else shown.cash:
            sign = -1 if (first, last) == _turned(company, paper, shown, line) else 1
            yield Stated(line, money, starts[first], ends[last], sign * (sums[last + 1] - sums[first]) * scale, paper)
    elif kind == "average":
        for first, last in shown.income:
            shares = average(calendar, getattr(books, line.source), first, last)
            yield Stated(line, "shares", starts[first], ends[last], shares * factor * 1_000, paper)
    elif kind == "earnings":
        for first, last in shown.income:
            shares = average(calendar, getattr(books, line.source), first, last) * factor
            earned = books.total("income", first, last) * scale / (shares * 1_000)
            yield Stated(line, f"{money}/shares", starts[first], ends[last], round(earned, 2) + 0.0, paper)
    elif kind == "declared":
        for first, last in shown.income if any(books.per_share) else ():
            amount = round(sum(books.per_share[first : last + 1]) / factor, 4)
            yield Stated(line, f"{money}/shares", starts[first], ends[last], amount, paper)
    elif kind == "cover":
        quarter = shown.levels[0]
        counted = ends[quarter] if company.seat else max(ends[quarter], paper.filed - 6)
        yield Stated(line, "shares", None, counted, books.outstanding[quarter] * factor * 1_000, paper)
    elif kind == "float" and paper.figures is not None and paper.figures.whole:
        half = max(paper.figures.year.first, paper.figures.last - 2)
        worth = round(abs(books.levels["equity"][half]) * 1.7) * scale
        yield Stated(line, money, None, ends[half], worth, paper)


def average(calendar: Calendar, quarters: list[int], first: int, last: int) -> int:
    """Shares averaged over quarters, weighted by their days."""
    if first == last:
        return quarters[first]
    days = [calendar.days(quarter, quarter) for quarter in range(first, last + 1)]
    total = sum(shares * length for shares, length in zip(quarters[first : last + 1], days, strict=True))
    return round(total / sum(days))


def _splits(company: Filer, paper: Paper) -> int:
    return company.split[1] if company.split and paper.filed >= company.split[0].toordinal() else 1


def _opening(company: Filer, paper: Paper, shown: ReportedSpans, line: Line) -> tuple[int, ...]:
    """The quarter whose cash and equity the annual report of a group that spins a part off begins the year before with."""
    if paper.figures is None or not paper.figures.whole or not company.recast or company.recast[1] != "spun_off":
        return ()
    before = shown.income[-1][0] - 1
    return (before,) if line.source in {"cash", "cash_total", "equity"} and before >= 0 else ()


def _restate(company: Filer, label: int, rows: Iterator[Stated]) -> Iterator[Stated]:
    """Rows as one states them who reports as few others do."""
    for row in rows:
        if row.line.kind == "cover" and company.kind == "placeholder" and label == company.first_year:
            yield row._replace(value=PLACEHOLDER)
        elif in_dollars(company.kind, label) and row.unit != "shares":
            yield row._replace(value=dollars(row.value), unit=row.unit.replace(company.currency, "USD"))
        elif (
            row.line.kind in {"income", "cash", "level"} and (chosen := tags(company.kind, row.line.source)) is not None
        ):
            for told in chosen:
                yield row._replace(line=row.line._replace(tag=told.tag), value=told.of(row.value, company.scale))
        else:
            yield row


# What was first stated otherwise


def _turned(company: Filer, paper: Paper, shown: ReportedSpans, line: Line) -> tuple[int, int] | None:
    """The span of which a filing gives a line with the other sign."""
    if company.turned is None or paper.figures is None or not paper.figures.whole:
        return None
    year, source, where = company.turned
    again = where == "again"
    return shown.income[again] if (paper.figures.year.label, line.source) == (year + again, source) else None


def _recast_in(company: Filer, paper: Paper) -> str:
    """How a filing shows older periods anew; empty where it does not."""
    if company.recast is None or paper.figures is None:
        return ""
    label, how = company.recast
    since = paper.figures.year.label - label
    # The first reports with a narrowed tag are annual ones.
    return how if since > 1 or (since == 1 and (how != "narrowed" or paper.figures.whole)) else ""


def versions(company: Filer, calendar: Calendar, books: TrueBooks) -> Callable[[Paper], TrueBooks]:
    """Which books a filing shows: as they were believed to be before an error was found, and regrouped after a year."""
    if company.error:
        corrected = correction_day(company, calendar)
        wrong = _mistaken(company, calendar, books)
        return lambda paper: wrong if corrected is None or paper.accepted.toordinal() < corrected else books
    if company.recast:
        before, anew = books, books
        year, how = company.recast
        if how == "narrowed":
            left = [round(amount * _LEFT) for amount in books.flows["revenue"]]
            anew = replace(books, flows=books.flows | {"contracts": left})
        elif how == "spun_off":
            before = _whole_group(books)
        elif how == "given_anew":
            more = [round(amount * ADDED) for amount in books.levels["assets"]]
            anew = _changed(books, {}, dict.fromkeys(("assets", "plant", "liabilities"), more))
        else:
            anew = _recast(calendar, books, year, how)
        return lambda paper: anew if _recast_in(company, paper) else before
    return lambda _: books


def _changed(books: TrueBooks, flows: dict[str, list[int]], levels: dict[str, list[int]]) -> TrueBooks:
    """Books with these changes added, column by column; columns they do not have stay away."""

    def added(columns: dict[str, list[int]], changes: dict[str, list[int]]) -> dict[str, list[int]]:
        return {
            name: [old + new for old, new in zip(column, changes[name], strict=True)] if name in changes else column
            for name, column in columns.items()
        }

    return replace(books, flows=added(books.flows, flows), levels=added(books.levels, levels))


def _mistaken(company: Filer, calendar: Calendar, books: TrueBooks) -> TrueBooks:
    """Income of the last two quarters of the year overstated: by sales not made, or by losses on loans not provided for."""
    count = len(calendar.ends)
    wrong = {
        quarter for year in calendar.years if year.label == company.error for quarter in (year.last - 1, year.last)
    }
    source, share = ("provision", 0.5) if company.trade.books == "finance" else ("revenue", 0.05)
    gross = [round(books.flows[source][quarter] * share) if quarter in wrong else 0 for quarter in range(count)]
    tax = [round(amount * _TAX) for amount in gross]
    net = [amount - part for amount, part in zip(gross, tax, strict=True)]
    so_far = [list(itertools.accumulate(changes)) for changes in (gross, tax, net)]
    flows = dict.fromkeys(("before_tax",), gross) | {"tax": tax, "profit": net, "income": net}
    if source == "provision":
        flows["provision"] = [-amount for amount in gross]
    else:
        flows |= dict.fromkeys(("revenue", "gross", "operating"), gross)
    levels = dict.fromkeys(("receivable", "current", "assets"), so_far[0])
    levels |= dict.fromkeys(("liabilities", "owed_soon"), so_far[1])
    levels |= dict.fromkeys(("retained", "equity", "with_minority"), so_far[2])
    return _changed(books, flows, levels)


def _recast(calendar: Calendar, books: TrueBooks, label: int, how: str) -> TrueBooks:
    """The quarters up to the end of the year as the next reports show them: costs regrouped, or a sold business apart."""
    last = next((year.last for year in calendar.years if year.label == label), -1)

    def share(line: str, part: float) -> list[int]:
        return [-round(amount * part) if quarter <= last else 0 for quarter, amount in enumerate(books.flows[line])]

    if how == "regrouped":
        less = share("selling", 0.12)
        more = [-amount for amount in less]
        down = dict.fromkeys(("gross", "selling", "general", "expenses"), less)
        return _changed(books, {**down, "cost": more}, {})
    flows = _business({line: share(line, 0.09) for line in _BUSINESS})
    flows["discontinued"] = [part - whole for whole, part in zip(flows["operating"], flows["tax"], strict=True)]
    return _changed(books, flows, {})


def _whole_group(books: TrueBooks) -> TrueBooks:
    """The books with the part that will be spun off still in them: it keeps its cash, owes nothing and invests all it earns."""
    flows = _business({line: [round(amount * _PART) for amount in books.flows[line]] for line in _BUSINESS})
    earned = [whole - part for whole, part in zip(flows["operating"], flows["tax"], strict=True)]
    flows |= dict.fromkeys(("profit", "income", "from_operations", "capital"), earned)
    flows["invested"] = [-amount for amount in earned]
    so_far = list(itertools.accumulate(earned))
    held, built = round(books.levels["cash"][0] * _PART), round(books.levels["plant"][0] * _PART)
    levels = {"retained": so_far, "plant": [built + amount for amount in so_far]}
    levels |= dict.fromkeys(("cash", "cash_total", "current"), [held] * len(so_far))
    owned = [held + amount for amount in levels["plant"]]
    levels |= dict.fromkeys(("assets", "equity", "with_minority"), owned)
    return _changed(books, flows, levels)


#: What the books of a part of a business are made from.
_BUSINESS = ("revenue", "cost", "research", "selling", "marketing")


def _business(flows: dict[str, list[int]]) -> dict[str, list[int]]:
    """The flows of `_BUSINESS` with all down to the tax that follow from them."""
    plus = functools.partial(zip, strict=True)
    flows["general"] = [whole - part for whole, part in plus(flows["selling"], flows["marketing"])]
    flows["gross"] = [sold - cost for sold, cost in plus(flows["revenue"], flows["cost"])]
    flows["expenses"] = [studied + sold for studied, sold in plus(flows["research"], flows["selling"])]
    flows["costs"] = [cost + other for cost, other in plus(flows["cost"], flows["expenses"])]
    flows["operating"] = [gross - other for gross, other in plus(flows["gross"], flows["expenses"])]
    flows["before_tax"] = flows["operating"]
    flows["tax"] = [round(amount * _TAX) for amount in flows["operating"]]
    return flows
