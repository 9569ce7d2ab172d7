"""Asking again, waiting for limits, and not asking in vain: under a clock that tests hold."""

import asyncio
import random

import httpx2
import pytest

import almanac_client as a
from almanac_client import _transport

from .served import BASE

COVERAGE = {
    "countries": 1, "regions": 1, "companies": 1, "indicators": {"raw": 1, "derived": 1}, "series": 1, "observations": 1,
    "derivedObservations": 1, "vintages": 1, "statements": 1, "events": 1, "providers": 1, "sources": 1, "firstPeriod": None,
    "lastPeriod": None, "lastIngestedAt": None, "dataVersion": 1,
}  # fmt: skip
GOOD = {"data": COVERAGE, "meta": {}, "requestId": "req_1"}


class Held(_transport.Clock):
    """Time that passes only while one waits."""

    def __init__(self):
        self.now = 1000.0
        self.waited = []

    def monotonic(self):
        return self.now

    def wall(self):
        return self.now

    def sleep(self, seconds):
        self.waited.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds):
        self.sleep(seconds)


class Script:
    """A service that answers as told, one after the other, and the last for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, request):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, type):
            raise answer("no", request=request)
        status, headers = answer
        return httpx2.Response(status, headers=headers, json=GOOD if status == 200 else {"error": {"message": "no"}})


def blocking(script, clock, **options):
    http = httpx2.Client(transport=httpx2.MockTransport(script))
    almanac = a.Almanac(url=BASE, api_key="alm_x", insecure=True, http_client=http, **options)
    almanac._core.pace.clock = almanac._core.driver.clock = clock
    return almanac.coverage


def awaiting(script, clock, **options):
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(script))
    almanac = a.AsyncAlmanac(url=BASE, api_key="alm_x", insecure=True, http_client=http, **options)
    almanac._core.pace.clock = almanac._core.driver.clock = clock
    return lambda: asyncio.run(almanac.coverage())


@pytest.fixture(params=[blocking, awaiting])
def over(request):
    return request.param


@pytest.fixture
def clock():
    return Held()


OK = (200, {})


@pytest.mark.parametrize("status", [429, 503])
def test_a_minute_is_waited_for(over, clock, status):
    script = Script((status, {"retry-after": "60"}), OK)
    assert over(script, clock)().data_version == 1
    assert (clock.waited, script.asked) == ([60.0], 2)


@pytest.mark.parametrize(("told", "most"), [("66", 65.0), ("61", 60)])
def test_longer_than_one_would_wait_is_raised_at_once(over, clock, told, most):
    script = Script((429, {"retry-after": told}), OK)
    with pytest.raises(a.RateLimited) as caught:
        over(script, clock, max_retry_wait=most)()
    assert caught.value.retry_after == float(told)
    assert (clock.waited, script.asked) == ([], 1)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((429, {}), a.RateLimited),
        ((503, {}), a.Unavailable),
        (httpx2.ConnectError, a.ConnectionFailed),
        (httpx2.ReadTimeout, a.TimedOut),
    ],
)
def test_without_a_time_the_pauses_are_jittered_and_end(over, clock, answer, kind, monkeypatch):
    spans = []
    monkeypatch.setattr(random, "uniform", lambda low, high: spans.append((low, high)) or high)
    script = Script(answer)
    with pytest.raises(kind):
        over(script, clock, max_retries=6)()
    assert spans == [(0, 0.5), (0, 1.0), (0, 2.0), (0, 4.0), (0, 8.0), (0, 8.0)]
    assert clock.waited == [high for _, high in spans]
    assert script.asked == 7


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_what_would_be_answered_the_same_is_not_asked_again(over, clock, status):
    script = Script((status, {"retry-after": "1"}))
    with pytest.raises(a.ApiError):
        over(script, clock)()
    assert (script.asked, clock.waited) == (1, [])


def test_no_retries_if_none_are_wanted(over, clock):
    script = Script((503, {"retry-after": "1"}), OK)
    with pytest.raises(a.Unavailable):
        over(script, clock, max_retries=0)()
    assert script.asked == 1


USED_UP = {"x-ratelimit-remaining": "0", "ratelimit": '"minute";r=0;t=42', "x-ratelimit-reset": "2020-01-01T00:00:00Z"}


def test_the_pace_waits_for_the_end_of_the_minute(over, clock):
    script = Script((200, USED_UP), OK)
    ask = over(script, clock)
    ask()
    assert clock.waited == []
    clock.now += 2
    ask()
    ask()
    assert (clock.waited, script.asked) == ([40.0], 3)


def test_a_429_is_not_waited_for_twice(over, clock):
    script = Script((429, {**USED_UP, "retry-after": "42"}), OK)
    over(script, clock)()
    assert clock.waited == [42.0]


@pytest.mark.parametrize("options", [{"pace": False}, {"max_retry_wait": 41}])
def test_the_pace_can_be_left_out(over, clock, options):
    script = Script((200, USED_UP), OK)
    ask = over(script, clock, **options)
    ask()
    ask()
    assert (clock.waited, script.asked) == ([], 2)


def test_what_is_known_of_limits_is_shared_by_clients_made_of_one(clock):
    http = httpx2.Client(transport=httpx2.MockTransport(Script((200, USED_UP), OK)))
    almanac = a.Almanac(url=BASE, api_key="alm_x", insecure=True, http_client=http)
    almanac._core.pace.clock = almanac._core.driver.clock = clock
    almanac.coverage()
    almanac.with_options(timeout=1).coverage()
    assert clock.waited == [42.0]
    assert almanac.with_options(api_key="alm_y")._core.pace is not almanac._core.pace
    assert almanac.with_options(api_key="alm_y")._core.driver is almanac._core.driver
    assert almanac.at("2026-01-01")._core.known is almanac._core.known
    elsewhere = almanac.with_options(url="http://other.example")
    assert elsewhere._core.driver is not almanac._core.driver
    assert repr(elsewhere) == "<Almanac http://other.example, key from api_key>"
