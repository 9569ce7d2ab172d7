"""The limiter: exact in one process, on the turn of a minute, over four processes through Redis, and when Redis is gone."""

import contextlib
import socket
import sys
import uuid

import pytest
import structlog

from almanac.api.use.limits import WINDOW, Decision, Limiter, RedisLimiter
from almanac.config import SettingError
from tests.support.processes import told_by_four

NOW = 1_790_000_040.0  # the first second of a minute
REDIS = "redis://127.0.0.1:6379/0"
#: Seconds for Redis where a test asks what it decides, not when it is given up: the machine may be busy.
PATIENCE = 60


@pytest.fixture
def limiter():
    return Limiter()


# Decisions


def test_the_last_request_within_the_limit_is_admitted_and_the_next_is_not(limiter):
    assert NOW % WINDOW == 0
    reset = int(NOW) + 60
    assert limiter.hit("acc", 2, NOW) == Decision(True, 2, 1, reset, 60)
    assert limiter.hit("acc", 2, NOW + 1.5) == Decision(True, 2, 0, reset, 59)
    assert limiter.hit("acc", 2, NOW + 59.999) == Decision(False, 2, 0, reset, 1)
    assert limiter.hit("other", 2, NOW + 59.999).remaining == 1


def test_a_refused_request_does_not_count(limiter):
    for _ in range(5):
        limiter.hit("acc", 2, NOW)
    # Under a larger plan, bought within the minute, two requests have been used, not five.
    assert limiter.hit("acc", 10, NOW).remaining == 7
    assert limiter.hit("acc", 2, NOW) == Decision(False, 2, 0, int(NOW) + 60, 60)


def test_a_new_minute_starts_from_nothing(limiter):
    admitted = {at: limiter.hit("acc", 1, NOW + at).admitted for at in (0, 59.9, 60, 60.1, 120)}
    assert admitted == {0: True, 59.9: False, 60: True, 60.1: False, 120: True}


def test_a_request_that_read_the_clock_before_the_turn_counts_in_the_new_minute(limiter):
    assert limiter.hit("acc", 1, NOW + 60).admitted
    late = limiter.hit("acc", 1, NOW + 59.99)
    assert (late.admitted, late.reset_at) == (False, int(NOW) + 120)


def test_a_clock_set_back_starts_anew(limiter):
    assert limiter.hit("acc", 1, NOW + 600).admitted
    assert limiter.hit("acc", 1, NOW).admitted
    assert not limiter.hit("acc", 1, NOW).admitted


def test_an_account_without_requests_is_refused(limiter):
    assert limiter.hit("acc", 0, NOW) == Decision(False, 0, 0, int(NOW) + 60, 60)


def test_failures_are_refused_beyond_the_limit_and_do_not_touch_accounts(limiter):
    assert [limiter.fail("192.0.2.1", 2, NOW) for _ in range(4)] == [False, False, True, True]
    assert limiter.fail("192.0.2.2", 2, NOW) is False
    assert limiter.fail("192.0.2.1", 2, NOW + 60) is False
    assert limiter.hit("192.0.2.1", 1, NOW).admitted


def test_a_flood_of_addresses_is_answered_and_never_stored_without_end(limiter, monkeypatch):
    monkeypatch.setattr("almanac.api.use.limits._MOST_NAMES", 8)
    assert not any(limiter.fail(f"2001:db8::{number:x}", 1, NOW) for number in range(8))
    # No room: it is answered as a first failure is, each time.
    assert not any(limiter.fail("2001:db8::ffff", 1, NOW) for _ in range(3))
    assert limiter.fail("2001:db8::1", 1, NOW) is True  # known ones are still counted
    assert limiter.hit("acc", 1, NOW).admitted  # accounts are no strangers
    assert not limiter.hit("acc", 1, NOW).admitted


# Redis


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_local_counters_take_over_where_redis_fails():
    failures, clock = [], Clock()
    remote = RedisLimiter(f"redis://:hush@127.0.0.1:{closed_port()}/0", failures.append, monotonic=clock)
    assert [remote.hit("acc", 2, NOW).admitted for _ in range(3)] == [True, True, False]
    assert [remote.fail("192.0.2.1", 1, NOW) for _ in range(2)] == [False, True]
    assert failures == ["ConnectionError"]  # asked once, then left in peace
    clock.seconds = 2.0
    remote.hit("acc", 2, NOW)
    assert failures == ["ConnectionError"] * 2
    remote.close()


