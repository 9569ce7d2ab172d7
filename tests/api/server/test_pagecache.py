"""Pages asked before are kept up to a number of bytes, the least recently used going first."""

from __future__ import annotations

import threading
import tracemalloc
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from almanac.api.contract.endpoint import ListAnswer, TextAnswer
from almanac.api.server.answers import _with_etag
from almanac.api.server.pagecache import _ENTRY, Kept, PageCache


def page(size: int, fill: bytes = b"x") -> Kept:
    return Kept(ListAnswer(fill * size), fill * size, b'W/"e"')


def room(entries: int, size: int) -> PageCache:
    """A cache with room for so many pages, and so many bytes in them."""
    return PageCache(entries * _ENTRY + size)


def test_the_least_recently_used_goes_first() -> None:
    cache = room(3, 10)
    for name in "abc":
        cache.put(name, page(3))
    assert cache.get("a") is not None
    cache.put("d", page(3))
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]


def test_a_page_larger_than_the_cache_is_not_kept() -> None:
    cache = room(1, 10)
    cache.put("small", page(10))
    cache.put("large", page(11))
    assert cache.get("large") is None
    assert cache.get("small") is not None


def test_a_page_put_again_counts_once() -> None:
    cache = room(2, 10)
    cache.put("a", page(4))
    cache.put("a", page(6, b"y"))
    cache.put("b", page(4))
    kept = cache.get("a")
    assert kept is not None
    assert kept.data == b"yyyyyy"
    assert cache.get("b") is not None


def test_nothing_is_kept_where_there_is_no_room() -> None:
    cache = PageCache(0)
    for name, size in (("a", 1), ("empty", 0)):
        cache.put(name, page(size))
        assert cache.get(name) is None


def test_empty_pages_are_bounded_too() -> None:
    """A page without a row takes its key and its objects: of many, the oldest fall out."""
    cache = room(5, 0)
    for number in range(100):
        cache.put(number, page(0))
    assert [number for number in range(100) if cache.get(number)] == [95, 96, 97, 98, 99]


def test_an_entry_takes_no_more_than_is_counted_for_it() -> None:
    """As many as are held by real caches: keys as of a list's second page, and no row."""
    entries = 500
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    cache = PageCache(1 << 30)
    for number in range(entries):
        key = (
            "/observations",
            number.to_bytes(12, "big"),
            100,
            "c" * 300 + str(number),
            None,
            10**6 + number,
            12,
            "e" * 8,
        )
        kept = Kept(ListAnswer(b"", [number * 1000, str(number) * 5]), b"", b'W/"' + str(number).encode() * 8)
        kept.following = (number + 10**6, number + 10**7), "f" * 300 + str(number)
        cache.put(key, kept)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert _ENTRY / 3 < taken / entries < _ENTRY


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), max_size=60))
def test_it_never_holds_more_than_it_may(steps: list[tuple[int, int]]) -> None:
    cache = room(2, 20)
    for name, size in steps:
        cache.put(name, page(size))
        held = [found for key in range(6) if (found := cache.get(key)) is not None]
        assert sum(found.size() for found in held) <= 2 * _ENTRY + 20
        assert cache.get(name) is not None


def test_a_kept_page_holds_its_rows_once() -> None:
    """Those of its own are as much again, and nobody asks for them once they are joined."""
    context = SimpleNamespace(warnings=[], params={"limit": 5, "cursor": None})
    asked: Any = SimpleNamespace(context=context, pinned=SimpleNamespace(epoch="e", issued=1))
    kept = _with_etag(asked, ListAnswer([b'{"a":1}', b'{"a":2}'], [2], 7, b"v"))
    assert kept.data == b'{"a":1},{"a":2}'
    assert isinstance(kept.answer, ListAnswer)
    assert (kept.answer.next_key, kept.answer.total) == ([2], 7)
    assert kept.answer.rows is kept.data
    text = _with_etag(asked, TextAnswer("in words"))
    assert isinstance(text.answer, TextAnswer)
    assert text.answer.body is text.data


def test_threads_may_share_it() -> None:
    cache = room(6, 50)

    def work(seed: int) -> None:
        for step in range(500):
            cache.put((seed * step) % 17, page(step % 9))
            cache.get(step % 17)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found.size() for key in range(17) if (found := cache.get(key))) <= 6 * _ENTRY + 50
