"""Plans set the rate limit; every answer with a valid key counts; encodings and spellings of one answer are one answer."""

import gzip

import pytest
import zstandard

from tests.support.service import Service


@pytest.fixture
def small(own):
    """The free plan with five requests a minute."""
    one = Service(own.home, {"PLANS__FREE__REQUESTS_PER_MINUTE": "5"})
    yield one
    one.close()


def test_rate_limited(small):
    """The exceeding response is 429 with Retry-After; the client is to honour it."""
    for left in (4, 3, 2, 1, 0):
        assert small.get("/coverage", "free").headers["x-ratelimit-remaining"] == str(left)
    answer = small.get("/coverage", "free")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (429, "rate_limited")
    wait = 60 - int(small.real_now) % 60
    assert int(answer.headers["retry-after"]) == wait
    assert error["details"] == {"limit": 5, "windowSeconds": 60, "retryAfterSeconds": wait}
    assert answer.headers["x-data-version"] == small.get("/coverage").headers["x-data-version"]
    small.real_now += wait
    assert small.get("/coverage", "free").headers["x-ratelimit-remaining"] == "4"


def test_what_counts(small):
    """Every request with a valid key counts (304, 4xx, HEAD too), 429 does not; 401 and keys in the query do not."""
    etag = small.get("/coverage", "free").headers["etag"]
    assert small.get("/coverage", "free", {"if-none-match": etag}).headers["x-ratelimit-remaining"] == "3"
    assert small.get("/nothing", "free").headers["x-ratelimit-remaining"] == "2"
    assert small.request("HEAD", "/coverage", "free").headers["x-ratelimit-remaining"] == "1"
    assert small.get("/coverage", None).status_code == 401
    assert small.get("/coverage", "free", key="x").status_code == 400
    assert small.get("/coverage", "free", limit="1").headers["x-ratelimit-remaining"] == "0"
    assert [small.get("/coverage", "free").status_code for _ in range(3)] == [429] * 3
    # The limit comes before path, method, scope and parameters.
    assert small.get("/nothing", "free").status_code == 429
    assert small.request("POST", "/coverage", "free").status_code == 429


def test_all_keys_of_an_account_together(small):
    """Per account, all keys together."""
    second, _ = small.accounts.create_key("free@example.org", now=int(small.real_now))
    statuses = [small.get("/coverage", key).status_code for key in ("free", second) * 4]
    assert statuses == [200] * 5 + [429] * 3


def test_the_documented_plans(own):
    """free 100, pro 1,000, enterprise 10,000 requests / 60 s; all of the archive but for the free plan's 24 months."""
    as_shipped = Service(own.home, {"PLANS__FREE__REQUESTS_PER_MINUTE": "", "PLANS__PRO__REQUESTS_PER_MINUTE": ""})
    told = {
        plan: as_shipped.get("/coverage", plan).headers["x-ratelimit-policy"] for plan in ("free", "pro", "enterprise")
    }
    as_shipped.close()
    assert told == {
        "free": "100 per 60s (plan free)", "pro": "1000 per 60s (plan pro)", "enterprise": "10000 per 60s (plan enterprise)",
    }  # fmt: skip
    assert {name: plan.history_months for name, plan in as_shipped.settings.plans.items()} == {
        "free": 24, "pro": None, "enterprise": None,
    }  # fmt: skip


def test_codings_are_one_answer(service):
    """zstd and gzip by `Accept-Encoding`; the ETag is equal for all encodings."""
    plain = service.request("GET", "/coverage?", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    plain = service.request("GET", "/indicators", headers={"accept-encoding": "identity"})
    for coding, decode in (
        ("gzip", gzip.decompress),
        ("zstd", lambda body: zstandard.ZstdDecompressor().decompress(body)),
    ):
        answer, raw = coded(service, coding)
        assert answer == coding
        assert decode(raw).split(b',"meta":')[0] == plain.content.split(b',"meta":')[0]
        told = service.request("GET", "/indicators", headers={"accept-encoding": coding})
        assert told.headers["etag"] == plain.headers["etag"]


def coded(service, coding):
    """The coding and the bytes as they go over the wire."""
    import asyncio

    told = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        told.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/indicators", "raw_path": b"/indicators", "query_string": b"",
        "headers": [(b"x-api-key", service.keys["pro"].encode()), (b"accept-encoding", coding.encode()), (b"host", b"api.example")],
        "client": ("127.0.0.1", 5000), "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(service.app(scope, receive, send))
    return dict(told[0]["headers"]).get(b"content-encoding", b"").decode(), told[1]["body"]


def test_no_answer_but_json(service):
    """Other types only when `Accept` names one we have; absent, `*/*` or unknown → JSON, never 406."""
    for accept in ("*/*", "text/csv", "application/xml", "nonsense"):
        answer = service.get("/coverage", "pro", {"accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


def test_a_clients_own_request_id(service):
    """A client's own `x-request-id` is never taken over."""
    answer = service.get("/coverage", "pro", {"x-request-id": "mine"})
    assert answer.headers["x-request-id"].startswith("req_")
    assert "mine" not in answer.text


def test_both_headers(service):
    """Both headers with different keys → 401; with the same key they are one."""
    both = {"authorization": f"Bearer {service.keys['free']}"}
    assert service.get("/coverage", "pro", both).status_code == 401
    assert service.get("/coverage", "free", both).status_code == 200


def test_settings_of_the_fixture_are_real(small):
    """The application reads its plans from the settings, as the environment gives them."""
    assert small.settings.plans["free"].requests_per_minute == 5
    assert small.settings.plans["pro"].requests_per_minute == 1_000_000
