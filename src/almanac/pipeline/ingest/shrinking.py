"""
Responses that would withdraw much of what is served. They are stored, and held back until somebody confirms them.

If a publisher sends half a file, it is more often a fault than a true withdrawal. Whether a response is held back
depends on the responses before it in folding order and on recorded acceptances. The raw store knows both, so the result
is the same for every order of arrival and after a rebuild.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from almanac.domain.observations import ReportedValue
from almanac.store.log.payloads import HELD
from almanac.store.observations.writing.fold import SeriesClaim, SeriesHandle

#: A response is held back if it would withdraw more values than LEAST, and more than one in ONE_IN of those served in
#: its range.
LEAST, ONE_IN = 50, 10


class Loss(NamedTuple):
    """The number of values that a response would withdraw, and of those served before in the spans that it lists."""

    withdrawn: int
    served: int

    @property
    def is_too_much(self) -> bool:
        return self.withdrawn > LEAST and self.withdrawn * ONE_IN > self.served

    def explain(self, sha256: str) -> str:
        """Return, for people, why the response with that hash is held back."""
        return (
            f"{HELD}would withdraw {self.withdrawn} of the {self.served} values that its series serve in the time it lists;"
            f" if that is right: almanac ingest --accept {sha256}"
        )


def loss(
    claims: Iterable[SeriesClaim],
    count: Callable[[SeriesHandle], int],
    periods: Callable[[SeriesHandle, tuple[int, int]], Collection[int]],
) -> Loss:
    """
    Count the values that a response would withdraw. `count` returns how many values a series serves, `periods` the keys
    of those in a span.

    A window is compared with the values served in it: an emptied year in a history of thirty is a large part of that
    year.
    """
    served: dict[int, int] = {}
    windows: dict[int, set[int]] = {}
    withdrawn: dict[int, set[int]] = {}
    for claim in claims:
        handle = claim.series
        stated = _stated(claim.statements)
        empty = {period for period, has_value in stated.items() if not has_value}
        spans = [claim.complete] if claim.complete else []
        if empty:
            spans.append((min(empty), max(empty)))
        if not spans:
            continue
        span = min(first for first, _ in spans), max(last for _, last in spans)
        held = periods(handle, span)
        if claim.complete is None:
            served[handle.number] = count(handle)
        else:
            windows.setdefault(handle.number, set()).update(held)
        gone = withdrawn.setdefault(handle.number, set())
        for period in held:
            listed = stated.get(period)
            if listed is None:
                listed = claim.complete is None or not claim.complete[0] <= period <= claim.complete[1]
            if not listed:
                gone.add(period)
    every = {number: len(held) for number, held in windows.items()} | served
    return Loss(sum(map(len, withdrawn.values())), sum(every.values()))


def _stated(statements: Sequence[ReportedValue]) -> dict[int, bool]:
    """Return the cells that a response states, and whether each has a value by its last statement."""
    last: dict[int, tuple[bool, int, bool]] = {}
    for line in statements:
        # A value known only since its capture sorts after all that were known before.
        at = (line.known is None, line.known or 0)
        held = last.get(line.period)
        if held is None or at >= held[:2]:
            last[line.period] = (*at, line.value is not None or line.text is not None)
    return {period: has_value for period, (_, _, has_value) in last.items()}
