"""A queue of pages: so many of one visitor are made at a time, the others wait, and no more wait than can be answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

#: Pages of one visitor, and of all, that are made or wait.
_OF_ONE, _OF_ALL = 32, 512


class QueueFull(Exception):  # noqa: N818 - it names the state
    """No more may wait. `own`: of this visitor; else of all."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


class PageQueue:
    """Lets `at_once` pages of each line be made at a time. Used from one event loop."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lines: dict[str, asyncio.Semaphore] = {}
        self._lengths = Counter[str]()
        #: Pages that are made or wait.
        self.length = 0

    async def turn(self, *lines: str) -> Callable[[], None]:
        """
        Wait in each of `lines`, of which the first is the visitor's own. Return what gives the turn back, to be called once, in
        this event loop. Raises QueueFull at once.
        """
        if self.length >= _OF_ALL:
            raise QueueFull(own=False)
        if self._lengths[lines[0]] >= _OF_ONE:
            raise QueueFull(own=True)
        places = [self._lines.setdefault(line, asyncio.Semaphore(self._at_once)) for line in lines]
        taken: list[asyncio.Semaphore] = []
        self._lengths.update(lines)
        self.length += 1

        def leave() -> None:
            for place in taken:
                place.release()
            self._lengths.subtract(lines)
            self.length -= 1
            for line in lines:
                if not self._lengths[line]:
                    del self._lengths[line], self._lines[line]

        try:
            for place in places:
                await place.acquire()
                taken.append(place)
        except BaseException:
            leave()
            raise
        return leave
