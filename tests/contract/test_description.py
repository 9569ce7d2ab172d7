"""/openapi.json and /llms.txt say what the service does, and generated requests find no answer they do not describe."""

import jsonschema
import jsonschema_rs
import pytest
import schemathesis
from openapi_spec_validator import OpenAPIV31SpecValidator

from almanac.api.contract.errors import CODES
from almanac.api.contract.openapi import document
from almanac.api.interface import endpoints

from .declared import ENDPOINTS, LISTS, REQUIRED
from .fuzzing import fuzz
from .test_every_endpoint import get, url
from .test_whole_sandbox import requests


@pytest.fixture(scope="module")
def told(service):
    return service.get("/openapi.json").json()


def test_document(service, told):
    """The description is at the version of the interface, 0.1.0, whichever commit answers; paths carry no version prefix."""
    assert (told["openapi"], told["info"]["version"]) == ("3.1.0", "0.1.0")
    schemathesis.openapi.from_dict(told).validate()
    assert set(told["paths"]) == set(ENDPOINTS)
    assert all(set(path) == {"get", "head"} for path in told["paths"].values())
    assert all("requestBody" not in way for path in told["paths"].values() for way in path.values())
    assert told["security"] == [{"apiKey": []}, {"bearer": []}]
    assert not [path for path in told["paths"] if path.startswith("/v")]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_parameters_are_listed(told, path):
    """Every parameter of every operation is described, with its bounds."""
    listed = {p["name"]: p for p in told["paths"][path]["get"]["parameters"] if p["in"] == "query"}
    assert list(listed) == list(ENDPOINTS[path].by_name)
    if path in LISTS:
        most = 200 if path == "/equity-screener" else 500
        assert listed["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": most, "default": 100}
        assert "order" in listed
        assert listed.get("order", {"schema": {"enum": ["asc", "desc"]}})["schema"]["enum"] == ["asc", "desc"]
    if "frequency" in listed and not path.endswith("/financials"):
        # A client that checks itself against the description must be able to send what the documents write.
        assert listed["frequency"]["schema"]["enum"][:6] == ["A", "S", "Q", "M", "W", "D"]
    if "indicator_id" in listed:
        assert listed["indicator_id"]["example"] == ["gov_yield_2y", "gov_yield_10y"]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_a_head_is_told_as_it_is_answered(service, told, path):
    """The headers of a GET, its parameters, and no body, whatever the status."""
    get_, head = told["paths"][path]["get"], told["paths"][path]["head"]
    assert head["operationId"] == get_["operationId"] + "Headers"
    assert head["parameters"] == get_["parameters"]
    assert not [status for status, response in head["responses"].items() if "content" in response]
    target, query = url(service, path), REQUIRED.get(path, {})
    answer = service.request("HEAD", target, params=query)
    assert (answer.status_code, answer.content) == (200, b"")
    promised = {name.lower() for name in head["responses"]["200"]["headers"]} - {"x-history-from"}
    assert promised <= set(answer.headers)
    assert "x-request-id" in service.request("HEAD", target, None, params=query).headers


@pytest.mark.parametrize("path", [p for p in ENDPOINTS if ENDPOINTS[p].kind != "text"])
def test_answers_fit_their_schemas(service, told, path):
    """Every answer, good and bad, fits the schema of its status."""
    for answer in (
        get(service, path),
        get(service, path, nonsense="1"),
        get(service, path, None),
        get(service, path, "events:read"),
    ):
        response = told["paths"][path]["get"]["responses"][str(answer.status_code)]
        if "$ref" in response:
            response = told["components"]["responses"][str(answer.status_code)]
        schema = {**response["content"]["application/json"]["schema"], "components": told["components"]}
        jsonschema_rs.validator_for(schema).validate(answer.json())
        promised = {name.lower() for name in response["headers"]} - {"x-history-from"}
        assert promised <= set(answer.headers)


@pytest.mark.parametrize(
    "count", [pytest.param(500, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.deep)]
)
def test_many_generated_requests(service, told, count):
    """No 5xx, no undocumented status, and every answer conforms to its schema, whatever is sent."""
    assert fuzz(service, told, count) >= count


def test_examples_are_of_the_type_that_their_schema_has(service):
    """A linter of descriptions (spectral) finds none that is not."""
    checked = 0
    for path in service.get("/openapi.json").json()["paths"].values():
        for operation in path.values():
            for told in operation["parameters"]:
                if told["schema"].get("type") == "integer" and "example" in told:
                    assert type(told["example"]) is int, told["name"]
                    checked += 1
    assert checked


