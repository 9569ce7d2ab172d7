"""Slopes of several days are not ranked as if they were of one: each says its day, in the sentence and on the chart."""

from __future__ import annotations

from almanac.dashboard.explorer.rates import BASIS_POINTS, Scope, ScopeSlope, Slopes
from almanac.dashboard.formatting.values import NO_DATA, FormattedValue

AUS, USA, JPN = (
    Scope("AUS", "country_aus", "Australia"), Scope("USA", "country_usa", "United States"), Scope("JPN", "country_jpn", "Japan"),
)  # fmt: skip
NOTHING = FormattedValue("none", NO_DATA, NO_DATA)


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
