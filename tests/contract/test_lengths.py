"""How long a value may be: declared on each parameter and part of a path, refused by name, and said in the description."""

import pytest

from almanac.api.contract.openapi import document

from .declared import ENDPOINTS, PATH_VALUES, REQUIRED

TEXTS = [
    (path, param.name)
    for path, one in ENDPOINTS.items()
    for param in one.by_name.values()
    if not param.names and param.kind != "integer"
]
PARTS = [(path, part.name) for path, one in ENDPOINTS.items() for part in one.braces]


@pytest.fixture(scope="module")
def described():
    return document(tuple(ENDPOINTS.values()))["paths"]


def schema(described, path, name, where):
    (found,) = (one for one in described[path]["get"]["parameters"] if (one["in"], one["name"]) == (where, name))
    return found["schema"].get("items", found["schema"])


@pytest.mark.parametrize(("path", "name"), TEXTS)
def test_a_value_that_is_too_long_is_refused_by_name(service, described, path, name):
    param = ENDPOINTS[path].by_name[name]
    query = REQUIRED.get(path, {})
    details = service.error(target(path), 400, **query | {name: "x" * (param.longest + 1)})["details"]
    assert details == {"parameter": name, "reason": "range", "allowed": {"maxLength": param.longest}}
    whole = service.get(target(path), **query | {name: "x" * param.longest})
    if whole.status_code == 400:
        assert whole.json()["error"]["details"].get("allowed") != {"maxLength": param.longest}
    if param.kind in {"text", "list"}:
        assert schema(described, path, name, "query")["maxLength"] == param.longest


@pytest.mark.parametrize(("path", "name"), PARTS)
def test_a_part_of_a_path_that_is_too_long_is_refused_by_name(service, described, path, name):
    (part,) = (one for one in ENDPOINTS[path].braces if one.name == name)
    query = REQUIRED.get(path, {})
    for length, status in ((part.longest + 1, 400), (part.longest, 404)):
        error = service.error(path.replace(f"{{{name}}}", "x" * length), status, **query)
        if status == 400:
            assert error["details"] == {"parameter": name, "reason": "range", "allowed": {"maxLength": part.longest}}
    assert schema(described, path, name, "path")["maxLength"] == part.longest


def target(path):
    return (
        path.replace("{idOrSlug}", PATH_VALUES.get(path, ""))
        .replace("{id}", "obs_x")
        .replace("{scope}", "USA")
        .replace("{country}", "USA")
        .replace("{idOrIso}", "USA")
        .replace("{idOrLookup}", "ACW")
    )
