"""Memory: when Python looks for objects that only hold each other."""

from __future__ import annotations

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
