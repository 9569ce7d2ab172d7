"""The free plan's window: every way to old data is bounded, and a request for nothing else is refused."""

import gzip
from datetime import UTC, datetime

import pytest
import zstandard

from tests.support.invented_mirror import FREE_FROM, NOW
from tests.support.service import Service

from .declared import ENDPOINTS, REQUIRED
from .test_every_endpoint import get, url

DATED = [path for path, endpoint in ENDPOINTS.items() if endpoint.dated]
LISTED = ["/observations", "/derived-observations", "/observations/vintages"]


def test_window_is_declared():
    """Every endpoint with dated rows is bounded by the plan."""
    assert {"/observations", "/observations/latest", "/observations/vintages", "/observations/{id}/provenance",
            "/derived-observations", "/rates/{scope}"} <= set(DATED)  # fmt: skip


@pytest.mark.parametrize("path", DATED)
def test_history_header(service, path):
    """Every 200 with dated rows carries `x-history-from` when the plan has a window."""
    target = (
        url(service, path) if "{id}" not in path else path.replace("{id}", service.ok("/observations/latest")[0]["id"])
    )
    required = REQUIRED.get(path, {})
    assert service.get(target, "free", **required).headers["x-history-from"] == FREE_FROM
    for plan in ("pro", "enterprise"):
        assert "x-history-from" not in service.get(target, plan, **required).headers


@pytest.mark.parametrize("path", [p for p in ENDPOINTS if p not in DATED])
def test_no_history_header_without_dated_rows(service, path):
    """And only those do."""
    assert "x-history-from" not in get(service, path, "free").headers


@pytest.mark.parametrize(
    "more", [{}, {"sources": "all"}, {"as_of": "2026-11-18"}, {"as_of": "2024-11-25", "sources": "all"}]
)
@pytest.mark.parametrize("path", LISTED)
def test_lists_are_clipped(service, path, more):
    """The free tier reaches recent history only; paid tiers reach the full archive: a list is clipped, on `periodEnd`."""
    full = service.walk(path, limit=500, **more)
    inside = [row for row in full if row["periodEnd"][:10] >= FREE_FROM]
    assert 0 < len(inside) < len(full)
    assert service.walk(path, "free", limit=500, **more) == inside
    assert service.walk(path, "free", limit=7, **more)[: len(inside)] == inside
    assert service.walk(path, "enterprise", limit=500, **more) == full


def test_the_first_day(service):
    """24 months back from today (UTC): the first day is inside."""
    days = [r["periodEnd"][:10] for r in service.walk("/observations", "free", indicator="gov_yield_2y", country="USA")]
    assert days[0] == FREE_FROM
    # A period that ends inside counts, whenever it began.
    assert service.walk("/observations", "free", indicator="unemployment_rate")[0]["periodStart"][:10] == "2024-11-01"


def test_the_window_moves_with_the_day(own):
    """The window is counted from today, in whole UTC days and calendar months."""
    for moment, first in (
        ("2026-11-20T00:00:00", "2024-11-20"), ("2026-11-20T23:59:59", "2024-11-20"), ("2026-11-21T00:00:00", "2024-11-21"),
        ("2028-02-29T12:00:00", "2026-02-28"),
    ):  # fmt: skip
        own.data_now = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp())
        assert own.get("/observations", "free").headers["x-history-from"] == first


