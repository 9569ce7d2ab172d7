"""Web sessions while the primary of accounts on a server does not answer: as replicas have them, for a bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.doors import Door, promptly
from almanac.store.accounts.records import AccountInfo
from almanac.store.accounts.tokens import is_token
from almanac.store.accounts.web_sessions import PURPOSE, WebSession, WebSessions, session_of
from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.engine.opening import Server

#: How long a primary that did not answer is left alone: each page would wait for it.
_REST_SECONDS = 2.0


class LentSessions:
    """
    Sessions as the primary has them, or a replica that has got as far. On a replica nothing is written: that somebody was
    seen is not noted.

    `held_seconds`: how long from the primary's last answer replicas are believed.
    """

    def __init__(
        self,
        accounts: Accounts,
        replicas: Sequence[Server],
        *,
        held_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._accounts, self._sessions = accounts, WebSessions(accounts)
        self._doors = [Door(one) for one in replicas]
        self._held_seconds, self._monotonic = held_seconds, monotonic
        self._secret = accounts.secret(PURPOSE)
        self._sure, self._rests = monotonic(), -float("inf")

    def find(self, token: str, *, now: int) -> tuple[WebSession, AccountInfo] | None:
        """Find the session of a token and its account, on the server or a copy of it. Raises UnavailableError where nobody can tell."""
        moment, why = self._monotonic(), "it did not answer"
        if moment >= self._rests:
            try:
                with promptly():
                    found = self._sessions.find(token, now=now)
            except DatabaseError as error:
                why, self._rests = str(error), self._monotonic() + _REST_SECONDS
            else:
                self._sure = moment
                return found
        if not is_token(token):
            return None
        digest = self._accounts.digested(self._secret, token)
        for door in self._doors if moment - self._sure <= self._held_seconds else ():
            try:
                reached, found = door.read(lambda db: session_of(db, digest, now))
            except DatabaseError:
                continue
            if reached >= self._accounts.noticed:
                return found
        raise UnavailableError(f"the accounts cannot be read ({why})")

    def close(self) -> None:
        """Close the connections to replicas."""
        for one in self._doors:
            one.close()
