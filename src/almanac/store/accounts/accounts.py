"""Accounts, their API keys and this installation's secrets, in a file of their own or on the data's server.

No key is kept, only HMAC-SHA256(pepper, key). A verified key is remembered in the process; what another process
changes (a revocation, a plan, an account disabled) is noticed by the change token of the database at the next request, or
at the first one after `notice_seconds`. Without that nothing that is remembered holds: a server that is away is told to whoever asks.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import math
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import msgspec

from almanac.store.accounts.file import AccountsFile, hkdf
from almanac.store.accounts.keytext import KEY_SHAPE, LENGTH, PREFIX, new_key, well_formed
from almanac.store.accounts.records import (
    MALFORMED,
    SCOPES,
    UNKNOWN,
    AccountError,
    AccountInfo,
    KeyInfo,
    KeyRecord,
    Refused,
    askable,
    checked_email,
    checked_name,
    checked_plan,
    checked_role,
    checked_scopes,
    email_keys,
    folded,
    shown,
)
from almanac.store.engine.deadline import check_deadline, lock_held, time_limit
from almanac.store.engine.errors import ConflictError, StoppedError, UnavailableError
from almanac.store.engine.opening import Place, Server, faults
from almanac.store.engine.sql_compat import next_id

__all__ = [
    "MALFORMED",
    "SCOPES",
    "UNKNOWN",
    "AccountError",
    "AccountInfo",
    "Accounts",
    "KeyInfo",
    "KeyRecord",
    "Refused",
    "hkdf",
]

_ID = re.compile(r"key_[0-9a-f]{20}")
_SPELLED = re.compile(r"alm_[0-9A-Za-z]{4,8}")
_USE_SECONDS = 60
_USED = "UPDATE api_key SET last_used = ?1 WHERE id = ?2 AND (last_used IS NULL OR last_used <= ?1 - ?3)"
_ACCOUNT = "id, email, plan, created, role, disabled, password_set, signed_in"
_INFO = (
    "k.id, k.account_id, a.email, k.prefix, k.name, k.scopes, k.created, k.last_used, k.expires, k.revoked,"
    " k.replaced_by"
)

#: How long a server may take to answer, and then to end its work, seconds: else it is one that does not answer.
_ANSWER_SECONDS = 0.75
#: What of a key whose prefix is given tells whether it is live.
_LIVE = (
    "SELECT k.digest, k.expires, k.revoked, k.id, k.account_id, a.plan, k.scopes, k.prefix, a.disabled"
    " FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.prefix = ?"
)
#: A live key, and when it expires, unix seconds.
LiveKey = tuple[KeyRecord, int | None]


def _live(row: tuple[Any, ...] | None, digest: bytes, now: int) -> LiveKey | None:
    """Return the key of a row of `_LIVE` if its digest is this one and it has not ended."""
    # Looked up by the prefix, which is no secret, and compared in constant time; all is read before anything is
    # judged, so that unknown, revoked and expired keys cost the same.
    same = hmac.compare_digest(row[0] if row else bytes(32), digest)
    if row is None or not same or row[2] is not None or (row[1] is not None and row[1] <= now):
        return None
    return KeyRecord(row[3], row[4], row[5], tuple(row[6].split()), row[7], row[8] is not None), row[1]


class Accounts(AccountsFile):
    """The accounts database, made where it is not. Safe for several threads; open one in each process.

    `notice_seconds`: how long what other processes change may go unnoticed by `verify`. Raises as `AccountsFile` does.
    """

    def __init__(
        self,
        at: Place,
        secret: str | None = None,
        *,
        notice_seconds: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        #: Keys found to be live, under a digest that is good for this process only.
        self._known: dict[bytes, tuple[KeyRecord, int | None]] = {}
        self._salt = secrets.token_bytes(32)
        self._used: dict[str, int] = {}
        self._notice_seconds, self._monotonic = notice_seconds, monotonic
        self._noticed = -math.inf
        self._on_server = isinstance(at, Server)
        #: Until when accounts that cannot be reached are left alone, and why they cannot.
        self._rests, self._fault = -math.inf, ""
        super().__init__(at, secret)

    # Accounts

    def create_account(
        self, email: str, plan: str, plans: Collection[str], *, now: int, role: str = "user"
    ) -> AccountInfo:
        """Make an account. Raises AccountError for an address taken or impossible, a plan not in `plans`, a role."""
        email = checked_email(email)
        made = AccountInfo(
            f"acc_{secrets.token_hex(10)}", email, checked_plan(plan, plans), now, role=checked_role(role)
        )
        row = (made.id, email, folded(email), plan, now, role)
        with self.opened() as db:
            try:
                with faults():
                    db.execute(
                        f"INSERT INTO account(n, id, email, email_key, plan, created, role) VALUES({next_id('n', 'account')}, ?, ?, ?, ?, ?, ?)",
                        row,
                    )
            except ConflictError:
                raise AccountError(f"the address {email} has an account already") from None
        return made

    def account(self, email: str) -> AccountInfo:
        """The account of an address, in any case. Raises AccountError where there is none."""
        found = self.of_email(email)
        if found is None:
            checked_email(email)
            raise AccountError(f"no account has the address {shown(email)}")
        return found

    def of_email(self, email: str) -> AccountInfo | None:
        """The account of an address as somebody typed it, or None."""
        return next((found for key in email_keys(email) if (found := self.find("email_key", key))), None)

    def account_of(self, account_id: str) -> AccountInfo:
        """The account of an id. Raises AccountError where there is none."""
        found = self.find("id", account_id)
        if found is None:
            raise AccountError(f"there is no account {shown(account_id)}")
        return found

    def find(self, column: str, value: str) -> AccountInfo | None:
        """The account whose `id` or `email_key` (a folded address) this is, or None."""
        with self.opened():
            row = self._one(f"SELECT {_ACCOUNT} FROM account WHERE {column} = ?", askable(value))
        return None if row is None else AccountInfo(*row)

    def list_accounts(self) -> list[AccountInfo]:
        """All accounts, the oldest first."""
        with self.opened() as db:
            return [AccountInfo(*row) for row in db.execute(f"SELECT {_ACCOUNT} FROM account ORDER BY n")]

    def set_plan(self, email: str, plan: str, plans: Collection[str]) -> AccountInfo:
        """Move an account to another plan; holds as a revocation does. Raises AccountError as above."""
        return self._set(email, "plan", checked_plan(plan, plans))

    def set_role(self, email: str, role: str) -> AccountInfo:
        """Make an account a `user`'s or an `operator`'s. Raises AccountError as above."""
        return self._set(email, "role", checked_role(role))

    def disable(self, email: str, *, now: int) -> AccountInfo:
        """Refuse an account's keys and people until it is enabled; its web sessions end.

        Holds as a revocation does. One that is disabled keeps its time. Raises AccountError as above.
        """
        with self.changing() as db:
            found = self.account(email)
            db.execute("DELETE FROM web_session WHERE account_id = ?", (found.id,))
            return self._set(email, "disabled", found.disabled or now)

    def enable(self, email: str) -> AccountInfo:
        """Let an account's keys and people in again. Raises AccountError as above."""
        return self._set(email, "disabled", None)

    def _set(self, email: str, column: str, value: str | int | None) -> AccountInfo:
        with self.changing() as db:
            found = self.account(email)
            db.execute(f"UPDATE account SET {column} = ? WHERE id = ?", (value, found.id))
        return msgspec.structs.replace(found, **{column: value})

    def delete(self, email: str) -> tuple[AccountInfo, int]:
        """Remove an account with its keys, which are refused as revoked ones are, its web sessions and its links.

        Returns what it was, and the number of its keys. Counts of its requests are another file's and stay there,
        under an id and prefixes that name nobody any more. Raises AccountError as above.
        """
        with self.changing() as db:
            found = self.account(email)
            count = db.update("DELETE FROM api_key WHERE account_id = ?", (found.id,))
            db.execute("DELETE FROM invitation WHERE email_key = ?", (folded(found.email),))
            db.execute("DELETE FROM account WHERE id = ?", (found.id,))
        return found, count

    # Keys

    def create_key(
        self, email: str, scopes: Sequence[str] = (), name: str = "", expires: int | None = None, *, now: int
    ) -> tuple[str, KeyInfo]:
        """Make a key; its text is returned here and nowhere else. No scopes: `data:read`. `expires` in unix seconds.

        Raises AccountError for an unknown address or scope, an unprintable or long name, or an expiry in the past.
        """
        kept, name = checked_scopes(scopes), checked_name(name)
        if expires is not None and expires <= now:
            raise AccountError("the expiry of a key must lie in the future")
        text = new_key()
        with self.changing() as db:
            owner = self.account(email)
            info = KeyInfo(
                f"key_{secrets.token_hex(10)}", owner.id, owner.email, text[:PREFIX], name, kept, now, expires=expires
            )
            row = (info.id, owner.id, info.prefix, self._digest(text), name, " ".join(kept), now, expires)
            db.execute(
                "INSERT INTO api_key(n, id, account_id, prefix, digest, name, scopes, created, expires)"
                f" VALUES({next_id('n', 'api_key')}, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        return text, info

    def list_keys(self, email: str | None = None) -> list[KeyInfo]:
        """Keys of one account or of all, revoked ones too, the oldest first. Raises AccountError: unknown address."""
        with self.opened():
            if email is None:
                return self._keys("1 = 1")
            return self._keys("k.account_id = ?", self.account(email).id)

    def key(self, which: str, owner: str | None = None) -> KeyInfo:
        """The key that its text, its id or the start of its prefix (`alm_` and at least four characters) names.

        `owner`: the id of the account it must be of. Raises AccountError where no key or more than one is meant.
        """
        with self.opened():
            if KEY_SHAPE.fullmatch(which):
                found = self._keys("k.digest = ?", self._digest(which))
            elif _SPELLED.fullmatch(which):
                found = self._keys("k.prefix >= ? AND k.prefix < ?", which, f"{which}\x7f")
            else:
                found = self._keys("k.id = ?", which) if _ID.fullmatch(which) else []
        found = [each for each in found if owner in {None, each.account_id}]
        if len(found) != 1:
            number = f"{len(found)} keys start with" if found else "no key matches"
            raise AccountError(f"{number} {shown(which)}: give the key, its id or its prefix, like alm_1a2B3c4D")
        return found[0]

    def revoke(self, which: str, *, now: int, owner: str | None = None) -> KeyInfo:
        """End a key, named as in `key`. A key revoked before keeps its time.

        Holds in every process within its `notice_seconds`. Raises AccountError, and does nothing, as `key` does.
        """
        with self.changing() as db:
            found = self.key(which, owner)
            db.execute("UPDATE api_key SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, found.id))
            return self.key(found.id)

    def rotate(
        self, which: str, grace: int, *, now: int, name: str | None = None, owner: str | None = None
    ) -> tuple[str, KeyInfo, KeyInfo]:
        """Make a key in the place of another, which ends after `grace` seconds; with 0 at once.

        The new one has the scopes and the expiry of the old one, and its name unless another is given. Returns its
        text, itself, and the old one. Raises AccountError, and does nothing, as `key` does, and for a key that has
        ended or was rotated before.
        """
        if grace < 0:
            raise AccountError("the grace of a key that is rotated cannot be negative")
        with self.changing() as db:
            old = self.key(which, owner)
            ended = old.revoked is not None or (old.expires is not None and old.expires <= now)
            if ended or old.replaced_by is not None:
                state = "has ended" if ended else "was rotated before"
                raise AccountError(f"the key {old.prefix} {state}: make a new one")
            text, made = self.create_key(
                old.email, old.scopes, old.name if name is None else name, old.expires, now=now
            )
            until = now + grace if old.expires is None else min(old.expires, now + grace)
            db.execute(
                "UPDATE api_key SET replaced_by = ?1, expires = ?2, revoked = ?3 WHERE id = ?4",
                (made.id, until if grace else old.expires, None if grace else now, old.id),
            )
            return text, made, self.key(old.id)

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        """Whose key this is. `now` is real time, unix seconds. The form, which is no secret, is checked of unknown ones.

        A live key of a disabled account is told as such: it is nobody else's secret that is given away by that.
        """
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        with self._promptly(), lock_held(self._lock):
            name = self._name(text)
            if name not in self._known and not well_formed(text):
                return MALFORMED
            moment = self._monotonic()
            if moment - self._noticed >= self._notice_seconds:
                self._notice()
                self._noticed = moment
            found = self._known.get(name)
            if found is None or (found[1] is not None and found[1] <= now):
                self._known.pop(name, None)
                found = self._live(text, now)
                if found is None:
                    return UNKNOWN
                self._known[name] = found
            record = found[0]
            self._used[record.id] = now
            return record

    def _name(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("ascii"), key=self._salt).digest()

    @contextlib.contextmanager
    def _promptly(self) -> Iterator[None]:
        """Wait for a server as long as one that answers may take. Raises UnavailableError, and then at once for a while."""
        began = self._monotonic()
        if began < self._rests:
            raise UnavailableError(self._fault)
        try:
            with time_limit(_ANSWER_SECONDS) if self._on_server else contextlib.nullcontext():
                yield
        except (UnavailableError, StoppedError) as error:
            check_deadline()  # it is over for whoever asks, and nothing is said against the server
            # Left alone for as long as it took to find out: else requests would wait for it one after the other.
            ended = self._monotonic()
            self._rests, self._fault = ended + (ended - began), f"the accounts cannot be read ({error})"
            raise UnavailableError(self._fault) from error

    def known(self, text: str, now: int) -> KeyRecord | Refused | None:
        """Return whose key this is without waiting for a server; None: `verify` has to be asked, in a thread."""
        if not self._on_server:
            return self.verify(text, now)
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        found = self._known.get(self._name(text))
        if found is None:
            return None if well_formed(text) else MALFORMED
        record, expires = found
        if self._monotonic() - self._noticed >= self._notice_seconds or (expires is not None and expires <= now):
            return None
        self._used[record.id] = now
        return record

    @faults()
    def _live(self, text: str, now: int) -> LiveKey | None:
        return _live(self._one(_LIVE, text[:PREFIX]), self._digest(text), now)

    def flush(self) -> int:
        """Write the uses noted by `verify`, at most one a minute and key over all processes. Returns keys written."""
        noted = self._used
        if not noted:
            return 0
        self._used = {}  # others go on noting meanwhile
        try:
            with self.changing() as db:
                return sum(db.update(_USED, (at, key, _USE_SECONDS)) for key, at in noted.items())
        except BaseException:
            self._used = {**noted, **self._used}
            raise

    def _digest(self, text: str) -> bytes:
        return self.digest("pepper", text)

    def _forget(self) -> None:
        super()._forget()
        self._known.clear()

    def _keys(self, where: str, *bound: Any) -> list[KeyInfo]:
        sql = f"SELECT {_INFO} FROM api_key k JOIN account a ON a.id = k.account_id WHERE {where} ORDER BY k.n"
        return [
            KeyInfo(key, account, email, prefix, name, tuple(scopes.split()), *times)
            for key, account, email, prefix, name, scopes, *times in self._db.execute(sql, bound)
        ]
