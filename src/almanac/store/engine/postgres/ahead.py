"""
Statements asked ahead: the beginning of a snapshot and what will be read in it, sent one behind the other without waiting.

The server works at one while the program makes an answer of another, and neither waits for the other's turn. It is libpq's
pipeline; what is read of it is read in the order in which it was sent. Nothing is taken for true by having been asked for:
whoever wants rows names statement and values, and gets those that were asked for ahead, or has them asked for now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import capabilities, pq

from almanac.store.engine.postgres.asking import Asking
from almanac.store.engine.postgres.link import PostgresLink

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ABORTED = pq.ExecStatus.PIPELINE_ABORTED

#: Whether the driver's library has pipelines.
POSSIBLE = capabilities.has_pipeline()


class LostWithAnotherError(psycopg.OperationalError):
    """A statement was not run, for another that was sent before it failed. Nothing is said against it."""


class _Sent:
    """A statement that was sent: what it gave, once that was read."""

    __slots__ = ("error", "read", "rows")

    def __init__(self) -> None:
        self.read = False
        self.rows: list[Any] = []
        self.error: psycopg.Error | None = None


class Ahead:
    """What one connection is asked ahead. `token`: the statement that gives the change token."""

    def __init__(self, link: PostgresLink, asking: Asking, token: str) -> None:
        self._libpq, self._asking, self._token_sql = link.pgconn, asking, token
        #: What was sent and not read yet, in order; and what was asked for in this snapshot.
        self._due: deque[_Sent] = deque()
        self._asked: dict[tuple[str, tuple[Any, ...]], _Sent] = {}
        self._token: _Sent | None = None
        #: Whether a snapshot is open whose statements go by the pipeline, and whether there is one at all.
        self.begun = self.on = False
        #: What went wrong in it: all that was sent behind it is lost with it.
        self.failed: psycopg.Error | None = None

    def begin(self) -> None:
        """Begin a snapshot, whose change token `token` tells."""
        # What ended the one before is read first: until then a pooler might give its connection to another.
        while self._due:
            self._read()
        self._enter()
        self._send(_BEGIN, ())
        self._token = self._send(self._token_sql, ())
        self.begun = True

    def token(self) -> int | None:
        """The change token of the snapshot; None where nobody has made the tables yet."""
        if self._token is None:
            raise RuntimeError("no snapshot was begun ahead")
        rows = self._rows(self._token)
        return int(rows[0][0]) if rows else None

    def ask(self, sql: str, values: Sequence[Any]) -> None:
        """Have a statement run. Within a snapshot, begun here or not."""
        key = (sql, tuple(values))
        if key not in self._asked:
            self._enter()
            self.begun = True
            self._asked[key] = self._send(sql, values)
            self._libpq.send_flush_request()
            self._libpq.flush()

    def holds(self, sql: str, values: Sequence[Any]) -> bool:
        """Whether a statement was asked for in this snapshot."""
        return bool(self._asked) and (sql, tuple(values)) in self._asked

    def forget(self) -> None:
        """The snapshot ends, or another begins, by itself: what was asked for in it is not to be had any more."""
        self._asked.clear()

    def rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Rows of a statement, whether it was asked for ahead or not. Raises the driver's error."""
        sent = self._asked.get((sql, tuple(values)))
        if sent is None:
            sent = self._send(sql, values)
            self._libpq.send_flush_request()
        return self._rows(sent)

    def end(self) -> None:
        """End the snapshot. Nobody waits for the answer: it is read before another begins."""
        self._send("COMMIT", ())
        self._sync()
        self._asked.clear()
        self._token, self.begun = None, False

    def leave(self) -> None:
        """
        Read all that is due, and let statements go by themselves again; a snapshot that is open stays open, and what was
        asked for in it is held until `forget`.
        """
        if self.on:
            if self.begun:
                self._sync()
            while self._due:
                self._read()
            self._libpq.exit_pipeline_mode()
            self.on = self.begun = False

    def _enter(self) -> None:
        if not self.on:
            self._libpq.enter_pipeline_mode()
            self.on = True

    def _send(self, sql: str, values: Sequence[Any]) -> _Sent:
        self._asking.send(sql, values, self._note)
        return self._note()

    def _note(self) -> _Sent:
        sent = _Sent()
        self._due.append(sent)
        return sent

    def _sync(self) -> None:
        self._libpq.pipeline_sync()
        self._note()

    def _rows(self, sent: _Sent) -> list[Any]:
        while not sent.read:
            self._read()
        if sent.error is not None:
            raise sent.error
        return sent.rows

    def _read(self) -> None:
        """Read the result of what was sent first of all that is due."""
        result = self._asking.result()
        sent = self._due.popleft()
        sent.read = True
        if self.failed is not None and result is not None and result.status == _ABORTED:
            sent.error = LostWithAnotherError(str(self.failed))
            return
        try:
            sent.rows = self._asking.loaded(result)
        except psycopg.Error as error:
            self.failed = sent.error = error
