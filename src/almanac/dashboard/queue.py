"""Who gets a thread: so many of one visitor at a time, the others wait, and no more wait than can be answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: Pages of one visitor that are made at a time, of the four that there are threads for; and all of those together who are
#: not signed in. So neither keeps the others waiting.
_AT_ONCE = 2
#: Pages of one visitor, and of all, that are made or wait.
_OF_ONE, _OF_ALL = 32, 512
#: Nobody's name: those who are not signed in.
_STRANGERS = "\0strangers"


class QueueFull(Exception):  # noqa: N818 - it names the state
    """No more may wait. `own`: of this visitor; else of all."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


class _Line:
    def __init__(self) -> None:
        self.places, self.length = asyncio.Semaphore(_AT_ONCE), 0


class PageQueue:
    """Used from one event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._length = 0

    async def turn(self, account: str | None, address: str) -> Callable[[], None]:
        """
        Wait for a turn. Returns what gives it back, to be called once, in this event loop. Raises QueueFull at once.

        `account` None: somebody who is not signed in, told from others by the address.
        """
        names = [f"account {account}"] if account is not None else [f"address {address}", _STRANGERS]
        if self._length >= _OF_ALL:
            raise QueueFull(own=False)
        if names[0] in self._lines and self._lines[names[0]].length >= _OF_ONE:
            raise QueueFull(own=True)
        taken: list[_Line] = []
        lines = [self._joined(name) for name in names]

        def leave() -> None:
            for line in taken:
                line.places.release()
            for name, line in zip(names, lines, strict=True):
                line.length -= 1
                if not line.length:
                    del self._lines[name]
            self._length -= 1

        self._length += 1
        try:
            for line in lines:
                await line.places.acquire()
                taken.append(line)
        except BaseException:
            leave()
            raise
        return leave

    def _joined(self, name: str) -> _Line:
        line = self._lines.setdefault(name, _Line())
        line.length += 1
        return line
