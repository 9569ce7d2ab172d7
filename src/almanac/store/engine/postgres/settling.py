"""
When a write is there on all machines over which the tables are spread.

Each machine has a snapshot of its own, and commits a moment after the coordinator. Rows carry the versions between which
they hold, so one that is too new is passed over; what must not be is a version whose rows are not all there yet. So the
last that a write does is to mark each part with the change token, in the same two-phase commit; and whoever meets a token
asks all the marks once before it is believed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from almanac.store.engine.postgres.spreading import AREA, COPIES, MARKS, Ask, is_spread

#: What is said at the beginning of a transaction that writes: each machine is spoken to over one connection, whatever
#: the statements, so that each sees what the one before it wrote.
ONE_BY_ONE = (
    "SET LOCAL citus.multi_shard_modify_mode = 'sequential'; SET LOCAL citus.max_adaptive_executor_pool_size = 1"
)
UNSETTLED = "a machine has yet to commit the last write: Citus sees to it within a minute of the machine's being there"
#: How long it is waited before it is asked again, seconds.
_LOOK = 0.005
#: Tokens of which it is known that all is there; the last of them, of all connections of the process. So a reader goes on
#: with what the other machines hold while one of them is away.
_settled: dict[int, None] = {}
_SETTLED_HELD = 64


def marked(token: int) -> str:
    """What marks all parts with a token."""
    return f"UPDATE {MARKS} SET n = {token}; UPDATE {COPIES} SET n = {token}"


def looks(milliseconds: int) -> Iterator[None]:
    """Again and again, for so long."""
    yield
    for _ in range(int(milliseconds / 1000 / _LOOK)):
        time.sleep(_LOOK)
        yield


class Machines:
    """What one connection knows of the machines: whether there are several, and up to which token all of them are."""

    def __init__(self, area: str, ask: Ask) -> None:
        self._area, self._ask = area, ask
        #: Whether the tables are spread over several.
        self.several = False
        self._believed: int | None = None

    def look(self) -> bool:
        """See whether there are several, within a transaction."""
        self.several = self._area == AREA and is_spread(self._ask)
        return self.several

    def believe(self, token: int) -> bool:
        """Whether all that was written up to a token is there, wherever it is. Within a transaction."""
        if token != self._believed:
            if self.look() and not self.have(token):
                return False
            self._believed = token
        return True

    def have(self, token: int) -> bool:
        """Whether all of several machines have what was written up to a token."""
        if token in _settled:
            return True
        ((up_to,),) = self._ask(f"SELECT min(least(m.n, c.n)) FROM {MARKS} m CROSS JOIN {COPIES} c")
        if up_to is None or up_to < token:
            return False
        _settled[token] = None
        while len(_settled) > _SETTLED_HELD:
            _settled.pop(next(iter(_settled)), None)
        return True
