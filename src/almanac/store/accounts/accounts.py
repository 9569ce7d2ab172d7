"""
Accounts, their API keys and this installation's secrets, in a file of their own or on the data's server.

Keys are not stored, only HMAC-SHA256(pepper, key). A verified key is remembered in the process. Changes by another
process (a revocation, a plan, a disabled account) are noticed through the database's change token, at the next request
or the first after `notice_seconds`. If the token can't be read, nothing remembered is used: the caller gets an error
that the server is away.
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

from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.keytext import KEY_SHAPE, LENGTH, PREFIX, new_key, well_formed
from almanac.store.accounts.records import (
    MALFORMED,
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
    folded,
    shown,
)
from almanac.store.engine.deadline import check_deadline, lock_held, time_limit
from almanac.store.engine.errors import ConflictError, StoppedError, UnavailableError
from almanac.store.engine.opening import Place, Server, faults
from almanac.store.engine.sql_compat import next_id

_ID = re.compile(r"key_[0-9a-f]{20}")
_SPELLED = re.compile(r"alm_[0-9A-Za-z]{4,8}")
_USE_SECONDS = 60
_USED = "UPDATE api_key SET last_used = ?1 WHERE id = ?2 AND (last_used IS NULL OR last_used <= ?1 - ?3)"
_ACCOUNT = ", ".join(AccountInfo.__struct_fields__)
_INFO = (
    "k.id, k.account_id, a.email, k.prefix, k.name, k.scopes, k.created, k.last_used, k.expires, k.revoked,"
    " k.replaced_by"
)

#: Seconds that a server may take to answer; after that it counts as unavailable.
_ANSWER_SECONDS = 0.75
#: Columns that decide whether the key with a given prefix is live.
_LIVE = (
    "SELECT k.digest, k.expires, k.revoked, k.id, k.account_id, a.plan, k.scopes, k.prefix, a.disabled"
    " FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.prefix = ?"
)
#: A live key, and when it expires (unix seconds, None: never).
LiveKey = tuple[KeyRecord, int | None]


class Accounts(AccountsFile):
    """
    The accounts database, created if needed. Safe for several threads; open one per process.

    `notice_seconds` is how long `verify` may overlook changes by other processes. Raises the errors of `AccountsFile`.
    """

    def __init__(
        self,
        at: Place,
        secret: str | None = None,
        *,
        notice_seconds: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        #: Live keys, under a digest valid in this process only.
        self._known: dict[bytes, tuple[KeyRecord, int | None]] = {}
        self._salt = secrets.token_bytes(32)
        self._used: dict[str, int] = {}
        self._notice_seconds, self._monotonic = notice_seconds, monotonic
        self._noticed = -math.inf
        self._on_server = isinstance(at, Server)
        #: Until when unreachable accounts are left alone, and why.
        self._rests, self._fault = -math.inf, ""
        super().__init__(at, secret)

    # Accounts

    def create_account(
        self, email: str, plan: str, plans: Collection[str], *, now: int, role: str = "user"
    ) -> AccountInfo:
        """
        Create an account. Raises AccountError for a taken or invalid address, a plan not in `plans`, or an unknown
        role.
        """
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
        """Return the account of an address, in any case. Raises AccountError if there is none."""
        found = self.find("email_key", folded(checked_email(email)))
        if found is None:
            raise AccountError(f"no account has the address {shown(email)}")
        return found

    def of_email(self, email: str) -> AccountInfo | None:
        """Return the account of an address as somebody typed it, or None."""
        with contextlib.suppress(AccountError):
            return self.account(email)
        return None

    def account_of(self, account_id: str) -> AccountInfo:
        """Return the account of an id. Raises AccountError if there is none."""
        found = self.find("id", account_id)
        if found is None:
            raise AccountError(f"there is no account {shown(account_id)}")
        return found

    def find(self, column: str, value: str) -> AccountInfo | None:
        """Return the account with this `id` or `email_key` (a folded address), or None."""
        with self.opened():
            row = self._one(f"SELECT {_ACCOUNT} FROM account WHERE {column} = ?", askable(value))
        return None if row is None else AccountInfo(*row)

    def list_accounts(self) -> list[AccountInfo]:
        """Return all accounts, the oldest first."""
        with self.opened() as db:
            return [AccountInfo(*row) for row in db.execute(f"SELECT {_ACCOUNT} FROM account ORDER BY n")]

    def set_plan(self, email: str, plan: str, plans: Collection[str]) -> AccountInfo:
        """
        Move an account to another plan; takes effect as a revocation does. Raises AccountError for an unknown address
        or plan.
        """
        return self._set(email, "plan", checked_plan(plan, plans))

    def set_role(self, email: str, role: str) -> AccountInfo:
        """Set an account's role to `user` or `operator`. Raises AccountError for an unknown address or role."""
        return self._set(email, "role", checked_role(role))

    def disable(self, email: str, *, now: int) -> AccountInfo:
        """
        Refuse an account's keys and people until it is enabled, and end its web sessions.

        It takes effect as a revocation does. An account already disabled keeps its time. Raises AccountError for an
        unknown address.
        """
        with self.changing() as db:
            found = self.account(email)
            db.execute("DELETE FROM web_session WHERE account_id = ?", (found.id,))
            return self._set(email, "disabled", found.disabled or now)

    def enable(self, email: str) -> AccountInfo:
        """Admit an account's keys and people again. Raises AccountError for an unknown address."""
        return self._set(email, "disabled", None)

    def _set(self, email: str, column: str, value: str | int | None) -> AccountInfo:
        with self.changing() as db:
            found = self.account(email)
            db.execute(f"UPDATE account SET {column} = ? WHERE id = ?", (value, found.id))
        return msgspec.structs.replace(found, **{column: value})

    def delete(self, email: str) -> tuple[AccountInfo, int]:
        """
        Delete an account with its keys, web sessions and links. The keys are refused as revoked ones are.

        Returns the deleted account and the number of its keys. Its request counts are in another file and stay there,
        under an id and prefixes that no longer name anybody. Raises AccountError for an unknown address.
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
        """
        Create a key and return its text, which is never shown again, and its record. `scopes` defaults to `data:read`;
        `expires` is in unix seconds.

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
        """
        Return the keys of one account or of all, including revoked ones, the oldest first. Raises AccountError for an
        unknown address.
        """
        with self.opened():
            if email is None:
                return self._keys("1 = 1")
            return self._keys("k.account_id = ?", self.account(email).id)

    def key(self, which: str, owner: str | None = None) -> KeyInfo:
        """
        Return the key named by its text, its id or the start of its prefix (`alm_` and at least four characters).

        `owner` is the id of the account it must belong to. Raises AccountError if no key or more than one matches.
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
        """
        Revoke a key, named as in `key`. A key revoked before keeps its time.

        It takes effect in every process within its `notice_seconds`. Raises AccountError, and changes nothing, if `key`
        does.
        """
        with self.changing() as db:
            found = self.key(which, owner)
            db.execute("UPDATE api_key SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, found.id))
            return self.key(found.id)

    def rotate(
        self, which: str, grace: int, *, now: int, name: str | None = None, owner: str | None = None
    ) -> tuple[str, KeyInfo, KeyInfo]:
        """
        Create a replacement for a key. The old key ends after `grace` seconds, or at once with 0.

        The new key has the scopes and expiry of the old one, and its name unless another is given. Returns the new
        key's text and record, and the old key's record. Raises AccountError, and changes nothing, if `key` does, and
        for a key that has ended or was rotated before.
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
        """
        Return the record of a live key, or the reason to refuse it. `now` is real time in unix seconds.

        Only unknown keys have their form checked, which is no secret. A live key of a disabled account is reported as
        such, because this reveals nothing to anybody but its holder.
        """
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        with self._promptly(), lock_held(self._lock):
            name = hashlib.blake2b(text.encode("ascii"), key=self._salt).digest()
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

    @contextlib.contextmanager
    def _promptly(self) -> Iterator[None]:
        """Limit the wait for a server. Raises UnavailableError if it takes longer, and then at once for a while."""
        began = self._monotonic()
        if began < self._rests:
            raise UnavailableError(self._fault)
        try:
            with time_limit(_ANSWER_SECONDS) if self._on_server else contextlib.nullcontext():
                yield
        except (UnavailableError, StoppedError) as error:
            check_deadline()  # it is over for whoever asks, and nothing is said against the server
            # Leave it alone for as long as the failure took, so that requests don't wait for it one after the other.
            ended = self._monotonic()
            self._rests, self._fault = ended + (ended - began), f"the accounts cannot be read ({error})"
            raise UnavailableError(self._fault) from error

    def known(self, text: str, now: int) -> KeyRecord | Refused | None:
        """
        Return the result of `verify` if it is known without waiting for a server, or else None; then call `verify` in a
        thread.
        """
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        cached = self._known.get(hashlib.blake2b(text.encode("ascii"), key=self._salt).digest())
        if cached is None and not well_formed(text):
            return MALFORMED
        if cached is not None and self._monotonic() - self._noticed < self._notice_seconds:
            record, expires = cached
            if expires is None or expires > now:
                self._used[record.id] = now
                return record
        return None if self._on_server else self.verify(text, now)

    @faults()
    def _live(self, text: str, now: int) -> LiveKey | None:
        """Return the key of a text if there is one and it is still valid."""
        row = self._one(_LIVE, text[:PREFIX])
        # Looked up by the prefix, which is no secret, and compared in constant time. Everything is read before anything is
        # judged, so unknown, revoked and expired keys take the same time.
        same = hmac.compare_digest(row[0] if row else bytes(32), self._digest(text))
        if row is None or not same or row[2] is not None or (row[1] is not None and row[1] <= now):
            return None
        return KeyRecord(row[3], row[4], row[5], tuple(row[6].split()), row[7], row[8] is not None), row[1]

    def flush(self) -> int:
        """
        Write the uses noted by `verify`, at most one per minute and key over all processes. Returns how many keys were
        written.
        """
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
