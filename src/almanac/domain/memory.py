"""Memory: when Python looks for objects that only hold each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects made and kept between two searches for reference cycles, of a process that loads; Python's own number is 700.
_SELDOM = 500_000


def search_seldom() -> None:
    """
    Search for reference cycles seldom, in the whole process: for one that makes and drops many small objects in no cycle,
    and does nothing else. Searching all of them again and again took a quarter of a loading worker's time.
    """
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])


@contextmanager
def seldom_searched() -> Iterator[None]:
    """Search for reference cycles seldom for the length of a block."""
    before = gc.get_threshold()
    search_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def uncollected() -> Iterator[None]:
    """
    No search for reference cycles meanwhile, in the whole process: for work that makes many small objects at once.

    Python searches each time some hundreds of tuples and lists have been made, the old ones again and again, and
    vintages are never in a cycle: that took half the time of a derivation. What is not in a cycle is freed as ever.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
