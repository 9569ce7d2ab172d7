"""
The audit log of operators' actions on accounts, in order. A line is written in the transaction of its action and never
changed.
"""

from __future__ import annotations

import msgspec

from almanac.store.accounts.file import AccountsFile
from almanac.store.engine.sql_compat import next_id

#: Name of whoever uses commands, that is, anybody who may read the data folder.
COMMAND_LINE = "command line"


class AuditLine(msgspec.Struct, frozen=True):
    """One line of the audit log. `n` counts up; `at` is in unix seconds."""

    n: int
    at: int
    #: An operator's address, or `command line`.
    who: str
    #: `plan`, `disable`, `enable`, `delete`, `role`, `invite`, …
    what: str
    #: The address or prefix it was done to.
    subject: str
    detail: str


class AuditLog:
    """The audit log in an accounts database."""

    def __init__(self, file: AccountsFile) -> None:
        self._file = file

    def note(self, who: str, what: str, subject: str, detail: str = "", *, now: int) -> None:
        """Write a line. Within `AccountsFile.changing` it belongs to the same transaction as the action."""
        with self._file.opened() as db:
            db.execute(
                f"INSERT INTO deed(n, at, who, what, subject, detail) VALUES({next_id('n', 'deed')}, ?, ?, ?, ?, ?)",
                (now, who, what, subject, detail),
            )

    def latest(self, limit: int = 100, *, before: int | None = None) -> list[AuditLine]:
        """Return the latest lines, newest first, optionally before number `before`."""
        sql = "SELECT n, at, who, what, subject, detail FROM deed WHERE n < ? ORDER BY n DESC LIMIT ?"
        with self._file.opened() as db:
            return [AuditLine(*row) for row in db.execute(sql, (before if before is not None else 1 << 62, limit))]
