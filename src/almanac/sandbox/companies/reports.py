"""The rows of figures that the simulated companies' filings state: own periods and those for comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from almanac.sandbox.companies.books import TrueBooks
from almanac.sandbox.companies.calendar import Calendar
from almanac.sandbox.companies.filers import Filer
from almanac.sandbox.companies.filings import Filing, ReportedFigures, correction_day
from almanac.sandbox.companies.statement_lines import CHANGED, Line, lines, tags_of_kind

#: Tax on what an error or a sold business earned.
_TAX = 0.21
#: The part of a group that is spun off, as a share of what is left; what stays in a tag that is narrowed; what the new
#: way to draw up a sheet adds to both of its sides, as a share of assets.
_SPUN_OFF, _NARROWED, _ADDED = 0.6, 0.13, 0.08
#: Shares on the cover before any are given out.
_PLACEHOLDER = 1_000
#: Dollars for ten euros, in all reports alike.
_DOLLARS = 11

#: A whole amount for each quarter.
Amounts = NDArray[np.int64]


class StatedFigure(NamedTuple):
    """One figure of one filing; days are ordinals, `start` None for an instant."""

    line: Line
    unit: str
    start: int | None
    end: int
    value: int | float
    filing: Filing


class ReportedSpans(NamedTuple):
    """Spans of quarters a filing shows, (first, last), its own first; and the quarters whose ends its balance sheet shows."""

    income: tuple[tuple[int, int], ...]
    cash: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]


def reported_spans(calendar: Calendar, figures: ReportedFigures) -> ReportedSpans:
    """
    Return the spans of a filing: of a year, it and the year before; of a part of one, its last quarter and the year so far,
    and both a year earlier.
    """
    year, last = figures.year, figures.last
    place = calendar.years.index(year)
    before = calendar.years[place - 1] if place else None
    levels = (last, before.last) if before else (last,)
    so_far = (year.first, last)
    if figures.whole:
        spans = (so_far, (before.first, before.last)) if before else (so_far,)
        return ReportedSpans(spans, spans, levels)
    cash = (so_far, (year.first - 4, last - 4)) if year.first >= 4 else (so_far,)
    quarters = ((last, last), (last - 4, last - 4)) if last >= 4 else ((last, last),)
    # Half-year reports abroad show the half only.
    if figures.period is None and last - year.first == 1:
        return ReportedSpans(cash, cash, levels)
    return ReportedSpans(quarters + (cash if last > year.first else ()), cash, levels)


def stated_figures(
    company: Filer, calendar: Calendar, books: TrueBooks, filings: list[Filing]
) -> Iterator[StatedFigure]:
    """Yield every figure of every filing that has some, filing by filing."""
    version = _versions(company, calendar, books)
    for filing in filings:
        if filing.figures is not None:
            label, shown = filing.figures.year.label, reported_spans(calendar, filing.figures)
            for line in lines(company, label, _recast_in(company, filing)):
                rows = _figures(company, calendar, version(filing), filing, filing.figures, shown, line)
                yield from _in_own_way(company, label, rows) if company.kind else rows


def _figures(
    company: Filer, calendar: Calendar, books: TrueBooks, filing: Filing, figures: ReportedFigures, shown: ReportedSpans,
    line: Line,
) -> Iterator[StatedFigure]:  # fmt: skip
    kind, scale, money = line.kind, company.scale, company.currency
    starts, ends = calendar.starts, calendar.ends
    factor = company.split[1] if company.split and filing.filed >= company.split[0].toordinal() else 1
    if kind == "level":
        levels = shown.levels
        if figures.whole and company.recast and company.recast[1] == "spun_off":
            # A group that spins a part off shows with which cash and equity the year before began, too.
            opening = shown.income[-1][0] - 1
            levels += (opening,) if line.source in {"cash", "cash_total", "equity"} and opening >= 0 else ()
        for quarter in levels:
            yield StatedFigure(line, money, None, ends[quarter], books.levels[line.source][quarter] * scale, filing)
    elif kind == "cover":
        quarter = shown.levels[0]
        counted = ends[quarter] if company.seat else max(ends[quarter], filing.filed - 6)
        yield StatedFigure(line, "shares", None, counted, books.outstanding[quarter] * factor * 1_000, filing)
    elif kind == "float":
        if figures.whole:
            half = max(figures.year.first, figures.last - 2)
            worth = round(abs(books.levels["equity"][half]) * 1.7) * scale
            yield StatedFigure(line, money, None, ends[half], worth, filing)
    elif kind in {"income", "cash"}:
        turned = None  # the span that is given with the other sign
        if company.turned is not None and figures.whole:
            year, source, where = company.turned
            again = where == "again"
            if (figures.year.label, line.source) == (year + again, source):
                turned = shown.income[again]
        for first, last in shown.income if kind == "income" else shown.cash:
            sign = -1 if (first, last) == turned else 1
            amount = sign * books.total(line.source, first, last) * scale
            yield StatedFigure(line, money, starts[first], ends[last], amount, filing)
    elif kind == "declared":
        for first, last in shown.income if any(books.per_share) else ():
            declared = round(sum(books.per_share[first : last + 1]) / factor, 4)
            yield StatedFigure(line, f"{money}/shares", starts[first], ends[last], declared, filing)
    else:
        for first, last in shown.income:
            shares = _average(calendar, getattr(books, line.source), first, last) * factor * 1_000
            if kind == "average":
                yield StatedFigure(line, "shares", starts[first], ends[last], shares, filing)
            else:
                earned = round(books.total("income", first, last) * scale / shares, 2) + 0.0
                yield StatedFigure(line, f"{money}/shares", starts[first], ends[last], earned, filing)


def _average(calendar: Calendar, shares: Sequence[int], first: int, last: int) -> int:
    """Return shares averaged over quarters, weighted by their days."""
    if first == last:
        return shares[first]
    days = [calendar.ends[quarter] - calendar.starts[quarter] + 1 for quarter in range(first, last + 1)]
    total = sum(count * length for count, length in zip(shares[first : last + 1], days, strict=True))
    return round(total / sum(days))


def _in_own_way(company: Filer, label: int, rows: Iterator[StatedFigure]) -> Iterator[StatedFigure]:
    """Yield rows as a company states them that reports as few others do."""
    for row in rows:
        kind, value = row.line.kind, row.value
        tags = tags_of_kind(company.kind, row.line.source) if kind in {"income", "cash", "level"} else None
        if kind == "cover" and company.kind == "placeholder" and label == company.first_year:
            yield row._replace(value=_PLACEHOLDER)
        elif company.kind == "other_currency" and label >= CHANGED and row.unit != "shares":
            # Whole thousands stay whole, so what adds up in euros does in dollars.
            dollars = value * _DOLLARS // 10 if isinstance(value, int) else round(value * _DOLLARS / 10, 2)
            yield row._replace(value=dollars, unit=row.unit.replace(company.currency, "USD"))
        elif tags is not None:
            for tag in tags:
                yield row._replace(line=row.line._replace(tag=tag.tag), value=tag.of(value, company.scale))
        else:
            yield row


# What was first stated otherwise


def _recast_in(company: Filer, filing: Filing) -> str:
    """Return how a filing shows older periods anew; empty if it does not."""
    if company.recast is None or filing.figures is None:
        return ""
    label, how = company.recast
    since = filing.figures.year.label - label
    # The first reports with a narrowed tag are annual ones.
    return how if since > 1 or (since == 1 and (how != "narrowed" or filing.figures.whole)) else ""


def _versions(company: Filer, calendar: Calendar, books: TrueBooks) -> Callable[[Filing], TrueBooks]:
    """Return the books that a filing shows: as believed before an error was found, or regrouped after a year."""
    if company.error:
        corrected = correction_day(company, calendar)
        wrong = _mistaken(company, calendar, books)
        return lambda filing: wrong if corrected is None or filing.accepted.toordinal() < corrected else books
    if company.recast:
        before, anew = books, books
        label, how = company.recast
        last = next((year.last for year in calendar.years if year.label == label), -1)
        if how == "narrowed":
            left = _share(books.flows["revenue"], _NARROWED).tolist()
            anew = replace(books, flows=books.flows | {"contracts": left})
        elif how == "spun_off":
            before = _whole_group(books)
        elif how == "given_anew":
            more = _share(books.levels["assets"], _ADDED)
            anew = _changed(books, {}, dict.fromkeys(("assets", "plant", "liabilities"), more))
        elif how == "regrouped":
            moved = _share(books.flows["selling"], 0.12, last)
            flows = dict.fromkeys(("gross", "selling", "general", "expenses"), -moved) | {"cost": moved}
            anew = _changed(books, flows, {})
        else:  # a sold business apart
            flows = _business({line: -_share(books.flows[line], 0.09, last) for line in _BUSINESS})
            flows["discontinued"] = flows["tax"] - flows["operating"]
            anew = _changed(books, flows, {})
        return lambda filing: anew if _recast_in(company, filing) else before
    return lambda _: books


def _share(amounts: Sequence[int], part: float, last: int | None = None) -> Amounts:
    """Return a share of each amount, rounded; nothing of those after the quarter `last`."""
    share = np.rint(np.array(amounts) * part).astype(np.int64)
    if last is not None:
        share[last + 1 :] = 0
    return share


def _changed(books: TrueBooks, flows: Mapping[str, Amounts], levels: Mapping[str, Amounts]) -> TrueBooks:
    """Return books with these changes added, column by column. Columns that they do not have stay away."""

    def added(columns: dict[str, list[int]], changes: Mapping[str, Amounts]) -> dict[str, list[int]]:
        return columns | {
            name: (np.array(columns[name]) + change).tolist() for name, change in changes.items() if name in columns
        }

    return replace(books, flows=added(books.flows, flows), levels=added(books.levels, levels))


def _mistaken(company: Filer, calendar: Calendar, books: TrueBooks) -> TrueBooks:
    """
    Return books with the income of the last two quarters of the year overstated: by sales not made, or by losses on loans
    not provided for.
    """
    source, part = ("provision", 0.5) if company.trade.books == "finance" else ("revenue", 0.05)
    gross = _share(books.flows[source], part)
    wrong = [place for year in calendar.years if year.label == company.error for place in (year.last - 1, year.last)]
    gross[[place for place in range(len(gross)) if place not in wrong]] = 0
    tax = _share(gross.tolist(), _TAX)
    net = gross - tax
    flows = {"before_tax": gross, "tax": tax, "profit": net, "income": net}
    if source == "provision":
        flows["provision"] = -gross
    else:
        flows |= dict.fromkeys(("revenue", "gross", "operating"), gross)
    levels = dict.fromkeys(("receivable", "current", "assets"), gross.cumsum())
    levels |= dict.fromkeys(("liabilities", "owed_soon"), tax.cumsum())
    levels |= dict.fromkeys(("retained", "equity", "with_minority"), net.cumsum())
    return _changed(books, flows, levels)


def _whole_group(books: TrueBooks) -> TrueBooks:
    """
    Return the books with the part that will be spun off still in them: it keeps its cash, has no debts and invests all it
    earns.
    """
    flows = _business({line: _share(books.flows[line], _SPUN_OFF) for line in _BUSINESS})
    earned = flows["operating"] - flows["tax"]
    flows |= dict.fromkeys(("profit", "income", "from_operations", "capital"), earned) | {"invested": -earned}
    cash, plant = (round(books.levels[line][0] * _SPUN_OFF) for line in ("cash", "plant"))
    retained = earned.cumsum()
    levels = dict.fromkeys(("cash", "cash_total", "current"), np.full_like(earned, cash))
    levels |= dict.fromkeys(("assets", "equity", "with_minority"), cash + plant + retained)
    return _changed(books, flows, levels | {"retained": retained, "plant": plant + retained})


#: What the books of a part of a business are made from.
_BUSINESS = ("revenue", "cost", "research", "selling", "marketing")


def _business(flows: dict[str, Amounts]) -> dict[str, Amounts]:
    """Return the flows of `_BUSINESS` with all down to the tax that follow from them."""
    flows["general"] = flows["selling"] - flows["marketing"]
    flows["gross"] = flows["revenue"] - flows["cost"]
    flows["expenses"] = flows["research"] + flows["selling"]
    flows["costs"] = flows["cost"] + flows["expenses"]
    flows["operating"] = flows["gross"] - flows["expenses"]
    flows["before_tax"] = flows["operating"]
    flows["tax"] = _share(flows["operating"].tolist(), _TAX)
    return flows
