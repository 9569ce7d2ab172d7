"""Web sessions of the dashboard, stored here rather than in the cookie so that one can be ended."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.keytext import is_token, new_token
from almanac.store.accounts.records import AccountInfo, askable
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sql_compat import next_id

#: Seconds without a request, and in all, after which a session ends.
IDLE_SECONDS, LONGEST_SECONDS = 14 * 86_400, 90 * 86_400
_SEEN_SECONDS = 60
#: Name of the secret that digests cookies.
PURPOSE = "web_session"
_AGENT_MAX, _ADDRESS_MAX = 200, 64
_ACCOUNT = ", ".join(f"a.{name}" for name in AccountInfo.__struct_fields__)
_INFO = "s.id, s.account_id, s.created, s.last_seen, s.agent, s.address"


class WebSession(msgspec.Struct, frozen=True):
    """One session as its owner sees it. Times are unix seconds; `last_seen` is exact to the minute."""

    id: str
    account_id: str
    created: int
    last_seen: int
    agent: str
    address: str

    @property
    def expires(self) -> int:
        """When it ends if no further request comes."""
        return min(self.last_seen + IDLE_SECONDS, self.created + LONGEST_SECONDS)


def session_of(db: Queryable, digest: bytes, now: int) -> tuple[WebSession, AccountInfo] | None:
    """Return the live session whose cookie has this digest, and its account, or None if there is none."""
    sql = f"SELECT {_INFO}, {_ACCOUNT} FROM web_session s JOIN account a ON a.id = s.account_id WHERE s.digest = ?"
    row: Any = next(iter(db.execute(sql, (digest,)).fetchall()), None)
    if row is None:
        return None
    session, account = WebSession(*row[:6]), AccountInfo(*row[6:])
    return None if session.expires <= now or account.disabled is not None else (session, account)


class WebSessions:
    """All web sessions. Times are real time in unix seconds."""

    def __init__(self, file: AccountsFile) -> None:
        self._file = file

    def begin(
        self, account_id: str, agent: str, address: str, *, now: int, before: str | None = None
    ) -> tuple[str, WebSession]:
        """
        Start a session. Returns the token for the cookie, which is never shown again, and the session.

        It is always a new one. `before` is the token the browser had: that session ends, so that nobody who planted or
        saw it is signed in too.
        """
        token = new_token()
        made = WebSession(f"web_{secrets.token_hex(10)}", account_id, now, now, _cut(agent, _AGENT_MAX), _cut(address, _ADDRESS_MAX))  # fmt: skip
        with self._file.changing() as db:
            if before is not None and is_token(before):
                db.execute("DELETE FROM web_session WHERE digest = ?", (self._digest(before),))
            db.execute(
                "DELETE FROM web_session WHERE last_seen <= ? OR created <= ?",
                (now - IDLE_SECONDS, now - LONGEST_SECONDS),
            )
            db.execute(
                "INSERT INTO web_session(n, id, account_id, digest, created, last_seen, agent, address)"
                f" VALUES({next_id('n', 'web_session')}, ?, ?, ?, ?, ?, ?, ?)",
                (made.id, account_id, self._digest(token), now, now, made.agent, made.address),
            )
        return token, made

    def find(self, token: str, *, now: int) -> tuple[WebSession, AccountInfo] | None:
        """
        Return the session of a cookie and its account, and note that it was seen. Returns None if it has ended or never
        existed.
        """
        if not is_token(token):
            return None
        with self._file.opened() as db:
            found = session_of(db, self._digest(token), now)
            if found is None:
                return None
            session, account = found
            if session.last_seen <= now - _SEEN_SECONDS:
                db.execute("UPDATE web_session SET last_seen = ?1 WHERE id = ?2 AND last_seen < ?1", (now, session.id))
                session = msgspec.structs.replace(session, last_seen=now)
        return session, account

    def of(self, account_id: str, *, now: int) -> list[WebSession]:
        """Return the live sessions of an account, the most recently seen first."""
        with self._file.opened() as db:
            rows: Any = db.execute(f"SELECT {_INFO} FROM web_session s WHERE account_id = ?", (account_id,)).fetchall()
        found = [session for row in rows if (session := WebSession(*row)).expires > now]
        return sorted(found, key=lambda one: (-one.last_seen, one.id))

    def end(self, account_id: str, session_id: str) -> bool:
        """
        End one session of an account. Returns False if the account has no such session; other accounts' sessions are
        not touched.
        """
        return self._remove("account_id = ? AND id = ?", account_id, askable(session_id)) > 0

    def sign_out(self, token: str) -> bool:
        """End the session of a cookie. Returns False if there is none."""
        return is_token(token) and self._remove("digest = ?", self._digest(token)) > 0

    def end_all(self, account_id: str, *, but: str | None = None) -> int:
        """End all sessions of an account, except the one with the id `but`. Returns how many ended."""
        return self._remove("account_id = ? AND id IS DISTINCT FROM ?", account_id, but)

    def _remove(self, where: str, *bound: Any) -> int:
        with self._file.opened() as db:
            return db.update(f"DELETE FROM web_session WHERE {where}", bound)

    def _digest(self, token: str) -> bytes:
        return self._file.digest(PURPOSE, token)


def _cut(text: str, most: int) -> str:
    """Cut a stranger's text and replace unprintable characters, for display in a list."""
    return "".join(letter if letter.isprintable() else " " for letter in text[: most * 2])[:most].strip()
