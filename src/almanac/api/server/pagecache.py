"""Pages that were asked before, kept while nothing they are made of has changed.

A key holds all that the bytes depend on: the query as read, the data version it is answered from and the newest one
(rights are never pinned), the account's window, the day. So nothing is ever invalidated; what is old falls out.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable

from cachetools import LRUCache

from almanac.api.contract.endpoint import Answer

#: What an entry takes beside its bytes: its key, the objects around them, and a cursor or two. Measured: 0.6 to 1.3 KB as
#: objects, to which a long cursor in the key and what the allocator rounds up are added.
_ENTRY = 2_048


class Kept:
    """
    An answer, its rows joined, its warnings as a JSON list (empty: none), its ETag; and the cursor to the next page as it
    was last written, with its times. `answer` had better hold no rows of its own beside the joined ones.
    """

    __slots__ = ("answer", "data", "etag", "following", "warnings")

    def __init__(self, answer: Answer, data: bytes, etag: bytes, warnings: bytes = b"") -> None:
        self.answer = answer
        self.data = data
        self.etag = etag
        self.warnings = warnings
        #: ((time of issue, pinned moment), cursor).
        self.following: tuple[tuple[int, int], str] | None = None

    def size(self) -> int:
        """Bytes it takes, about, with its place in the cache: one without a row takes room too."""
        return _ENTRY + len(self.data) + len(self.warnings)


class PageCache:
    """The most recently used pages, up to a number of bytes. Safe between threads."""

    def __init__(self, most_bytes: int) -> None:
        self._pages: LRUCache[Hashable, Kept] = LRUCache(most_bytes, getsizeof=Kept.size)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        with self._lock:
            return self._pages.get(key)

    def put(self, key: Hashable, kept: Kept) -> None:
        """Keep a page; one that alone is larger than the whole cache is not kept."""
        if kept.size() <= self._pages.maxsize:
            with self._lock:
                self._pages[key] = kept
