"""The heat map: a place among ten years in words, a number and a colour; nothing of it for what is stale, withheld or too short."""

from datetime import date
from types import SimpleNamespace

from almanac.dashboard.explorer.countries import heat_map


def reading(slug, value, percentile=None, **more):
    return {
        "indicatorId": f"indicator_{slug}", "name": slug, "value": value, "unit": "percent", "currency": None,
        "periodEnd": "2026-10-31T00:00:00Z", "previous": None, "percentile10y": percentile, "freshnessStatus": "fresh",
        "seriesId": f"invented:country_x:{slug}:M", "rights": {"valueWithheld": False}, **more,
    }  # fmt: skip


class Visit:
    """As much of a visit as the map asks for: briefs that are given, and its own address."""

    as_of, then, today, path = None, "", date(2026, 11, 25), "/countries"

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
