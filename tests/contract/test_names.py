"""Names and lists of them, in filters and in paths."""

from unittest import mock
from urllib.parse import quote

import pytest

from almanac.domain.names import normal
from almanac.reports.names import foreign_names
from almanac.store.summary import native_codes
from tests.support.service import CATALOG

from .declared import ENDPOINTS, LISTS, PATH_VALUES, REQUIRED

NAMED = ("country", "entity", "entity_id", "source_id", "provider_id")
#: A list and a parameter of it that takes several names. The interface document wants a single country of the screener.
SEVERAL = [
    (path, name) for path in LISTS if path != "/screener" for name in ENDPOINTS[path].by_name if name in NAMED
]  # fmt: skip
#: Column of a row that a parameter is about.
COLUMN = {"source_id": "sourceId", "provider_id": "providerId"}


def walk(service, path, **query):
    target = path.replace("{idOrSlug}", PATH_VALUES.get(path, ""))
    return service.walk(target, limit=ENDPOINTS[path].max_limit, **{**REQUIRED.get(path, {}), **query})


@pytest.mark.parametrize(("path", "name"), SEVERAL)
def test_a_list_is_the_union_of_its_names(service, path, name):
    """`country`, `entity`, `entity_id`, `source_id`, `provider_id` take lists by comma."""
    column = COLUMN.get(name, "country" if path in {"/companies", "/events"} and name == "country" else "entityId")
    whole = walk(service, path)
    names = sorted({row[column] for row in whole if row[column] is not None})
    assert names
    # A narrower choice of sources may let another row of a cell win: of one source there is nothing to choose from.
    every = {"sources": "all"} if "sources" in ENDPOINTS[path].by_name else {}
    parts = [row for one in names[:2] for row in walk(service, path, **every, **{name: one})]
    found = walk(service, path, **every, **{name: f" {names[0]} ,{','.join(names[:2])}"})
    if path == "/observations/latest" and name in COLUMN:
        assert {(r["indicatorId"], r["entityId"]) for r in found} == {(r["indicatorId"], r["entityId"]) for r in parts}
    else:
        assert sorted(map(repr, found)) == sorted(map(repr, parts))
    assert {row[column] for row in found} <= set(names[:2])


@pytest.mark.parametrize(("path", "name"), SEVERAL)
def test_at_most_a_hundred(service, path, name):
    """At most 100 values; an empty one is refused."""
    target = path.replace("{idOrSlug}", PATH_VALUES.get(path, ""))
    required = REQUIRED.get(path, {})
    many = ",".join(f"x{number}" for number in range(100))
    assert len(service.get(target, **required, **{name: many}).json()["meta"]["warnings"]) == 100
    details = service.error(target, 400, **required, **{name: f"{many},y"})["details"]
    assert details == {"parameter": name, "reason": "range", "allowed": {"maximum": 100}}
    assert service.error(target, 400, **required, **{name: "a,,b"})["details"]["reason"] == "empty"


def test_lists_of_two_parameters_meet(service):
    """What is named by each of several parameters: the rows that all of them allow."""
    rows = walk(service, "/observations", country="USA,JPN", entity="japan,germany", entity_id="country_jpn")
    assert {row["entityId"] for row in rows} == {"country_jpn"}
    assert walk(service, "/events", entity="japan,acme-widgets-inc", entity_id="united-states") == []


#: Paths that name an entity, and the types of it that they take.
PLACES = {"country", "region"}
PATHS = {
    "/countries/{}": PLACES,
    "/briefs/{}": PLACES,
    "/entities/{}/aliases": {*PLACES, "company"},
    "/companies/{}/profile": {"company"},
    "/companies/{}/financials": {"company"},
}
ENTITIES = ("united-kingdom", "euro-area", "cote-divoire", "acme-widgets-inc", "company_0000005003")


@pytest.mark.parametrize("entity", ENTITIES)
def test_every_name_that_resolves_exactly_works_in_every_path(service, entity):
    """Every name that /entities/resolve finds exactly works in every path; what it finds by likeness does not."""
    tried = 0
    for alias in service.walk(f"/entities/{entity}/aliases"):
        for spelled in {alias["alias"], alias["alias"].upper(), alias["alias"].lower()}:
            told = service.ok("/entities/resolve", alias=spelled)
            if (told["match"], told["entityId"]) != ("exact", alias["entityId"]):
                continue
            for path, types in PATHS.items():
                target = path.format(quote(spelled, safe=""))
                if told["type"] not in types:
                    assert service.get(target).status_code == 404, target
                    continue
                assert (
                    service.get(target).json()["data"] == service.get(path.format(told["entityId"])).json()["data"]
                ), target
                tried += 1
    assert tried > 10


@pytest.mark.parametrize("name", ["Acme", "Acme Widget Inc.", "Untied States", "unitedkingdom"])
def test_likeness_is_for_resolving(service, name):
    """What is found otherwise than exactly is 404 in a path."""
    told = service.ok("/entities/resolve", alias=name)
    assert told["match"] != "exact"
    for path in PATHS:
        assert service.get(path.format(quote(name))).status_code == 404


