"""What was asked before: telling a request that comes again from one of a walk through everything."""

from __future__ import annotations

from array import array
from collections.abc import Hashable


class AdmissionFilter:
    """Admits what it is shown for the second time.

    It remembers by a number each, in a table of fixed size, where a newcomer takes the place of another. So it may forget, and takes no memory for what it is shown. Two threads at once may make it forget too.
    """

    def __init__(self, places: int) -> None:
        """`places`: a power of two."""
        self._last = places - 1
        # No hash is -1.
        self._numbers = array("q", [-1]) * places

    def admits(self, one: Hashable) -> bool:
        """Whether this was shown before and may be kept; it is remembered from now on."""
        number = hash(one)
        place = number & self._last
        if self._numbers[place] == number:
            return True
        self._numbers[place] = number
        return False
