"""A company as a row: who it is, how it scores among all companies at the moment asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.endpoints.companies.records import CompanyScores
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.screening import AlignedColumn, ProcessCache
from almanac.api.rows.names import exactly
from almanac.domain.numbers import plain
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day
from almanac.reports.scoring import MODEL
from almanac.store.companies.rows import Company, by_id, by_lookup
from almanac.store.companies.statements import last_period

K = TypeVar("K")

PIOTROSKI, ALTMAN, _BENEISH = "piotroski_f", "altman_z2", "beneish_m"
#: Tests whose scores a row shows.
TESTS = (PIOTROSKI, ALTMAN)


def company_of(ctx: Context) -> Company:
    """The company the path names. Raises ApiError 404."""
    name = ctx.path["idOrLookup"]
    found = by_lookup(ctx.view, name)
    if found is None:
        meant = exactly(ctx, name, ["company"])
        found = None if meant is None else by_id(ctx.view, meant.entity)
    if found is None:
        raise ApiError(
            404,
            f"there is no company {quoted(name)}: give an entity id, ticker, CIK, LEI or slug, or a name that is exactly its "
            "own; /entities/resolve finds one by likeness",
            {"parameter": "idOrLookup"},
        )
    return found


class CompanyScoring:
    """How companies stand, for one request."""

    def __init__(self, cache: ProcessCache, ctx: Context) -> None:
        self._ctx = ctx
        self.peers = Peers(cache, ctx)
        self.scores = self.peers.scores()
        told = {name: self.peers.readings(name) for name in (PIOTROSKI, ALTMAN, _BENEISH)}
        self.tests = {name: values for name, values in of_the_newest_end(told).items() if name in TESTS}

    def row(self, company: Company) -> dict[str, Any]:
        """Fields of a row of /companies, by the names of the wire."""
        place = self.peers.table.row.get(company.entity)
        end = company.record.fiscal_year_end
        last = self._last(company.entity, place)
        scores = self.scores
        return {
            "entityId": company.entity,
            "name": company.name,
            "ticker": company.ticker,
            "cik": f"{company.cik:010d}",
            "exchange": company.exchange,
            "country": company.country,
            "sector": company.sector,
            "industry": company.industry,
            "fiscalYearEnd": f"{end[:2]}-{end[2:]}" if end is not None and len(end) == 4 else None,
            "lastPeriodEnd": None if last is None else wire_day(end_of(last)),
            "score": _shown(scores.score, place),
            "scores": {name: _shown(scores.pillars[name], place) for name in CompanyScores.__struct_fields__},
            "piotroskiF": _shown(self.tests[PIOTROSKI], place),
            "altmanZ2": _shown(self.tests[ALTMAN], place),
            "scoreCoverage": 0 if place is None else plain(float(scores.coverage[place])),
            "scoreModel": MODEL,
        }

    def _last(self, entity: str, place: int | None) -> int | None:
        """Key of the newest period: of those that take part it is known, older ones are looked up."""
        if place is not None and self.peers.newest[place]:
            return int(self.peers.newest[place])
        ctx = self._ctx
        return last_period(ctx.view, entity, version=ctx.version, known_by=ctx.as_of, ends_from=ctx.window_start)


def of_the_newest_end(told: Mapping[K, AlignedColumn]) -> dict[K, npt.NDArray[np.float64]]:
    """
    Values of each score by company, NaN for none: those of the newest twelve months of which any score is there. An older
    one beside it would be of other accounts.
    """
    newest = np.maximum.reduce([one.ends() for one in told.values()])
    return {name: np.where(one.ends() == newest, one.values, np.nan) for name, one in told.items()}


def _shown(values: Any, place: int | None) -> float | int | None:
    return None if place is None or np.isnan(values[place]) else plain(float(values[place]))
