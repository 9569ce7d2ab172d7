"""Progress reports of long work, independent of who receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Part = TypeVar("_Part")

#: Say that so much more is done, in the unit of the meter. Cheap: may be called a million times.
Advance = Callable[[float], None]


#: Begin a part of the work: the name says what is counted, the total how much of it there will be (0: nobody knows).
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
