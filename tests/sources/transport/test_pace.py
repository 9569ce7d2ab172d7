"""One rate per host."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from almanac.sources.base import Limit, Request
from almanac.sources.transport.http import Fetcher
from almanac.sources.transport.pace import Pace
from tests.support.misbehaving import answer
from tests.support.polite import Clock, Manners, table


def test_one_rate_per_host_shared_by_threads(fetcher, clock):
    transport, seen = table({f"https://{host}.example/": (200, {}) for host in ("one", "two")})
    client = fetcher(transport=transport, requests_per_second=2.0)
    client.fetch(Request("https://two.example/"))
    lock = threading.Lock()

    def sleep(seconds):
        with lock:
            clock.slept.append(seconds)

    client._pace._sleep = sleep
    threads = [threading.Thread(target=client.fetch, args=[Request("https://one.example/")]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    # Time stands still here: the four slots are at 0, 0.5, 1 and 1.5 seconds, and the other host's was free.
    assert sorted(clock.slept) == [0.5, 1.0, 1.5]
    assert len(seen) == 5


def test_redirects_and_attempts_keep_the_pace(server, fetcher, clock):
    server.acts["/a"] = [answer(302, location="/b")]
    server.acts["/b"] = [answer(429, retry_after="0"), answer()]
    fetcher(requests_per_second=2.0).fetch(Request(f"{server.url}/a"))
    assert server.paths() == ["/a", "/b", "/a", "/b"]
    assert clock.slept == [0.5, 0.5, 0.5]


def test_a_rate_of_nothing_is_refused():
    with pytest.raises(ValueError, match="requests_per_second is 0, it must be more than 0"):
        Fetcher(replace(Manners(), requests_per_second=0))


def test_a_publishers_own_limit_holds_over_its_hosts(fetcher, clock):
    limit = Limit("invented.example", 4.0)
    transport, _ = table({f"https://{host}.example/": (200, {}) for host in ("one", "two", "other")})
    client = fetcher(transport=transport, requests_per_second=10.0)
    for host in ("one", "two", "one"):
        client.fetch(Request(f"https://{host}.example/", limit=limit))
    assert clock.slept == [0.25, 0.25]
    client.fetch(Request("https://other.example/"))
    assert clock.slept == [0.25, 0.25]


def test_the_settings_pace_holds_where_it_is_slower(fetcher, clock):
    transport, _ = table({"https://one.example/": (200, {})})
    client = fetcher(transport=transport, requests_per_second=2.0)
    for _ in range(2):
        client.fetch(Request("https://one.example/", limit=Limit("invented.example", 9.0)))
    assert clock.slept == [0.5]


def test_clients_with_one_folder_keep_one_pace(tmp_path):
    clock = Clock()
    paces = [Pace(2.0, clock, clock.sleep, tmp_path / "pace") for _ in range(3)]
    taken = []
    for pace in [*paces, *paces]:
        assert pace.take("one.example", 100.0)
        taken.append(clock.now)
    assert taken == [1000.0, 1000.5, 1001.0, 1001.5, 1002.0, 1002.5]
    assert paces[0].take("two.example", 0.0)


def test_a_pause_asked_of_one_client_is_kept_by_all_up_to_two_minutes(tmp_path):
    clock = Clock()
    first, second = (Pace(2.0, clock, clock.sleep, tmp_path) for _ in range(2))
    first.hold("one.example", 30.0)
    assert not second.take("one.example", 29.0)
    assert second.take("one.example", 30.0)
    assert clock.now == 1030.0
    first.hold("one.example", 600.0)
    assert not first.take("one.example", 500.0)
    assert not second.take("one.example", 119.0)
    assert second.take("one.example", 120.0)


def test_what_was_written_before_the_machine_started_anew_is_forgotten(tmp_path):
    clock = Clock()
    Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 1.0)
    clock.now = 10.0  # monotonic time began again
    assert Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 0.0)


def test_a_damaged_file_is_no_slot(tmp_path):
    clock = Clock()
    (tmp_path / "one.example.slot").write_bytes(b"x")
    assert Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 0.0)


_TAKER = """
import sys, time
from pathlib import Path
from almanac.sources.transport.pace import Pace
pace = Pace(50.0, time.monotonic, time.sleep, Path(sys.argv[1]))
for _ in range(15):
    pace.take("one.example", 60.0)
    print(repr(time.monotonic()))
"""


def test_processes_keep_one_pace(tmp_path):
    command = [sys.executable, "-c", _TAKER, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    times = sorted(float(line) for process in running for line in process.communicate(timeout=60)[0].splitlines())
    assert [process.returncode for process in running] == [0, 0, 0]
    # 45 requests at 50 a second take 44 gaps, however they fall on the processes.
    assert len(times) == 45
    # Each alone would take 0.28 s. A busy machine may wake one late for its slot, never early.
    assert times[-1] - times[0] > 0.6
