"""The steps of a request in their order, and what is answered where one of them stops it."""

import gzip
import io
import itertools
import json
import random

import msgspec
import pytest
import zstandard
from prometheus_client import REGISTRY

from almanac.api.server import authentication, logs
from almanac.api.server.envelope import choose_coding
from almanac.api.server.journal import Journal
from almanac.api.server.logs import told_path


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


def test_storage_unreachable(frame, storage_down):
    """Storage unreachable → 503 `service_unavailable` + Retry-After; the version last seen is still told."""
    frame.get("/coverage")
    frame.broken = storage_down
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
        exposed = {*answer.headers["access-control-expose-headers"].split(", "), "x-content-type-options"}
        assert {name for name in answer.headers if name.startswith(("x-", "ratelimit", "retry"))} <= exposed
        assert {"x-request-id", "x-ratelimit-reset", "retry-after"} <= exposed
        assert answer.headers["vary"].endswith(", origin")
    assert "access-control-allow-origin" not in frame.get("/coverage", origin="https://evil.example").headers


# What the line of a request tells an operator: who keeps being refused, what was not found; and which lines are kept.


@pytest.fixture
def lines(monkeypatch):
    stream = io.BytesIO()
    monkeypatch.setattr(logs.access, "stream", stream)

    def told():
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    return told


def refused(frame):
    """One answer of each kind that says who asked, and others beside them."""
    frame.limiter.hits["acc_pro"] = 1000
    frame.get("/coverage", None)
    frame.get("/events", frame.PRO)
    frame.get("/screener?filter=a", frame.NARROW)
    frame.get("/coverage", frame.FREE)
    frame.get("/coverage?wrong=1", frame.FREE)


def test_the_line_of_a_refused_client_says_from_where_it_asked(frame, lines):
    refused(frame)
    found = [(line["status"], line.get("address")) for line in lines()]
    assert found == [(401, "192.0.2.1"), (429, "192.0.2.1"), (403, "192.0.2.1"), (200, None), (400, None)]


def test_it_is_the_clients_address_behind_a_trusted_proxy(frame, lines):
    frame.peer = "10.1.2.3"
    frame.get("/coverage", None, x_forwarded_for="198.51.100.7, 10.9.9.9")
    assert lines()[0]["address"] == "198.51.100.7"


def test_addresses_are_left_out_where_the_operator_wants_none(frame, lines):
    frame.settings = msgspec.structs.replace(frame.settings, log_addresses=False)
    frame.__post_init__()
    refused(frame)
    assert [(line["status"], "address" in line) for line in lines()] == [
        (401, False), (429, False), (403, False), (200, False), (400, False),
    ]  # fmt: skip


def test_the_line_of_a_429_says_which_path_was_asked_for(frame, lines):
    """It is refused before its path is looked at; whoever wonders what keeps asking is told all the same."""
    frame.limiter.hits["acc_pro"] = 1000
    frame.limiter.failures["192.0.2.1"] = 300
    frame.get("/indicators/secret-name", frame.PRO)
    frame.get("/coverage", None)
    frame.get("/coverage?api_key=x", None)
    frame.get("/nowhere", frame.PRO)
    found = [(line["status"], line["path"]) for line in lines()]
    assert found == [(429, "/indicators/{idOrSlug}"), (429, "/coverage"), (429, "/coverage"), (429, None)]


def test_the_line_of_a_404_says_what_was_asked_for(frame, lines):
    frame.get("/indicators/gone")
    frame.get("/a%0Ab/%22c%22/é?secret=s3cret")
    frame.get(f"/{frame.PRO}/alm%5F{'Q' * 40}")
    frame.get(f"/{'ab/' * 500}")
    found = lines()
    assert [(line["status"], line["path"]) for line in found] == [(404, "/indicators/{idOrSlug}")] + [(404, None)] * 3
    assert found[0]["target"] == "/indicators/gone"
    assert found[1]["target"] == "/a%0Ab/%22c%22/%C3%A9"
    assert found[2]["target"] == "/[redacted]/[redacted]"
    assert found[3]["target"] == f"/{'ab/' * 500}"[:200] + "..."


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"/x/{'0123456789abcdef' * 2}/y", "/x/[redacted]/y"),  # a publisher's key
        ("/observations/obs_vybtlprlj7yali3577brtjln77", "/observations/obs_vybtlprlj7yali3577brtjln77"),
        (f"/alm%5F{'k' * 40}", "/alm%25[redacted]"),  # escaped twice
        ("/\ud800", "/?"),
        ("/" + "k" * 100_000, "/[redacted]"),
    ],
)
def test_nothing_as_long_as_a_key_is_told(path, told):
    assert told_path(path) == told.replace("?", "%3F")


