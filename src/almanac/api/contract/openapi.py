"""The descriptions for programs (OpenAPI 3.1) and for language models, read from the same declarations that answer the requests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from http import HTTPStatus
from importlib import resources
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from almanac.api.contract.endpoint import Endpoint, TextAnswer
from almanac.api.contract.errors import CODES
from almanac.api.contract.params import Param
from almanac.api.contract.records import WarningSchema
from almanac.domain.fields import Day, says

_RequestId = Annotated[str, says("Identifies the request in the logs of the service.")]
_SameId = Annotated[str, says("The same id, in camel case.")]
_Warnings = Annotated[
    list[WarningSchema],
    Meta(min_length=1, description="What was asked in vain; absent where there is nothing to say."),
]


class AnswerMeta(msgspec.Struct):
    """Metadata of an answer."""

    request_id: _RequestId
    request_id_: _SameId = msgspec.field(name="requestId")
    api_version: Annotated[Literal["v1"], says("Version of the interface.")]


class Pagination(msgspec.Struct):
    """Position of a page in its list."""

    limit: Annotated[int, says("The page size applied.")]
    cursor: Annotated[str | None, says("The cursor that was sent. Null: none, the first page.")]
    next_cursor: Annotated[
        str | None, says("Opaque: send it back as `cursor` for the next page. Null: this is the last.")
    ]
    has_more: Annotated[bool, says("Whether more rows follow.")]


class CountedPagination(Pagination):
    """Position of a page in its list, and the length of the list."""

    total: Annotated[int, Meta(ge=0, description="How many rows match in all, on every page.")]


class ListMeta(AnswerMeta, kw_only=True):
    """Metadata of a page of a list."""

    pagination: Annotated[Pagination, says("Where in the list it stands.")]
    warnings: _Warnings | UnsetType = UNSET


class CountedListMeta(AnswerMeta, kw_only=True):
    """Metadata of a page of a screen."""

    pagination: Annotated[CountedPagination, says("Where in the list it stands.")]
    warnings: _Warnings | UnsetType = UNSET


class ErrorDetails(msgspec.Struct, rename="camel"):
    """Details of an error, for programs. Keys that do not apply are absent; others may come."""

    parameter: Annotated[str | UnsetType, says("The parameter at fault.", "limit")] = UNSET
    reason: Annotated[str | UnsetType, says("A short stable word for what is wrong with it.", "range", "unknown")] = (
        UNSET
    )
    allowed: Annotated[Any | UnsetType, says("What it may be: bounds, words or names.")] = UNSET
    suggestion: Annotated[str | UnsetType | None, says("What may have been meant.", "country")] = UNSET
    scope: Annotated[str | UnsetType, says("The scope that the key lacks.", "macro:read")] = UNSET
    granted: Annotated[list[str] | UnsetType, says("The scopes that it has.")] = UNSET
    plan: Annotated[str | UnsetType, says("The account's plan.", "free")] = UNSET
    history_from: Annotated[Day | UnsetType, says("First day the plan reaches.")] = UNSET
    supported_scopes: Annotated[list[str] | UnsetType, says("The scopes that /rates has.")] = UNSET
    limit: Annotated[int | UnsetType, says("Requests that the plan allows in a window.")] = UNSET
    window_seconds: Annotated[int | UnsetType, says("Length of that window, seconds.")] = UNSET
    retry_after_seconds: Annotated[int | UnsetType, says("Seconds to wait, as in Retry-After.")] = UNSET


class ErrorBody(msgspec.Struct):
    """An error: its code, its message and its details."""

    code: Annotated[str, says("Stable word for programs, one for each status.", enum=tuple(CODES.values()))]
    message: Annotated[str, says("For people; it names the culprit, and may change.")]
    request_id: _RequestId
    request_id_: _SameId = msgspec.field(name="requestId")
    details: Annotated[ErrorDetails | UnsetType, says("For programs; absent where there is nothing to add.")] = UNSET


class Error(msgspec.Struct):
    """The envelope of every error."""

    error: Annotated[ErrorBody, says("What went wrong.")]
    request_id: _RequestId = msgspec.field(name="requestId")


@functools.cache
def envelope(record: type[msgspec.Struct], *, listed: bool, counted: bool = False) -> type[msgspec.Struct]:
    """Return the named shape of an answer: `CountryList` with a page of records, or `CountryItem` with one."""
    inside: Any = list[record] if listed else record  # type: ignore[valid-type]  # made at run time
    about: Any = (CountedListMeta if counted else ListMeta) if listed else AnswerMeta
    return msgspec.defstruct(
        record.__name__ + ("List" if listed else "Item"),
        [
            ("data", Annotated[inside, says("A page of the list." if listed else "The object.")]),
            ("meta", Annotated[about, says("What is said of it.")]),
            ("requestId", _RequestId),
        ],
        namespace={"__doc__": f"{'A list' if listed else 'One'} of {record.__name__}."},
    )


#: The version of the interface, which stays while what it promises does: not that of the program.
VERSION = "0.1.0"
#: Name of the file with the recorded examples, beside this module.
EXAMPLES_FILE = "examples.json"
_REF = "#/components/schemas/{name}"
_STRING = {"type": "string"}
_PERIOD = (
    r"^(?!0000)[0-9]{4}(-([Qq][1-4]|[Ss][12]|(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?))?$"
    r"|^[Ff][Yy](?!0000|9999)[0-9]{4}(-([Qq][1-4]|[Hh][12]))?$"
)

_MEANINGS = {
    400: "Malformed request; the message starts with the offending parameter.",
    401: "Key missing, malformed, unknown, expired or revoked.",
    403: "The key is good, but its scope, plan or account does not permit the operation.",
    404: "Nothing has this id.",
    405: "Only GET and HEAD are answered.",
    429: "Rate limited; wait as many seconds as Retry-After says.",
    500: "A fault of the service.",
    503: "The data cannot be read just now, or the answer takes too long; wait as many seconds as Retry-After says.",
}
_TAGS = {
    "Observations": "Values of series: the latest known, every published state, what changed, and where they come from.",
    "Indicators": "The concepts of the catalogue, and the series behind them.",
    "Reference": "Who publishes what, on which terms; countries and regions; what the service holds.",
    "Entities": "Names of countries, regions and companies, and which one a name means.",
    "Companies": "Companies with their scores, profiles and statements.",
    "Analytics": "What is computed: derived indicators, rates, briefs, release summaries.",
    "Screeners": "Countries and companies by their latest readings.",
    "Events": "Official events: releases, decisions, filings.",
    "Description": "The service, described for programs and for language models.",
}
_ABOUT = (
    "Macroeconomic data, fundamentals of companies, and what is derived from both. Read-only: every operation is a GET; a "
    "HEAD is answered like it, without the body. Objects are open: a later version may add fields, never take one away. "
    "Times are RFC 3339 in UTC; percentages are in percent, ratios of companies fractions. Lists, and statements of companies, are "
    "also CSV, NDJSON and Arrow streams: by `Accept`, or at the path with `.csv`, `.ndjson` or `.arrows` behind it, which takes "
    "the key as the password of Basic authentication too and, of lists, `all=true` for the whole list in one answer. What `meta` says is in the headers `Link`, `x-as-of`, `x-warnings` and `x-total-count` "
    "of such an answer."
)
#: What stands before the operations on the page for language models.
_OVERVIEW = """\
# Almanac

