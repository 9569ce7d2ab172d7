"""
Links that work once and for a limited time: to set a new password, and to create an account (an invitation).

An operator invites an address, or its owner asks for it if sign-up is open. So no account exists before its address was
proved, and asking reveals nothing about existing accounts.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

import msgspec

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.keytext import is_token, new_token
from almanac.store.accounts.records import (
    AccountError,
    AccountInfo,
    askable,
    checked_email,
    checked_plan,
    checked_role,
    folded,
    shown,
)
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import next_id

#: Seconds that a link lives: to a new password, of an operator's invitation, and of one that was asked for.
RESET_SECONDS, INVITED_SECONDS, ASKED_SECONDS = 30 * 60, 7 * 86_400, 86_400
#: Most live links of one address, so that repeated requests don't flood somebody who never asked.
_MOST = 3


class Resets:
    """All password links. `now` is real time in unix seconds."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def make(self, account_id: str, *, now: int) -> str | None:
        """Return the token of a new link, which is never shown again, or None if enough letters are on their way."""
        with self._accounts.changing() as db:
            db.execute("DELETE FROM password_reset WHERE expires <= ?", (now,))
            if db.execute("SELECT count(*) FROM password_reset WHERE account_id = ?", (account_id,)).get >= _MOST:
                return None
            token = new_token()
            row = (self._accounts.digest("password_reset", token), account_id, now, now + RESET_SECONDS)
            db.execute("INSERT INTO password_reset VALUES(?, ?, ?, ?)", row)
        return token

    def find(self, token: str, *, now: int) -> AccountInfo | None:
        """Return the account whose password a link may set, or None if the link was used or has expired."""
        if not is_token(token):
            return None
        with self._accounts.opened() as db:
            sql = "SELECT account_id FROM password_reset WHERE digest = ? AND expires > ?"
            account_id = db.execute(sql, (self._accounts.digest("password_reset", token), now)).get
            return None if account_id is None else self._accounts.account_of(account_id)

    def use(self, token: str, password_hash: str, *, now: int) -> AccountInfo:
        """
        Set the password by a link. All links and web sessions of the account end.

        Raises AccountError for a link that was used or has expired.
        """
        with self._accounts.changing():
            found = self.find(token, now=now)
            if found is None:
                raise AccountError("this link was used or has run out: ask for a new one")
            self.set(found.id, password_hash, now=now)
            return self._accounts.account_of(found.id)

    def set(self, account_id: str, password_hash: str, *, now: int, but: str | None = None) -> None:
        """Store a new password hash. All links of the account end, and its web sessions except the one with the id `but`."""
        with self._accounts.changing() as db:
            db.execute(
                "UPDATE account SET password_hash = ?, password_set = ? WHERE id = ?", (password_hash, now, account_id)
            )
            db.execute("DELETE FROM password_reset WHERE account_id = ?", (account_id,))
            db.execute("DELETE FROM web_session WHERE account_id = ? AND id IS DISTINCT FROM ?", (account_id, but))


_COLUMNS = "id, email, plan, role, made_by, created, expires"


class Invitation(msgspec.Struct, frozen=True):
    """One unused invitation. Times are unix seconds."""

    id: str
    email: str
    plan: str
    role: str
    #: The operator who made it; None: the owner of the address asked for it.
    made_by: str | None
    created: int
    expires: int


class Invitations:
    """All invitations. `now` is real time in unix seconds."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def invite(
        self, email: str, plan: str, plans: Collection[str], *, made_by: str, now: int, role: str = "user"
    ) -> tuple[str, Invitation]:
        """
        Invite an address. Returns the link's token, which is never shown again, and the invitation.

        Earlier invitations of this address end. Raises AccountError for an invalid address, an unknown plan or role,
        and an address that has an account.
        """
        email = checked_email(email)
        with self._accounts.changing() as db:
            self._check_free(email)
            db.execute("DELETE FROM invitation WHERE email_key = ?", (folded(email),))
            return self._make(db, email, checked_plan(plan, plans), checked_role(role), made_by, now, INVITED_SECONDS)

    def ask(self, email: str, plan: str, plans: Collection[str], *, now: int) -> tuple[str, Invitation] | None:
        """
        Create an invitation for somebody who asks for an account, or return None if enough letters are on their way.

        If an operator has invited the address, the operator's plan and role apply. Raises AccountError as `invite`
        does.
        """
        email = checked_email(email)
        with self._accounts.changing() as db:
            self._check_free(email)
            rows = self._live("email_key = ?", folded(email), now)
            if sum(row.made_by is None for row in rows) >= _MOST:
                return None
            given = next(((row.plan, row.role) for row in rows if row.made_by is not None), None)
            db.execute("DELETE FROM invitation WHERE expires <= ?", (now,))
            return self._make(db, email, *(given or (checked_plan(plan, plans), "user")), None, now, ASKED_SECONDS)

    def _check_free(self, email: str) -> None:
        if self._accounts.find("email_key", folded(email)) is not None:
            raise AccountError(f"the address {email} has an account already")

    def _make(
        self, db: Database, email: str, plan: str, role: str, made_by: str | None, now: int, seconds: int
    ) -> tuple[str, Invitation]:
        token = new_token()
        made = Invitation(f"inv_{secrets.token_hex(10)}", email, plan, role, made_by, now, now + seconds)
        digest = self._accounts.digest("invitation", token)
        db.execute(
            f"INSERT INTO invitation(n, digest, email_key, {_COLUMNS})"
            f" VALUES({next_id('n', 'invitation')}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (digest, folded(email), *msgspec.structs.astuple(made)),
        )
        return token, made

    def find(self, token: str, *, now: int) -> Invitation | None:
        """Return the invitation of a link, or None if it was used or has expired."""
        if not is_token(token):
            return None
        with self._accounts.opened():
            return next(iter(self._live("digest = ?", self._accounts.digest("invitation", token), now)), None)

    def accept(self, token: str, password_hash: str, *, now: int) -> AccountInfo:
        """Create the account. All links of its address end. Raises AccountError for a link that was used or has expired."""
        with self._accounts.changing() as db:
            found = self.find(token, now=now)
            if found is None:
                raise AccountError("this invitation was used or has run out: ask for a new one")
            db.execute("DELETE FROM invitation WHERE email_key = ?", (folded(found.email),))
            # The plan was checked when it was given. If the settings have lost it since, every request reports that.
            made = self._accounts.create_account(found.email, found.plan, (found.plan,), now=now, role=found.role)
            Resets(self._accounts).set(made.id, password_hash, now=now)
            return self._accounts.account_of(made.id)

    def open(self, *, now: int) -> list[Invitation]:
        """Return all usable invitations, the oldest first."""
        with self._accounts.opened():
            return self._live("1 = ?", 1, now)

    def withdraw(self, invitation_id: str) -> None:
        """Withdraw an invitation. Raises AccountError if there is none with this id."""
        with self._accounts.opened() as db:
            if not db.update("DELETE FROM invitation WHERE id = ?", (askable(invitation_id),)):
                raise AccountError(f"there is no invitation {shown(invitation_id)}")

    def _live(self, where: str, bound: str | bytes | int, now: int) -> list[Invitation]:
        sql = f"SELECT {_COLUMNS} FROM invitation WHERE {where} AND expires > ? ORDER BY n"
        with self._accounts.opened() as db:
            return [Invitation(*row) for row in db.execute(sql, (bound, now))]
