"""Memory: when Python looks for objects that only hold each other, and when what was freed goes back to the system."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """
    Leave out of the search for reference cycles what there is by now, in the whole process: for one that has read what it
    keeps. Of the simulated world the search took a quarter of a second each time, in the middle of somebody's request.
    """
    gc.collect()
    gc.freeze()


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


#: Of glibc's `mallopt`: what is larger is asked of the system by itself, and so much stays when it is free at the end.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST, _KEPT = 4 << 20, 16 << 20


def reuse() -> None:
    """
    Have the C library keep memory for blocks as large as a body, in the whole process: for one that makes many of them.

    As it comes, glibc gives back what is free at the end where that is more than twice the largest block it has met: for
    a page of 500 rows, in parts and whole, the system was asked anew each time, which was half of the time. Nothing is
    done where the library is another.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        mallopt(_TRIM_THRESHOLD, _KEPT)


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
