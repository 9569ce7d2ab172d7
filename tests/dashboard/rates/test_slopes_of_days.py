"""Slopes of several days are not ranked as if they were of one: each says its day, in the sentence and on the chart."""

from __future__ import annotations

from almanac.dashboard.explorer.rates.curves import Scope, Yields
from almanac.dashboard.explorer.rates.slopes import BASIS_POINTS, ScopeSlope, Slopes
from almanac.dashboard.words.values import NO_DATA, Look

AUS, USA, JPN = (
    Scope("AUS", "country_aus", "Australia"), Scope("USA", "country_usa", "United States"), Scope("JPN", "country_jpn", "Japan"),
)  # fmt: skip
NOTHING = Look("none", NO_DATA, NO_DATA)


def caption(*slopes: tuple[Scope, float | None, str]) -> tuple[str, str]:
    rows = [
        ScopeSlope(scope, name, value, NOTHING, days) for name in ("2s10s", "5s30s") for scope, value, days in slopes
    ]
    figure = Slopes(rows, BASIS_POINTS, 0).figures(USA)[0]
    assert figure.drawing is not None
    return figure.caption, "".join(figure.drawing.svgs)


def test_slopes_of_several_days_say_them() -> None:
    words, drawn = caption((AUS, 143.0, "13 Feb 2014"), (USA, 25.0, "11 Mar 2022"), (JPN, None, "11 Sep 2026"))
    assert "highest in Australia (13 Feb 2014), at 143 basis points" in words
    assert "lowest in United States (11 Mar 2022)" in words
    assert "Japan has no data" in words
    assert "+143, 13 Feb 2014" in drawn


def test_slopes_of_one_day_do_not() -> None:
    words, drawn = caption((AUS, 143.0, "11 Mar 2022"), (USA, 25.0, "11 Mar 2022"), (JPN, None, ""))
    assert "2022" not in words + drawn


def row(indicator: str, day: str, value: float | None, frequency: str = "daily") -> dict[str, object]:
    return {
        "entityId": USA.entity, "indicatorId": f"indicator_{indicator}", "periodEnd": f"{day}T00:00:00Z",
        "valueNumeric": value, "frequency": frequency,
    }  # fmt: skip


def test_yields_and_slopes_of_long_ago_are_none_of_a_curve() -> None:
    """A tenor that is published no more, and the slope it had, are not drawn beside the yields of today."""
    found = Yields(
        [USA],
        [
            row("gov_yield_2y", "2004-05-20", 2.5), row("gov_yield_10y", "2004-06-01", 4.7),
            row("gov_yield_5y", "2004-04-30", 3.9, "monthly"), row("gov_yield_30y", "2002-02-15", 5.4),
            row("yield_slope_5s30s", "2002-02-15", 1.1), row("yield_slope_2s10s", "2004-05-20", 2.1),
        ],
    )  # fmt: skip
    assert [step.value for step in found.steps(USA)] == [2.5, 3.9, 4.7, None]
    assert found.derived(USA, "yield_slope_5s30s") is None
    assert found.derived(USA, "yield_slope_2s10s") is not None
