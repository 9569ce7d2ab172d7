"""Progress reports of long work, independent of who receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Part = TypeVar("_Part")

#: Report an amount of work done, in the meter's unit. It is cheap enough for a million calls.
Advance = Callable[[float], None]


#: Begin a part of the work, with the name of what is counted and its total (0: unknown).
Meter = Callable[[str, int], Advance]


def unmetered(name: str, total: int, /) -> Advance:
    """Discard progress reports: the meter for work that nobody watches."""
    return lambda _: None


def counted(parts: Sequence[_Part], meter: Meter, name: str) -> Iterator[_Part]:
    """Yield the parts and report progress to the meter. A part counts as done when the next is requested."""
    advance = meter(name, len(parts))
    for part in parts:
        yield part
        advance(1)
