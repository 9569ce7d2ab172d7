"""Accounts, their API keys and this installation's secrets, in a SQLite file of their own.

No key is kept, only HMAC-SHA256(pepper, key). A verified key is remembered in the process; what another process
changes (a revocation, a plan) is noticed by the change token of the file at the next request, or at the first one after
`notice_seconds`.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import math
import re
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from almanac.store.accounts.file import open_file
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
    checked_email,
    checked_name,
    checked_plan,
    checked_scopes,
    folded,
    shown,
)
from almanac.store.engine.errors import ConflictError, UnavailableError
from almanac.store.engine.sqlite import faults, identity

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
]

_ID = re.compile(r"key_[0-9a-f]{20}")
_SPELLED = re.compile(r"alm_[0-9A-Za-z]{4,8}")
_USE_SECONDS = 60
_USED = "UPDATE api_key SET last_used = ?1 WHERE id = ?2 AND (last_used IS NULL OR last_used <= ?1 - ?3)"
_INFO = "k.id, k.account_id, a.email, k.prefix, k.name, k.scopes, k.created, k.last_used, k.expires, k.revoked"


class Accounts:
    """The accounts database, made where it is not. Safe for several threads; open one in each process.

    `secret` is the setting from which all secrets are derived, so that several hosts agree; without it they are
    random and kept in the file. `notice_seconds`: how long what other processes change may go unnoticed by `verify`.
    Raises AccountError for a file that is not ours, or whose keys were made under another secret (they would all be
    refused without a word).
    """

    def __init__(
        self,
        path: Path,
        secret: str | None = None,
        *,
        notice_seconds: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if secret == "":
            raise AccountError("ALMANAC_SECRET must not be empty")
        self._setting = secret
        self._lock = threading.RLock()
        self._secrets: dict[str, bytes] = {}
        #: Keys found to be live, under a digest that is good for this process only.
        self._known: dict[bytes, tuple[KeyRecord, int | None]] = {}
        self._salt = secrets.token_bytes(32)
        self._used: dict[str, int] = {}
        self._path = path
        self._notice_seconds, self._monotonic, self._noticed = notice_seconds, monotonic, -math.inf
        self._open()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[None]:
        """The file for one thread at a time; errors of the database leave as ours."""
        with self._lock, faults():
            yield

    @faults()
    def _open(self) -> None:
        self._db = open_file(self._path)
        self._version, self._mark = self._db.change_token(), self._read_mark()
        self._check_pepper(self._path)
        self._file: tuple[int, int] | None = identity(self._path)

    def _check_pepper(self, path: Path) -> None:
        check = hmac.digest(self.secret("pepper"), b"check", "sha256")[:8]
        if self._one("SELECT value FROM state WHERE name = 'pepper_check'") == (check,):
            return
        with self._db.transaction():
            if self._one("SELECT 1 FROM api_key LIMIT 1"):
                raise AccountError(f"the keys in {path} were made under another ALMANAC_SECRET: set it as it was")
            self._db.execute("INSERT OR REPLACE INTO state VALUES('pepper_check', ?)", (check,))

    def close(self) -> None:
        """Close the file. Uses noted since the last `flush` are forgotten."""
        with self._opened():
            self._db.close()

    # Accounts

    def create_account(self, email: str, plan: str, plans: Collection[str], *, now: int) -> AccountInfo:
        """Make an account. Raises AccountError for an address taken or impossible, or a plan not in `plans`."""
        email = checked_email(email)
        made = AccountInfo(f"acc_{secrets.token_hex(10)}", email, checked_plan(plan, plans), now)
        row = (made.id, email, folded(email), plan, now)
        with self._opened():
            try:
                with faults():
                    self._db.execute(
                        "INSERT INTO account(id, email, email_key, plan, created) VALUES(?, ?, ?, ?, ?)", row
                    )
            except ConflictError:
                raise AccountError(f"the address {email} has an account already") from None
        return made

    def account(self, email: str) -> AccountInfo:
        """The account of an address, in any case. Raises AccountError where there is none."""
        with self._opened():
            row = self._one(
                "SELECT id, email, plan, created FROM account WHERE email_key = ?", folded(checked_email(email))
            )
        if row is None:
            raise AccountError(f"no account has the address {shown(email)}")
        return AccountInfo(*row)

    def list_accounts(self) -> list[AccountInfo]:
        """All accounts, the oldest first."""
        with self._opened():
            return [
                AccountInfo(*row) for row in self._db.execute("SELECT id, email, plan, created FROM account ORDER BY n")
            ]

    def set_plan(self, email: str, plan: str, plans: Collection[str]) -> AccountInfo:
        """Move an account to another plan; holds as a revocation does. Raises AccountError as above."""
        with self._opened():
            found = self.account(email)
            self._db.execute("UPDATE account SET plan = ? WHERE id = ?", (checked_plan(plan, plans), found.id))
            self._forget()
        return msgspec.structs.replace(found, plan=plan)

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
        with self._opened():
            owner = self.account(email)
            info = KeyInfo(
                f"key_{secrets.token_hex(10)}", owner.id, owner.email, text[:PREFIX], name, kept, now, expires=expires
            )
            row = (info.id, owner.id, info.prefix, self._digest(text), name, " ".join(kept), now, expires)
            self._db.execute(
                "INSERT INTO api_key(id, account_id, prefix, digest, name, scopes, created, expires)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        return text, info

    def list_keys(self, email: str | None = None) -> list[KeyInfo]:
        """Keys of one account or of all, revoked ones too, the oldest first. Raises AccountError: unknown address."""
        with self._opened():
            if email is None:
                return self._keys("1")
            return self._keys("k.account_id = ?", self.account(email).id)

    def revoke(self, which: str, *, now: int) -> KeyInfo:
        """End a key, given as its text, its id or the start of its prefix (`alm_` and at least four characters).

        Holds in every process within its `notice_seconds`. A key revoked before keeps its time. Raises AccountError, and does nothing,
        where no key or more than one is meant.
        """
        with self._opened(), self._db.transaction():
            if KEY_SHAPE.fullmatch(which):
                found = self._keys("k.digest = ?", self._digest(which))
            elif _SPELLED.fullmatch(which):
                found = self._keys("substr(k.prefix, 1, length(?1)) = ?1", which)
            else:
                found = self._keys("k.id = ?", which) if _ID.fullmatch(which) else []
            if len(found) != 1:
                number = f"{len(found)} keys start with" if found else "no key matches"
                raise AccountError(f"{number} {shown(which)}: give the key, its id or its prefix, like alm_1a2B3c4D")
            self._db.execute("UPDATE api_key SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, found[0].id))
            (revoked,) = self._keys("k.id = ?", found[0].id)
            self._forget()
        return revoked

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        """Whose key this is. `now` is real time, unix seconds. The form, which is no secret, is checked of unknown ones."""
        if len(text) != LENGTH or not text.isascii():
            return MALFORMED
        with self._lock:
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

    @faults()
    def _live(self, text: str, now: int) -> tuple[KeyRecord, int | None] | None:
        # Looked up by the prefix, which is no secret, and compared in constant time; all is read before anything is
        # judged, so that unknown, revoked and expired keys cost the same.
        row = self._one(
            "SELECT k.digest, k.expires, k.revoked, k.id, k.account_id, a.plan, k.scopes, k.prefix"
            " FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.prefix = ?",
            text[:PREFIX],
        )
        same = hmac.compare_digest(row[0] if row else bytes(32), self._digest(text))
        if row is None or not same or row[2] is not None or (row[1] is not None and row[1] <= now):
            return None
        return KeyRecord(row[3], row[4], row[5], tuple(row[6].split()), row[7]), row[1]

    def flush(self) -> int:
        """Write the uses noted by `verify`, at most one a minute and key over all processes. Returns keys written."""
        with self._opened():
            if not self._used:
                return 0
            with self._db.transaction():
                written = sum(self._db.update(_USED, (at, key, _USE_SECONDS)) for key, at in self._used.items())
            self._used.clear()
            return written

    # Secrets

    def secret(self, name: str) -> bytes:
        """32 bytes for one purpose (`cursor`, `session`, …), the same in every process, made at the first call."""
        with self._opened():
            if name not in self._secrets:
                self._secrets[name] = self._derived(name) if self._setting is not None else self._kept(name)
            return self._secrets[name]

    def _derived(self, name: str) -> bytes:
        return hkdf(str(self._setting).encode(), b"almanac", name.encode())

    def _kept(self, name: str) -> bytes:
        row = self._one("SELECT value FROM secret WHERE name = ?", name)
        if row is None:
            # Another process may be first: what is in the file afterwards is the secret, whoever put it there.
            self._db.execute("INSERT OR IGNORE INTO secret VALUES(?, ?)", (name, secrets.token_bytes(32)))
            row = self._one("SELECT value FROM secret WHERE name = ?", name) or ()
        return bytes(row[0])

    def _digest(self, text: str) -> bytes:
        pepper = self._secrets.get("pepper") or self.secret("pepper")
        return hmac.digest(pepper, text.encode("ascii"), "sha256")

    # What other processes do

    @faults()
    def _notice(self) -> None:
        """Raises UnavailableError where the file is gone or its successor cannot be used: no key is known then."""
        file = identity(self._path)
        if file != self._file:
            # Replaced, by a restore: what is remembered of the old file must not outlive it.
            self._file = None
            self._db.close()
            self._forget()
            try:
                self._open()
            except AccountError as error:
                raise UnavailableError(str(error)) from None
        version = self._db.change_token()
        if version != self._version:
            self._version = version
            mark = self._read_mark()
            if mark != self._mark:
                self._mark = mark
                self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._secrets.clear()

    def _read_mark(self) -> bytes:
        return bytes(self._db.execute("SELECT value FROM state WHERE name = 'mark'").get)

    def _keys(self, where: str, *bound: Any) -> list[KeyInfo]:
        sql = f"SELECT {_INFO} FROM api_key k JOIN account a ON a.id = k.account_id WHERE {where} ORDER BY k.n"
        return [
            KeyInfo(key, account, email, prefix, name, tuple(scopes.split()), *times)
            for key, account, email, prefix, name, scopes, *times in self._db.execute(sql, bound)
        ]

    def _one(self, sql: str, *bound: Any) -> tuple[Any, ...] | None:
        return next(iter(self._db.execute(sql, bound).fetchall()), None)


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) with a result of 32 bytes."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\x01", "sha256")
