"""The steps of a request in their order, and what is answered where one of them stops it."""

import asyncio
import re

import msgspec
import pytest
from prometheus_client import REGISTRY

from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.contract.params import Param
from almanac.api.server import gate
from almanac.api.server.routes import Routes

LIMIT_HEADERS = {
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-policy",
    "ratelimit",
    "ratelimit-policy",
    "x-data-version",
}


def test_request_id(frame):
    """`req_` + 26-character ULID; sent as `x-request-id`. A client's own `x-request-id` is never taken over."""
    answer = frame.get("/coverage", x_request_id="mine")
    assert re.fullmatch(r"req_[0-9A-HJKMNP-TV-Z]{26}", answer.headers["x-request-id"])
    assert frame.get("/coverage").headers["x-request-id"] != answer.headers["x-request-id"]


@pytest.mark.parametrize(
    "name",
    ["api_key", "apikey", "api-key", "x-api-key", "x_api_key", "key", "token", "access_token", "authorization", "auth"],
)
@pytest.mark.parametrize("header", [None, "alm_" + "P" * 40])
def test_key_in_query(frame, name, header):
    """A key in the query string → 400 `bad_request`, whether or not a header key is there too; any case."""
    for spelled in (name, name.upper()):
        error = frame.error(f"/coverage?{spelled}=x", 400, header)
        assert error["message"].startswith(f"'{spelled}' carries a key")
        assert error["details"] == {"parameter": spelled, "reason": "key"}


def test_key_shape_in_any_parameter(frame):
    """And any parameter whose value has the key shape; the value is not repeated."""
    frame.settings = msgspec.structs.replace(frame.settings, failures_per_minute=100)
    frame.__post_init__()
    for query in (f"q={frame.PRO}", f"b%65arer={'x'}", f"{frame.PRO}=1", f"q=Bearer%20{frame.PRO}"):
        answer = frame.get(f"/coverage?{query}", None)
        assert frame.inner_error(answer)["details"]["reason"] == "key"
        assert frame.PRO not in answer.text
    # One character short of a key is only an unknown parameter.
    assert frame.error(f"/coverage?q={frame.PRO[:-1]}", 400)["details"]["reason"] == "unknown"


def test_key_in_query_comes_before_the_key(frame):
    """The refusal of a key in the query is the first of all, even for a bad key on an unknown path."""
    assert frame.error("/nowhere?api_key=x", 400, frame.REVOKED)["code"] == "bad_request"


def test_a_key_in_the_query_counts_as_a_failure_of_its_address(frame):
    """Else whoever tries keys would never be throttled. Those who send a good key otherwise go on."""
    answers = [frame.get(f"/coverage?key=try{number}", None) for number in range(5)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429, 429]
    assert frame.limiter.failures == {"192.0.2.1": 5}
    assert REGISTRY.get_sample_value("almanac_authentication_failures_total", {"reason": "in_query"}) >= 5
    assert frame.get("/coverage", frame.REVOKED).status_code == 429
    assert frame.get("/coverage").status_code == 200


def test_no_key_is_repeated(frame):
    """In no message of an error, wherever the key stood in the request, and not half of it where the text is cut."""
    for path in (f"/indicators/{frame.PRO}", f"/indicators/{'x' * 30}{frame.PRO}", f"/indicators/alm%5f{'P' * 40}"):
        text = frame.get(path, frame.FREE).text
        assert "alm_P" not in text
        assert "[redacted]" in text


def test_a_plan_that_is_not_in_the_settings(frame, monkeypatch):
    """Another program may have put an account on it: 403 with the reason, and one line in the log, not 500."""
    frame.settings = msgspec.structs.replace(frame.settings, plans={"pro": frame.settings.plans["pro"]})
    frame.__post_init__()
    told = []
    monkeypatch.setattr(gate.log, "error", lambda event, **more: told.append(more), raising=False)
    for _ in range(3):
        error = frame.error("/coverage", 403, frame.FREE)
    assert (error["message"], error["details"]) == (
        "the plan 'free' of this account is unknown to this service; its operator has to set it up", {"plan": "free"}
    )  # fmt: skip
    assert told == [{"plan": "free", "account": "acc_free"}]
    assert frame.get("/coverage", frame.PRO).status_code == 200


def test_two_equivalent_headers(frame):
    """Two equivalent ways to send it: `x-api-key: <API_KEY>` and `Authorization: Bearer <API_KEY>`."""
    assert frame.get("/coverage").status_code == 200
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert frame.get("/coverage", None, authorization=f"{scheme} {frame.PRO}").status_code == 200
    assert frame.get("/coverage", frame.PRO, authorization=f"Bearer {frame.PRO}").status_code == 200


