"""The steps of a request in their order, and what is answered where one of them stops it."""

import msgspec
import pytest
from prometheus_client import REGISTRY

from almanac.api.server import authentication


def test_what_is_wrong_first_is_told_first(frame):
    """A key in the query, the key, the path, the method, the scope, the parameters, the window: in this order."""
    steps = [
        ("/nowhere?api_key=x", "POST", frame.REVOKED, 400, "'api_key'"),
        ("/nowhere?limt=1", "POST", None, 401, "no API key"),
        ("/nowhere?limt=1", "POST", frame.NARROW, 404, "there is nothing at this path"),
        ("/observations?limt=1", "TRACE", frame.NARROW, 405, "method_not_allowed"),
        ("/observations?limt=1", "GET", frame.NARROW, 403, "the key lacks the scope 'macro:read'"),
        ("/observations?period=1990&cursor=x", "GET", frame.FREE, 400, "'cursor'"),
        ("/observations?period=1990", "GET", frame.FREE, 403, "free"),
    ]
    for url, method, key, status, said in steps:
        answer = frame.request(method, url, key)
        assert (answer.status_code, said in answer.text) == (status, True), (url, method, answer.text)


def test_every_path_and_method_needs_a_key(frame):
    """401 with WWW-Authenticate: Bearer, and no word of limits or of the data's version."""
    frame.settings = msgspec.structs.replace(frame.settings, failures_per_minute=100)
    frame.__post_init__()
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        for path in ("/coverage", "/openapi.json", "/nowhere", "/", "/observations?limt=3"):
            headers = frame.request(method, path, None).headers
            assert headers["www-authenticate"] == "Bearer"
            assert "x-request-id" in headers
            assert not [name for name in headers if "ratelimit" in name or name == "x-data-version"]
    # A header of another scheme carries no key of ours.
    assert frame.get("/coverage", None, authorization="Basic YTpi").status_code == 401


def test_a_query_answered_before_is_judged_again(frame):
    """Keys, scopes, methods, bodies and the clock are no part of a query that was answered."""
    url = "/observations?as_of=2026-11-20&limit=3"
    for _ in range(2):
        assert frame.get(url, x_request_id="mine").headers["x-request-id"] != "mine"
        assert frame.seen[-1].params["as_of"] == frame.now
        frame.now += 60
    assert frame.get(url, frame.NARROW).status_code == 403
    assert frame.get(url, frame.REVOKED).status_code == 401
    assert frame.request("POST", url).status_code == 405
    assert frame.request("GET", url, content=b"x").status_code == 400
    frame.now -= 86_400
    assert frame.error(url, 400)["details"] == {"parameter": "as_of", "reason": "future"}


def test_a_key_is_refused_wherever_it_stands_and_repeated_nowhere(frame):
    """In any parameter, as a name and behind `Bearer` too; in no message, and not half of it where the text is cut."""
    frame.settings = msgspec.structs.replace(frame.settings, failures_per_minute=100)
    frame.__post_init__()
    for query in (f"q={frame.PRO}", "b%65arer=x", f"{frame.PRO}=1", f"q=Bearer%20{frame.PRO}"):
        answer = frame.get(f"/coverage?{query}", None)
        assert frame.inner_error(answer)["details"]["reason"] == "key"
        assert frame.PRO not in answer.text
    for path in (f"{frame.PRO}", f"{'x' * 30}{frame.PRO}", f"alm%5f{'P' * 40}"):
        answer = frame.get(f"/indicators/{path}", frame.FREE)
        assert "alm_P" not in answer.text
        assert "[redacted]" in answer.text
    assert "suggestion" not in str(frame.error(f"/indicator/{frame.PRO}", 404).get("details"))


def test_a_key_in_the_query_counts_as_a_failure_of_its_address(frame):
    """Else whoever tries keys would never be throttled. Those who send a good key otherwise go on."""
    answers = [frame.get(f"/coverage?key=try{number}", None) for number in range(5)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429, 429]
    assert frame.limiter.failures == {"192.0.2.1": 5}
    assert REGISTRY.get_sample_value("almanac_authentication_failures_total", {"reason": "in_query"}) >= 5
    assert frame.get("/coverage", frame.REVOKED).status_code == 429
    assert frame.get("/coverage").status_code == 200


def test_a_plan_that_is_not_in_the_settings(frame, monkeypatch):
    """Another program may have put an account on it: 403 with the reason, and one line in the log, not 500."""
    frame.settings = msgspec.structs.replace(frame.settings, plans={"pro": frame.settings.plans["pro"]})
    frame.__post_init__()
    told = []
    monkeypatch.setattr(authentication.log, "error", lambda event, **more: told.append(more), raising=False)
    for _ in range(3):
        error = frame.error("/coverage", 403, frame.FREE)
    assert (error["message"], error["details"]) == (
        "the plan 'free' of this account is unknown to this service; its operator has to set it up", {"plan": "free"}
    )  # fmt: skip
    assert told == [{"plan": "free", "account": "acc_free"}]
    assert frame.get("/coverage", frame.PRO).status_code == 200


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
    from almanac.api.use.limits import Limiter

    frame.app._authentication._limiter = Limiter()
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


def test_path_values_are_decoded_once(frame):
    """Path values are percent-decoded once; an encoded slash is part of a value and parts no path."""
    assert frame.error("/indicators/a%2Fs", 404)["message"] == "no indicator has the id or slug 'a/s'"
    assert frame.error("/indicators%2fcpi", 404)["message"].startswith("there is nothing at this path")
    assert frame.get("/indicators/cpi").status_code == 200
    assert frame.get("/indicators/%63pi").status_code == 200
    assert frame.error("/indicators/%2563pi", 404)["message"].endswith("'%63pi'")
    assert frame.error("/coverage%0A", 404)["message"].startswith("there is nothing at this path")
    assert frame.error("/indicators/cpi%0A", 404)["message"].startswith("no indicator has the id")


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
