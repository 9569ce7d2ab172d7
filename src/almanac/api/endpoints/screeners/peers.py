"""
The companies as one request sees them: who takes part at its moment, their latest readings, and their scores.

A company takes part while its newest statement ends within eighteen months before the moment asked, and with it its
readings of those months: a line that it has not reported since is no figure of today's. What a plan does not reach takes
no part: no reading that ends before its window, and no company whose newest statement does.

An enterprise takes part once: a registrant that goes on as another one (a new holding company) gives its place to that
one, and its readings where the new one has none yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import day_of
from almanac.api.endpoints.screeners.screening import AlignedColumn, ProcessCache, aligned, newest_ends
from almanac.domain.periods import add_months, lowest_key
from almanac.domain.units import currency_of, is_money
from almanac.reports import scoring
from almanac.reports.screener import Mask, Texts
from almanac.store.companies.succession import known_successions
from almanac.store.companies.universe import Companies, known_at
from almanac.store.observations.reading.newest import QUALITIES

#: The first day with all those months before it.
_EARLY = add_months(date.min, scoring.MONTHS)
_DOLLAR = "USD"
_FAILED = QUALITIES.index("failed")


class CompanyTable(NamedTuple):
    """Companies with what follows from them alone, in the order of (name, id)."""

    companies: Companies
    ties: list[tuple[str, str]]
    numbers: npt.NDArray[np.int32]
    sectors: Texts
    industries: Texts
    currencies: Texts
    countries: Texts
    tickers: Texts
    #: Those that report in another currency than the US dollar.
    foreign: Mask
    row: dict[str, int]


class Peers:
    """Companies and columns for one request."""

    def __init__(self, cache: ProcessCache, ctx: Context) -> None:
        self._cache, self._ctx = cache, ctx
        companies = cache.universe.companies(ctx.view)
        self.table = cache.once(ctx.view, "companies", make=lambda: _table(cache, companies))
        self._last = last = day_of(ctx.as_of)
        first = date.min if last < _EARLY else add_months(last, -scoring.MONTHS)
        if ctx.window_start is not None:
            first = max(first, ctx.window_start)
        self._as_of: int | None = ctx.params.get("as_of")
        #: Key of the newest period each company has a statement of; 0 for those that take no part.
        self.newest = cache.universe.newest(
            ctx.view, companies, version=ctx.version, as_of=self._as_of, first=first, last=last
        )
        #: Rows of registrants that go on as another, and the rows of those.
        self._handed_over = [(old, new) for old, new in self._pairs() if self.newest[new] > 0]
        if self._handed_over:
            self.newest = self.newest.copy()
            self.newest[[old for old, _ in self._handed_over]] = 0
        self.taking_part: Mask = self.newest > 0
        self._first = lowest_key(first)
        #: Whether figures count whose statements fail a grave check.
        self._failed_too = ctx.params.get("quality") == "all"

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the rows of registrants that go on as another with the rows of those, the earliest first: one may go on twice."""
        rows = self.table.row
        pairs = [
            (link.since, rows[link.predecessor], rows[link.successor])
            for link in known_successions(self._ctx.view, self._ctx.as_of)
            if link.predecessor in rows and link.successor in rows
        ]
        return [(old, new) for _, old, new in sorted(pairs)]

    def enterprises(self) -> Mask:
        """Return a mask of the registrants that do not go on as another one."""
        mask: Mask = np.ones(len(self.newest), dtype=np.bool_)
        mask[[old for old, _ in self._pairs()]] = False
        return mask

    def compared(self, row: int) -> scoring.Compared:
        """Return the number of companies that one which takes part is scored among."""
        columns = {name: column.values for name, column in self.measures().items()}
        return scoring.compared(columns, self.table.sectors.codes, self.taking_part, row)

    def readings(self, slug: str, *, dollars: bool = False, failed_too: bool | None = None) -> AlignedColumn:
        """
        Return the latest reading of an indicator, row by row, of the companies that take part.

        `dollars`: an amount of money counts only where the company reports in US dollars and so does the amount. What rests
        on a statement that fails a grave check is no reading, unless the request says `quality=all`, or `failed_too`.
        """
        failed_too = self._failed_too if failed_too is None else failed_too
        view, window = self._ctx.view, self._ctx.window_start
        if self._as_of is not None or self._ctx.version != view.version:
            return self._read(slug, dollars=dollars, failed_too=failed_too)
        # What is known today is asked for again and again; the reading of one company, too, is found in a column of all.
        make = partial(self._read, slug, dollars=dollars, failed_too=failed_too)
        return self._cache.once(view, slug, self._last, dollars, window, failed_too, make=make)

    def _read(self, slug: str, *, dollars: bool, failed_too: bool) -> AlignedColumn:
        column = aligned(self._cache, self._ctx, slug, self.table.numbers).handed_over(self._handed_over)
        column = column.only(column.since(self._first) | ~self.taking_part)
        if not failed_too:
            column = column.only(column.qualities() < _FAILED)
        if not dollars:
            return column
        money = column.with_units(is_money)
        other = column.with_units(lambda unit: is_money(unit) and currency_of(unit, None) != _DOLLAR)
        return column.only(~(other | (money & self.table.foreign)))

    def scores(self) -> scoring.Scores:
        """Return the scores of all that take part, each among the others."""

        def scored() -> scoring.Scores:
            columns = {name: column.values for name, column in self.measures().items()}
            return scoring.score(columns, self.table.sectors.codes, self.taking_part)

        # What a score follows from: the moment, and what the plan reaches.
        moment = (self._ctx.version, self._as_of, self._ctx.window_start, self._last)
        return self._cache.once(self._ctx.view, scoring.MODEL, *moment, self._failed_too, make=scored)

    def qualities(self) -> npt.NDArray[np.int8]:
        """
        Return the worst quality among the measures of each row's score, as an index into `columns.QUALITIES`; -1 if it
        has none.
        """
        worst = np.full(len(self.newest), -1, dtype=np.int8)
        for column in self.measures().values():
            worst = np.maximum(worst, column.qualities())
        return worst

    def score_ends(self) -> npt.NDArray[np.int64]:
        """Return the last day of the period of each row's score, as an ordinal; 0 for a row without a measure."""
        return newest_ends(self.readings(name) for name in scoring.MEASURES)

    def measures(self) -> dict[str, AlignedColumn]:
        """Return the measures of scores: those of each company's newest period that has any."""
        ends = self.score_ends()
        return {name: self.readings(name).ending(ends) for name in scoring.MEASURES}

    def statement_known(self, rows: Sequence[int]) -> dict[int, int]:
        """Return when the newest statement of each of these rows became known, unix seconds."""
        ids = self.table.companies.ids
        period_of = {ids[row]: int(self.newest[row]) for row in rows}
        known = known_at(self._ctx.view, period_of, version=self._ctx.version, as_of=self._as_of)
        return {row: known[ids[row]] for row in rows}


def _table(cache: ProcessCache, companies: Companies) -> CompanyTable:
    return CompanyTable(
        companies,
        list(zip(companies.names, companies.ids, strict=True)),
        cache.readings.numbers(companies.ids),
        Texts.of(companies.sectors),
        Texts.of(companies.industries),
        Texts.of(companies.currencies),
        Texts.of(companies.countries),
        Texts.of(companies.tickers),
        np.array([currency not in {None, _DOLLAR} for currency in companies.currencies], dtype=np.bool_),
        {entity: row for row, entity in enumerate(companies.ids)},
    )
