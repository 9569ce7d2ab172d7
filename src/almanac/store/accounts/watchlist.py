"""What an account watches, and the screens it keeps: names of things, in the order they were added, never values."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.records import AccountError, askable, shown
from almanac.store.engine.words import following

KINDS = ("series", "company", "indicator")
SCREENERS = ("macro", "equity")
#: Things that one account may watch, and screens it may keep.
MOST_WATCHED, MOST_SCREENS = 200, 50
_WHAT_MAX, _NAME_MAX, _QUERY_MAX = 200, 80, 4_000


class Watched(msgspec.Struct, frozen=True):
    """One thing: the id of a series or company, or the slug of an indicator. `added` in unix seconds."""

    kind: str
    what: str
    added: int


class SavedScreen(msgspec.Struct, frozen=True):
    """One screen: its filter and what narrows it, as the query of an address. `added` in unix seconds."""

    id: str
    screener: str
    name: str
    query: str
    added: int


class Watchlist:
    """The lists of all accounts. Raises UnavailableError where the accounts cannot be read."""

    def __init__(self, file: AccountsFile) -> None:
        self._file = file

    def watched(self, account_id: str) -> list[Watched]:
        """What an account watches, what was added last first."""
        sql = "SELECT kind, what, added FROM watched WHERE account_id = ? ORDER BY n DESC"
        with self._file.opened() as db:
            return [Watched(*row) for row in db.execute(sql, (account_id,)).fetchall()]

    def watches(self, account_id: str, kind: str, what: str) -> bool:
        """Whether an account watches a thing."""
        sql = "SELECT 1 FROM watched WHERE account_id = ? AND kind = ? AND what = ?"
        with self._file.opened() as db:
            return bool(db.execute(sql, (account_id, kind, askable(what))).fetchall())

    def watch(self, account_id: str, kind: str, what: str, *, now: int) -> None:
        """
        Watch a thing; one that is watched already stays where it is. Raises AccountError for another kind, for a name that is
        none, and where the list is full.
        """
        if kind not in KINDS:
            raise AccountError(f"{shown(kind)} cannot be watched: allowed are {', '.join(KINDS)}")
        checked(what, _WHAT_MAX, "the name of what is watched")
        with self._file.changing() as db:
            if self.watches(account_id, kind, what):
                return
            if _count(db, "watched", account_id) >= MOST_WATCHED:
                raise AccountError(f"the watchlist holds {MOST_WATCHED} things and is full: remove one first")
            sql = (
                f"INSERT INTO watched(n, account_id, kind, what, added) VALUES({following('n', 'watched')}, ?, ?, ?, ?)"
            )
            db.execute(sql, (account_id, kind, what, now))

    def unwatch(self, account_id: str, kind: str, what: str) -> None:
        """Watch a thing no longer; of one that is not watched nothing comes."""
        with self._file.changing() as db:
            sql = "DELETE FROM watched WHERE account_id = ? AND kind = ? AND what = ?"
            db.execute(sql, (account_id, kind, askable(what)))

    def screens(self, account_id: str) -> list[SavedScreen]:
        """The screens of an account, what was added last first."""
        sql = "SELECT id, screener, name, query, added FROM saved_screen WHERE account_id = ? ORDER BY n DESC"
        with self._file.opened() as db:
            return [SavedScreen(*row) for row in db.execute(sql, (account_id,)).fetchall()]

    def keep_screen(self, account_id: str, screener: str, query: str, name: str, *, now: int) -> SavedScreen:
        """
        Keep a screen; one that is kept already gets the new name. Raises AccountError for another screener, for a name or a
        query that is none, and where the list is full.
        """
        if screener not in SCREENERS:
            raise AccountError(f"there is no screener {shown(screener)}: allowed are {', '.join(SCREENERS)}")
        checked(name, _NAME_MAX, "the name of a screen")
        checked(query, _QUERY_MAX, "the filter of a screen")
        with self._file.changing() as db:
            held = next(
                (one for one in self.screens(account_id) if (one.screener, one.query) == (screener, query)), None
            )
            if held is not None:
                db.execute("UPDATE saved_screen SET name = ? WHERE id = ?", (name, held.id))
                return msgspec.structs.replace(held, name=name)
            if _count(db, "saved_screen", account_id) >= MOST_SCREENS:
                raise AccountError(f"{MOST_SCREENS} screens are kept, which is all there may be: remove one first")
            made = SavedScreen(f"screen_{secrets.token_hex(10)}", screener, name, query, now)
            db.execute(
                f"INSERT INTO saved_screen(n, id, account_id, screener, name, query, added) VALUES({following('n', 'saved_screen')}, ?, ?, ?, ?, ?, ?)",
                (made.id, account_id, screener, name, query, now),
            )
        return made

    def drop_screen(self, account_id: str, screen_id: str) -> None:
        """Keep a screen no longer; of one that is not this account's nothing comes."""
        with self._file.changing() as db:
            sql = "DELETE FROM saved_screen WHERE account_id = ? AND id = ?"
            db.execute(sql, (account_id, askable(screen_id)))


def _count(db: Any, table: str, account_id: str) -> int:
    found: int = db.execute(f"SELECT count(*) FROM {table} WHERE account_id = ?", (account_id,)).get
    return found


def checked(text: str, most: int, what: str) -> str:
    """A text of people's as it is kept. Raises AccountError for one that cannot be printed in a list."""
    if not text.strip() or len(text) > most or not text.isprintable():
        raise AccountError(f"{what} has 1 to {most:,} printable characters")
    return text
