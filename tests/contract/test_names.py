"""Names and lists of them, in filters and in paths."""

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
