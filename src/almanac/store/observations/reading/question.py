"""What a list is asked: which rows, as who knew them when, in which order, and which page of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from almanac.store.observations.reading.selection import EVER, Selection


class Question(NamedTuple):
    """One page of one list of observations."""

    selection: Selection
    #: Data version whose rows answer.
    version: int
    #: Moment at which the rows stood, unix seconds; None: now.
    as_of: int | None
    #: Rows of the page at most.
    limit: int
    #: Place to go on from, which the page before told; None: the first page.
    after: list[Any] | None = None
    #: A name in `SORTS`.
    sort: str = "topic"
    descending: bool = False
    #: Rows of all series of a cell, else of the preferred one.
    every: bool = False
    #: All states of a cell that were known by `as_of`, withdrawals too, else the one that stood then.
    history: bool = False

    @property
    def moment(self) -> int:
        """`as_of`, later than anything is known where there is none."""
        return EVER if self.as_of is None else self.as_of
