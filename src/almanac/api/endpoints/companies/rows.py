"""A company as a row: who it is, how it scores among all companies at the moment asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.endpoints.companies.records import CompanyScores
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn, newest_ends
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.screening import ProcessCache
from almanac.api.rows.names import exactly
from almanac.domain.names import normal
from almanac.domain.numbers import plain
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day, wire_time
from almanac.reports.scoring import MODEL
from almanac.store.companies.aliases import beginning
from almanac.store.companies.rows import Company, by_id, by_ids, by_lookup
from almanac.store.companies.statements import last_period
from almanac.store.companies.succession import known_successions

K = TypeVar("K")

PIOTROSKI, ALTMAN, _BENEISH = "piotroski_f", "altman_z2", "beneish_m"
#: Tests whose scores a row shows.
TESTS = (PIOTROSKI, ALTMAN)


#: Companies told of where a name is none's alone.
_CANDIDATES = 5


def company_of(ctx: Context) -> Company:
    """Return the company that the path names. Raises ApiError 404."""
    name = ctx.path["idOrLookup"]
    found = by_lookup(ctx.view, name)
    if found is None:
        meant = exactly(ctx, name, ["company"])
        found = None if meant is None else by_id(ctx.view, meant.entity)
    if found is None:
        meant_by = _candidates(ctx, name)
        told = ", ".join(f"{one['name']} ({one['slug']})" for one in meant_by)
        raise ApiError(
            404,
            f"there is no company {quoted(name)}{f'; it may be {told}' if told else ''}: give an entity id, ticker, CIK, LEI or "
            "slug, or a name that is exactly its own; /entities/resolve finds one by likeness",
            {"parameter": "idOrLookup"} | ({"candidates": meant_by} if meant_by else {}),
        )
    return found


def _candidates(ctx: Context, name: str) -> list[dict[str, str]]:
    """Companies whose name, or former name, is these words or begins with them, by name: at most five."""
    norm = normal(name)
    ids = {alias.entity for alias in beginning(ctx.view, norm)} if norm else set()
    found = sorted(by_ids(ctx.view, ids).values(), key=lambda one: (one.name, one.entity))[:_CANDIDATES]
    return [{"entityId": one.entity, "name": one.name, "slug": one.slug} for one in found]


class Relatives(NamedTuple):
    """Other registrants of the same enterprise, as could be told at the moment asked; None where there is none."""

    predecessor_of: dict[str, Any] | None
    successor_of: dict[str, Any] | None

    @classmethod
    def of(cls, ctx: Context, company: Company) -> Relatives:
        """Of two the nearest in time: a chain goes on from there."""
        told = known_successions(ctx.view, ctx.as_of)
        after = [(one.since, one.successor) for one in told if one.predecessor == company.entity]
        before = [(one.since, one.predecessor) for one in told if one.successor == company.entity]
        return cls(
            _relative(ctx, *min(after)) if after else None,
            _relative(ctx, *max(before)) if before else None,
        )


def _relative(ctx: Context, since: int, entity: str) -> dict[str, Any] | None:
    found = by_id(ctx.view, entity)
    return None if found is None else {"entityId": entity, "name": found.name, "since": wire_time(since)}


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
        last = self.last(company.entity, place)
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

    def last(self, entity: str, place: int | None) -> int | None:
        """Key of the newest period it has a statement of: of those that take part it is known, older ones are looked up."""
        if place is not None and self.peers.newest[place]:
            return int(self.peers.newest[place])
        ctx = self._ctx
        return last_period(ctx.view, entity, version=ctx.version, known_by=ctx.as_of, ends_from=ctx.window_start)


def of_the_newest_end(told: Mapping[K, AlignedColumn]) -> dict[K, npt.NDArray[np.float64]]:
    """
    Values of each score by company, NaN for none: those of the newest twelve months of which any score is there. An older
    one beside it would be of other accounts.
    """
    newest = newest_ends(told.values())
    return {name: one.ending(newest).values for name, one in told.items()}


def _shown(values: Any, place: int | None) -> float | int | None:
    return None if place is None or np.isnan(values[place]) else plain(float(values[place]))
