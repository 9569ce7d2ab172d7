"""Pages asked before are kept up to a number of bytes, the least recently used going first."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from almanac.api.contract.endpoint import ListAnswer, TextAnswer
from almanac.api.server.answers import _ENTRY, Kept, PageCache, _kept, size_of


def page(size: int, fill: bytes = b"x") -> Kept:
    return Kept(fill * size, b'W/"e"')


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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), max_size=60))
def test_it_never_holds_more_than_it_may(steps: list[tuple[int, int]]) -> None:
    cache = room(2, 20)
    for name, size in steps:
        cache.put(name, page(size))
        held = [found for key in range(6) if (found := cache.get(key)) is not None]
        assert sum(size_of(found) for found in held) <= 2 * _ENTRY + 20
        assert cache.get(name) is not None


def test_a_kept_page_holds_its_rows_once() -> None:
    """Those of its own are as much again, and nobody asks for them once they are joined."""
    walk = SimpleNamespace(epoch="e", issued=1)
    ctx: Any = SimpleNamespace(warnings=[], params={"limit": 5, "cursor": None}, walk=walk)
    kept = _kept(ctx, ListAnswer([b'{"a":1}', b'{"a":2}'], [2], 7), None)
    assert kept.data == b'{"a":1},{"a":2}'
    assert (kept.next_key, kept.total) == ([2], 7)
    assert _kept(ctx, TextAnswer("in words"), None).data == b"in words"


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
    assert sum(size_of(found) for key in range(17) if (found := cache.get(key))) <= 6 * _ENTRY + 50
