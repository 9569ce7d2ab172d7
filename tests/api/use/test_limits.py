"""The limiter: exact in one process and in four, on the turn of a minute, when its table grows, when Redis is gone."""

import contextlib
import socket
import sys
import threading
import uuid

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from almanac.api.use.counters import LATE, Counters, TableFull
from almanac.api.use.limits import WINDOW, Decision, RedisLimiter, SharedLimiter
from almanac.config import SettingError
from tests.support.processes import told_by_four

NOW = 1_790_000_040.0  # the first second of a minute
REDIS = "redis://127.0.0.1:6379/0"
#: Seconds for Redis where a test asks what it decides, not when it is given up: the machine may be busy.
PATIENCE = 60


@pytest.fixture
def limiter(tmp_path):
    opened = SharedLimiter(tmp_path / "limits")
    yield opened
    opened.close()


@pytest.fixture
def table(tmp_path):
    opened = Counters(tmp_path / "table", slots=8)
    yield opened
    opened.close()


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
    assert [limiter.hit("acc", 1, NOW + at).admitted for at in (0, 59.9, 60, 60.1, 120)] == [
        True,
        False,
        True,
        False,
        True,
    ]


def test_a_request_that_read_the_clock_before_the_turn_finds_its_own_minute(limiter):
    assert limiter.hit("acc", 1, NOW + 59.9).admitted
    assert limiter.hit("acc", 1, NOW + 60).admitted
    late = limiter.hit("acc", 1, NOW + 59.99)
    assert (late.admitted, late.reset_at) == (False, int(NOW) + 60)


def test_an_account_without_requests_is_refused(limiter):
    assert limiter.hit("acc", 0, NOW) == Decision(False, 0, 0, int(NOW) + 60, 60)


def test_failures_are_refused_beyond_the_limit_and_do_not_touch_accounts(limiter):
    assert [limiter.fail("192.0.2.1", 2, NOW) for _ in range(4)] == [False, False, True, True]
    assert limiter.fail("192.0.2.2", 2, NOW) is False
    assert limiter.fail("192.0.2.1", 2, NOW + 60) is False
    assert limiter.hit("192.0.2.1", 1, NOW).admitted


def test_a_flood_of_addresses_is_answered_and_never_stored_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("almanac.api.use.limits._MOST_ADDRESSES", 1 << 13)
    limiter = SharedLimiter(tmp_path / "limits")
    assert not any(limiter.fail(f"2001:db8::{number:x}", 1, NOW) for number in range(6144))
    size = (tmp_path / "limits.failures").stat().st_size
    assert limiter.fail("2001:db8::ffff", 1, NOW) is False  # no room: it is answered as a first failure is
    assert limiter.fail("2001:db8::1", 1, NOW) is True  # known ones are still counted
    assert (tmp_path / "limits.failures").stat().st_size == size
    limiter.close()


# Many processes


HITS = """
import sys
from almanac.api.use.limits import {name}
{make}
print("ready", flush=True)
sys.stdin.readline()
print(sum(limiter.hit("acc", 100, 1790000040.0).admitted for _ in range(500)))
"""


