"""The points that a script draws over a chart: a gap of years is a gap there too."""

from __future__ import annotations

from typing import Any

import pytest

from almanac.dashboard.explorer.series import line
from almanac.dashboard.formatting.values import points, runs


def rows(*days: str, frequency: str = "daily", withheld: str = "") -> list[dict[str, Any]]:
    return [
        {
            "periodStart": None if frequency == "daily" else f"{day[:7]}-01T00:00:00Z", "periodEnd": f"{day}T00:00:00Z", "frequency": frequency,
            "valueNumeric": None if day == withheld else float(number), "unit": "percent", "indicatorId": "indicator_gov_yield_10y",
            "metadata": {}, "rights": {"valueWithheld": day == withheld},
        }
        for number, day in enumerate(days)
    ]  # fmt: skip


def drawn(told: dict[str, Any]) -> list[list[float]]:
    """What a script joins: neighbours with a value."""
    found: list[list[float]] = [[]]
    for value in told["values"]:
        if value is None:
            found.append([])
        else:
            found[-1].append(value)
    return [one for one in found if one]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (rows("1991-12-30", "1991-12-31", "1998-01-02", "1998-01-05"), [[0, 1], [2, 3]]),
        (rows("1998-01-02", "1998-01-05"), [[0, 1]]),
        (rows("1998-01-02", "1998-01-12", "1998-01-23"), [[0, 1], [2]]),
        (rows("2020-01-31", "2020-02-29", "2020-04-30", frequency="monthly"), [[0, 1], [2]]),
        (rows("1998-01-02", "1998-01-05", "1998-01-06", withheld="1998-01-05"), [[0], [2]]),
        ([], []),
    ],
)
def test_a_script_joins_what_the_drawing_joins(told: list[dict[str, Any]], expected: list[list[float]]) -> None:
    made = line(told)
    assert drawn(made) == expected == [[point.value for point in run] for run in runs(points(told))]
    assert len(made["days"]) == len(made["values"]) == len(made["told"])
    assert made["days"] == sorted(set(made["days"]))


def test_a_gap_says_between_which_days_it_lies() -> None:
    made = line(rows("1991-12-31", "1998-01-02"))
    assert made["told"][1].replace("\xa0", " ") == "No value between 31 Dec 1991 and 2 Jan 1998"
