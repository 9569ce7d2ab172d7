"""One rate per host."""

import subprocess
import sys
import threading

import httpx2
import pytest

from almanac.sources.base import Limit, Request
from almanac.sources.transport.http import Fetcher
from almanac.sources.transport.pace import Pace
from tests.support.misbehaving import answer
from tests.support.polite import Clock, Manners, failure, table


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
        Fetcher(Manners(requests_per_second=0))


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
        assert pace.take("one.example", 100.0) is None
        taken.append(clock.now)
    assert taken == [1000.0, 1000.5, 1001.0, 1001.5, 1002.0, 1002.5]
    assert paces[0].take("two.example", 0.0) is None


def test_a_pause_asked_of_one_client_is_kept_by_all_up_to_two_minutes(tmp_path):
    clock = Clock()
    first, second = (Pace(2.0, clock, clock.sleep, tmp_path) for _ in range(2))
    first.hold("one.example", 30.0)
    assert second.take("one.example", 29.0) == 30.0
    assert second.take("one.example", 30.0) is None
    assert clock.now == 1030.0
    first.hold("one.example", 600.0)
    assert first.take("one.example", 500.0) == 600.0
    assert second.take("one.example", 119.0) == 120.0
    assert second.take("one.example", 120.0) is None


def test_what_was_written_before_the_machine_started_anew_is_forgotten(tmp_path):
    clock = Clock()
    Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 1.0)
    clock.now = 10.0  # monotonic time began again
    assert Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 0.0) is None


def test_a_damaged_file_is_no_slot(tmp_path):
    clock = Clock()
    (tmp_path / "one.example.slot").write_bytes(b"x")
    assert Pace(1.0, clock, clock.sleep, tmp_path).take("one.example", 0.0) is None


BUDGETS = ((3, 60.0), (5, 3_600.0))


@pytest.mark.parametrize("shared", [True, False])
def test_a_budget_holds_in_any_span_and_is_used_at_once_where_it_is_free(tmp_path, shared):
    clock = Clock()
    pace = Pace(1_000.0, clock, clock.sleep, tmp_path if shared else None, wall=clock)
    taken = []
    for _ in range(5):
        assert pace.take("office", 100.0, None, BUDGETS) is None
        taken.append(round(clock.now - 1_000.0, 2))
    assert taken[:3] == [0.0, 0.0, 0.0]  # at the pace of a thousand a second
    assert taken[3:] == [61.0, 61.0]  # a second more, by which the network may bunch them
    assert pace.take("office", 100.0, None, BUDGETS) == pytest.approx(3_540.0, abs=0.1)
    clock.now += 3_540.0
    assert pace.take("office", 100.0, None, BUDGETS) is None
    assert pace.take("other", 0.0) is None


def test_requests_a_span_apart_arrive_a_little_less_than_that_apart_and_break_no_budget(tmp_path):
    """Unix times have parts of microseconds, and what is added to them is rounded; a network does worse."""
    clock = Clock()
    clock.now = 1_793_606_400.0
    pace = Pace(3.0, clock, clock.sleep, tmp_path, wall=clock)
    sent = []
    for number in range(400):
        clock.now += number / 7_000
        assert pace.take("office", 7_200.0, None, ((20, 3_600.0),)) is None
        sent.append(clock.now)
    assert min(later - sent[number] for number, later in enumerate(sent[20:])) > 3_600.5


def test_a_budget_of_a_day_outlives_the_machine_and_a_damaged_file(tmp_path):
    clock, wall = Clock(), Clock()
    for _ in range(2):
        assert Pace(1.0, clock, clock.sleep, tmp_path, wall=wall).take("office", 5.0, None, ((2, 86_400.0),)) is None
    clock.now, wall.now = 3.0, wall.now + 600.0  # monotonic time began again
    again = Pace(1.0, clock, clock.sleep, tmp_path, wall=wall)
    assert again.take("office", 5.0, None, ((2, 86_400.0),)) == pytest.approx(85_800.0, abs=2)
    (tmp_path / "office.slot").write_bytes(b"\xff" * 21)
    assert again.take("office", 5.0, None, ((2, 86_400.0),)) is None


def test_a_publisher_that_has_no_room_left_is_given_up_with_how_long_to_wait(fetcher):
    transport, seen = table({"https://one.example/": (200, {})})
    client = fetcher(transport=transport)
    limit = Limit("office", budgets=((2, 3_600.0),))
    for _ in range(2):
        client.fetch(Request("https://one.example/", limit=limit))
    failed = failure(client, Request("https://one.example/", limit=limit))
    assert (failed.given_up, round(failed.retry_after), failed.later) == ("office", 3_601, True)
    assert "office is to be left alone for 3601 s, longer than the 100 s allowed" in str(failed)
    assert len(seen) == 2


def test_one_that_shuts_out_is_left_alone_for_as_long(fetcher):
    transport, seen = table({"https://one.example/": (403, {}), "https://two.example/": (403, {})})
    client = fetcher(transport=transport)
    limit = Limit("office", shut_out=86_400.0)
    failed = failure(client, Request("https://one.example/", limit=limit))
    assert (failed.given_up, failed.retry_after, failed.status, failed.later) == ("office", 86_400.0, 403, False)
    assert failure(client, Request("https://one.example/", limit=limit)).retry_after > 86_000
    assert len(seen) == 1
    # Of another publisher it means what it says.
    assert failure(client, Request("https://two.example/")).given_up is None


def test_a_limit_may_be_that_of_some_hosts_of_a_publisher_alone(fetcher):
    limit = Limit("office", budgets=((1, 86_400.0),), shut_out=86_400.0, hosts=frozenset(["api.example"]))
    transport, seen = table({"https://api.example/": (200, {}), "https://www.example/": (403, {})})
    client = fetcher(transport=transport)
    client.fetch(Request("https://api.example/", limit=limit))
    assert failure(client, Request("https://api.example/", limit=limit)).given_up == "office"
    # Its pages are beside that: they are asked, and a refusal of theirs is no word about the rest.
    refused = failure(client, Request("https://www.example/", limit=limit))
    assert (refused.status, refused.given_up) == (403, None)
    assert len(seen) == 2


def test_the_silence_of_a_publisher_is_waited_out_where_it_is_known_to_be_slow(fetcher):
    patience = []

    def handle(request):
        patience.append((request.extensions["timeout"]["read"], request.extensions["timeout"]["connect"]))
        return httpx2.Response(200, stream=httpx2.ByteStream(b"invented"))

    client = fetcher(transport=httpx2.MockTransport(handle))
    client.fetch(Request("https://slow.example/", limit=Limit("slow", silence=240.0)))
    client.fetch(Request("https://quick.example/", limit=Limit("quick", silence=1.0)))
    client.fetch(Request("https://quick.example/"))
    assert patience == [(240.0, 5.0), (5.0, 5.0), (5.0, 5.0)]


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
