"""What holds for every operation, found from the declarations: keys, methods, unknown parameters, envelopes, headers."""

import json
import math
import re
from datetime import datetime

import msgspec
import pytest

from almanac.api.contract.openapi import document
from tests.support.service import SCOPES

from .declared import ENDPOINTS, ITEMS, KEYS, LISTS, ONE_ROW, PATH_VALUES, REQUIRED, RIGHTS, WITHOUT_ROWS

every = pytest.mark.parametrize("path", ENDPOINTS)
every_list = pytest.mark.parametrize("path", LISTS)
every_json = pytest.mark.parametrize("path", LISTS + ITEMS)


def url(service, path):
    if "{id}" in path:
        return path.replace("{id}", service.ok("/observations", limit=1)[0]["id"])
    return re.sub(r"\{\w+\}", PATH_VALUES.get(path, ""), path)


def get(service, path, key="pro", headers=None, /, **params):
    return service.get(url(service, path), key, headers, **{**REQUIRED.get(path, {}), **params})


def identified(answer):
    """The one request id of an answer, wherever it stands."""
    body, header = answer.json(), answer.headers["x-request-id"]
    inner = body.get("meta") or body["error"]
    assert body["requestId"] == inner["request_id"] == inner["requestId"] == header
    assert re.fullmatch(r"req_[0-9A-HJKMNP-TV-Z]{26}", header)
    return header


@every
def test_get(service, path):
    """Every documented operation is a GET; request and response bodies are JSON (llms.txt is the one answer that is not)."""
    answer = get(service, path)
    assert answer.status_code == 200, answer.text
    text = ENDPOINTS[path].kind == "text"
    assert answer.headers["content-type"] == ("text/plain; charset=utf-8" if text else "application/json")
    assert service.request("POST", url(service, path)).status_code == 405


@every
def test_no_operation_changes_data(service, path):
    """No operation that creates, changes or deletes data is documented: 405 with `Allow`."""
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        answer = service.request(method, url(service, path))
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"
        assert answer.json()["error"]["code"] == "method_not_allowed"
        identified(answer)


@every
def test_unknown_parameter(service, path):
    """Unknown query parameters are rejected with 400, and the message names the parameter."""
    answer = get(service, path, countri="USA")
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["message"].startswith("'countri' ")
    assert error["code"] == "bad_request"
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("countri", "unknown")
    assert error["details"]["allowed"] == sorted(ENDPOINTS[path].by_name)
    assert error["details"].get("suggestion") == ("country" if "country" in ENDPOINTS[path].by_name else None)
    identified(answer)


@every
def test_key_in_the_query(service, path):
    """A key sent in the query string is refused, by design, whether or not a header key is there too: 400."""
    names = ["api_key", "apikey", "API-Key", "x-api-key", "x_api_key", "key", "token", "access_token", "AUTHORIZATION", "auth", "bearer"]  # fmt: skip
    for name, key in [(name, key) for name in names for key in ("pro", None)]:
        answer = get(service, path, key, **{name: service.keys["pro"] if key else "x"})
        assert answer.status_code == 400
        assert answer.json()["error"]["message"].startswith(f"'{name}' ")
        assert service.keys["pro"] not in answer.text
        identified(answer)


@every
def test_key_shape_under_any_name(service, path):
    """Any parameter whose value has the key shape counts as a key in the query string."""
    assert get(service, path, country=service.keys["pro"]).json()["error"]["details"]["reason"] == "key"


@every
def test_no_unauthenticated_endpoint(service, path):
    """Every request carries an API key; there are no unauthenticated endpoints. 401: code `unauthorized`."""
    for key in (None, "nonsense", "alm_" + "0" * 40):
        answer = get(service, path, key)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "x-ratelimit-limit" not in answer.headers
        identified(answer)


@every
def test_two_ways_to_send_the_key(service, path):
    """Two equivalent ways to send it: header `x-api-key`, header `Authorization: Bearer`."""
    bearer = get(service, path, None, {"authorization": f"Bearer {service.keys['pro']}"})
    assert bearer.status_code == 200
    assert bearer.headers["etag"] == get(service, path).headers["etag"]


@every
def test_scopes(service, path):
    """403: the key is valid but the scope does not permit the operation, naming the scope needed."""
    needed = ENDPOINTS[path].scope
    for scope in SCOPES:
        answer = get(service, path, scope)
        if needed in (None, scope):
            assert answer.status_code == 200
        else:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (403, "forbidden")
            assert f"'{needed}'" in error["message"]
            assert error["details"] == {"scope": needed, "granted": [scope]}
            identified(answer)