def admitted_by_four(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return sum(int(said) for said in told_by_four(command))


def test_four_processes_admit_exactly_the_limit(tmp_path):
    make = "from pathlib import Path\nlimiter = SharedLimiter(Path(sys.argv[1]))"
    assert admitted_by_four(HITS.format(name="SharedLimiter", make=make), str(tmp_path / "limits")) == 100


def test_a_table_grown_by_four_processes_at_once_loses_nothing(tmp_path):
    code = """
import sys
from pathlib import Path
from almanac.api.use.counters import Counters
table = Counters(Path(sys.argv[1]), slots=8)
print("ready", flush=True)
sys.stdin.readline()
print(sum(table.take(str(name), 7, 3)[0] for name in range(500) for _ in range(2)))
"""
    assert admitted_by_four(code, str(tmp_path / "table")) == 500 * 3


def test_threads_with_a_table_each_on_one_file_exclude_each_other(tmp_path):
    tables = [Counters(tmp_path / "table") for _ in range(4)]
    admitted, start = [], threading.Barrier(4)

    def work(table):
        start.wait()
        admitted.extend(table.take("acc", 7, 100)[0] for _ in range(200))

    threads = [threading.Thread(target=work, args=(table,)) for table in tables]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(admitted) == 100
    for table in tables:
        table.close()


# The table


def test_names_that_fall_on_one_slot_are_counted_apart(table):
    # Six names in eight slots: some must share their first place.
    for round_ in range(1, 4):
        assert [table.take(name, 7, 9) for name in "abcdef"] == [(True, round_, 7)] * 6


def test_a_full_table_grows_and_keeps_both_windows(table, tmp_path):
    names = [f"acc_{number}" for number in range(100)]
    for name in names:
        table.take(name, 6, 9)
        table.take(name, 7, 9)
        table.take(name, 7, 9)
    assert {table.take(name, 6, 1) for name in names} == {(False, 1, 6)}
    assert {table.take(name, 7, 2) for name in names} == {(False, 2, 7)}
    assert (tmp_path / "table").stat().st_size == 64 + 2 * 256 * 32


def test_a_table_that_is_used_for_an_hour_does_not_grow(table, tmp_path):
    for window in range(60):
        assert [table.take(f"{window}:{number}", window, 9) for number in range(6)] == [(True, 1, window)] * 6
    assert (tmp_path / "table").stat().st_size == 64 + 2 * 8 * 32


def test_a_table_at_its_largest_says_so_and_goes_on_counting_who_is_in_it(tmp_path):
    table = Counters(tmp_path / "table", slots=8, most=8)
    for name in "abcdef":
        table.take(name, 7, 9)
    with pytest.raises(TableFull, match="a table of 8 counters is full"):
        table.take("g", 7, 9)
    assert table.take("a", 7, 9) == (True, 2, 7)
    assert table.take("g", 8, 9) == (True, 1, 8)
    table.close()


def test_a_request_a_few_minutes_late_counts_with_the_newest(table):
    table.take("acc", 100, 9)
    assert table.take("acc", 100 - LATE + 1, 9) == (True, 2, 100)


def test_a_clock_set_back_starts_anew(table):
    assert table.take("acc", 100, 1)[0]
    assert table.take("acc", 40, 1) == (True, 1, 40)
    assert table.take("acc", 40, 1) == (False, 1, 40)
    assert table.take("acc", 100, 1) == (True, 1, 100)  # nothing is left of the time before


def test_window_zero_is_like_any_other(table):
    assert table.take("acc", 0, 1) == (True, 1, 0)
    assert table.take("acc", 0, 1) == (False, 1, 0)


def test_counts_outlive_the_process(tmp_path):
    for expected in (1, 2):
        table = Counters(tmp_path / "table")
        assert table.take("acc", 7, 9) == (True, expected, 7)
        table.close()


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes " * 20)
    with pytest.raises(ValueError, match=r"notes\.txt is not a table of counters"):
        Counters(path)
    assert path.read_text() == "my notes " * 20


def test_a_truncated_file_is_refused(table, tmp_path):
    (tmp_path / "cut").write_bytes((tmp_path / "table").read_bytes()[:100])
    with pytest.raises(ValueError, match="is not a table of counters"):
        Counters(tmp_path / "cut")


def test_a_file_of_zeros_as_a_power_cut_leaves_it_is_made_anew(tmp_path):
    (tmp_path / "table").write_bytes(bytes(5000))
    table = Counters(tmp_path / "table", slots=8)
    assert table.take("acc", 7, 1) == (True, 1, 7)
    assert table.take("acc", 7, 1) == (False, 1, 7)
    table.close()


@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 1), st.integers(0, 3)), max_size=150), st.data())
def test_the_table_counts_as_a_dictionary_does(tmp_path_factory, steps, data):
    """Any names, minutes that pass or are one behind, any limit, tables that grow or are opened again."""
    path = tmp_path_factory.mktemp("model") / "table"
    table, model, now = Counters(path, slots=2), {}, 10
    for name, behind, limit in steps:
        now += data.draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
        window = now - behind
        count = model.get((name, window), 0)
        expected = (False, count, window) if count >= limit else (True, count + 1, window)
        model[name, window] = expected[1]
        assert table.take(str(name), window, limit) == expected
        if data.draw(st.integers(0, 20)) == 0:
            table.close()
            table = Counters(path)
    table.close()


