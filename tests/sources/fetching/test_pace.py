"""One rate per host."""

import threading
from dataclasses import replace

import pytest

from almanac.sources.base import Request
from almanac.sources.http import Fetcher

from .misbehaving import answer
from .polite import Manners, table


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