def test_scope_of_each_path(service):
    """Scopes, by path; /coverage, /openapi.json and /llms.txt need a live key only."""
    by_start = {
        "/observations": "macro:read", "/indicators": "macro:read", "/countries": "macro:read",
        "/providers": "reference:read", "/sources": "reference:read", "/entities": "reference:read",
        "/derived-": "analytics:read", "/rates": "analytics:read", "/release-summaries": "analytics:read",
        "/briefs": "analytics:read", "/companies": "companies:read", "/screener": "screeners:read",
        "/equity-screener": "screeners:read", "/events": "events:read",
        "/coverage": None, "/openapi.json": None, "/llms.txt": None,
    }  # fmt: skip
    for path, endpoint in ENDPOINTS.items():
        (expected,) = {scope for start, scope in by_start.items() if path.startswith(start)}
        assert endpoint.scope == expected, path


@every
def test_head(service, path):
    """HEAD equals GET in everything but the body."""
    target = url(service, path)
    if REQUIRED.get(path):
        target += "?" + "&".join(f"{k}={v}" for k, v in REQUIRED[path].items())
    moving = {"x-request-id", "x-ratelimit-remaining", "ratelimit"}
    got, head = service.request("GET", target), service.request("HEAD", target)
    assert (head.status_code, head.content) == (200, b"")
    left = {name: value for name, value in got.headers.items() if name not in moving}
    assert {name: value for name, value in head.headers.items() if name not in moving} == left
    assert set(head.headers) == set(got.headers)
    assert head.headers["content-length"] == str(len(got.content))


@every
def test_headers(service, path):
    """Every answer to a known key carries the limit headers and `x-data-version`."""
    refused = [service.request("POST", url(service, path)), service.get(f"{path}/nowhere")]
    for answer in (get(service, path), get(service, path, nonsense="1"), *refused):
        headers = answer.headers
        limit, remaining = headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]
        assert limit == "1000000"
        assert headers["x-ratelimit-policy"] == "1000000 per 60s (plan pro)"
        assert headers["ratelimit-policy"] == '"minute";q=1000000;w=60'
        left = 60 - int(service.real_now) % 60
        assert headers["ratelimit"] == f'"minute";r={remaining};t={left}'
        assert datetime.fromisoformat(headers["x-ratelimit-reset"]).timestamp() == service.real_now + left
        assert headers["x-data-version"] == str(service.ok("/coverage")["dataVersion"])
        assert headers["cache-control"] == "private, no-cache"
        assert headers["vary"] == "x-api-key, authorization, accept, accept-encoding"


@every
def test_conditional(service, path):
    """Weak ETag over data and pagination; a 304 carries request id and limit headers, never a body; never on an error."""
    etag = get(service, path).headers["etag"]
    assert re.fullmatch(r'W/"[0-9a-f]{32}"', etag)
    for condition in (etag, "*", f'"other", {etag}', etag.removeprefix("W/")):
        answer = get(service, path, "pro", {"if-none-match": condition})
        assert (answer.status_code, answer.content) == (304, b"")
        assert {"x-request-id", "x-ratelimit-limit", "x-data-version", "etag"} <= set(answer.headers)
    assert get(service, path, "pro", {"if-none-match": 'W/"other"'}).status_code == 200
    assert get(service, path, "pro", {"if-none-match": "*"}, nonsense="1").status_code == 400


@every_list
def test_list_envelope(service, path):
    """List endpoints return the list envelope; every list response reports meta.api_version with the constant `v1`."""
    answer = get(service, path, limit=2)
    body = answer.json()
    assert list(body) == ["data", "meta", "requestId"]
    assert list(body["meta"]) == ["request_id", "requestId", "api_version", "pagination"]
    assert body["meta"]["api_version"] == "v1"
    total = ["total"] if ENDPOINTS[path].total else []
    assert list(body["meta"]["pagination"]) == ["limit", "cursor", "next_cursor", "has_more", *total]
    assert body["meta"]["pagination"]["limit"] == 2
    assert len(body["data"]) == (0 if path in WITHOUT_ROWS else 1 if path in ONE_ROW else 2)
    identified(answer)


@pytest.mark.parametrize("path", ITEMS)
def test_item_envelope(service, path):
    """Get-one endpoints return the single-object envelope: data (object), meta (object) and requestId (string)."""
    answer = get(service, path)
    body = answer.json()
    assert list(body) == ["data", "meta", "requestId"]
    assert list(body["meta"]) == ["request_id", "requestId", "api_version"]
    assert isinstance(body["data"], dict)
    identified(answer)


