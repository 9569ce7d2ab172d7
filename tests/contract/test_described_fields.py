"""The machine-readable description says what every field and parameter is, and real answers are what it says."""

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from almanac.api.contract.errors import CODES
from almanac.api.contract.openapi import document
from almanac.api.interface import endpoints

from .declared import ENDPOINTS
from .test_every_endpoint import get
from .test_whole_sandbox import requests


@pytest.fixture(scope="module")
def told():
    return document(endpoints(lambda _view, _row: None))


def fields(schema, where):
    """Every property of a schema and of the schemas inside it, with the way there."""
    for name, one in schema.get("properties", {}).items():
        yield f"{where}.{name}", one
        yield from fields(one, f"{where}.{name}")
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
        if isinstance(inner, dict):
            yield from fields(inner, where)


def test_the_document_is_valid(told):
    assert list(OpenAPIV31SpecValidator(told).iter_errors()) == []


def test_every_field_and_every_parameter_is_described(told):
    """100 %: description of each, in words that end as a sentence; none says only its own name."""
    found = [pair for name, one in told["components"]["schemas"].items() for pair in fields(one, name)]
    assert len(found) > 500
    assert [where for where, one in found if not one.get("description", "").endswith(".")] == []
    parameters = [
        (path, one) for path, item in told["paths"].items() for way in item.values() for one in way["parameters"]
    ]
    assert len(parameters) > 360
    assert [
        (path, one["name"]) for path, one in parameters if not one.get("description", "").rstrip("`").endswith(".")
    ] == []
    assert [name for name, one in told["components"]["schemas"].items() if not one.get("description")] == []
    assert [tag["name"] for tag in told["tags"] if not tag.get("description")] == []


def test_formats_and_enumerations(told):
    """Times are `date-time`, days `date`, addresses `uri`; words of a closed list are an `enum` of strings."""
    schemas = told["components"]["schemas"]
    for name, schema in schemas.items():
        for where, one in fields(schema, name):
            kinds = [one, *one.get("anyOf", ())]
            last = where.rpartition(".")[2]
            if last.endswith("At") or last in {"periodStart", "periodEnd", "firstPeriod", "lastPeriod", "asOf"}:
                assert (
                    "date-time" in {kind.get("format") for kind in kinds} or where == "ObservationMetadata.publishedAt"
                )
            if last in {"url", "sourceUrl", "homepage", "termsUrl"}:
                expected = "uri-reference" if last == "homepage" else "uri"
                assert expected in {kind.get("format") for kind in kinds}, where
            assert all(kind.get("type") == "string" for kind in kinds if "enum" in kind), where
    assert "adjusted" in schemas["ObservationMetadata"]["properties"]["seasonalAdjustment"]["description"]


def test_objects_are_open(told):
    """A generated client must survive a new field."""
    assert '"additionalProperties": false' not in str(told).replace("'", '"').replace("False", "false")


def test_every_list_and_object_has_a_shape_with_a_name(told):
    for path, endpoint in ENDPOINTS.items():
        if endpoint.record is None:
            continue
        schema = told["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        kind = "List" if endpoint.kind == "list" else "Item"
        assert schema == {"$ref": f"#/components/schemas/{endpoint.record.__name__}{kind}"}


def undeclared(value, schema, schemas, where=""):
    """Keys of an answer that its schema does not name."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    found = []
    for choice in schema.get("anyOf", ()):
        if "$ref" in choice and isinstance(value, dict):
            found += undeclared(value, choice, schemas, where)
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{where}.{key}" for key in value.keys() - schema["properties"].keys()]
        for key in value.keys() & schema["properties"].keys():
            found += undeclared(value[key], schema["properties"][key], schemas, f"{where}.{key}")
    elif isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        for one in value.values():
            found += undeclared(one, schema["additionalProperties"], schemas, where)
    elif isinstance(value, list) and "items" in schema:
        for one in value:
            found += undeclared(one, schema["items"], schemas, where)
    return found


FORMATS = jsonschema.FormatChecker(["date", "date-time"])


def misfits(told, response, body):
    """What of a body is not as a response's schema says, and what of it the schema does not name."""
    schema = response["content"]["application/json"]["schema"]
    whole = {**schema, "components": told["components"]}
    checker = jsonschema.Draft202012Validator(whole, format_checker=FORMATS)
    errors = [f"{list(one.absolute_path)}: {one.message[:200]}" for one in checker.iter_errors(body)]
    return errors[:5] + sorted(set(undeclared(body, schema, told["components"]["schemas"])))[:5]


def conforms(told, path, answer):
    return misfits(told, told["paths"][path]["get"]["responses"][str(answer.status_code)], answer.json())


def test_every_answer_and_every_error_has_an_example_that_fits(told):
    """What the description shows is what is answered: tests/docs asks for all of them again."""
    for path in DESCRIBED:
        response = told["paths"][path]["get"]["responses"]["200"]
        shown = response["content"]["application/json"]["example"]
        assert f"The example answers `GET {path.partition('{')[0]}" in response["description"]
        assert shown["data"]
        assert misfits(told, response, shown) == [], path
    for status, code in CODES.items():
        response = told["components"]["responses"][str(status)]
        shown = response["content"]["application/json"]["example"]
        assert shown["error"]["code"] == code
        assert misfits(told, response, shown) == [], status


def test_a_choice_names_its_types(told):
    """A generator that looks into a choice finds a type, a name or nothing but null in every part of it."""
    words = [one for item in told["paths"].values() for row in item["get"]["parameters"] for one in [row["schema"]]]
    words += [one for name, schema in told["components"]["schemas"].items() for _, one in fields(schema, name)]
    parts = [part for one in words for part in one.get("anyOf", ())]
    assert len(parts) > 400
    assert [part for part in parts if not {"type", "$ref"} & part.keys()] == []


DESCRIBED = [path for path, endpoint in ENDPOINTS.items() if endpoint.record is not None]


@pytest.mark.parametrize("path", DESCRIBED)
def test_answers_have_the_fields_and_formats_described_and_no_others(service, told, path):
    assert conforms(told, path, get(service, path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", DESCRIBED)
def test_answers_of_the_simulated_world_are_as_described(whole, told, path):
    for target, query in requests(whole, told["paths"], path, most=6):
        paging = {"limit": 200} if ENDPOINTS[path].kind == "list" else {}
        assert conforms(told, path, whole.get(target, "pro", None, **query, **paging)) == [], (target, query)
