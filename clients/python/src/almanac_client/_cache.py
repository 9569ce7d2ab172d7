"""Answers stored on disk. The service confirms each one before it is used."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from almanac_client._errors import CacheWarning, SettingsError, warn

#: SQLite application id that marks our file: "ALMC".
_APPLICATION = 0x414C4D43
_HEADERS = ("etag", "content-type", "x-data-version", "x-request-id", "x-history-from")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answer (
  name BLOB PRIMARY KEY, headers TEXT NOT NULL, content BLOB NOT NULL, size INTEGER NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answer_used ON answer (used);
"""


class Cache:
    """
    A file of answers, each stored under a digest of address, key and query.

    It always asks whether an answer is still valid (If-None-Match), so that changed rights apply at once. A
    confirmation counts as a request but saves the transfer. `offline=True` only reads the file. Beyond `max_bytes`, the
    answers unused for longest are deleted.
    """

    def __init__(self, path: str | os.PathLike[str], max_bytes: int = 268_435_456, *, offline: bool = False) -> None:
        if max_bytes < 1:
            raise SettingsError(f"max_bytes has to be at least 1, not {max_bytes}")
        self.path = Path(path)
        self.max_bytes = max_bytes
        self.offline = offline
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._broken = False

    @staticmethod
    def name(origin: str, key: bytes, target: str) -> bytes:
        """Return the name under which an answer is stored."""
        return blake2b(b"\0".join((origin.encode(), key, target.encode())), digest_size=24).digest()

    def get(self, name: bytes) -> tuple[Mapping[str, str], bytes] | None:
        """Return headers and body of a stored answer, or None."""
        try:
            with self._lock:
                db = self._opened()
                row = db.execute("SELECT headers, content FROM answer WHERE name = ?", (name,)).fetchone()
                if row is not None and not self.offline:
                    db.execute("UPDATE answer SET used = ? WHERE name = ?", (time.time(), name))
            return None if row is None else (json.loads(row[0]), zlib.decompress(row[1]))
        except (sqlite3.Error, zlib.error, json.JSONDecodeError) as error:
            self._fail(error)
            return None

    def put(self, name: bytes, headers: Mapping[str, str], content: bytes) -> None:
        """Store an answer, and delete those unused for longest if the file exceeds its limit."""
        packed = zlib.compress(content, 1)
        if len(packed) > self.max_bytes:
            return
        kept = json.dumps({key: headers[key] for key in _HEADERS if key in headers})
        try:
            with self._lock, self._opened() as db:
                row = (name, kept, packed, len(packed), time.time())
                db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)", row)
                self._shrink(db)
        except sqlite3.Error as error:
            self._fail(error)

    def _shrink(self, db: sqlite3.Connection) -> None:
        over = db.execute("SELECT coalesce(sum(size), 0) FROM answer").fetchone()[0] - self.max_bytes
        for name, size in db.execute("SELECT name, size FROM answer ORDER BY used").fetchall() if over > 0 else ():
            if over <= 0:
                break
            db.execute("DELETE FROM answer WHERE name = ?", (name,))
            over -= size

    def clear(self) -> None:
        """Delete all answers."""
        with self._lock, self._opened() as db:
            db.execute("DELETE FROM answer")

    def close(self) -> None:
        """Close the file. It is reopened when needed."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            if self.offline and not self.path.exists():
                raise SettingsError(f"there is no cache at {self.path}")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # The file is private to its owner, because its content was obtained with a key.
            with contextlib.suppress(OSError):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(self.path, timeout=5.0, check_same_thread=False, isolation_level="IMMEDIATE")
            try:
                self._check(db)
            except sqlite3.DatabaseError as error:
                db.close()
                if isinstance(error, sqlite3.OperationalError):
                    raise
                raise SettingsError(f"{self.path} is no cache of this client, and is left as it is") from None
            except SettingsError:
                db.close()
                raise
            self._db = db
        return self._db

    def _check(self, db: sqlite3.Connection) -> None:
        (marked,) = db.execute("PRAGMA application_id").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if marked != _APPLICATION and tables:
            raise SettingsError(f"{self.path} is another program's database, and is left as it is")
        if marked != _APPLICATION:
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute("PRAGMA journal_mode = wal")
        db.executescript(_SCHEMA)

    def _fail(self, error: Exception) -> None:
        if not self._broken:
            self._broken = True
            warn(f"the cache at {self.path} cannot be used: {error}", CacheWarning)

    def __repr__(self) -> str:
        return f"Cache({str(self.path)!r}, max_bytes={self.max_bytes}{', offline=True' if self.offline else ''})"
