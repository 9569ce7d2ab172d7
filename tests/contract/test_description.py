"""/openapi.json and /llms.txt say what the service does, and generated requests find no answer they do not describe."""

import jsonschema_rs
import pytest
import schemathesis

from .declared import ENDPOINTS, LISTS, REQUIRED
from .fuzzing import fuzz
from .test_every_endpoint import get, url


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
