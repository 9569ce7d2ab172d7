"""How current statements are, why there is no score, among whom there is one; and what a split is, and what is none."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from almanac.dashboard.explorer.companies import age, compared, unscored
from almanac.dashboard.explorer.statements import split

TODAY = date(2026, 11, 1)


def held(*frequencies: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one, "income"): {"frequency": one} for one in frequencies}


@pytest.mark.parametrize(
    ("frequencies", "end", "kind"),
    [
        (("annual", "quarterly"), "2026-06-30", "good"),
        (("annual", "quarterly"), "2025-12-31", "warn"),
        (("annual",), "2025-12-31", "good"),
        (("semiannual",), "2025-12-31", "good"),
        (("quarterly",), "2009-06-30", "warn"),
    ],
)
def test_statements_are_as_current_as_series_of_their_frequency(
    frequencies: tuple[str, ...], end: str, kind: str
) -> None:
    chip = age(f"{end}T00:00:00Z", held(*frequencies), TODAY)
    assert chip is not None
    assert chip["kind"] == kind
    assert ("stale" in chip["text"]) == (kind == "warn")


def test_without_statements_there_is_no_age() -> None:
    assert age(None, {}, TODAY) is None


def record(**more: Any) -> dict[str, Any]:
    pillars = dict.fromkeys(("profitability", "growth", "strength", "efficiency", "quality"))
    return {"score": None, "scores": pillars, "lastPeriodEnd": "2026-06-30T00:00:00Z", "sector": "Energy", **more}


def test_why_there_is_no_score() -> None:
    def said(**more: Any) -> str:
        return unscored(record(**more), TODAY).replace("\xa0", " ")

    assert said(score=50.0) == ""
    assert "ended on 30 Jun 2009" in said(lastPeriodEnd="2009-06-30T00:00:00Z")
    assert "last 18 months" in said(lastPeriodEnd="2025-04-30T00:00:00Z")
    assert "needs 3 of 5 pillars, and of none a measure is known" in said(lastPeriodEnd="2025-05-01T00:00:00Z")
    assert "of 2 of 5" in said(scores={**record()["scores"], "growth": 1.0, "quality": 2.0})
    assert said(lastPeriodEnd=None) == "Not scored: no statement is known."


def test_among_whom_a_score_is_taken_is_said_with_how_many() -> None:
    def said(sector: int, within: int, measures: int = 20) -> str:
        peers = {"sector": sector, "all": 14, "measures": measures, "measuresWithinSector": within}
        return compared(record(scorePeers=peers))

    assert compared(record(scorePeers=None)) == ""
    assert "the 12 companies of Energy" in said(12, 20)
    assert "all 14 companies" in said(2, 0)
    assert "of Energy" in said(2, 0)
    assert "5 of 20 measures compare with companies of Energy (11)" in said(11, 5)


@pytest.mark.parametrize(
    ("changed", "ratio"),
    [
        # A 4-for-1 split of 2020, restated in the next annual report.
        (
            {
                "earnings_per_share_diluted": (11.89, 2.97),
                "dividends_per_share": (3.00, 0.75),
                "weighted_average_shares_diluted": (4_648_913_000, 18_595_651_000),
            },
            Fraction(4),
        ),
        ({"weighted_average_shares_basic": (1_000_000, 1_500_000)}, Fraction(3, 2)),
        ({"earnings_per_share_basic": (-0.31, -3.1), "earnings_per_share_diluted": (-0.31, -3.1)}, Fraction(1, 10)),
        ({"weighted_average_shares_basic": (500_000_000, 10_000_000)}, Fraction(1, 50)),
        # A correction: the shares stay, or move by what is no split.
        ({"earnings_per_share_basic": (1.20, 1.12), "earnings_per_share_diluted": (1.19, 1.11)}, None),
        ({"earnings_per_share_basic": (2.00, 1.00)}, None),
        (
            {"earnings_per_share_basic": (2.00, 1.00), "weighted_average_shares_basic": (1_000_000, 1_010_000)},
            None,
        ),
        ({}, None),
    ],
)
def test_a_split_is_one_ratio_that_explains_all_lines(
    changed: dict[str, tuple[float, float]], ratio: Fraction | None
) -> None:
    assert split(changed) == ratio