OUTSIDE = [
    ("period", "2024-Q3", "2024"), ("period", "2024-10", "2024-11"), ("period", "2024-11-19", "2024-11-20"), ("period", "2023", "2025"),
    ("period_end", "2024-11-19", "2024-11-20"), ("end_date", "2024-11-19", "2024-11-20"), ("as_of", "2024-11-19", "2024-11-20"),
    ("as_of", "2024-11-19T23:59:59Z", "2024-11-20T00:00:00Z"), ("as_of", "2020-01-01", "2026-11-20"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name", "outside", "inside"),
    [(path, *case) for path in DATED for case in OUTSIDE if case[0] in ENDPOINTS[path].by_name],
)
def test_wholly_before_the_window(service, path, name, outside, inside):
    """A request wholly before the window (an explicit `period`, `period_end`, `end_date` or `as_of` older than it) is 403."""
    required, path = REQUIRED.get(path, {}), url(service, path)
    error = service.error(path, 403, "free", **required, **{name: outside})
    assert error["code"] == "forbidden"
    assert "plan 'free'" in error["message"]
    assert error["details"] == {"parameter": name, "plan": "free", "historyFrom": FREE_FROM}
    assert service.get(path, "free", **required, **{name: inside}).status_code == 200
    assert service.get(path, "pro", **required, **{name: outside}).status_code == 200


def test_checks_come_in_order(service):
    """Parameters (400) come before the plan's window (403), the scope before both."""
    assert service.get("/observations", "free", as_of="2020-01-01", limit="0").status_code == 400
    assert service.get("/observations", "events:read", limit="0").status_code == 403


def test_provenance_is_bounded(service):
    """
    A row before the window is 403; older inputs are without value, reason `outside_plan_history`.
    """
    old = service.ok("/observations", indicator="gov_yield_2y", country="USA", period="2024-11-19")[0]
    error = service.error(f"/observations/{old['id']}/provenance", 403, "free")
    assert error["details"]["plan"] == "free"
    assert service.get(f"/observations/{old['id']}/provenance", "pro").status_code == 200
    (row,) = service.ok(
        "/derived-observations", "free", indicator="yield_10y_change_1y", country="USA", period="2025-11-18"
    )
    paid = service.ok(f"/observations/{row['id']}/provenance")
    free = service.ok(f"/observations/{row['id']}/provenance", "free")
    assert [(i["periodEnd"][:10], i["valueNumeric"] is None) for i in paid["inputs"]] == [("2025-11-18", False), ("2024-11-18", False)]  # fmt: skip
    shown = [(i["periodEnd"][:10], i["valueNumeric"], i["valueWithheld"], i["reason"]) for i in free["inputs"]]
    assert shown == [
        ("2025-11-18", paid["inputs"][0]["valueNumeric"], False, None),
        ("2024-11-18", None, True, "outside_plan_history"),
    ]
    assert free["observation"] == paid["observation"]
    # An id says nothing of the value, so that those out of reach have the one that they have for everybody.
    assert [one["observationId"] for one in free["inputs"]] == [one["observationId"] for one in paid["inputs"]]
    service.error(f"/observations/{paid['inputs'][1]['observationId']}/provenance", 403, "free")


def test_latest_and_entities_are_bounded(service):
    """Latest readings and entity lists reach no further back than the plan."""
    assert all(
        r["periodEnd"][:10] >= FREE_FROM for r in service.walk("/observations/latest", "free", as_of="2024-11-21")
    )
    whole = service.walk("/observations/latest", as_of="2024-11-20")
    assert any(r["periodEnd"][:10] < FREE_FROM for r in whole)
    slope = "/derived-indicators/yield_slope_2s10s/entities"
    assert service.walk(slope, "free") == service.walk(slope)


def test_entities_and_rates_before_the_window(own):
    """Years later nothing is inside the window: no entity has data, no tenor a yield; a paid plan still sees them."""
    own.data_now = int(datetime(2029, 6, 1, tzinfo=UTC).timestamp())
    slope = "/derived-indicators/yield_slope_2s10s/entities"
    assert (len(own.walk(slope, "free")), len(own.walk(slope))) == (0, 2)
    assert [len(own.ok("/rates/USA", plan)["curve"]) for plan in ("free", "pro")] == [0, 4]
    assert own.walk("/observations/latest", "free") == []


def test_plans_live_in_the_settings(own):
    """A plan with a longer window reaches further: plans live in the settings, not in code."""
    from tests.support.service import Service

    longer = Service(own.home, {"PLANS__FREE__HISTORY_MONTHS": "36"})
    assert longer.get("/observations", "free").headers["x-history-from"] == "2023-11-20"
    assert NOW.startswith("2026-11-20")
    longer.close()


# Plans set the rate limit; every answer with a valid key counts; encodings and spellings of one answer are one answer.


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