def statuses(lines):
    return [line["status"] for line in lines()]


@pytest.mark.parametrize(("share", "kept"), [(1.0, 1000), (0.1, 100), (0.0, 0)])
def test_a_share_of_the_good_answers_is_kept_and_every_error(lines, monkeypatch, share, kept):
    numbers = itertools.count()
    monkeypatch.setattr(random, "random", lambda: next(numbers) % 1000 / 1000)
    journal = Journal(share=share)
    counted = {"path": f"/shared/{share}", "method": "GET", "status": "200"}
    for number in range(1000):
        journal.add(logs.AccessLine("req", None, "GET", counted["path"], 200, 1.0, None, None), 0.001)
        if number % 100 == 0:
            journal.add(logs.AccessLine("req", None, "GET", "/x", 404, 1.0, None, None), 0.001)
    assert statuses(lines).count(200) == kept
    assert statuses(lines).count(404) == 10
    assert REGISTRY.get_sample_value("almanac_requests_total", counted) == 1000


# -- eTag, conditional requests, HEAD, content coding, cache headers --------------------------------------------------


DAY = 86_400
LONG = "/observations?limit=25"


def test_etag_is_of_the_data(frame):
    """Equal from second to second, for other pages another one, none on an error; a 304 tells the plan's window too."""
    urls = ["/coverage", "/observations?limit=3", "/observations?limit=4", LONG, "/observations?limit=26"]
    cursor = frame.get(urls[1]).json()["meta"]["pagination"]["next_cursor"]
    urls.append(f"{urls[1]}&cursor={cursor}")
    etags = [frame.get(url).headers["etag"] for url in urls]
    assert len(set(etags)) == len(urls)
    frame.real, frame.now = frame.real + 5, frame.now + 5
    assert [frame.get(url).headers["etag"] for url in urls] == etags
    kept = frame.get(LONG, frame.FREE, if_none_match=frame.get(LONG, frame.FREE).headers["etag"])
    assert (kept.status_code, kept.headers["x-history-from"]) == (304, "2024-11-20")
    missing = frame.get("/indicators/none", if_none_match="*")
    assert (missing.status_code, "etag" in missing.headers) == (404, False)


def test_cached_page_does_not_outlive_its_cursor(frame):
    """A page with a next cursor is confirmed on the day of its issue only, one without on any day."""
    paged, whole = frame.get("/observations?limit=3").headers["etag"], frame.get(LONG).headers["etag"]
    frame.real += DAY
    assert frame.get("/observations?limit=3", if_none_match=paged).status_code == 200
    assert frame.get(LONG, if_none_match=whole).status_code == 304


@pytest.mark.parametrize("url", [LONG, "/heavy"])
def test_codings(frame, url):
    """zstd and gzip by Accept-Encoding; the ETag is equal for all encodings."""
    plain = frame.get(url)
    assert "content-encoding" not in plain.headers
    etags = {plain.headers["etag"]}
    for coding, decoder in (("gzip", gzip.decompress), ("zstd", zstandard.decompress)):
        sent = raw(frame, url, coding)
        assert sent.headers[b"content-encoding"] == coding.encode()
        assert len(sent.body) == int(sent.headers[b"content-length"]) < len(plain.content)
        assert decoder(sent.body).startswith(plain.content[:100])
        etags.add(sent.headers[b"etag"].decode())
    assert len(etags) == 1


def test_small_bodies_stay_plain(frame):
    """Bodies below about 1 KiB are sent as they are."""
    assert "content-encoding" not in frame.get("/coverage", accept_encoding="gzip, zstd").headers


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (b"gzip", b"gzip"),
        (b"gzip, deflate, br, zstd", b"zstd"),
        (b"gzip;q=0", None),
        (b"*", b"zstd"),
        (b"br", None),
        (b"identity, gzip;q=0.5", None),
        (b"gzip;q=nonsense", None),
        (b"gzip ; q=0.3", b"gzip"),
    ],
)
def test_quality_values(accept, chosen):
    """Codings by q-value; 0 forbids, `*` speaks for those not named, ties go to zstd."""
    assert choose_coding(accept) == chosen


class Raw:
    """An answer as it left the app: the client library would decode it."""

    headers: dict
    body: bytes = b""


def raw(frame, url, coding):
    import asyncio

    path, _, query = url.partition("?")
    answer = Raw()

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            answer.headers = dict(message["headers"])
        else:
            answer.body += message["body"]

    scope = {
        "type": "http",
        "http_version": "2",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"x-api-key", frame.PRO.encode()), (b"accept-encoding", coding.encode())],
        "client": ("192.0.2.1", 1),
    }
    asyncio.run(frame.app(scope, receive, send))
    return answer
