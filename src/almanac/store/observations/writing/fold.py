"""What a payload states of the cells of one series, folded into what is held of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from almanac.domain.observations import FINAL, ReportedValue, Vintage, number, settle
from almanac.store.log.payloads import PayloadRef

#: Open vintages of cells: period → ascending by knowledge time.
History = dict[int, list[Vintage]]


class SeriesHandle(NamedTuple):
    """A stored series as the writer knows it. `lineage`: the set of input series that all rows share, 0 for none."""

    number: int
    id: str
    topic: int
    allowance_days: int
    is_new: bool
    lineage: int


class SeriesClaim(NamedTuple):
    """A payload's statements about one series: the values, and the span of period keys that it lists completely."""

    series: SeriesHandle
    statements: Sequence[ReportedValue]
    complete: tuple[int, int] | None = None
    #: When the publisher last updated the data, if stated.
    updated: int | None = None

    def span(self) -> tuple[int, int] | None:
        """Return the first and last period key that the payload speaks of, or None if it says nothing."""
        keys = [statement.period for statement in self.statements] + list(self.complete or ())
        return (min(keys), max(keys)) if keys else None


def by_period(statements: Iterable[ReportedValue]) -> dict[int, list[ReportedValue]]:
    """Statements by the cell they are about, in their order."""
    stated: dict[int, list[ReportedValue]] = defaultdict(list)
    for statement in statements:
        stated[statement.period].append(statement)
    return stated


def fold(
    held: Mapping[int, list[Vintage]],
    payload: PayloadRef,
    stated: dict[int, list[ReportedValue]],
    complete: tuple[int, int] | None,
    allowance_days: int,
    *,
    is_past: bool = False,
) -> History:
    """
    Return the served vintages of the cells that a payload states or withdraws, given those held before it.

    Inside `complete` a cell that has a value and is not listed is withdrawn at the payload's knowledge time. `is_past`: the
    payload is of an older state of the data than one before it, so it fills cells of which nothing is known, and changes no other.
    """
    target: History = {}
    if is_past:
        stated, complete = {period: lines for period, lines in stated.items() if not held.get(period)}, None
    for period, lines in stated.items():
        facts = held.get(period, [])
        fresh = [_vintage(line, payload, is_new=not facts) for line in lines]
        target[period] = settle([*facts, *fresh], period, allowance_days)
    if complete is not None:
        for period, facts in held.items():
            if complete[0] <= period <= complete[1] and period not in stated and facts and not facts[-1].withdrawn:
                gone = _vintage(ReportedValue(period, None), payload, is_new=False)
                target[period] = settle([*facts, gone], period, allowance_days)
    return target


def _vintage(line: ReportedValue, payload: PayloadRef, *, is_new: bool) -> Vintage:
    """Turn a statement into a vintage: never known later than it was here, a documented time for the first capture only."""
    ingested = payload.ingested_at
    known, released, flags = line.known, line.released, line.flags
    if line.first_only and not is_new:
        known, released, flags = None, None, flags & FINAL
    return Vintage(
        ingested if known is None else min(known, ingested),
        number(line.value),
        line.text,
        flags,
        None if released is None else min(released, ingested),
        ingested,
        payload.number,
        line.note,
    )
