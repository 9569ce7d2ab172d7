"""
Company scores: the standing of a company among its peers on five pillars, from figures of its accounts alone.

A company's percentile for a measure is its mid-rank among the companies of its sector that have the measure, if there
are at least ten, or else among all companies that have it. A pillar is the mean over the measures that the company has;
the score is the mean over its pillars, of which it needs at least three. Nothing is stored, because a score depends on
the other companies at the requested moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.domain.numbers import significant

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Changes whenever a score may change: measures, directions, minimum counts.
MODEL: Final = "pillars-1"
#: Longest time, in months, between the end of a score's accounts and the requested moment.
MONTHS: Final = 18
#: Companies of a sector with a measure from which they are compared within the sector.
SECTOR_MINIMUM: Final = 10
#: Pillars a score needs.
PILLARS_MINIMUM: Final = 3

#: Pillar → measure → 1 where more is better, −1 where less is. No measure is in two pillars.
PILLARS: Final[Mapping[str, Mapping[str, int]]] = {
    "profitability": {
        "gross_margin": 1,
        "operating_margin": 1,
        "net_margin": 1,
        "fcf_margin": 1,
        "return_on_equity": 1,
        "return_on_assets": 1,
        "return_on_invested_capital": 1,
    },
    "growth": {
        "revenue_growth_yoy": 1,
        "revenue_cagr_3y": 1,
        "net_income_growth_yoy": 1,
        "eps_growth_yoy": 1,
    },
    "strength": {
        "current_ratio": 1,
        "quick_ratio": 1,
        "debt_to_equity": -1,
        "net_debt_to_ebitda": -1,
        "interest_coverage": 1,
        "altman_z2": 1,
    },
    "efficiency": {
        "asset_turnover": 1,
        "inventory_turnover": 1,
        "capex_to_revenue": -1,
    },
    "quality": {
        "piotroski_f": 1,
        "beneish_m": -1,
        "accruals_ratio": -1,
        "cash_conversion": 1,
        "share_count_change_yoy": -1,
    },
}
#: All measures of the scores, in the order of the pillars.
MEASURES: Final = tuple(measure for measures in PILLARS.values() for measure in measures)

#: Share of the measures, indexed by their number.
_SHARES: Final = np.array([significant(count / len(MEASURES)) for count in range(len(MEASURES) + 1)])


class Scores(NamedTuple):
    """
    Arrays with one item per company. `score` and each of `pillars` are 0 to 100 with one decimal, or NaN if there is
    none; `coverage` is 0 to 1.
    """

    score: Numbers
    pillars: dict[str, Numbers]
    #: Share of the measures that the company has; 0 if it isn't scored.
    coverage: Numbers
    model: str = MODEL


class Compared(NamedTuple):
    """
    The numbers behind a company's comparison: scored companies in its sector and in all, its measures, and those ranked
    within the sector.
    """

    sector: int
    all: int
    measures: int
    measures_within_sector: int


def compared(
    columns: Mapping[str, npt.NDArray[Any]], sectors: npt.NDArray[Any], eligible: Flags, company: int
) -> Compared:
    """
    Count the companies and measures that `score`, called with these arguments, uses for the company at this index. The
    company must be eligible.
    """
    own = np.asarray(eligible, dtype=bool) & (np.asarray(sectors) == sectors[company])
    there = {name: ~np.isnan(np.asarray(columns[name], dtype=np.float64)) for name in MEASURES if name in columns}
    has = [flags for flags in there.values() if flags[company]]
    within = sum(int((flags & own).sum()) >= SECTOR_MINIMUM for flags in has)
    return Compared(int(own.sum()), int(np.count_nonzero(eligible)), len(has), within)


def score(columns: Mapping[str, npt.NDArray[Any]], sectors: npt.NDArray[Any], eligible: Flags) -> Scores:
    """
    Score n companies.

    `columns` maps a measure to n floats, with NaN where a company has no value or none that may be shown. A missing
    measure of `MEASURES` counts as one that nobody has; other columns are ignored. `sectors` holds n integers, equal
    for companies of one sector. `eligible` marks the companies that take part; the others have no score and are
    nobody's peers.

    Raises ValueError if the lengths differ.
    """
    count = len(sectors)
    for name, column in (("eligible", eligible), *columns.items()):
        if len(column) != count:
            raise ValueError(f"column {name} has {len(column)} values for {count} companies")
    mask = np.asarray(eligible, dtype=bool)
    _, codes = np.unique(np.asarray(sectors), return_inverse=True)
    groups = codes.astype(np.int32)
    pillars: dict[str, Numbers] = {}
    total, pillars_there = np.zeros(count), np.zeros(count)
    there = np.zeros(count)
    for pillar, measures in PILLARS.items():
        added, found = np.zeros(count), np.zeros(count)
        for measure, direction in measures.items():
            if measure not in columns:
                continue
            values = np.asarray(columns[measure], dtype=np.float64)
            ranks = percentiles(values if direction > 0 else -values, groups, mask)
            has = ~np.isnan(ranks)
            added[has] += ranks[has]
            found += has
        mean = _mean(added, found, 1)
        pillars[pillar] = _rounded(mean)
        known = found > 0
        total[known] += mean[known]
        pillars_there += known
        there += found
    return Scores(_rounded(_mean(total, pillars_there, PILLARS_MINIMUM)), pillars, _SHARES[there.astype(np.intp)])


def percentiles(values: Numbers, groups: npt.NDArray[np.int32], mask: Flags) -> Numbers:
    """
    Return the mid-rank of each value, 0 to 1: the share of compared values below it, plus half of those equal to it,
    itself included.

    Values with `mask` are compared within their group (codes from zero) if it has at least `SECTOR_MINIMUM` of them, or
    else with all values with `mask`. The result is NaN for values that are NaN or without `mask`.
    """
    result = np.full(len(values), np.nan)
    places = np.flatnonzero(mask & ~np.isnan(values))
    if not len(places):
        return result
    places = places[np.argsort(values[places], kind="stable")]
    ordered, own = values[places], groups[places]
    ranks = _midranks(ordered, np.zeros(len(places), dtype=np.int32))
    sizes = np.bincount(own)
    large = sizes[own] >= SECTOR_MINIMUM
    if large.any():
        # A stable sort of values already sorted puts the companies of a group together, ascending.
        within = np.argsort(own, kind="stable")
        among = np.empty(len(places))
        among[within] = _midranks(ordered[within], own[within])
        ranks = np.where(large, among, ranks)
    result[places] = ranks
    return result


def _midranks(values: Numbers, groups: npt.NDArray[np.int32]) -> Numbers:
    """Return the mid-ranks of values sorted by (group, value), each within its group."""
    count = len(values)
    new_group = np.empty(count, dtype=bool)
    new_group[0] = True
    new_group[1:] = groups[1:] != groups[:-1]
    new_run = new_group.copy()
    new_run[1:] |= values[1:] != values[:-1]
    runs, spans = np.flatnonzero(new_run), np.flatnonzero(new_group)
    run, span = np.cumsum(new_run) - 1, np.cumsum(new_group) - 1
    lengths, sizes = np.diff(runs, append=count), np.diff(spans, append=count)
    below = runs[run] - spans[span]
    ranks: Numbers = (below + 0.5 * lengths[run]) / sizes[span]
    return ranks


def _mean(total: Numbers, found: Numbers, least: int) -> Numbers:
    result = np.full(len(total), np.nan)
    enough = found >= least
    result[enough] = total[enough] / found[enough]
    return result


def _rounded(share: Numbers) -> Numbers:
    """Convert a share to a number from 0 to 100 with one decimal."""
    result: Numbers = np.round(share * 1_000) / 10
    return result