def test_a_name_of_two_means_neither(own):
    """Where a name is exactly that of two, a path does not guess, as /entities/resolve does not."""
    with own.world() as world, world.batch("test") as batch:
        for cik in (5001, 5002):
            world.db.execute(
                "INSERT INTO alias VALUES(?, 'former_name', 'Twin Corp', 'twin', 0, NULL, NULL, 'sec', NULL)",
                (f"company_{cik:010d}",),
            )
        batch.touch()
    told = own.ok("/entities/resolve", alias="Twin Corp")
    assert (told["entityId"], told["match"]) == (None, "exact")
    assert own.error("/companies/Twin%20Corp/profile", 404)["code"] == "not_found"
    assert own.error("/entities/Twin%20Corp/aliases", 404)["code"] == "not_found"


# Publishers' own codes of series: what rows call `nativeId` finds the indicator, the series and the entity.


RESOLVE = "/entities/resolve"


@pytest.mark.parametrize(
    ("words", "slugs"),
    [
        ("CPIAUCNS", ["cpi_index_nsa"]),
        ("cpiaucns", ["cpi_index_nsa"]),
        ("BC_10YEAR", ["gov_yield_10y"]),
        # No part of another's code, and no word of a name.
        ("CPIAUCN", []),
    ],
)
def test_an_indicator_by_the_code_of_a_series(service, words, slugs):
    assert [row["slug"] for row in service.ok("/indicators", q=words)] == slugs


def test_every_code_that_a_row_tells_finds_its_series(service):
    """The law of it: what `nativeId` says is what `native_id`, `q` and the scheme `native` take."""
    found = 0
    for slug in ("cpi_index_nsa", "gov_yield_10y", "unemployment_rate", "real_gdp"):
        for row in service.ok(f"/indicators/{slug}/series"):
            code = row["nativeId"]
            assert slug in [one["slug"] for one in service.ok("/indicators", q=code)]
            told = service.ok(f"/indicators/{slug}/series", native_id=code.lower())
            assert row["id"] in [one["id"] for one in told]
            assert {one["nativeId"] for one in told} == {code}
            resolved = service.ok(RESOLVE, alias=code, scheme="native")
            assert row["entityId"] in [one["entityId"] for one in resolved["candidates"]]
            found += 1
    assert found >= 5


def test_the_entity_of_a_code(service):
    found = service.ok(RESOLVE, "reference:read", alias="cpiaucns", scheme="native")
    (candidate,) = found.pop("candidates")
    assert found == candidate == {
        "entityId": "country_usa", "type": "country", "name": "United States", "slug": "united-states",
        "matchedAlias": "CPIAUCNS", "scheme": "native", "match": "exact", "confidence": 1,
    }  # fmt: skip
    assert service.error(RESOLVE, 404, alias="CPIAUCNS", scheme="native", type="company")["details"] == {
        "parameter": "alias"
    }
    assert "'NIXNIX'" in service.error(RESOLVE, 404, alias="NIXNIX", scheme="native")["message"]
    # Without the scheme it is no name of anybody, and is said to be a code.
    assert "scheme=native" in service.error(RESOLVE, 404, alias="CPIAUCNS")["message"]
    assert service.error("/countries/CPIAUCNS", 404)


def test_series_of_some_codes(service):
    path = "/indicators/gov_yield_10y/series"
    told = service.ok(path, native_id="BC_10YEAR,10Y")
    assert {row["entityId"] for row in told} == {"country_usa", "country_jpn"}
    answer = service.get(path, native_id="bc_10year,CPIAUCNS,NIXNIX").json()
    assert {row["nativeId"] for row in answer["data"]} == {"BC_10YEAR"}
    assert [(one["value"], one["reason"]) for one in answer["meta"]["warnings"]] == [
        ("CPIAUCNS", "is the code of no series of this indicator"),
        ("NIXNIX", "is the code of no series of this indicator"),
    ]


def test_a_code_with_a_stroke_or_a_point_and_a_part_of_one(service):
    made = [
        native_codes.CodedSeries(1, "a:country_usa:gdp:A", "gdp", "country_usa", "USA/NY.GDP.MKTP.CD"),
        native_codes.CodedSeries(2, "b:country_usa:fx:D", "fx", "country_usa", "EXR.D.USD.EUR.SP00.A"),
    ]
    with service.reader.view() as view, mock.patch.object(native_codes, "coded_series", return_value=made):
        assert [one.number for one in native_codes.with_code(view, " exr/d.usd/eur.sp00.a")] == [2]
        assert [one.number for one in native_codes.with_code(view, "usa.ny.gdp.mktp.cd")] == [1]
        assert native_codes.with_code(view, "NY.GDP.MKTP.CD") == []
        # As a part by itself, between points: not where letters go on, and no plain word of it.
        found = {
            part: native_codes.holding(view, part)
            for part in ("NY.GDP.MKTP.CD", "GDP.MKTP", "Y.GDP.MKTP", "SP00.A", "MKTP")
        }
        assert {part: sorted(slugs) for part, slugs in found.items()} == {
            "NY.GDP.MKTP.CD": ["gdp"], "GDP.MKTP": ["gdp"], "Y.GDP.MKTP": [], "SP00.A": ["fx"], "MKTP": [],
        }  # fmt: skip


# -- places by whatever they are called, in queries as in paths; and what is said where they have nothing -------------


LISTS_BY_PLACE = (
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
@pytest.mark.parametrize("path", LISTS_BY_PLACE)
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
