"""The items that an account watches: their names in order of addition, never values."""

from __future__ import annotations

import msgspec

from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.records import AccountError, askable, shown
from almanac.store.engine.sql_compat import next_id

KINDS = ("series", "company", "indicator")
#: Things that one account may watch.
MOST_WATCHED = 200
_WHAT_MAX = 200


class Watched(msgspec.Struct, frozen=True):
    """One watched item: the id of a series or company, or the slug of an indicator. `added` is in unix seconds."""

    kind: str
    what: str
    added: int


class Watchlist:
    """The watchlists of all accounts. Raises UnavailableError if the accounts cannot be read."""

    def __init__(self, file: AccountsFile) -> None:
        self._file = file

    def watched(self, account_id: str) -> list[Watched]:
        """Return the items that an account watches, the latest addition first."""
        sql = "SELECT kind, what, added FROM watched WHERE account_id = ? ORDER BY n DESC"
        with self._file.opened() as db:
            return [Watched(*row) for row in db.execute(sql, (account_id,)).fetchall()]

    def watches(self, account_id: str, kind: str, what: str) -> bool:
        """Return whether an account watches an item."""
        sql = "SELECT 1 FROM watched WHERE account_id = ? AND kind = ? AND what = ?"
        with self._file.opened() as db:
            return bool(db.execute(sql, (account_id, kind, askable(what))).fetchall())

    def watch(self, account_id: str, kind: str, what: str, *, now: int) -> None:
        """
        Watch an item; one already watched keeps its place. Raises AccountError for an unknown kind, an invalid name or
        a full list.
        """
        if kind not in KINDS:
            raise AccountError(f"{shown(kind)} cannot be watched: allowed are {', '.join(KINDS)}")
        if not what.strip() or len(what) > _WHAT_MAX or not what.isprintable():
            raise AccountError(f"the name of what is watched has 1 to {_WHAT_MAX:,} printable characters")
        with self._file.changing() as db:
            if self.watches(account_id, kind, what):
                return
            if db.execute("SELECT count(*) FROM watched WHERE account_id = ?", (account_id,)).get >= MOST_WATCHED:
                raise AccountError(f"the watchlist holds {MOST_WATCHED} things and is full: remove one first")
            sql = f"INSERT INTO watched(n, account_id, kind, what, added) VALUES({next_id('n', 'watched')}, ?, ?, ?, ?)"
            db.execute(sql, (account_id, kind, what, now))

    def unwatch(self, account_id: str, kind: str, what: str) -> None:
        """Stop watching an item. It does nothing if the item isn't watched."""
        with self._file.changing() as db:
            sql = "DELETE FROM watched WHERE account_id = ? AND kind = ? AND what = ?"
            db.execute(sql, (account_id, kind, askable(what)))
