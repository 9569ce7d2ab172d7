"""Statements as they stood after each filing that changed one, kept ready for the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from almanac.store.companies.statement_bodies import pack, unpack
from almanac.store.engine.protocol import Database
from almanac.store.engine.sqlite import OPEN

#: Kinds of statement, as `statement.kind`.
INCOME, BALANCE, CASH_FLOW = 0, 1, 2


class Key(NamedTuple):
    """One statement of a company: its kind, frequency (A, Q, S) and period key."""

    kind: int
    frequency: str
    period: int


#: Versions of one statement, ascending by knowledge time; an empty body: there is none any more.
Versions = Sequence[tuple[int, bytes]]


def held(db: Database, entity: str) -> dict[Key, list[tuple[int, bytes]]]:
    """All open versions of a company's statements."""
    found: dict[Key, list[tuple[int, bytes]]] = defaultdict(list)
    for kind, frequency, period, known, body in db.execute(
        f"SELECT kind, frequency, period, known_at, body FROM statement WHERE entity = ? AND to_version = {OPEN}"
        " ORDER BY kind, frequency, period, known_at",
        (entity,),
    ):
        found[Key(kind, frequency, period)].append((known, unpack(body)))
    return found


def differing(db: Database, entity: str, target: Mapping[Key, Versions]) -> dict[Key, tuple[Versions, Versions]]:
    """Statements of a company whose versions are not those given: what is held, and what shall be. Those not named shall go."""
    before = held(db, entity)
    wanted: dict[Key, Versions] = {**dict.fromkeys(before, ()), **target}
    return {
        key: (before.get(key, []), versions)
        for key, versions in wanted.items()
        if before.get(key, []) != list(versions)
    }


def replace(db: Database, version: int, entity: str, target: Mapping[Key, Versions]) -> list[Key]:
    """Make these the versions of these statements (see `differing`). Equal rows are not touched. Returns what changed."""
    changed = differing(db, entity, target)
    for key, (before, after) in changed.items():
        old, new = set(before), set(after)
        for known, _ in sorted(old - new):
            # A row made in this very transaction was never seen by anyone.
            db.execute(f"DELETE FROM statement {_THIS} AND from_version = ?", (entity, *key, known, version))
            db.execute(
                f"UPDATE statement SET to_version = ? {_THIS} AND to_version = {OPEN}", (version, entity, *key, known)
            )
        db.executemany(
            f"INSERT INTO statement VALUES(?,?,?,?,?,{version},{OPEN},?)",
            [(entity, *key, known, pack(body)) for known, body in sorted(new - old)],
        )
    return list(changed)


_THIS = "WHERE entity = ? AND kind = ? AND frequency = ? AND period = ? AND known_at = ?"