> Read-only financial data: official macro series, sovereign yields and what is computed from them. Every number carries
> its source, its vintage and the formula that made it.

- Send the key in the header `x-api-key` or as `Authorization: Bearer`. Never in the query string.
- Every operation is a GET. An unknown, repeated or empty parameter is an error (400) that names it.
- A name in a filter that means nothing gives an empty list, and `meta.warnings` says which, with what may have been meant.
- A list answers `data`, `meta.pagination` and `requestId`; pass `next_cursor` back as `cursor`. A walk sees one state of the data.
- `as_of` gives the values as they were known then. `observedAt` is when a value could be known, `periodEnd` what it is about.
- `valueNumeric` null with `rights.valueWithheld` true: the value may not be redistributed; `rights.reason` says why.
- `revisionStatus`: initial, revised, final, unknown. `freshnessStatus`: fresh, stale, unknown.
- Percentages are in percent (4.25 is 4.25 %), spreads and slopes of /rates in basis points.

## Operations
"""
_HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "x-request-id": ("Identifies the request in the logs of the service.", _STRING),
    "x-data-version": ("Data version the answer was made from.", {"type": "integer"}),
    "x-history-from": (
        "First day the plan reaches, where it does not reach all.",
        {"type": "string", "format": "date"},
    ),
    "x-ratelimit-limit": ("Requests per minute.", {"type": "integer"}),
    "x-ratelimit-remaining": ("Requests left in this minute.", {"type": "integer"}),
    "x-ratelimit-reset": ("End of this minute.", {"type": "string", "format": "date-time"}),
    "x-ratelimit-policy": ("The limit in words.", _STRING),
    "RateLimit": ("State of the limit, as draft-ietf-httpapi-ratelimit-headers writes it.", _STRING),
    "RateLimit-Policy": ("The limit, as draft-ietf-httpapi-ratelimit-headers writes it.", _STRING),
    "ETag": ("Weak; send it back as If-None-Match.", _STRING),
    "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("Bearer.", _STRING),
    "Allow": ("The methods that are answered.", _STRING),
}
_LIMIT_HEADERS = [name for name in _HEADERS if "ratelimit" in name.lower()]
_KNOWN_KEY = ["x-request-id", "x-data-version", *_LIMIT_HEADERS]


def described(endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Return the endpoints and two more, which describe them all and themselves: /llms.txt and /openapi.json."""

    @functools.cache
    def encoded() -> bytes:
        # Some tenths of a second, for those processes only that are asked for it.
        return msgspec.json.encode(document(every))

    every = (
        *endpoints,
        Endpoint(
            path="/llms.txt",
            operation_id="getOverview",
            summary="The interface in one page of plain text",
            description="For language models: what there is, how to ask, and what an answer means.",
            handler=lambda _: TextAnswer(overview(every)),
            kind="text",
            tag="Description",
        ),
        Endpoint(
            path="/openapi.json",
            operation_id="getDescription",
            summary="This description",
            description="The description of the service as OpenAPI 3.1.",
            handler=lambda _: TextAnswer(encoded()),
            kind="json",
            cost="thread",
            tag="Description",
        ),
    )
    return every