@every_json
def test_records(service, path):
    """Every record has only the fields listed, and always all of them."""
    record = ENDPOINTS[path].record
    if ENDPOINTS[path].kind == "item":
        found = [service.ok(url(service, path), **REQUIRED.get(path, {}))]
    else:
        more = {"sources": "all"} if "sources" in ENDPOINTS[path].by_name else {}
        found = service.walk(url(service, path), limit=ENDPOINTS[path].max_limit, **more, **REQUIRED.get(path, {}))
    assert (found == []) == (path in WITHOUT_ROWS)
    for one in found:
        assert set(one) == KEYS[path]
        # The check of types is strict: no text for a number, no unknown word, no null where none may be.
        msgspec.json.decode(json.dumps(one), type=record, strict=True)
        if path != "/sources" and "rights" in one:
            assert set(one["rights"]) == RIGHTS


@every_json
def test_numbers_and_times(service, path):
    """Compact JSON; numbers finite, never −0; times RFC 3339, UTC, whole seconds."""
    text = get(service, path).text
    assert json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False).count(" ") == text.count(" ")

    def walk(value, name=""):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, key)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)
        elif isinstance(value, float):
            assert math.isfinite(value)
            assert math.copysign(1, value) > 0 or value != 0
        elif name.endswith(("At", "tPeriod", "periodEnd", "periodStart", "asOf")) and isinstance(value, str):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value), (name, value)

    walk(json.loads(text))


@every_list
def test_limits(service, path):
    """Page-size bounds are per endpoint: 1 to the maximum, in plain ASCII digits; default 100."""
    endpoint = ENDPOINTS[path]
    assert get(service, path).json()["meta"]["pagination"]["limit"] == 100
    for good in (1, endpoint.max_limit):
        assert get(service, path, limit=good).json()["meta"]["pagination"]["limit"] == good
    assert endpoint.max_limit == (200 if path == "/equity-screener" else 500)
    for bad in ("0", str(endpoint.max_limit + 1), "-1", "+5", "1e2", "٣", "1.0", " 5", "9" * 400):
        error = get(service, path, limit=bad)
        assert error.status_code == 400
        assert error.json()["error"]["message"].startswith("'limit' ")
        assert error.json()["error"]["details"]["allowed"] == {"minimum": 1, "maximum": endpoint.max_limit}


@every_list
def test_order_values(service, path):
    """Order takes `asc` or `desc`."""
    error = get(service, path, order="up")
    assert error.status_code == 400
    assert error.json()["error"]["details"]["allowed"] == ["asc", "desc"]
    default = "desc" if path in {"/events", "/release-summaries"} else "asc"
    assert ENDPOINTS[path].default_order == default
    assert get(service, path).json()["data"] == get(service, path, order=default).json()["data"]


@every_list
def test_repeated_empty_and_body(service, path):
    """Refused: repeated name, empty value, a request body (naming `body`)."""
    target = url(service, path)
    more = "".join(f"&{name}={value}" for name, value in REQUIRED.get(path, {}).items())
    for query, reason in (("limit=1&limit=1", "repeated"), ("limit=", "empty"), ("cursor=x", "forged")):
        answer = service.request("GET", f"{target}?{query}{more}")
        assert (answer.status_code, answer.json()["error"]["details"]["reason"]) == (400, reason)
    answer = service.request("GET", target, content=b"{}")
    assert (answer.status_code, answer.json()["error"]["details"]["parameter"]) == (400, "body")


def test_unknown_paths(service):
    """An unknown path is 404 with a key and 401 without: the API host has no unauthenticated path at all."""
    for path in ("/", "/nothing", "/v1/observations", "/healthz", "/metrics", "/observations/"):
        assert service.error(path, 404)["code"] == "not_found"
        assert service.get(path, None).status_code == 401


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/observation", "/observations"), ("/observations/", "/observations"), ("/v1/observations", "/observations"),
        ("/api/v1/Observations", "/observations"), ("/rates/USA/histroy", "/rates/USA/history"), ("/docs", "/openapi.json"),
        ("/", "/openapi.json"), ("/swagger", "/openapi.json"),
    ],
)  # fmt: skip
def test_an_unknown_path_is_told_the_nearest_there_is(service, path, meant):
    error = service.error(path, 404)
    assert error["details"]["suggestion"] == meant
    assert meant in error["message"]


@pytest.mark.parametrize("path", [p for p in ENDPOINTS if "{" in p])
def test_unknown_id(service, path):
    """An unknown id in a path → 404 `not_found` on every endpoint."""
    for name in ("no-such-thing", "obs_" + "a" * 26, "%F0%9F%92%A9", "a%00b", "x" * 200):
        error = service.error(re.sub(r"\{\w+\}", name, path), 404)
        assert error["code"] == "not_found"


# How long a value may be: declared on each parameter and part of a path, refused by name, and said in the description.


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
