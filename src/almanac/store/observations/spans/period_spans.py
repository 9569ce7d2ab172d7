"""Rows of one topic between two periods, and what they are asked by (almanac.store.observations.spans.statements)."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from almanac.store.observations.spans import statements

#: No period key, knowledge time or version is as large.
NEVER = 1 << 62

#: A statement and the values it binds.
Asked = tuple[str, tuple[Any, ...]]


class PlannedTopic(NamedTuple):
    """A topic that a page is read from."""

    number: int
    key: tuple[str, str, str]
    #: Its series, in no order; mostly one.
    series: tuple[int, ...]
    #: Every cell has one vintage, the one shown now: a past state is what of it was known by then.
    settled: bool


class PeriodSpan(Struct, frozen=True):
    """Rows of one topic that are asked for: periods between two keys, both outside, and what else they must pass."""

    topic: PlannedTopic
    above: int
    below: int
    #: The first day a period may start on, as an ordinal; None: each may.
    start: int | None
    version: int
    #: Whether no row came later than that version.
    newest: bool
    as_of: int | None
    descending: bool
    #: Whether no row has inputs of its own.
    raw: bool

    @property
    def is_past(self) -> bool:
        """Whether it takes more than the rows of the present to say what it was."""
        # What a past state of settled cells is, the table of the present says; it has fewer rows, and these are written.
        return self.as_of is not None and not (self.topic.settled and self.newest)

    def now(self, limit: int) -> Asked:
        """The first rows of `current`, joined."""
        return statements.now(self._shape), self._bound(limit)

    def chosen(self, limit: int, order: list[int]) -> Asked:
        """The first cells of `current`, of each the row of the series that comes first in the order."""
        ranks = [number for place, series in enumerate(order) for number in (series, place)]
        return statements.chosen(len(order), self._shape), (*self._bound(limit), *ranks)

    def then(self, limit: int) -> Asked:
        """The first cells of a past state, of each series the last vintage known by then; joined where there is but one, at the newest version."""
        # Rows of so many cells at least, each cell whole: were the last one cut, there would be more cells than that.
        rivals = len(self.topic.series)
        stated = statements.then if not self.newest else statements.past if rivals == 1 else statements.past_chosen
        return stated(self._shape), self._bound(limit * rivals)

    def any(self) -> Asked:
        """One row, where there is any."""
        return statements.exists(self.is_past, self._shape), self._bound(1)

    @property
    def _shape(self) -> statements.Shape:
        """What the statement depends on."""
        return statements.Shape(self.as_of is not None, self.start is not None, self.newest, self.descending, self.raw)

    def _bound(self, limit: int) -> tuple[int | None, ...]:
        """What it binds: ?1 to ?7."""
        return self.topic.number, self.above, self.below, self.version, self.as_of, self.start, limit
