"""
Keys of accounts on a server, for whoever must not wait for it: the event loop of a worker, and clients while it is away.

A key that was verified is remembered. `look`, called every so often by a thread, sees whether anything has changed since, and
forgets all then: so what another process revokes holds as soon as the primary has told it. While the primary does not
answer, a key that is not remembered is looked up on a replica that has got as far, and all of it holds for a bounded time.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from almanac.store.accounts.accounts import LIVE_SQL, Accounts, LiveKey, live
from almanac.store.accounts.doors import Door
from almanac.store.accounts.keytext import LENGTH, PREFIX, well_formed
from almanac.store.accounts.records import MALFORMED, UNKNOWN, KeyRecord, Refused
from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.engine.opening import Server

#: What is remembered holds for so long after the last look, come what may: the thread that looks may be late.
_LATE_SECONDS = 2.0
#: The mark that each change of a key, a plan or an account sets anew; and the secret that keys are digested with, where it
#: is kept there.
_STATE_SQL = "SELECT (SELECT value FROM state WHERE name = 'mark'), (SELECT value FROM secret WHERE name = 'pepper')"


class _State(NamedTuple):
    """What a look finds: the change token, which counts what was written, the mark, and the secret of keys if it is kept there."""

    token: int
    mark: bytes
    pepper: bytes | None


class WatchedKeys:
    """
    Keys as a worker verifies them. `primary` and `replicas` are where `accounts` are and are copied to.

    `held_seconds`: how long what is known holds, on a replica too, while the primary does not answer. `tell` is told why it
    does not, and with None that it does again.
    """

    def __init__(
        self,
        accounts: Accounts,
        primary: Server,
        replicas: Sequence[Server] = (),
        *,
        held_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        tell: Callable[[str | None], object] = lambda _: None,
    ) -> None:
        self._accounts, self._monotonic, self._tell = accounts, monotonic, tell
        self._watching, self._primary = Door(primary), Door(primary)
        self._replicas = [Door(one) for one in replicas]
        self._held_seconds = max(held_seconds, _LATE_SECONDS)
        self._salt = secrets.token_bytes(32)
        self._lock = threading.Lock()
        #: Keys found to be live, under a digest that is good for this process only; and how often all were forgotten.
        self._known: dict[bytes, LiveKey] = {}
        self._forgotten = 0
        #: When a look ended last, and when the last one began that the primary answered.
        self._looked = self._sure = -float("inf")
        self._fault: str | None = None
        self._pepper = accounts.secret("pepper")
        self._state: _State | None = None
        self.look()

    def secret(self, name: str) -> bytes:
        """Read a secret of the service, made once and kept with the accounts."""
        return self._accounts.secret(name)

    def look(self) -> None:
        """See what has changed since. Never raises for a server that is away."""
        began = self._monotonic()
        try:
            token, (mark, pepper) = self._watching.read(lambda db: db.execute(_STATE_SQL).fetchone() or (b"", None))
        except DatabaseError as error:
            self._silent(str(error))
            return
        state = _State(token, bytes(mark or b""), None if pepper is None else bytes(pepper))
        with self._lock:
            before, self._state = self._state, state
            if before is None or (before.mark, before.pepper) != (state.mark, state.pepper):
                self._known.clear()
                self._forgotten += 1
                self._pepper = state.pepper or self._pepper
            self._sure, self._looked = began, self._monotonic()
            was, self._fault = self._fault, None
        if was is not None:
            self._tell(None)

    def _silent(self, reason: str) -> None:
        with self._lock:
            was, self._fault = self._fault, reason
            self._looked = self._monotonic()
        if was is None:
            self._tell(reason)

    def known(self, text: str, now: int) -> KeyRecord | Refused | None:
        """What can be said of a key without waiting for anybody; None: ask `verify`. `now`: real time, unix seconds."""
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        found = self._known.get(self._name(text))
        if found is None:
            return None if well_formed(text) else MALFORMED
        moment = self._monotonic()
        if moment - self._looked > _LATE_SECONDS or moment - self._sure > self._held_seconds:
            return None
        record, expires = found
        if expires is not None and expires <= now:
            return None
        self._accounts.use(record.id, now)
        return record

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        """
        Whose key this is, looked up, as `Accounts.verify` says it. Waits for a server a second at most, for each once.

        Raises UnavailableError where neither the primary answers nor a replica that has got as far.
        """
        if len(text) != LENGTH or not text.isascii() or not well_formed(text):
            return MALFORMED
        why = self._fault
        if why is None:  # else the next look finds out whether it answers again
            try:
                return self._found(self._primary, text, now, 0) or UNKNOWN
            except DatabaseError as error:
                why = str(error)
        for one in self._replicas if self._monotonic() - self._sure <= self._held_seconds else ():
            try:
                found = self._found(one, text, now, 0 if self._state is None else self._state.token)
            except DatabaseError as error:
                why = str(error)
                continue
            if found is not None:
                return found
        raise UnavailableError(f"the accounts cannot be read ({why})")

    def _found(self, door: Door, text: str, now: int, least: int) -> KeyRecord | Refused | None:
        """
        What one database says; None of a key that it does not know. Raises UnavailableError where it has not got as far as
        the token `least`: what was revoked since might be live there.
        """
        forgotten, digest = self._forgotten, self._accounts.digested(self._pepper, text)
        token, row = door.read(lambda db: _first(db.execute(LIVE_SQL, (text[:PREFIX],)).fetchall()))
        if token < least:
            raise UnavailableError(f"{door.at} has not got as far")
        found = live(row, digest, now)
        if found is None:
            self._known.pop(self._name(text), None)
            return None if row is None else UNKNOWN
        with self._lock:
            if forgotten == self._forgotten:  # else it may have been read before what was changed meanwhile
                self._known[self._name(text)] = found
        self._accounts.use(found[0].id, now)
        return found[0]

    def _name(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("ascii"), key=self._salt).digest()

    def close(self) -> None:
        """Close the connections."""
        for one in (self._watching, self._primary, *self._replicas):
            one.close()


def _first(rows: Sequence[Any]) -> Any:
    return rows[0] if rows else None