# Redis


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_local_counters_take_over_where_redis_fails(limiter):
    failures, clock = [], Clock()
    remote = RedisLimiter(f"redis://:hush@127.0.0.1:{closed_port()}/0", limiter, failures.append, monotonic=clock)
    assert [remote.hit("acc", 2, NOW).admitted for _ in range(3)] == [True, True, False]
    assert [remote.fail("192.0.2.1", 1, NOW) for _ in range(2)] == [False, True]
    assert failures == ["ConnectionError"]  # asked once, then left in peace
    assert limiter.hit("acc", 3, NOW) == Decision(True, 3, 0, int(NOW) + 60, 60)
    clock.seconds = 2.0
    remote.hit("acc", 2, NOW)
    assert failures == ["ConnectionError"] * 2
    remote.close()


def test_redis_is_used_again_once_it_answers(limiter):
    failures, clock, answers = [], Clock(), iter([TimeoutError(), [1, 7], [0, 9]])
    remote = RedisLimiter(REDIS, limiter, failures.append, monotonic=clock)

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


def test_the_log_says_once_that_redis_is_gone_and_once_that_it_is_back(limiter):
    clock = Clock()
    refused, answer = [ConnectionError(), ConnectionError(), TimeoutError()], [1, 7]
    remote = RedisLimiter("redis://:hush@127.0.0.1/0", limiter, lambda _: None, monotonic=clock)

    def script(keys, args):
        if refused:
            raise refused.pop(0)
        return answer

    remote._script = script
    with structlog.testing.capture_logs() as lines:
        for _ in range(6):
            remote.hit("acc", 9, NOW)
            clock.seconds += 2.0
    assert [(one["event"], one["log_level"]) for one in lines] == [
        ("Redis does not answer, each host counts for itself", "error"),
        ("Redis answers again", "info"),
    ]
    assert (lines[0]["reason"], lines[1]["seconds"]) == ("ConnectionError", 6.0)
    assert "hush" not in str(lines)


@pytest.mark.parametrize("url", ["http://:hush@localhost", "localhost:6379", "redis://:hush@localhost:port/0", ""])
def test_a_bad_redis_address_is_a_setting_error_without_the_password(limiter, url):
    with pytest.raises(SettingError, match="ALMANAC_REDIS_URL must look like redis://") as caught:
        RedisLimiter(url, limiter, print)
    assert "hush" not in str(caught.value)


