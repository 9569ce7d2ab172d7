"""The heat map: a place among ten years in words, a number and a colour; nothing of it for what is stale, withheld or too short."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import pytest

from almanac.dashboard.explorer.countries import HeatCell, heat_map


def reading(slug, value, percentile=None, **more):
    return {
        "indicatorId": f"indicator_{slug}", "name": slug, "value": value, "unit": "percent", "currency": None,
        "periodEnd": "2026-10-31T00:00:00Z", "previous": None, "percentile10y": percentile, "freshnessStatus": "fresh",
        "seriesId": f"invented:country_x:{slug}:M", "rights": {"valueWithheld": False}, **more,
    }  # fmt: skip


class Visit:
    """As much of a visit as the map asks for: briefs that are given, and its own address."""

    as_of, today, path = None, date(2026, 11, 25), "/countries"

    def __init__(self, briefs, **query):
        self.briefs, self.query, self.asked, self.followed = briefs, query, [], []

    def ask(self, path, **_):
        self.asked.append(path)
        return self._told(path)

    def follow(self, path, **_):
        self.followed.append(path)
        return self._told(path)

    def _told(self, path):
        inflation = self.briefs[path.removeprefix("/briefs/")]
        growth = {"key": "growth", "title": "Growth", "readings": []}
        return SimpleNamespace(
            data={"sections": [growth, {"key": "inflation", "title": "Inflation", "readings": inflation}]}
        )

    def here(self, **changes):
        return "&".join(f"{name}={value}" for name, value in {**self.query, **changes}.items() if value)


def made(briefs, **query):
    return heat_map(Visit(briefs, **query), [{"slug": name, "name": name.title()} for name in briefs])


def cells(found):
    return {row["name"]: row["cells"] for row in found["rows"]}


@pytest.mark.parametrize(
    ("percentile", "place", "kind"),
    [(0, "very low, 0", "p1"), (9.9, "very low, 10", "p1"), (10, "low, 10", "p2"), (30, "usual, 30", "p3"), (69.9, "usual, 70", "p3"),
     (70, "high, 70", "p4"), (90, "very high, 90", "p5"), (100, "very high, 100", "p5")],
)  # fmt: skip
def test_a_place_is_told_in_a_word_a_number_and_a_colour(percentile, place, kind):
    (cell,) = cells(made({"a": [reading("cpi_inflation_yoy", 2.5, percentile)]}))["A"]
    assert (cell.place, cell.kind, cell.look.text) == (place, kind, "2.5")
    assert cell.href == "/series/invented:country_x:cpi_inflation_yoy:M"


def test_what_is_stale_short_or_withheld_has_no_colour():
    found = cells(
        made(
            {
                "short": [reading("cpi_inflation_yoy", 2.5)],
                "stale": [reading("cpi_inflation_yoy", 3.5, 95, freshnessStatus="stale")],
                "shut": [reading("cpi_inflation_yoy", None, None, rights={"valueWithheld": True})],
                "none": [],
            }
        )
    )
    assert (found["Short"][0].place, found["Short"][0].kind) == ("", "")
    assert (found["Stale"][0].place, found["Stale"][0].kind) == ("stale", "")
    assert (found["Shut"][0].look.text, found["Shut"][0].kind) == ("Withheld", "")
    assert "None" not in found


def test_who_has_nothing_is_named_and_every_other_cell_is_told_empty():
    found = made({"a": [reading("cpi_inflation_yoy", 1.0)], "b": [reading("policy_rate", 2.0)], "c": []})
    assert found["without"] == ["C"]
    assert cells(found)["A"][1] == cells(found)["B"][0] == HeatCell()


def test_a_head_sorts_and_sorts_back():
    briefs = {name: [reading("cpi_inflation_yoy", value)] for name, value in (("a", 2.0), ("b", 9.0), ("c", 4.0))}
    briefs["d"] = [reading("policy_rate", 1.0)]
    found = made(briefs, sort="cpi_inflation_yoy")
    assert [row["name"] for row in found["rows"]] == ["B", "C", "A", "D"]
    assert (found["columns"][0]["sorted"], found["columns"][0]["sort"]) == (
        "descending",
        "sort=cpi_inflation_yoy&order=asc",
    )
    found = made(briefs, sort="cpi_inflation_yoy", order="asc")
    assert [row["name"] for row in found["rows"]] == ["A", "C", "B", "D"]
    assert [row["name"] for row in made(briefs, sort="no_such_thing")["rows"]] == ["A", "B", "C", "D"]


def test_one_brief_stands_for_the_requests_of_all():
    visit = Visit({"a": [], "b": [], "c": []})
    heat_map(visit, [{"slug": name, "name": name} for name in "abc"])
    assert (visit.asked, visit.followed) == (["/briefs/a"], ["/briefs/b", "/briefs/c"])


def test_a_section_has_all_of_its_measures_and_no_others():
    briefs = {"a": [reading("cpi_inflation_yoy", 1.0), reading("ppi_inflation_yoy", 2.0)]}
    assert [one["slug"] for one in made(briefs)["columns"]] == ["cpi_inflation_yoy"]
    assert [one["slug"] for one in made(briefs, section="inflation")["columns"]] == [
        "cpi_inflation_yoy",
        "ppi_inflation_yoy",
    ]
    assert made(briefs, section="growth")["columns"] == []
    assert [one["title"] for one in made(briefs)["sections"]] == ["In short", "Growth", "Inflation"]