# The machine-readable description says what every field and parameter is, and real answers are what it says.


@pytest.fixture(scope="module")
def described():
    return document(endpoints(lambda _view, _row: None))


def fields(schema, where):
    """Every property of a schema and of the schemas inside it, with the way there."""
    for name, one in schema.get("properties", {}).items():
        yield f"{where}.{name}", one
        yield from fields(one, f"{where}.{name}")
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
        if isinstance(inner, dict):
            yield from fields(inner, where)


def test_the_document_is_valid(described):
    assert list(OpenAPIV31SpecValidator(described).iter_errors()) == []


def test_every_field_and_every_parameter_is_described(described):
    """100 %: description of each, in words that end as a sentence; none says only its own name."""
    found = [pair for name, one in described["components"]["schemas"].items() for pair in fields(one, name)]
    assert len(found) > 500
    assert [where for where, one in found if not one.get("description", "").endswith(".")] == []
    parameters = [
        (path, one) for path, item in described["paths"].items() for way in item.values() for one in way["parameters"]
    ]
    assert len(parameters) > 360
    assert [
        (path, one["name"]) for path, one in parameters if not one.get("description", "").rstrip("`").endswith(".")
    ] == []
    assert [name for name, one in described["components"]["schemas"].items() if not one.get("description")] == []
    assert [tag["name"] for tag in described["tags"] if not tag.get("description")] == []


def test_formats_and_enumerations(described):
    """Times are `date-time`, days `date`, addresses `uri`; words of a closed list are an `enum` of strings."""
    schemas = described["components"]["schemas"]
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


def test_objects_are_open(described):
    """A generated client must survive a new field."""
    assert '"additionalProperties": false' not in str(described).replace("'", '"').replace("False", "false")


def test_every_list_and_object_has_a_shape_with_a_name(described):
    for path, endpoint in ENDPOINTS.items():
        if endpoint.record is None:
            continue
        schema = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
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


def misfits(described, response, body):
    """What of a body is not as a response's schema says, and what of it the schema does not name."""
    schema = response["content"]["application/json"]["schema"]
    whole = {**schema, "components": described["components"]}
    checker = jsonschema.Draft202012Validator(whole, format_checker=FORMATS)
    errors = [f"{list(one.absolute_path)}: {one.message[:200]}" for one in checker.iter_errors(body)]
    return errors[:5] + sorted(set(undeclared(body, schema, described["components"]["schemas"])))[:5]


def conforms(described, path, answer):
    return misfits(
        described,
        described["paths"][path]["get"]["responses"][str(answer.status_code)],
        answer.json(),
    )


def test_every_answer_and_every_error_has_an_example_that_fits(described):
    """What the description shows is what is answered: tests/docs asks for all of them again."""
    for path in DESCRIBED:
        response = described["paths"][path]["get"]["responses"]["200"]
        shown = response["content"]["application/json"]["example"]
        assert f"The example answers `GET {path.partition('{')[0]}" in response["description"]
        assert shown["data"]
        assert misfits(described, response, shown) == [], path
    for status, code in CODES.items():
        response = described["components"]["responses"][str(status)]
        shown = response["content"]["application/json"]["example"]
        assert shown["error"]["code"] == code
        assert misfits(described, response, shown) == [], status


def test_a_choice_names_its_types(described):
    """A generator that looks into a choice finds a type, a name or nothing but null in every part of it."""
    words = [
        one for item in described["paths"].values() for row in item["get"]["parameters"] for one in [row["schema"]]
    ]
    words += [one for name, schema in described["components"]["schemas"].items() for _, one in fields(schema, name)]
    parts = [part for one in words for part in one.get("anyOf", ())]
    assert len(parts) > 400
    assert [part for part in parts if not {"type", "$ref"} & part.keys()] == []


DESCRIBED = [path for path, endpoint in ENDPOINTS.items() if endpoint.record is not None]


@pytest.mark.parametrize("path", DESCRIBED)
def test_answers_have_the_fields_and_formats_described_and_no_others(service, described, path):
    assert conforms(described, path, get(service, path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", DESCRIBED)
def test_answers_of_the_simulated_world_are_as_described(whole, described, path):
    for target, query in requests(whole, described["paths"], path, most=6):
        paging = {"limit": 200} if ENDPOINTS[path].kind == "list" else {}
        assert conforms(described, path, whole.get(target, "pro", None, **query, **paging)) == [], (
            target,
            query,
        )
