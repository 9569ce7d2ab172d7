"""The file of the accounts database: opened once in each process, brought to this schema, watched for what others write.

Readable by its owner only, and each commit is safe before it is answered.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from almanac.store.accounts.records import AccountError
from almanac.store.engine.errors import DamagedError, UnavailableError
from almanac.store.engine.sqlite import Connection, alone, connect, faults, identity, narrow

#: `schema/N.sql` makes schema N of schema N−1. A file of any earlier one is brought here in place, with all it holds.
SCHEMA = 2


@faults()
def open_file(path: Path) -> Connection:
    """Open the accounts database, making it and its folder where they are not. Raises AccountError for another file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    narrow(path)
    with alone(path.parent):
        try:
            db = connect(path)
        except DamagedError:
            raise AccountError(f"{path} is not an accounts database") from None
        try:
            db.pragma("synchronous", 2)  # a revocation must survive the power cut that follows it
            db.pragma("foreign_keys", 1)
            with db.transaction():
                _upgrade(db, path)
        except BaseException:  # whatever it is, the file is let go of
            db.close()
            raise
    return db


def _upgrade(db: Connection, path: Path) -> None:
    found = int(db.pragma("user_version"))
    if found > SCHEMA:
        raise AccountError(
            f"{path} has schema {found} of a newer version of Almanac, this one knows {SCHEMA}: use the newer version"
        )
    for step in range(found + 1, SCHEMA + 1):
        db.execute(files(__package__).joinpath(f"schema/{step}.sql").read_text("utf-8"))
    if found < SCHEMA:
        db.pragma("user_version", SCHEMA)


class AccountsFile:
    """The file, opened. Safe for several threads: one at a time uses it.

    `secret` is the setting from which all secrets are derived, so that several hosts agree; without it they are
    random and kept in the file. Raises AccountError for a file that is not ours, or whose keys were made under another
    secret (they would all be refused without a word).
    """

    def __init__(self, path: Path, secret: str | None = None) -> None:
        if secret == "":
            raise AccountError("ALMANAC_SECRET must not be empty")
        self._setting = secret
        self._lock = threading.RLock()
        self._secrets: dict[str, bytes] = {}
        self._path = path
        self._changing = False
        self._open()

    @contextlib.contextmanager
    def opened(self) -> Iterator[Connection]:
        """The file for one thread at a time, one that has replaced it too; errors of the database leave as ours."""
        with self._lock, faults():
            if not self._changing:
                self._notice()
            yield self._db

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """The file, all that is done to it in the block or none; within another such block part of that one."""
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
        self._db = open_file(self._path)
        self._version, self._mark = self._db.change_token(), self._read_mark()
        self._check_pepper()
        self._file: tuple[int, int] | None = identity(self._path)

    def _check_pepper(self) -> None:
        check = hmac.digest(self.secret("pepper"), b"check", "sha256")[:8]
        if self._one("SELECT value FROM state WHERE name = 'pepper_check'") == (check,):
            return
        with self._db.transaction():
            if self._one("SELECT 1 FROM api_key LIMIT 1"):
                raise AccountError(f"the keys in {self._path} were made under another ALMANAC_SECRET: set it as it was")
            self._db.execute("INSERT OR REPLACE INTO state VALUES('pepper_check', ?)", (check,))

    def close(self) -> None:
        """Close the file."""
        with self._lock, faults():
            self._db.close()

    # Secrets

    def secret(self, name: str) -> bytes:
        """32 bytes for one purpose (`cursor`, `session`, …), the same in every process, made at the first call."""
        with self._lock, faults():
            if name not in self._secrets:
                self._secrets[name] = self._derived(name) if self._setting is not None else self._kept(name)
            return self._secrets[name]

    def digest(self, purpose: str, text: str) -> bytes:
        """What is kept of a text that must not be kept, or that has no fixed length."""
        return hmac.digest(self._secrets.get(purpose) or self.secret(purpose), _bytes(text), "sha256")

    def _derived(self, name: str) -> bytes:
        return hkdf(str(self._setting).encode(), b"almanac", name.encode())

    def _kept(self, name: str) -> bytes:
        row = self._one("SELECT value FROM secret WHERE name = ?", name)
        if row is None:
            # Another process may be first: what is in the file afterwards is the secret, whoever put it there.
            self._db.execute("INSERT OR IGNORE INTO secret VALUES(?, ?)", (name, secrets.token_bytes(32)))
            row = self._one("SELECT value FROM secret WHERE name = ?", name) or ()
        return bytes(row[0])

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
            self._look_at_mark()

    def _look_at_mark(self) -> None:
        mark = self._read_mark()
        if mark != self._mark:
            self._mark = mark
            self._forget()

    def _forget(self) -> None:
        """Nothing that was read before holds any longer."""
        self._secrets.clear()

    def _read_mark(self) -> bytes:
        return bytes(self._db.execute("SELECT value FROM state WHERE name = 'mark'").get)

    def _one(self, sql: str, *bound: Any) -> tuple[Any, ...] | None:
        return next(iter(self._db.execute(sql, bound).fetchall()), None)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) with a result of 32 bytes."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\x01", "sha256")
