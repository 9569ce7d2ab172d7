"""
How a list is read: decided here and nowhere else, from the question alone.

There are three ways. A page in the order of the tables, one preferred row a cell, is read as far as it needs. One in that
order with all rows of its cells is read group by group. What has another order is gone through whole, and sorted.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from almanac.store.observations.reading.selection import EVER, SORTS, Selection

#: So many vintages at most are gone through for a list, unless told otherwise: some tenths of a second.
MOST_SORTED = 2_000_000


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


class Way(enum.Enum):
    """How the rows of a list are found. A value says it to an operator."""

    CELLS = "in the order of the tables, one row a cell, as far as a page needs"
    GROUPS = "in the order of the tables, cell by cell with all its rows, as far as a page needs"
    SORTED = "all that is meant is gone through, and sorted"


class ReadingPlan(NamedTuple):
    """The way a question goes. `judged`: first it is counted how many vintages are meant."""

    question: Question
    way: Way
    judged: bool


def planned(question: Question) -> ReadingPlan:
    """Return the plan for one page of a list."""
    selection = question.selection
    if SORTS[question.sort] is not None:
        way = Way.SORTED
    elif question.every or question.history or selection.bounded or selection.fiscal is not None:
        way = Way.GROUPS
    else:
        way = Way.CELLS
    # No index leads from what was known when to rows: those that are meant are gone through for the first of them too.
    through = way is Way.SORTED or selection.bounded
    return ReadingPlan(question, way, judged=through)