def test_redis_is_used_again_once_it_answers():
    failures, clock, answers = [], Clock(), iter([TimeoutError(), [1, 7], [0, 9]])
    remote = RedisLimiter(REDIS, failures.append, monotonic=clock)

    def script(keys, args):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    remote._script = script
    assert remote.hit("acc", 9, NOW).remaining == 8  # the fallback's
    clock.seconds = 1.9
    assert remote.hit("acc", 9, NOW).remaining == 7
    clock.seconds = 2.0
    assert remote.hit("acc", 9, NOW) == Decision(True, 9, 2, int(NOW) + 60, 60)
    assert remote.hit("acc", 9, NOW) == Decision(False, 9, 0, int(NOW) + 60, 60)
    assert failures == ["TimeoutError"]


def test_the_log_says_once_that_redis_is_gone_and_once_that_it_is_back():
    clock = Clock()
    refused, answer = [ConnectionError(), ConnectionError(), TimeoutError()], [1, 7]
    remote = RedisLimiter("redis://:hush@127.0.0.1/0", monotonic=clock)

    def script(keys, args):
        if refused:
            raise refused.pop(0)
        return answer

    remote._script = script
    with structlog.testing.capture_logs() as lines:
        for _ in range(6):
            remote.hit("acc", 9, NOW)
            clock.seconds += 2.0
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("Redis does not answer, each process counts for itself", "error"),
        ("Redis answers again", "info"),
    ]
    assert (lines[0]["reason"], lines[1]["seconds"]) == ("ConnectionError", 6.0)
    assert "hush" not in str(lines)


@pytest.mark.parametrize("url", ["http://:hush@localhost", "localhost:6379", "redis://:hush@localhost:port/0", ""])
def test_a_bad_redis_address_is_a_setting_error_without_the_password(url):
    with pytest.raises(SettingError, match="ALMANAC_REDIS_URL must look like redis://") as caught:
        RedisLimiter(url)
    assert "hush" not in str(caught.value)


def test_redis_without_its_extra_is_a_setting_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(SettingError, match=r"pip install '\.\[redis\]'"):
        RedisLimiter(REDIS)


HITS = """
import sys
from almanac.api.use.limits import RedisLimiter
{make}
print("ready", flush=True)
sys.stdin.readline()
print(sum(limiter.hit("acc", 100, 1790000040.0).admitted for _ in range(500)))
"""


def admitted_by_four(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return sum(int(said) for said in told_by_four(command))


@pytest.fixture
def prefix():
    """A prefix of this test's own on the local Redis server; its keys are removed afterwards."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 6379), timeout=1):
        import redis

        made = f"almanac-test-{uuid.uuid4().hex}:"
        yield made
        client = redis.Redis.from_url(REDIS)
        for key in client.scan_iter(f"{made}*"):
            client.delete(key)
        client.close()
        return
    pytest.skip("no Redis server on 127.0.0.1:6379")


@pytest.mark.redis
def test_four_processes_admit_exactly_the_limit_through_redis(prefix):
    make = f"limiter = RedisLimiter({REDIS!r}, sys.exit, prefix={prefix!r}, timeout={PATIENCE})"
    assert admitted_by_four(HITS.format(make=make)) == 100


@pytest.mark.redis
def test_redis_decides_as_one_process_does(prefix, limiter):
    failures = []
    remote = RedisLimiter(REDIS, failures.append, prefix=prefix, timeout=PATIENCE)
    for name, limit, now in [("a", 2, 0), ("a", 2, 1.5), ("a", 2, 59.9), ("b", 1, 60), ("a", 5, 63), ("a", 0, 63), ("a", 1, 64)]:  # fmt: skip
        assert remote.hit(name, limit, NOW + now) == limiter.hit(name, limit, NOW + now)
    assert [remote.fail("192.0.2.1", 2, NOW) for _ in range(4)] == [False, False, True, True]
    assert {1 <= remote._client.ttl(key) <= 120 for key in remote._client.scan_iter(f"{prefix}*")} == {True}
    assert failures == []
    remote.close()
