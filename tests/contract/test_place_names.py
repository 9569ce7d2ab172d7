"""Places by whatever they are called, in queries as in paths; and what is said where they have nothing."""

import pytest

from almanac.domain.names import normal
from almanac.reports.names import foreign_names
from tests.support.service import CATALOG

LISTS = (
    "/observations",
    "/observations/latest",
    "/observations/vintages",
    "/derived-observations",
    "/events",
    "/release-summaries",
)


@pytest.mark.parametrize(
    "name",
    [
        "United States",
        "america",
        "Vereinigte Staaten",
        "États-Unis",
        "Estados Unidos",
        "美国",
        "アメリカ合衆国",
        "미국",
        "U.S.",
    ],
)
@pytest.mark.parametrize("path", LISTS)
def test_a_country_by_name_is_the_one_by_code(service, path, name):
    told, wanted = (service.get(path, country=one, limit=5).json() for one in (name, "USA"))
    assert told["data"] == wanted["data"]
    assert told["meta"].get("warnings") == wanted["meta"].get("warnings")


@pytest.mark.parametrize("name", ["日本", "Giappone", "Japón", "Japan"])
def test_the_same_in_paths_and_screens(service, name):
    assert service.ok(f"/countries/{name}")["id"] == "country_jpn"
    assert service.ok("/entities/resolve", alias=name)["entityId"] == "country_jpn"
    assert [row["entityId"] for row in service.ok("/screener", filter="gov_yield_10y:gt:0", country=name)] == [
        "country_jpn"
    ]


def test_every_foreign_name_means_its_place_alone():
    """No name is of two places, in whichever language, as far as names are compared."""
    own = {}
    for entity in CATALOG.entities.values():
        for name in (entity.name, entity.slug, entity.iso2, entity.iso3, *entity.aliases, *entity.former_names):
            own.setdefault(normal(name or ""), set()).add(entity.id)
    held = {}
    for alias in foreign_names(CATALOG.entities.values()):
        assert alias.norm
        assert own.get(alias.norm, {alias.entity}) == {alias.entity}, alias
        assert held.setdefault(alias.norm, alias.entity) == alias.entity, alias
    assert len(held) > 2_500
    assert set(held.values()) >= {entity.id for entity in CATALOG.entities.values() if entity.iso2}


def test_foreign_names_are_found_and_neither_listed_nor_guessed_from(service):
    assert "Allemagne" not in {row["alias"] for row in service.ok("/entities/germany/aliases")}
    assert service.ok("/entities/resolve", alias="allemagne")["match"] == "exact"
    assert service.ok("/entities/resolve", alias="Corée du Sud")["entityId"] == "country_kor"
    assert service.ok("/entities/resolve", alias="zone euro")["entityId"] == "region_euro_area"
    # A name that two places share is neither's.
    assert service.get("/countries/Congo").status_code == service.get("/countries/Kongo").status_code == 404


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("country=USA&country=JPN", "several values go into one, separated by commas"),
        ("limit=1&limit=2", "it takes one value"),
    ],
)
def test_a_parameter_given_twice_says_how_several_values_are_given(service, query, words):
    answer = service.get(f"/observations?{query}")
    assert answer.status_code == 400
    name = query.partition("=")[0]
    assert answer.json()["error"]["message"] == f"'{name}' is given more than once; {words}"