def test_redis_without_its_extra_is_a_setting_error(limiter, monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(SettingError, match=r"pip install '\.\[redis\]'"):
        RedisLimiter(REDIS, limiter, print)


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
    make = f"limiter = RedisLimiter({REDIS!r}, None, sys.exit, prefix={prefix!r}, timeout={PATIENCE})"
    assert admitted_by_four(HITS.format(name="RedisLimiter", make=make)) == 100


@pytest.mark.redis
def test_redis_decides_as_the_shared_file_does(prefix, limiter):
    failures = []
    remote = RedisLimiter(REDIS, limiter, failures.append, prefix=prefix, timeout=PATIENCE)
    for name, limit, now in [
        ("a", 2, 0),
        ("a", 2, 1.5),
        ("a", 2, 59.9),
        ("b", 1, 60),
        ("a", 5, 3),
        ("a", 0, 3),
        ("a", 1, 61),
    ]:
        assert remote.hit(name, limit, NOW + now) == limiter.hit(name, limit, NOW + now)
    assert [remote.fail("192.0.2.1", 2, NOW) for _ in range(4)] == [False, False, True, True]
    assert {1 <= remote._client.ttl(key) <= 120 for key in remote._client.scan_iter(f"{prefix}*")} == {True}
    assert failures == []
    remote.close()


# A full disk


def holes(path):
    """Bytes of a file that have no block on disk yet: a write into one through a memory map may end the process."""
    found = path.stat()
    return max(0, found.st_size - found.st_blocks * 512)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: elsewhere blocks are told otherwise")
def test_a_table_has_all_its_blocks_when_made_when_grown_and_when_found_with_holes(tmp_path):
    path = tmp_path / "table"
    table = Counters(path, slots=1 << 10)
    assert (path.stat().st_size, holes(path)) == (64 + 2 * 32 * (1 << 10), 0)
    for number in range(900):
        table.take(str(number), 7, 1)
    assert (path.stat().st_size, holes(path)) == (64 + 2 * 32 * (1 << 11), 0)
    table.close()
    # As an earlier version left it.
    held = path.read_bytes()
    with path.open("wb") as file:
        file.write(held[:4096])
        file.truncate(len(held))
    assert holes(path) > 0
    Counters(path).close()
    assert holes(path) == 0


def no_room(monkeypatch):
    """The system's own word for a disk without room, at each reservation."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("almanac.api.use.counters.os.posix_fallocate", full)


def test_without_room_a_process_counts_for_itself_until_there_is_some(tmp_path, monkeypatch):
    told = []
    with monkeypatch.context() as patch:
        no_room(patch)
        limiter = SharedLimiter(tmp_path / "limits", told.append)
        assert [limiter.hit("acc", 2, NOW + at).admitted for at in (0, 1, 2, 60)] == [True, True, False, True]
        assert limiter.hit("acc", 2, NOW + 59.99) == Decision(True, 2, 0, int(NOW) + 120, 61)
        assert [limiter.fail("192.0.2.1", 1, NOW) for _ in range(2)] == [False, True]
        # Told for each table, when it is opened and in each new minute, not at each request.
        assert told == ["OSError"] * 5
    other = SharedLimiter(tmp_path / "limits")
    assert limiter.hit("acc", 2, NOW + 120).remaining == 1
    assert other.hit("acc", 2, NOW + 120).remaining == 0
    limiter.close()
    other.close()


def test_a_table_that_cannot_grow_counts_newcomers_apart(tmp_path, monkeypatch):
    limiter = SharedLimiter(tmp_path / "limits")
    for number in range(6144):  # three quarters of the first size
        limiter.hit(str(number), 2, NOW)
    no_room(monkeypatch)
    assert [limiter.hit("new", 2, NOW).admitted for _ in range(3)] == [True, True, False]
    assert [limiter.hit("7", 2, NOW).admitted for _ in range(2)] == [True, False]
    limiter.close()


# Looking without counting


def test_a_peek_counts_nothing(limiter):
    assert limiter.peek("acc", 3, NOW) == Decision(True, 3, 3, int(NOW) + 60, 60)
    limiter.hit("acc", 3, NOW)
    assert [limiter.peek("acc", 3, NOW + 1).remaining for _ in range(5)] == [2] * 5
    assert limiter.hit("acc", 3, NOW + 2).remaining == 1
    limiter.hit("acc", 3, NOW + 2)
    assert limiter.peek("acc", 3, NOW + 3) == Decision(False, 3, 0, int(NOW) + 60, 57)
    assert limiter.peek("acc", 3, NOW + 60).remaining == 3
    assert limiter.peek("other", 3, NOW).remaining == 3


def test_a_peek_sees_what_another_process_counted(limiter, tmp_path):
    other = SharedLimiter(tmp_path / "limits")
    for number in range(7_000):  # the table grows meanwhile
        other.hit(f"acc_{number}", 3, NOW)
    assert limiter.peek("acc_0", 3, NOW).remaining == limiter.peek("acc_6999", 3, NOW).remaining == 2
    other.close()


def test_a_peek_asks_redis_and_stands_in_where_it_fails(limiter):
    failures, clock, answers = [], Clock(), iter([b"7", None, TimeoutError()])
    remote = RedisLimiter(REDIS, limiter, failures.append, prefix="own:", monotonic=clock)
    asked = []

    def get(name):
        asked.append(name)
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    remote._client.get = get
    assert remote.peek("acc", 9, NOW) == Decision(True, 9, 2, int(NOW) + 60, 60)
    assert remote.peek("acc", 9, NOW).remaining == 9
    limiter.hit("acc", 9, NOW)
    assert [remote.peek("acc", 9, NOW).remaining for _ in range(3)] == [8] * 3
    assert failures == ["TimeoutError"]  # asked once, then left in peace
    assert asked == [f"own:hit:acc:{int(NOW) // 60}"] * 3
    remote.close()


@pytest.mark.redis
def test_a_peek_through_redis_sees_what_was_counted(prefix, limiter):
    remote = RedisLimiter(REDIS, limiter, print, prefix=prefix, timeout=PATIENCE)
    assert remote.peek("acc", 3, NOW).remaining == 3
    remote.hit("acc", 3, NOW)
    assert remote.peek("acc", 3, NOW) == Decision(True, 3, 2, int(NOW) + 60, 60)
    remote.close()


def test_a_peek_where_no_file_can_be_shared(limiter):
    limiter._accounts._shared.close()
    limiter._accounts._shared, limiter._accounts._tried = None, 1 << 40
    limiter.hit("acc", 3, NOW)
    assert limiter.peek("acc", 3, NOW).remaining == 2
    assert limiter.peek("acc", 3, NOW + 60).remaining == 3
