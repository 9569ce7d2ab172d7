"""Histories of many series at once: whole ones, in few requests, whatever else is asked for with them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from almanac.dashboard.explorer.histories import _PAGE, _PAGES, histories
from almanac.dashboard.visit import Visit

TODAY = date(2026, 11, 20)


def rows(
    entity: str, end: date, count: int, step: int, *, instant: bool = False, frequency: str = "daily"
) -> list[Mapping[str, Any]]:
    """The values of one series, the oldest first."""
    days = [end - timedelta(step * back) for back in reversed(range(count))]
    return [
        {
            "entityId": entity, "indicatorId": "indicator_x", "sourceId": "source", "frequency": frequency,
            "periodStart": None if instant else f"{day - timedelta(step - 1)}T00:00:00Z", "periodEnd": f"{day}T00:00:00Z",
            "valueNumeric": number, "valueText": None, "metadata": {"seriesId": f"source:{entity}:x:D"},
            "rights": {"valueWithheld": False},
        }
        for number, day in enumerate(days)
    ]  # fmt: skip


class Interface:
    """Lists of rows as the interface gives them: by entity, by period, by page."""

    def __init__(self, held: Mapping[str, list[Mapping[str, Any]]]) -> None:
        self.held = held
        self.asked: list[dict[str, Any]] = []

    pages = Visit.pages

    def follow(self, _: str, **params: Any) -> Any:
        self.asked.append(params)
        found = [row for entity in sorted(params["entity_id"]) for row in self.held[entity]]
        found = [row for row in found if row["periodEnd"][:10] <= params["period_end"]]
        if params["period_start"] is not None:
            found = [row for row in found if (row["periodStart"] or row["periodEnd"])[:10] >= params["period_start"]]
        begin = int(params["cursor"] or 0)
        more = begin + params["limit"] < len(found)
        return SimpleNamespace(
            data=found[begin : begin + params["limit"]], next_cursor=str(begin + params["limit"]) if more else None
        )


def drawn(held: Mapping[str, list[Mapping[str, Any]]]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many points there are of each entity, and what was asked."""
    interface = Interface(held)
    found = histories(cast("Visit", interface), [one[-1] for one in held.values()], derived=(), as_of="2026-11-20")
    assert {asked["as_of"] for asked in interface.asked} == {"2026-11-20"}
    return {one.split(":")[1]: len(points) for one, points in found.items()}, interface.asked


def test_a_series_that_ended_long_ago_has_no_years_read_of_the_others() -> None:
    held = {f"e{n}": rows(f"e{n}", TODAY, 3_000, 1) for n in range(7)} | {"old": rows("old", date(2019, 1, 31), 900, 1)}
    found, asked = drawn(held)
    assert set(found) == set(held)
    assert all(360 <= count <= 366 for count in found.values())
    assert len(asked) < _PAGES
    assert {one["period_start"][:4] for one in asked} == {"2025", "2018"}


@pytest.mark.parametrize(("series", "days"), [(15, 365), (16, 91), (50, 91)])
def test_of_many_series_of_days_a_shorter_time_is_shown_and_of_each_all_of_it(series: int, days: int) -> None:
    """As many working days as there are in a year; what does not fit into the requests is left out, and here nothing is."""
    held = {}
    for n in range(series):
        every = rows(f"e{n:02}", TODAY, 1_000, 1)
        held[f"e{n:02}"] = [row for row in every if date.fromisoformat(row["periodEnd"][:10]).weekday() < 5]
    found, asked = drawn(held)
    assert set(found) == set(held)
    assert all(days * 5 / 7 - 2 <= count <= days * 5 / 7 + 2 for count in found.values())
    assert len(asked) <= _PAGES


def test_instants_are_read_with_all_else() -> None:
    held = {
        "balance": rows("balance", TODAY, 70, 91, instant=True, frequency="quarterly"),
        "income": rows("income", TODAY, 70, 91, frequency="quarterly"),
    }
    found, asked = drawn(held)
    assert set(found) == set(held)
    assert all(47 <= count <= 49 for count in found.values())
    assert len(asked) == 1


def test_what_is_not_told_to_its_end_is_left_out() -> None:
    held = {f"e{n:03}": rows(f"e{n:03}", TODAY, 2_000, 1) for n in range(100)}
    found, asked = drawn(held)
    assert len(asked) == _PAGES
    assert set(found.values()) == {92}
    assert len(found) == _PAGE * _PAGES // 92
