"""`superseded` kept in step with the vintages of cells: those that a later one took the place of, written for the wire."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from almanac.domain.fragments import rendered
from almanac.domain.observations import Vintage
from almanac.store.engine.protocol import Database
from almanac.store.observations.ids import ObservationIds


class SupersededRows:
    """What comes and goes of one series, cell by cell, until it is written."""

    def __init__(self, topic: int, series: int, ids: ObservationIds) -> None:
        self._topic, self._series, self._ids = topic, series, ids
        self._gone: list[tuple[Any, ...]] = []
        self._new: list[tuple[Any, ...]] = []

    def change(self, period: int, before: Sequence[Vintage], after: Sequence[Vintage]) -> None:
        """Let a cell have other vintages; both ascend by knowledge time."""
        if len(before) < 2 and len(after) < 2:
            return
        topic, series = self._topic, self._series
        was, now = _replaced(before), _replaced(after)
        self._gone += [(topic, period, series, known) for known, held in was.items() if now.get(known) != held]
        for known, held in now.items():
            if was.get(known) != held:
                v, until = held
                own = self._ids.row_part(period, known)
                text = rendered(own, period, known, v.value, v.text, v.flags, v.released, v.ingested, v.note)
                self._new.append((topic, period, series, known, until, v.lineage, text))

    def write(self, db: Database) -> None:
        """Write all of it, as part of the caller's transaction."""
        if self._gone:
            db.executemany(_DELETE, self._gone)
        if self._new:
            db.executemany(_INSERT, self._new)


def _replaced(vintages: Sequence[Vintage]) -> dict[int, tuple[Vintage, int]]:
    """Those with a value that another followed, by when they were known; each with when the other was."""
    return {one.known: (one, following.known) for one, following in pairwise(vintages) if not one.withdrawn}


_DELETE = "DELETE FROM superseded WHERE topic = ? AND period = ? AND series = ? AND known_at = ?"
_INSERT = "INSERT INTO superseded VALUES(?, ?, ?, ?, ?, ?, ?)"
