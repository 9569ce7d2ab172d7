"""
Marks of events under the time axis: small diamonds in a lane of their own, below the labels, so that no line is crossed.

Those that would lie on each other are one mark. Each has its name under the pointer; for readers and keys the names are in
the page, for drawings are hidden from readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.dashboard.drawing.svg import Plot, at, attribute

#: How much lower a drawing is that has the lane, and where its middle lies below the plot.
LANE = 10
_MIDDLE, _HALF = 29.0, 4.0
#: Marks nearer to each other than this are drawn as one, which names so many.
_APART, _NAMED = 9.0, 3


class EventMark(NamedTuple):
    """Something that happened on a day (ordinal), in words that name the day too."""

    at: int
    words: str


def event_lane(on: Plot, marks: Sequence[EventMark]) -> str:
    """The marks of a paper, oldest first; empty without any."""
    groups: list[list[EventMark]] = []
    for mark in marks:
        if groups and on.x(mark.at) - on.x(groups[-1][0].at) < _APART:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return "".join(_diamond(on, group) for group in groups)


def _diamond(on: Plot, group: Sequence[EventMark]) -> str:
    x, y = (on.x(group[0].at) + on.x(group[-1].at)) / 2, on.bottom + _MIDDLE
    words = "; ".join(mark.words for mark in group[:_NAMED])
    if len(group) > _NAMED:
        words += f"; {len(group) - _NAMED} more"
    return (
        f'<path class="event" d="M{at(x, y - _HALF)}l{_HALF:g},{_HALF:g}l-{_HALF:g},{_HALF:g}l-{_HALF:g},-{_HALF:g}z">'
        f"<title>{attribute(words)}</title></path>"
    )
