"""Operators' actions on accounts. Each is written together with its line in the audit log, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

import msgspec

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.links import Invitation, Invitations, Resets
from almanac.store.accounts.records import AccountInfo, KeyInfo, askable, folded
from almanac.store.engine.sql_compat import contains, next_id

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
    """The operators' actions, in order. A line is written in the transaction of its action and never changed."""

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


T = TypeVar("T", AccountInfo, KeyInfo, Invitation)


class AccountRow(msgspec.Struct, frozen=True):
    """An account in the operator's list, with a count of its live keys. `n` is its position; times are unix seconds."""

    n: int
    account: AccountInfo
    #: Keys that are live.
    keys: int
    #: When a key was last used or a person last seen.
    last_seen: int | None


class Administration:
    """
    Actions of one operator: `who` is the address, or `command line`. `now` is real time in unix seconds.

    Every method raises AccountError as its counterpart in `Accounts` or `Invitations` does.
    """

    def __init__(self, accounts: Accounts, who: str) -> None:
        self.accounts, self._who = accounts, who
        self.audit_log = AuditLog(accounts)
        self._invitations = Invitations(accounts)

    def create(self, email: str, plan: str, plans: Collection[str], *, now: int, role: str = "user") -> AccountInfo:
        """Create an account."""
        with self.accounts.changing():
            made = self.accounts.create_account(email, plan, plans, now=now, role=role)
            return self._noted("create", made, f"{plan}, {role}", now)

    def set_plan(self, email: str, plan: str, plans: Collection[str], *, now: int) -> AccountInfo:
        """Move an account to another plan."""
        with self.accounts.changing():
            before = self.accounts.account(email)
            return self._noted("plan", self.accounts.set_plan(email, plan, plans), f"{before.plan} to {plan}", now)

    def set_role(self, email: str, role: str, *, now: int) -> AccountInfo:
        """Set an account's role."""
        with self.accounts.changing():
            return self._noted("role", self.accounts.set_role(email, role), role, now)

    def disable(self, email: str, *, now: int) -> AccountInfo:
        """Refuse an account's keys and people until it is enabled."""
        with self.accounts.changing():
            return self._noted("disable", self.accounts.disable(email, now=now), "", now)

    def enable(self, email: str, *, now: int) -> AccountInfo:
        """Admit an account's keys and people again."""
        with self.accounts.changing():
            return self._noted("enable", self.accounts.enable(email), "", now)

    def delete(self, email: str, *, now: int) -> tuple[AccountInfo, int]:
        """Delete an account. Returns the deleted account and the number of its keys."""
        with self.accounts.changing():
            account, keys = self.accounts.delete(email)
            return self._noted("delete", account, f"{keys} keys", now), keys

    def invite(
        self, email: str, plan: str, plans: Collection[str], *, now: int, role: str = "user"
    ) -> tuple[str, Invitation]:
        """Invite an address. Returns the token of the link and the invitation."""
        with self.accounts.changing():
            token, made = self._invitations.invite(email, plan, plans, made_by=self._who, now=now, role=role)
            return token, self._noted("invite", made, f"{plan}, {role}", now)

    def withdraw(self, invitation_id: str, *, now: int) -> None:
        """Withdraw an invitation."""
        with self.accounts.changing():
            self._invitations.withdraw(invitation_id)
            self.audit_log.note(self._who, "withdraw", invitation_id, now=now)

    def reset_link(self, email: str, *, now: int) -> str:
        """Return the token of a link that sets a new password. Earlier links end."""
        with self.accounts.changing() as db:
            account = self._noted("reset", self.accounts.account(email), "", now)
            db.execute("DELETE FROM password_reset WHERE account_id = ?", (account.id,))
            return str(Resets(self.accounts).make(account.id, now=now))

    def set_password_hash(self, email: str, kept: str, *, now: int) -> AccountInfo:
        """Store a new password hash. All links and web sessions of the account end."""
        with self.accounts.changing():
            account = self._noted("password", self.accounts.account(email), "", now)
            Resets(self.accounts).set(account.id, kept, now=now)
            return self.accounts.account_of(account.id)

    def revoke(self, which: str, *, now: int) -> KeyInfo:
        """Revoke a key."""
        with self.accounts.changing():
            revoked = self.accounts.revoke(which, now=now)
            return self._noted("revoke", revoked, revoked.prefix, now)

    def rotate(self, which: str, grace: int, *, now: int) -> tuple[str, KeyInfo, KeyInfo]:
        """Create a replacement for a key. Returns the new key's text and record, and the old key's record."""
        with self.accounts.changing():
            text, made, old = self.accounts.rotate(which, grace, now=now)
            return text, self._noted("rotate", made, f"{old.prefix} to {made.prefix}", now), old

    def page(self, limit: int = 100, *, after: int = 0, email: str = "", now: int) -> list[AccountRow]:
        """Return accounts in order of creation, after position `after`, whose address contains `email`."""
        sql = (
            "SELECT a.n, a.id, a.email, a.plan, a.created, a.role, a.disabled, a.password_set, a.signed_in,"
            " (SELECT count(*) FROM api_key k WHERE k.account_id = a.id AND k.revoked IS NULL"
            "   AND (k.expires IS NULL OR k.expires > ?1)),"
            " coalesce((SELECT max(k.last_used) FROM api_key k WHERE k.account_id = a.id), 0),"
            " coalesce((SELECT max(s.last_seen) FROM web_session s WHERE s.account_id = a.id), a.signed_in, 0)"
            f" FROM account a WHERE a.n > ?2 AND (?3 = '' OR {contains('a.email_key', '?3')}) ORDER BY a.n LIMIT ?4"
        )
        with self.accounts.opened() as db:
            rows: Any = db.execute(sql, (now, after, askable(folded(email)), limit)).fetchall()
        return [AccountRow(row[0], AccountInfo(*row[1:9]), row[9], max(row[10], row[11]) or None) for row in rows]

    def on_plans(self) -> dict[str, int]:
        """Return the number of accounts on each plan."""
        with self.accounts.opened() as db:
            rows: Any = db.execute("SELECT plan, count(*) FROM account GROUP BY plan").fetchall()
        return dict(rows)

    def _noted(self, what: str, done: T, detail: str, now: int) -> T:
        """Write what was done to an account, a key or an invitation into the audit log, and return that."""
        self.audit_log.note(self._who, what, done.email, detail, now=now)
        return done
