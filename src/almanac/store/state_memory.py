"""What is remembered of one state of the store, typed by its owner: kept from one request to the next while that state lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from almanac.store.observations.reading.reader import View

T = TypeVar("T")


class Remembered(Generic[T]):
    """
    One thing that is remembered of each state of the store. It is declared once, under a name of its own, with what makes it.

    All threads of a process have the same one. A container bounds itself; nothing in it may hold the view.
    """

    def __init__(self, name: str, make: Callable[[View], T]) -> None:
        self._name, self._make = name, make

    def of(self, view: View) -> T:
        """Give what is remembered of the state of a view, made where it is not there yet."""
        found: T
        if self._name in view.shared:
            found = view.shared[self._name]
        else:  # of two threads that make it at once, one keeps its own
            found = view.shared.setdefault(self._name, self._make(view))
        return found