def overview(endpoints: Sequence[Endpoint]) -> str:
    """Return the page of plain text about the interface."""
    lines = [_OVERVIEW]
    for endpoint in endpoints:
        lines.append(f"- GET {endpoint.path}: {endpoint.summary}. {endpoint.description}".rstrip())
        if endpoint.by_name:
            lines.append(f"  Parameters: {', '.join(endpoint.by_name)}.")
    return "\n".join(lines) + "\n"


class RecordedExamples(msgspec.Struct, frozen=True):
    """
    Answers to show, by operation id, and errors, by status: each a `request` and the `value` it was answered, lists cut short.

    Real ones of a simulated world, which `make docs` asks for and a test compares.
    """

    answers: dict[str, dict[str, Any]]
    errors: dict[str, dict[str, Any]]


@functools.cache
def recorded() -> RecordedExamples:
    """Return the examples that were recorded."""
    text = resources.files(__package__).joinpath(EXAMPLES_FILE).read_bytes()
    return msgspec.json.decode(text, type=RecordedExamples)


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document. Raises ValueError where two endpoints share an operation id."""
    ids = [endpoint.operation_id for endpoint in endpoints]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"two endpoints have the operation id {name}")
    shapes = [_envelope(endpoint) for endpoint in endpoints if endpoint.record is not None]
    _, schemas = msgspec.json.schema_components([*shapes, Error], ref_template=_REF)
    for schema in schemas.values():
        _tidy(schema)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Almanac",
            "version": VERSION,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"apiKey": []}, {"bearer": []}],
        "tags": [
            {"name": name} | ({"description": _TAGS[name]} if name in _TAGS else {})
            for name in dict.fromkeys(endpoint.tag for endpoint in endpoints if endpoint.tag)
        ],
        "paths": {endpoint.path: _path(endpoint) for endpoint in endpoints},
        "components": {
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
            "headers": {name: {"description": text, "schema": schema} for name, (text, schema) in _HEADERS.items()},
            "responses": {str(status): _error(status) for status in CODES},
            "schemas": schemas,
        },
    }


def _path(endpoint: Endpoint) -> dict[str, Any]:
    """Return what may be done at a path: a GET, and a HEAD for its headers."""
    get = _operation(endpoint)
    error = {"description": "An error, told by its status alone.", "headers": _headers("x-request-id")}
    head = {
        "operationId": f"{endpoint.operation_id}Headers",
        "summary": f"{endpoint.summary}: the headers alone",
        "description": f"What a GET answers, without the body; it counts as a request like it.\n\n{_scope(endpoint)}",
        "parameters": get["parameters"],
        "responses": {
            "200": {"description": endpoint.summary, "headers": get["responses"]["200"]["headers"]},
            "304": get["responses"]["304"],
            # Both: some tools want an answer of the fours to be told by name.
            "4XX": error,
            "default": error,
        },
    }
    return {"get": get, "head": head | {"tags": get["tags"]} if "tags" in get else head}


def _scope(endpoint: Endpoint) -> str:
    return f"Needs the scope `{endpoint.scope}`." if endpoint.scope else "Any live key will do."


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary,
        "description": f"{endpoint.description}\n\n{_scope(endpoint)}".strip(),
        "parameters": [
            {
                "name": part.name,
                "in": "path",
                "required": True,
                "description": part.description,
                "example": part.example,
                "schema": {**_STRING, "minLength": 1, "maxLength": part.longest},
            }
            for part in endpoint.braces
        ]
        + [_query_parameter(param) for param in endpoint.by_name.values()],
        "responses": {
            "200": _success(endpoint),
            "304": {"description": "Not modified since the ETag sent.", "headers": _headers(*_KNOWN_KEY, "ETag")},
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in CODES},
        },
    }
    if endpoint.tag:
        operation["tags"] = [endpoint.tag]
    return operation


def _query_parameter(param: Param) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": param.name,
        "in": "query",
        "description": param.description,
        "schema": _schema(param),
    }
    if param.required:
        told["required"] = True
    if param.kind == "list":
        told |= {"style": "form", "explode": False}
    if (text := param.example) is not None:
        told["example"] = text.split(",") if param.kind == "list" else int(text) if param.kind == "integer" else text
    return told


def _schema(param: Param) -> dict[str, Any]:
    word: dict[str, Any] = _STRING | {"minLength": 1, "maxLength": param.longest, "pattern": r"\S"}
    if param.choices:
        word = _STRING | {"enum": param.names}
    schema: dict[str, Any]
    if param.kind == "integer":
        schema = {"type": "integer", "minimum": param.minimum or 0}
        if param.maximum is not None:
            schema["maximum"] = param.maximum
    elif param.kind == "list":
        schema = {"type": "array", "items": word, "minItems": 1}
        if param.maximum is not None:
            schema["maxItems"] = param.maximum
    elif param.kind == "time":
        # The type in each of them too: generators look no further than into the choice.
        schema = {"type": "string", "anyOf": [{**_STRING, "format": one} for one in ("date-time", "date")]}
    elif param.kind == "period":
        schema = {"type": "string", "pattern": _PERIOD}
    else:
        schema = word
    if isinstance(param.default, str | int):
        schema["default"] = param.default
    return schema


def _success(endpoint: Endpoint) -> dict[str, Any]:
    names = [*_KNOWN_KEY, "ETag", *(["x-history-from"] if endpoint.dated else [])]
    content: dict[str, Any]
    told = endpoint.summary
    if endpoint.kind == "text":
        content = {"text/plain": {"schema": _STRING}}
    elif endpoint.kind == "json":
        content = {"application/json": {"schema": {"type": "object"}}}
    else:
        schema = {"type": "object"} if endpoint.record is None else _ref(_envelope(endpoint).__name__)
        content = {"application/json": {"schema": schema}}
        if (shown := recorded().answers.get(endpoint.operation_id)) is not None:
            content["application/json"]["example"] = shown["value"]
            told += f". The example answers `{shown['request']}` in a simulated world, with lists cut short."
    for form in endpoint.forms:
        content[form.media_type] = {"schema": _STRING if form.library is None else _STRING | {"format": "binary"}}
    return {"description": told, "headers": _headers(*names), "content": content}


def _envelope(endpoint: Endpoint) -> type[msgspec.Struct]:
    """Return the shape of an endpoint's answer; it has to have a record."""
    assert endpoint.record is not None
    return envelope(endpoint.record, listed=endpoint.kind == "list", counted=endpoint.total)


def _tidy(schema: dict[str, Any]) -> None:
    """Say of a field what is said of its value, also where it may be null; words are strings, as generators want it."""
    for inner in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            _tidy(inner)
    for choice in schema.get("anyOf", ()):
        _tidy(choice)
        if "description" in choice and choice.get("type") != "null":
            told = choice.pop("description")
            schema.setdefault("description", told)
    if "enum" in schema and "type" not in schema:
        schema["type"] = "string"


def _error(status: int) -> dict[str, Any]:
    error = recorded().errors[str(status)]
    names = ["x-request-id"] if status == HTTPStatus.UNAUTHORIZED else list(_KNOWN_KEY)
    names += {401: ["WWW-Authenticate"], 405: ["Allow"], 429: ["Retry-After"], 503: ["Retry-After"]}.get(status, [])
    return {
        "description": _MEANINGS[status],
        "headers": _headers(*names),
        "content": {"application/json": {"schema": _ref("Error"), "example": error["value"]}},
    }


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REF.format(name=name)}
