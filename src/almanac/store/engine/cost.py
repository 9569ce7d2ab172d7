"""What answering a question may cost the process that answers it, and so where it is answered."""

from __future__ import annotations

import enum


class Cost(enum.IntEnum):
    """Where a question is answered, by what it may cost; the dearest last."""

    #: A page: in the event loop, while others wait.
    PAGE = 0
    #: Some tenths of a second at most, or a wait for something else: in a thread.
    APART = 1
    #: As much as is allowed at all: in a thread, and an account has few such questions under way at a time.
    HEAVY = 2


class PutOffError(Exception):
    """
    A question is to be answered elsewhere, where it may cost so much; `cost` None: later, when what it looks at is made.
    Nothing has been done for it yet.
    """

    def __init__(self, cost: Cost | None) -> None:
        super().__init__("later" if cost is None else cost.name.lower())
        self.cost = cost
