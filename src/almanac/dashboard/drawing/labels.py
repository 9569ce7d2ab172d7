"""Labels at the ends of lines: level, at least fifteen units apart, each with a thin leader where it had to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.dashboard.drawing.scales import CHARACTER
from almanac.dashboard.drawing.svg import Plot, at, clipped, place, text

#: Between the base lines of neighbouring labels.
APART = 15.0
#: Right of the plot where labels stand, with leaders and without.
_LEADER, _BESIDE = 18.0, 8.0
#: A line that ends so near to the right edge ends there.
_NEAR = 24.0


class End(NamedTuple):
    """Where a line ends, and what is written there."""

    x: float
    y: float
    label: str


def spread(places: Sequence[float], low: float, high: float, gap: float = APART) -> list[float]:
    """
    Places pushed apart to at least `gap`, each as near to its own as that allows, in the order they have.

    Within `low` and `high` where there is room for all.
    """
    order = sorted(range(len(places)), key=lambda index: places[index])
    # Neighbours that touch move as one block about the mean of where its members want to be.
    blocks: list[tuple[float, int]] = []
    for rank, index in enumerate(order):
        blocks.append((places[index] - rank * gap, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (late, late_count), (early, early_count) = blocks.pop(), blocks.pop()
            count = early_count + late_count
            blocks.append(((early * early_count + late * late_count) / count, count))
    room = max(low, high - (len(places) - 1) * gap)
    found, rank = [0.0] * len(places), 0
    for wanted, count in blocks:
        for _ in range(count):
            found[order[rank]] = min(max(wanted, low), room) + rank * gap
            rank += 1
    return found


def end_labels(on: Plot, ends: Sequence[End], room: float, *, column: bool = False) -> str:
    """
    Labels of lines, in one column right of the plot; a leader goes to each that stands elsewhere than its line's end.

    A line that ends well within the plot, as a past one does, has its label above its end: a leader across the plot
    would look like data. `column`: it stands in the column too, for among many lines such a label would lie on others.
    """
    within = [] if column else [end for end in ends if end.x < on.right - _NEAR]
    beside = [end for end in ends if column or end.x >= on.right - _NEAR]
    heights = spread([end.y for end in beside], on.top, on.bottom)
    moved = [abs(height - end.y) > 1 or end.x < on.right - _NEAR for end, height in zip(beside, heights, strict=True)]
    x = on.right + (_LEADER if any(moved) else _BESIDE)
    parts: list[str] = [_above(on, end, room) for end in within]
    for end, height, leads in zip(beside, heights, moved, strict=True):
        if leads:
            # Across the plot it goes level, along the edge it turns.
            edge = f"H{place(on.right)}" if end.x < on.right - _NEAR else ""
            far = " far" if edge else ""
            parts.append(f'<path class="leader{far}" d="M{at(end.x + 4, end.y)}{edge}L{at(x - 3, height)}"/>')
        parts.append(text(clipped(end.label, room), x, height + 4, "end"))
    return "".join(parts)


def _above(on: Plot, end: End, room: float) -> str:
    words = clipped(end.label, room)
    return text(words, max(end.x, CHARACTER * len(words) / 2), max(end.y - 10, on.top), "end", "middle")


def label_room(labels: Sequence[str], most: float) -> float:
    """Room that labels take right of a plot, leaders included, never more than `most`."""
    widest = max((len(label) for label in labels), default=0) * CHARACTER
    return min(widest, most) + _LEADER + 4
