"""Turns and leases: when each source is asked next, and which process may ask it now."""

from __future__ import annotations

from typing import NamedTuple

from almanac.domain.cadence import Turn
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import greatest


class SourceTurn(NamedTuple):
    """
    A source's turn and the owner of its lease until `expires_at` (unix seconds, real time). Without an owner nobody
    holds it.
    """

    turn: Turn
    owner: str | None = None
    expires_at: int = 0

    def by(self, now: int) -> str | None:
        """Return the owner of the lease if it is still valid at `now`, or else None."""
        return self.owner if now < self.expires_at else None


def read(db: Queryable) -> dict[str, SourceTurn]:
    """Return each source's turn and lease, by source. A source that was never asked is absent."""
    rows = db.execute("SELECT source, asked_at, failures, retry_at, owner, expires_at FROM turn")
    return {row[0]: SourceTurn(Turn(*row[1:4]), row[4], row[5] or 0) for row in rows}


def take(db: Database, source: str, owner: str, now: int, until: int) -> Turn | None:
    """
    Take a source's lease until a moment. Returns its current turn, or None while another owner's lease is valid.

    If several processes try at once, just one gets it: a lease is one row, written under the database's lock. A lease
    that a dead owner left behind can be taken over after it expires.
    """
    with db.transaction():
        row = db.execute(
            "INSERT INTO turn VALUES(?1, NULL, 0, NULL, ?2, ?4) ON CONFLICT(source) DO UPDATE"
            " SET owner = ?2, expires_at = ?4 WHERE turn.owner IS NULL OR turn.owner = ?2 OR turn.expires_at <= ?3"
            " RETURNING asked_at, failures, retry_at",
            (source, owner, now, until),
        ).fetchone()
    return Turn(*row) if row else None


def renew(db: Database, source: str, owner: str, until: int) -> bool:
    """Extend a lease until `until`. Returns False if another owner holds it by now."""
    with db.transaction():
        return db.update("UPDATE turn SET expires_at = ? WHERE source = ? AND owner = ?", (until, source, owner)) == 1


def end(db: Database, source: str, owner: str, turn: Turn) -> bool:
    """Record how a turn ended and release the lease. Returns False and writes nothing if another owner holds it by now."""
    with db.transaction():
        ended = db.update(
            "UPDATE turn SET asked_at = ?, failures = ?, retry_at = ?, owner = NULL, expires_at = NULL"
            " WHERE source = ? AND owner = ?",
            (*turn, source, owner),
        )
    return ended == 1


def leave(db: Database, source: str, owner: str) -> None:
    """Release a lease and leave the turn as it was."""
    with db.transaction():
        db.execute("UPDATE turn SET owner = NULL, expires_at = NULL WHERE source = ? AND owner = ?", (source, owner))


def note(db: Database, source: str, began: int) -> None:
    """
    Record that a person's command asked a source successfully without a lease, so its next turn is the one after
    `began`.
    """
    with db.transaction():
        db.execute(
            "INSERT INTO turn VALUES(?1, ?2, 0, NULL, NULL, NULL) ON CONFLICT(source) DO UPDATE"
            f" SET asked_at = {greatest('turn.asked_at', '?2')}, failures = 0, retry_at = NULL",
            (source, began),
        )
