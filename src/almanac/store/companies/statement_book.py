"""Statements as they stood after each filing that changed one, kept ready for the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from almanac.store.companies.statement_bodies import unpack
from almanac.store.engine.protocol import Database
from almanac.store.engine.sqlite import OPEN

#: Kinds of statement, as `statement.kind`.
INCOME, BALANCE, CASH_FLOW = 0, 1, 2


class Key(NamedTuple):
    """One statement of a company: its kind, frequency (A, Q, S) and period key."""

    kind: int
    frequency: str
    period: int


#: Versions of one statement, ascending by knowledge time, one at each: bodies as they are stored (`statement_bodies.pack`). An
#: empty one: there is none any more.
Versions = Sequence[tuple[int, bytes]]


def read_open(db: Database, entity: str) -> dict[Key, list[tuple[int, bytes]]]:
    """All open versions of a company's statements."""
    found: dict[Key, list[tuple[int, bytes]]] = defaultdict(list)
    for kind, frequency, period, known, body in db.execute(
        f"SELECT kind, frequency, period, known_at, body FROM statement WHERE entity = ? AND to_version = {OPEN}"
        " ORDER BY kind, frequency, period, known_at",
        (entity,),
    ):
        found[Key(kind, frequency, period)].append((known, body))
    return found


def differing(db: Database, entity: str, target: Mapping[Key, Versions]) -> dict[Key, tuple[Versions, Versions]]:
    """Statements of a company whose versions are not those given: what is held, and what shall be. Those not named shall go."""
    before = read_open(db, entity)
    wanted: dict[Key, Versions] = {**dict.fromkeys(before, ()), **target}
    return {
        key: (before.get(key, []), versions)
        for key, versions in wanted.items()
        if not _alike(before.get(key, []), versions)
    }


def _alike(before: Versions, after: Versions) -> bool:
    """Whether the same is known from the same times on."""
    return [known for known, _ in before] == [known for known, _ in after] and all(
        _same(one, other) for (_, one), (_, other) in zip(before, after, strict=True)
    )


def _same(body: bytes, other: bytes) -> bool:
    """Whether two bodies say the same. Another version of the packer may have packed one of them, to other bytes."""
    return body == other or unpack(body) == unpack(other)


def replace(db: Database, version: int, entity: str, target: Mapping[Key, Versions]) -> list[Key]:
    """Make these the versions of these statements (see `differing`). Equal rows are not touched. Returns what changed."""
    changed = differing(db, entity, target)
    for key, (before, after) in changed.items():
        old, new = dict(before), dict(after)
        for known in (known for known in old if known not in new or not _same(old[known], new[known])):
            # A row made in this very transaction was never seen by anyone.
            db.execute(f"DELETE FROM statement {_THIS} AND from_version = ?", (entity, *key, known, version))
            db.execute(
                f"UPDATE statement SET to_version = ? {_THIS} AND to_version = {OPEN}", (version, entity, *key, known)
            )
        db.executemany(
            f"INSERT INTO statement VALUES(?,?,?,?,?,{version},{OPEN},?)",
            [
                (entity, *key, known, body)
                for known, body in new.items()
                if known not in old or not _same(old[known], body)
            ],
        )
    return list(changed)


_THIS = "WHERE entity = ? AND kind = ? AND frequency = ? AND period = ? AND known_at = ?"
