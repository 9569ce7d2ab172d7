"""Queries read before: who asks the same again and again need not have it read anew each time."""

from __future__ import annotations

from typing import Any

import msgspec
from cachetools import LRUCache

from almanac.api.contract.endpoint import Endpoint
from almanac.api.server.admission import AdmissionFilter

#: A client that repeats itself has few queries; one that walks or browses gains nothing from being remembered.
_HELD, _LONGEST = 1_024, 1_024
#: Queries that are remembered as met once.
_SEEN = 4_096


class Known(msgspec.Struct, frozen=True):
    """A path and query string that passed every check but those that depend on the moment, the key and the method."""

    endpoint: Endpoint
    path: dict[str, str]
    #: Typed values. Whoever changes them takes a copy.
    values: dict[str, Any]
    #: Of a list: what its cursors are bound to.
    fingerprint: bytes


class Queries:
    """The most recently used ones, by path and query string as sent. For one thread."""

    def __init__(self) -> None:
        self._known: LRUCache[tuple[str, bytes], Known] = LRUCache(_HELD)
        self._admission = AdmissionFilter(_SEEN)

    def get(self, path: str, query: bytes) -> Known | None:
        return self._known.get((path, query))

    def put(self, path: str, query: bytes, known: Known) -> None:
        """Keep one that is put for the second time, unless it is long: the number of bytes held has a bound too."""
        if len(path) + len(query) <= _LONGEST and self._admission.admits((path, query)):
            self._known[path, query] = known