@pytest.mark.parametrize("path", ["/coverage", "/openapi.json", "/nowhere", "/", "/observations?limt=3"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_every_path_needs_a_key(frame, path, method):
    """There are no unauthenticated endpoints; 401 with WWW-Authenticate: Bearer, and no limit headers."""
    answer = frame.request(method, path, None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert not LIMIT_HEADERS & set(answer.headers)
    assert "x-request-id" in answer.headers


def test_bad_keys(frame):
    """Missing, malformed, unknown, both headers with different keys → 401 `unauthorized`."""
    cases = {
        "no API key was sent; send it as `x-api-key: <key>` or `Authorization: Bearer <key>`": {},
        "the API key is malformed": {"x-api-key": "alm_short"},
        "the API key is not valid": {"x-api-key": frame.REVOKED},
    }
    for message, headers in cases.items():
        answer = frame.request("GET", "/coverage", None, headers)
        assert answer.status_code == 401
        assert frame.inner_error(answer)["code"] == "unauthorized"
        assert frame.inner_error(answer)["message"] == message
    frame.peer = "192.0.2.2"
    both = frame.error("/coverage", 401, frame.PRO, authorization=f"Bearer {frame.FREE}")
    assert both["message"] == "x-api-key and Authorization carry different keys; send one key"
    twice = frame.request("GET", "/coverage", None, [("x-api-key", frame.PRO), ("x-api-key", frame.PRO)])
    assert twice.status_code == 401


def test_keys_expire_by_real_time(frame):
    """Limits, sessions, key expiry, timeouts and logs keep real time, whatever the data's clock says."""
    frame.get("/coverage")
    assert frame.accounts.asked_at == int(frame.real) != frame.now


def test_another_scheme_is_no_key(frame):
    """An Authorization header of another scheme carries no key of ours."""
    assert frame.get("/coverage", None, authorization="Basic YTpi").status_code == 401
    assert frame.get("/coverage", frame.PRO, authorization="Basic YTpi").status_code == 200


def test_failures_are_throttled_by_address(frame):
    """More failures a minute from one address than the setting: further failing requests get 429; a valid key never."""
    assert [frame.get("/coverage", frame.REVOKED).status_code for _ in range(4)] == [401, 401, 401, 429]
    answer = frame.get("/coverage", None)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "42"
    details = {"limit": 3, "windowSeconds": 60, "retryAfterSeconds": 42}
    assert frame.inner_error(answer)["details"] == details
    assert frame.get("/coverage").status_code == 200
    frame.peer = "192.0.2.9"
    assert frame.get("/coverage", None).status_code == 401


def test_failures_under_the_real_limiter(frame):
    """The frame and the real limiter agree on what `fail` means."""
    from almanac.api.use.limits import MemoryLimiter

    frame.app._gate._limiter = MemoryLimiter()
    assert [frame.get("/coverage", None).status_code for _ in range(4)] == [401, 401, 401, 429]
    assert frame.get("/coverage").headers["x-ratelimit-remaining"] == "999"


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.1", "203.0.113.5", "192.0.2.1"),
        ("10.1.1.1", "203.0.113.5", "203.0.113.5"),
        ("10.1.1.1", "198.51.100.1, 203.0.113.5, 10.2.2.2", "203.0.113.5"),
        ("10.1.1.1", "203.0.113.5:4000", "203.0.113.5"),
        ("10.1.1.1", "[2001:DB8::1]:4000", "2001:db8::1"),
        ("10.1.1.1", "198.51.100.1, nonsense", "10.1.1.1"),
        ("10.1.1.1", "10.9.9.9", "10.9.9.9"),
    ],
)
def test_address_behind_proxies(frame, peer, forwarded, address):
    """Address = the socket's peer unless trusted; then the right-most untrusted of X-Forwarded-For."""
    frame.peer = peer
    frame.get("/coverage", None, x_forwarded_for=forwarded)
    assert frame.limiter.failures == {address: 1}


def test_limit_headers(frame):
    """Every answer to a known key, errors too, carries the limit headers and x-data-version."""
    answer = frame.get("/coverage", frame.FREE)
    told = {name: answer.headers[name] for name in LIMIT_HEADERS}
    assert told == {
        "x-ratelimit-limit": "100",
        "x-ratelimit-remaining": "99",
        "x-ratelimit-reset": "2027-02-03T04:06:00Z",
        "x-ratelimit-policy": "100 per 60s (plan free)",
        "ratelimit-policy": '"minute";q=100;w=60',
        "ratelimit": '"minute";r=99;t=42',
        "x-data-version": "7",
    }
    for url in ("/nowhere", "/observations?limit=0", "/indicators/none", "/indicators/broken"):
        assert set(frame.get(url).headers) >= LIMIT_HEADERS
    assert set(frame.request("POST", "/coverage").headers) >= LIMIT_HEADERS


def test_rate_limit(frame):
    """429 `rate_limited`, Retry-After in whole seconds ≥ 1, details {limit, windowSeconds, retryAfterSeconds}."""
    frame.limiter.hits["acc_free"] = 99
    assert frame.get("/nowhere", frame.FREE).status_code == 404
    answer = frame.get("/nowhere", frame.FREE)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "42"
    error = frame.inner_error(answer)
    assert error["code"] == "rate_limited"
    assert error["details"] == {"limit": 100, "windowSeconds": 60, "retryAfterSeconds": 42}
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert answer.headers["x-data-version"] == "7"
    assert frame.get("/coverage", frame.NARROW).status_code == 429  # another key, the same account
    assert frame.get("/coverage", frame.PRO).status_code == 200


def test_every_request_with_a_valid_key_counts(frame):
    """Every request with a valid key counts (304, 4xx, HEAD too)."""
    etag = frame.get("/coverage").headers["etag"]
    frame.get("/coverage", if_none_match=etag)
    frame.get("/nowhere")
    frame.request("HEAD", "/coverage")
    assert frame.limiter.hits == {"acc_pro": 4}


@pytest.mark.parametrize("path", ["/nowhere", "/", "/coverage/", "/indicators/cpi/", "/COVERAGE", "/coverage%0A"])
def test_unknown_path(frame, path):
    """Unknown path → 404 `not_found`; a trailing slash makes another path."""
    assert frame.error(path, 404)["code"] == "not_found"
    answer = frame.request("POST", path)
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/coverage/", "/coverage"),
        ("/coverage//", "/coverage"),
        ("/COVERAGE", "/coverage"),
        ("/v1/coverage", "/coverage"),
        ("/api/v2/coverage/", "/coverage"),
        ("/coverge", "/coverage"),
        ("/indicators/cpi/", "/indicators/cpi"),
        ("/v1/indicator/CPI%20a%3F", "/indicators/CPI%20a%3F"),
        ("/nowhere", None),
        ("/", "/openapi.json"),
        ("/docs", "/openapi.json"),
        ("/Swagger.json/", "/openapi.json"),
        ("/v1", None),
        ("/coverage/coverage/coverage", None),
        ("/coverage" + "e" * 500, None),
        ("/a" + "/" * 5_000, None),
        ("/indicator/alm_" + "a" * 40, None),
    ],
)
def test_an_unknown_path_gets_a_suggestion_as_a_parameter_does(frame, path, meant):
    error = frame.error(path, 404)
    assert error.get("details") == (None if meant is None else {"suggestion": meant})
    assert (f"did you mean '{meant}'?" in error["message"]) == (meant is not None)
    if meant is not None:
        assert frame.get(meant).status_code != 404 or "there is nothing at this path" not in frame.get(meant).text


