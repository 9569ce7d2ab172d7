"""
The accounts database: opened once per process, migrated to this schema, and watched for changes by other processes.

It is a file readable by its owner only, or tables beside the data's on a server. Each commit is durable before it is
answered.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import threading
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from almanac.store.accounts.records import AccountError, NewerAccountsError
from almanac.store.engine import opening, sqlite
from almanac.store.engine.deadline import lock_held
from almanac.store.engine.errors import DamagedError, SchemaError, StoreError, UnavailableError
from almanac.store.engine.opening import Place, faults
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema

#: `schema/N.sql` migrates schema N−1 to N. A file of any earlier schema is migrated in place.
SCHEMA = AuxiliarySchema(
    name="accounts",
    steps=tuple(files(__package__).joinpath(f"schema/{step}.sql").read_text("utf-8") for step in (1, 2, 3, 4)),
    tables=(
        "state",
        "secret",
        "account",
        "api_key",
        "web_session",
        "invitation",
        "password_reset",
        "sign_in_try",
        "known_address",
        "form_number",
        "deed",
        "watched",
    ),
    durable=True,  # a revocation must survive the power cut that follows it
    newer="use the newer version",
    own=frozenset({"state", "secret"}),
)


class AccountsFile:
    """
    The opened database. Several threads may share it; one at a time uses it.

    `secret` is the setting from which all secrets are derived, so that several hosts agree; without it they are random
    and stored in the database. Raises NewerAccountsError for a later schema, AccountError for a file of another kind, and
    for one whose keys were made with another secret, which would otherwise all be refused without an explanation.
    """

    def __init__(self, at: Place, secret: str | None = None) -> None:
        if secret == "":
            raise AccountError("ALMANAC_SECRET must not be empty")
        self._setting = secret
        self._lock = threading.RLock()
        self._secrets: dict[str, bytes] = {}
        self._at = at
        self._changing = False
        #: True if the present file could not be opened when it was noticed.
        self._unusable = False
        self._open()

    @contextlib.contextmanager
    def opened(self) -> Iterator[Database]:
        """
        Yield the database to one thread at a time, reopened if the file was replaced. Driver errors become this
        package's errors.
        """
        with lock_held(self._lock), faults():
            if not self._changing:
                self._notice()
            yield self._db

    @contextlib.contextmanager
    def changing(self) -> Iterator[Database]:
        """Yield the database in a transaction. A nested block joins the outer one."""
        with self.opened() as db:
            if self._changing:
                yield db
                return
            self._changing = True
            try:
                with db.transaction():
                    yield db
            finally:
                self._changing = False
            self._look_at_mark()

    @faults()
    def _open(self) -> None:
        try:
            self._db = opening.open_auxiliary(self._at, schema=SCHEMA)
        except DamagedError:
            raise AccountError(f"{self._at} is not an accounts database") from None
        except SchemaError as error:
            raise NewerAccountsError(str(error)) from None
        except StoreError as error:
            raise AccountError(str(error)) from None
        try:
            self._file = sqlite.identity_of(self._at)
            self._version, self._mark = self._db.change_token(), self._read_mark()
            self._check_pepper()
        except BaseException:  # whatever it is, the database is let go of
            self._db.close()
            raise

    def _check_pepper(self) -> None:
        check = hmac.digest(self.secret("pepper"), b"check", "sha256")[:8]
        if self._one("SELECT value FROM state WHERE name = 'pepper_check'") == (check,):
            return
        with self._db.transaction():
            if self._one("SELECT 1 FROM api_key LIMIT 1"):
                raise AccountError(f"the keys in {self._at} were made under another ALMANAC_SECRET: set it as it was")
            self._db.execute(
                "INSERT INTO state VALUES('pepper_check', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                (check,),
            )

    def close(self) -> None:
        """Close the database."""
        with self._lock, faults():
            self._db.close()

    # Secrets

    def secret(self, name: str) -> bytes:
        """
        Return 32 bytes for one purpose (`cursor`, `session`, …), the same in every process and created at the first
        call.
        """
        with self._lock, faults():
            if name not in self._secrets:
                derived = self._setting and hkdf(self._setting.encode(), b"almanac", name.encode())
                self._secrets[name] = derived or self._kept(name)
            return self._secrets[name]

    def digest(self, purpose: str, text: str) -> bytes:
        """Return the HMAC of a text that must not be stored, or that has no fixed length, with the secret of this purpose."""
        secret = self._secrets.get(purpose) or self.secret(purpose)
        return hmac.digest(secret, text.encode("utf-8", "surrogatepass"), "sha256")

    def _kept(self, name: str) -> bytes:
        row = self._one("SELECT value FROM secret WHERE name = ?", name)
        if row is None:
            # Another process may be first: whatever is stored afterwards is the secret.
            self._db.execute("INSERT INTO secret VALUES(?, ?) ON CONFLICT DO NOTHING", (name, secrets.token_bytes(32)))
            row = self._one("SELECT value FROM secret WHERE name = ?", name) or ()
        return bytes(row[0])

    # What other processes do

    @faults()
    def _notice(self) -> None:
        """
        Notice changes by other processes. Raises UnavailableError if the file is gone or its successor is unusable,
        because then no key is known.
        """
        if self._unusable or sqlite.identity_of(self._at) != self._file:
            # Replaced by a restore: nothing remembered of the old file may outlive it.
            self._unusable = True
            self._db.close()
            self._forget()
            try:
                self._open()
            except AccountError as error:
                raise UnavailableError(str(error)) from None
            self._unusable = False
        version = self._db.change_token()
        if version != self._version:
            self._version = version
            self._look_at_mark()

    def _look_at_mark(self) -> None:
        mark = self._read_mark()
        if mark != self._mark:
            self._mark = mark
            self._forget()

    def _forget(self) -> None:
        """Discard everything remembered from earlier reads."""
        self._secrets.clear()

    def _read_mark(self) -> bytes:
        return bytes(self._db.execute("SELECT value FROM state WHERE name = 'mark'").get)

    def _one(self, sql: str, *bound: Any) -> tuple[Any, ...] | None:
        return next(iter(self._db.execute(sql, bound).fetchall()), None)


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """Compute HKDF-SHA256 (RFC 5869) with a result of 32 bytes."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\x01", "sha256")
