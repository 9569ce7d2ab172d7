"""The description says what the declarations say, and it is valid OpenAPI 3.1."""

import jsonschema_rs
import pytest
import schemathesis

from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.contract.openapi import document
from almanac.api.contract.params import Param
from almanac.api.contract.records import Record
from almanac.api.server.routes import Routes


def test_served(frame):
    """`/openapi.json` is OpenAPI 3.1, info.version 0.1.0, needs a live key only, and has no envelope."""
    answer = frame.get("/openapi.json", frame.NARROW)
    told = answer.json()
    assert (told["openapi"], told["info"]["version"]) == ("3.1.0", "0.1.0")
    assert set(told["paths"]) == {endpoint.path for endpoint in frame.endpoints}
    assert all(set(path) == {"get", "head"} for path in told["paths"].values())


def test_parameters(frame):
    """Parameters carry schema, bounds, defaults and choices."""
    operation = frame.get("/openapi.json").json()["paths"]["/observations"]["get"]
    told = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert told["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 500, "default": 100}
    assert told["sort"]["schema"] == {"type": "string", "enum": ["topic", "period_end"], "default": "topic"}
    assert told["indicator"]["schema"]["maxItems"] == 5
    assert told["indicator"]["explode"] is False
    assert told["as_of"]["schema"]["anyOf"] == [
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "date"},
    ]
    assert operation["description"].endswith("Needs the scope `macro:read`.")
    screen = frame.get("/openapi.json").json()["paths"]["/screener"]["get"]["parameters"]
    assert [p["name"] for p in screen] == ["filter", "limit", "cursor"]
    assert screen[0]["required"] is True


def test_every_status_is_documented(frame):
    """Every status that can be answered is there, with the error envelope, for every operation."""
    for path in frame.get("/openapi.json").json()["paths"].values():
        statuses = {"200", "304", "400", "401", "403", "404", "405", "429", "500", "503"}
        assert set(path["get"]["responses"]) == statuses


def test_schemathesis_reads_it_and_answers_conform(frame):
    """The document loads without complaint, and real answers, good and bad, fit its schemas."""
    told = frame.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(told)
    schema.validate()
    for url, path in (
        ("/observations?limit=3", "/observations"),
        ("/observations?limit=0", "/observations"),
        ("/screener?filter=x", "/screener"),
        ("/indicators/cpi", "/indicators/{idOrSlug}"),
        ("/indicators/none", "/indicators/{idOrSlug}"),
        ("/coverage", "/coverage"),
    ):
        answer = frame.get(url)
        response = told["paths"][path]["get"]["responses"][str(answer.status_code)]
        if "$ref" in response:
            response = told["components"]["responses"][str(answer.status_code)]
        body_schema = {**response["content"]["application/json"]["schema"], "components": told["components"]}
        jsonschema_rs.validator_for(body_schema).validate(answer.json())
        promised = {name.lower() for name in response["headers"]}
        assert promised - {"x-history-from"} <= set(answer.headers)


def test_names_are_unique():
    """Two endpoints cannot share an operation id or a path."""
    one = Endpoint("/a/{x}", "same", "A", lambda _: ItemAnswer(b"{}"), braces=(Param("x", ""),))
    with pytest.raises(ValueError, match="operation id same"):
        document([one, Endpoint("/b", "same", "B", lambda _: ItemAnswer(b"{}"))])
    with pytest.raises(ValueError, match="two endpoints have the path"):
        Routes([one, Endpoint("/a/{x}", "other", "A", lambda _: ItemAnswer(b"{}"), braces=one.braces)])


def test_a_shape_named_after_what_it_shows_is_described_by_that_name():
    """The classes `Source` of the domain and `SourceSchema` of the interface are two; the description knows one name."""

    class ThingSchema(Record):
        """A thing."""

        inner: list[str]

    class Whole(ThingSchema):
        """A thing, with others."""

        things: list[ThingSchema]

    endpoint = Endpoint("/a", "a", "A", lambda _: ItemAnswer(b"{}"), record=Whole)
    schemas = document([endpoint])["components"]["schemas"]
    assert {"Thing", "Whole"} <= set(schemas)
    assert schemas["Thing"]["title"] == "Thing"
    assert schemas["Whole"]["properties"]["things"]["items"] == {"$ref": "#/components/schemas/Thing"}
