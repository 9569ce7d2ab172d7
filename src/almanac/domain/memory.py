"""Settings of Python's garbage collector for processes that create many objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Net new objects before a garbage collection in a loading process; Python's default is 700.
_SELDOM = 500_000


def search_seldom() -> None:
    """
    Make the garbage collector of this process run rarely.

    Meant for a process that does nothing but create and drop many small objects without cycles: collection took a
    quarter of a loading worker's time.
    """
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])


@contextmanager
def seldom_searched() -> Iterator[None]:
    """Make the garbage collector run rarely within the block."""
    before = gc.get_threshold()
    search_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def uncollected() -> Iterator[None]:
    """
    Switch the garbage collector off within the block, for the whole process.

    Python collects after some hundred new tuples and lists, and visits the old ones again and again. Vintages are never
    part of a cycle, and collection took half the time of a derivation. Objects without cycles are still freed at once.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
