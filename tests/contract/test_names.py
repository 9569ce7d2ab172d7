"""Names and lists of them, in filters and in paths."""

from urllib.parse import quote

import pytest

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
