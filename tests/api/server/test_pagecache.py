"""Pages asked before are kept up to a number of bytes, the least recently used going first."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from almanac.api.contract.endpoint import ListAnswer
from almanac.api.server.pagecache import Kept, PageCache


def page(size: int, fill: bytes = b"x") -> Kept:
    return Kept(ListAnswer(fill * size), fill * size, b'W/"e"')


def test_the_least_recently_used_goes_first() -> None:
    cache = PageCache(10)
    for name in "abc":
        cache.put(name, page(3))
    assert cache.get("a") is not None
    cache.put("d", page(3))
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]


def test_a_page_larger_than_the_cache_is_not_kept() -> None:
    cache = PageCache(10)
    cache.put("small", page(10))
    cache.put("large", page(11))
    assert cache.get("large") is None
    assert cache.get("small") is not None


def test_a_page_put_again_counts_once() -> None:
    cache = PageCache(10)
    cache.put("a", page(4))
    cache.put("a", page(6, b"y"))
    cache.put("b", page(4))
    kept = cache.get("a")
    assert kept is not None
    assert kept.data == b"yyyyyy"
    assert cache.get("b") is not None


def test_a_page_is_kept_when_it_is_offered_for_the_second_time() -> None:
    cache = PageCache(10)
    cache.offer("a", page(3))
    assert cache.get("a") is None
    cache.offer("a", page(3))
    assert cache.get("a") is not None


def test_a_walk_through_everything_pushes_nothing_out() -> None:
    cache = PageCache(10)
    for _ in range(2):
        cache.offer("asked often", page(9))
    for number in range(10_000):
        cache.offer(number, page(9))
    assert cache.get("asked often") is not None
    # What was offered long ago counts as new.
    cache.offer(0, page(9))
    assert cache.get(0) is None


def test_nothing_is_kept_where_there_is_no_room() -> None:
    cache = PageCache(0)
    cache.put("a", page(1))
    assert cache.get("a") is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), max_size=60))
def test_it_never_holds_more_than_it_may(steps: list[tuple[int, int]]) -> None:
    cache = PageCache(20)
    for name, size in steps:
        cache.put(name, page(size))
        held = [found for key in range(6) if (found := cache.get(key)) is not None]
        assert sum(len(found.data) for found in held) <= 20
        assert size > 20 or cache.get(name) is not None


def test_threads_may_share_it() -> None:
    cache = PageCache(50)

    def work(seed: int) -> None:
        for step in range(500):
            cache.put((seed * step) % 17, page(step % 9))
            cache.get(step % 17)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(found.data) for key in range(17) if (found := cache.get(key))) <= 50