def test_routes_end_where_they_end():
    """A newline behind a path makes it another path; a literal path wins over a template declared before it."""
    x = (Param("x", ""),)
    series = Endpoint("/a/{x}/series", "series", "S", lambda _: ItemAnswer(b"1"), braces=x)
    either = Endpoint("/a/{x}", "either", "E", lambda _: ItemAnswer(b"2"), braces=x)
    literal = Endpoint("/a/latest", "literal", "L", lambda _: ItemAnswer(b"3"))
    routes = Routes([series, either, literal])
    assert routes.find("/a/cpi/series") == (series, {"x": "cpi"})
    assert routes.find("/a/cpi/series\n") is None
    assert routes.find("/a/latest") == (literal, {})


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"])
def test_other_methods(frame, method):
    """Any method but GET and HEAD → 405 `method_not_allowed` with `Allow`; before the scope is looked at."""
    answer = frame.request(method, "/observations?limt=1", frame.NARROW)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"
    assert frame.inner_error(answer)["code"] == "method_not_allowed"


def test_scope(frame):
    """Scope of the key → 403 `forbidden`, naming the scope needed; before the parameters are looked at."""
    error = frame.error("/observations?limt=1", 403, frame.NARROW)
    assert error["code"] == "forbidden"
    assert error["message"] == "the key lacks the scope 'macro:read'"
    assert error["details"] == {"scope": "macro:read", "granted": ["events:read"]}
    assert frame.get("/events", frame.NARROW).status_code == 200
    assert frame.get("/coverage", frame.NARROW).status_code == 200


