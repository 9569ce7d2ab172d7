"""Statements as they stood after each filing that changed one, kept ready for the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import zstandard

from almanac.domain.periods import EVERY_KEY, end_of, lowest_key
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sqlite import OPEN

#: Kinds of statement, as `statement.kind`.
INCOME, BALANCE, CASH_FLOW = 0, 1, 2
KINDS = (INCOME, BALANCE, CASH_FLOW)
FREQUENCIES = ("A", "Q", "S")
_THIS = "WHERE entity = ?2 AND kind = ?3 AND frequency = ?4 AND period = ?5 AND known_at = ?6"


def pack(body: bytes) -> bytes:
    """Return a body as it is stored. An empty one, which says that there is no statement any more, stays so."""
    return zstandard.compress(body) if body else body


def unpack(stored: bytes) -> bytes:
    """Return a body as it was. Raises zstandard.ZstdError for a damaged one."""
    return zstandard.decompress(stored) if stored else stored


class Key(NamedTuple):
    """One statement of a company: its kind, frequency (A, Q, S) and period key."""

    kind: int
    frequency: str
    period: int


#: Versions of one statement, ascending by knowledge time, one at each: bodies as they are stored (`pack`). An
#: empty one: there is none any more.
Versions = Sequence[tuple[int, bytes]]


#: The versions of a statement that end, by their knowledge times, and those that come.
Difference = tuple[list[int], Versions]


def differing(db: Database, entity: str, target: Mapping[Key, Versions]) -> dict[Key, Difference]:
    """Return how the stored versions of a company's statements differ from those given. Statements that aren't given shall go."""
    stored: dict[Key, dict[int, bytes]] = defaultdict(dict)
    for kind, frequency, period, known, body in db.execute(
        f"SELECT kind, frequency, period, known_at, body FROM statement WHERE entity = ? AND to_version = {OPEN}"
        " ORDER BY kind, frequency, period",
        (entity,),
    ):
        stored[Key(kind, frequency, period)][known] = body
    changed: dict[Key, Difference] = {}
    for key in {**stored, **target}:
        before, after = stored.get(key, {}), target.get(key, ())
        same = {known for known, body in after if known in before and _same(before[known], body)}
        ended = [known for known in before if known not in same]
        added = [(known, body) for known, body in after if known not in same]
        if ended or added:
            changed[key] = ended, added
    return changed


def _same(body: bytes, other: bytes) -> bool:
    """Return whether two bodies say the same. Another version of zstd may have packed one of them to other bytes."""
    return body == other or unpack(body) == unpack(other)


def replace(db: Database, version: int, entity: str, target: Mapping[Key, Versions]) -> list[Key]:
    """Make these the versions of a company's statements. Equal rows are not touched. Returns the statements that changed."""
    changed = differing(db, entity, target)
    gone = [(version, entity, *key, known) for key, (ended, _) in changed.items() for known in ended]
    if gone:
        # A row made in this very transaction was never seen by anyone.
        db.executemany(f"DELETE FROM statement {_THIS} AND from_version = ?1", gone)
        db.executemany(f"UPDATE statement SET to_version = ?1 {_THIS} AND to_version = {OPEN}", gone)
    rows = [(entity, *key, known, version, OPEN, body) for key, (_, added) in changed.items() for known, body in added]
    db.insert("statement", rows)
    return list(changed)


class StatementRow(NamedTuple):
    """One statement: its frequency, period key, the moment it was known (unix seconds) and its body as JSON."""

    frequency: str
    period: int
    known: int
    body: bytes


def newest(
    db: Queryable,
    entity: str,
    kinds: Iterable[int],
    frequencies: Collection[str],
    *,
    version: int,
    known_by: int,
    ends_from: date | None = None,
    limit: int,
) -> list[StatementRow]:
    """
    Return the newest statements of some kinds, each as last known by a moment: by last day, of one day annual before quarterly.
    Beside quarters a half-year stands only where no quarter ends with it.

    `ends_from`: periods must end on or after this day.
    """
    low = 0 if ends_from is None else lowest_key(ends_from)
    rows = [
        StatementRow(frequency, period, known, unpack(body))
        for kind in kinds
        for frequency in frequencies
        for period, known, body in db.execute(
            _NEWEST, (version, known_by, entity, kind, frequency, low, EVERY_KEY[1], limit)
        )
    ]
    quarters = {end_of(row.period) for row in rows if row.frequency == "Q"}
    rows = [row for row in rows if row.frequency != "S" or end_of(row.period) not in quarters]
    rows.sort(key=lambda row: (-end_of(row.period).toordinal(), row.frequency))
    return rows[:limit]


_OPEN = "{0}.from_version <= ?1 AND {0}.to_version > ?1 AND {0}.known_at <= ?2"
#: A version counts if no later one was known; an empty body says that there is no statement any more.
_NEWEST = (
    "SELECT s.period, s.known_at, s.body FROM statement s WHERE s.entity = ?3 AND s.kind = ?4 AND s.frequency = ?5"
    f" AND s.period BETWEEN ?6 AND ?7 AND {_OPEN.format('s')} AND length(s.body) > 0"
    " AND NOT EXISTS (SELECT 1 FROM statement z WHERE z.entity = s.entity AND z.kind = s.kind"
    f" AND z.frequency = s.frequency AND z.period = s.period AND z.known_at > s.known_at AND {_OPEN.format('z')})"
    " ORDER BY s.period DESC LIMIT ?8"
)