def test_body(frame):
    """A request body → 400 (naming `body`)."""
    answer = frame.request("GET", "/coverage", content=b"{}")
    assert answer.status_code == 400
    assert frame.inner_error(answer)["message"].startswith("'body' ")
    assert frame.request("GET", "/coverage", headers={"content-length": "0"}).status_code == 200
    assert frame.request("GET", "/coverage", headers={"transfer-encoding": "chunked"}).status_code == 400


@pytest.mark.parametrize("announced", [True, False])
def test_body_under_http2(frame, announced):
    """An actual body chunk is a body, announced or not; an announced one is read before the answer goes out."""
    chunks = [b"", b"x", b"y"]
    events = []

    async def receive():
        chunk = chunks.pop(0)
        events.append(chunk)
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    async def send(message):
        events.append(message.get("status"))

    headers = [(b"x-api-key", frame.PRO.encode()), *([(b"content-length", b"2")] if announced else [])]
    scope = {"type": "http", "http_version": "2", "method": "GET", "path": "/coverage", "query_string": b""}
    asyncio.run(frame.app({**scope, "headers": headers, "client": ("192.0.2.1", 1)}, receive, send))
    assert events == ([b"", b"x", b"y", 400, None] if announced else [b"", b"x", 400, None])


def test_unknown_id(frame):
    """An unknown id in a path → 404 `not_found`."""
    assert frame.error("/indicators/none", 404)["message"] == "no indicator has the id or slug 'none'"


def test_path_values_are_decoded_once(frame):
    """Path values are percent-decoded once; an encoded slash is part of a value and parts no path."""
    assert frame.error("/indicators/a%2Fs", 404)["message"] == "no indicator has the id or slug 'a/s'"
    assert frame.error("/indicators%2fcpi", 404)["message"].startswith("there is nothing at this path")
    assert frame.get("/indicators/cpi").status_code == 200
    assert frame.get("/indicators/%63pi").status_code == 200
    assert frame.error("/indicators/%2563pi", 404)["message"].endswith("'%63pi'")


def test_fault(frame):
    """A fault of ours → 500 `internal_error`, message without internals."""
    before = REGISTRY.get_sample_value("almanac_faults_total", {"kind": "internal"}) or 0
    answer = frame.get("/indicators/broken")
    assert answer.status_code == 500
    error = frame.inner_error(answer)
    assert (error["code"], error["message"]) == (
        "internal_error",
        "a fault of this service; its log has the request id",
    )
    assert "details" not in error
    assert REGISTRY.get_sample_value("almanac_faults_total", {"kind": "internal"}) == before + 1


@pytest.mark.parametrize("kind", ["own", "driver"])
def test_storage_unreachable(frame, storage_down, kind):
    """Storage unreachable → 503 `service_unavailable` + Retry-After; the version last seen is still told."""
    frame.get("/coverage")
    frame.broken = storage_down if kind == "own" else ConnectionError("disk at /data is gone")
    answer = frame.get("/coverage")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers["x-data-version"] == "7"
    assert frame.inner_error(answer)["code"] == "service_unavailable"
    assert "/data" not in answer.text
    assert frame.get("/nowhere").status_code == 404


def test_preflight(frame):
    """Preflights from the configured origins get 204 without a key; others do not."""
    asked = {"origin": "https://charts.example", "access-control-request-method": "GET"}
    answer = frame.request("OPTIONS", "/observations", None, asked)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "https://charts.example"
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD"
    assert "x-api-key" in answer.headers["access-control-allow-headers"]
    other = frame.request("OPTIONS", "/observations", None, {**asked, "origin": "https://evil.example"})
    assert other.status_code == 401
    assert "access-control-allow-origin" not in other.headers
    assert "ALMANAC_CORS_ORIGINS" in frame.inner_error(other)["message"]
    # Without the head of a preflight it is a request like any other that has no key.
    plain = frame.request("OPTIONS", "/observations", None, {"origin": "https://evil.example"})
    assert "no API key was sent" in frame.inner_error(plain)["message"]


def test_cors_on_answers(frame):
    """Answers to a configured origin, errors too, may be read by its scripts, headers included."""
    for url in ("/coverage", "/nowhere"):
        answer = frame.get(url, origin="https://charts.example")
        assert answer.headers["access-control-allow-origin"] == "https://charts.example"
        assert "retry-after" in answer.headers["access-control-expose-headers"]
        assert answer.headers["vary"].endswith(", origin")
    assert "access-control-allow-origin" not in frame.get("/coverage", origin="https://evil.example").headers
