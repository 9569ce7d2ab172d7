"""People: signing in, choosing a password, joining. What they may learn is the same whether an address is known or not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.invitations import Invitation, Invitations
from almanac.store.accounts.passwords import Passwords, checked_password
from almanac.store.accounts.records import AccountError, AccountInfo, checked_email
from almanac.store.accounts.resets import Resets
from almanac.store.accounts.throttle import Throttle
from almanac.store.accounts.web_sessions import WebSession, WebSessions


class SignedIn(msgspec.Struct, frozen=True):
    """Come in. `token` is for the cookie."""

    token: str
    session: WebSession
    account: AccountInfo


class NotSignedIn(msgspec.Struct, frozen=True):
    """No. `disabled` is told to those who gave the right password only; `wait` is in seconds."""

    reason: Literal["wrong", "disabled", "wait"]
    wait: int = 0


class Letter(msgspec.Struct, frozen=True):
    """What is to be sent to an address: `join` and `reset` with the token of a link, `known` to one that has an account."""

    to: str
    kind: Literal["join", "reset", "known"]
    token: str = ""


class Authentication:
    """The accounts, as the dashboard's pages use them. `now` is real time in unix seconds.

    A password takes a tenth of a second of CPU to check: call these from a thread, never from an event loop. Open the
    `Accounts` for them apart from the one whose keys are verified in the event loop, which would wait for their writes.
    """

    def __init__(self, accounts: Accounts, passwords: Passwords | None = None) -> None:
        self._accounts = accounts
        self._passwords = passwords or Passwords()
        self._throttle = Throttle(accounts)
        self.sessions = WebSessions(accounts)
        self.invitations = Invitations(accounts)
        self.resets = Resets(accounts)

    def prepare(self) -> None:
        """Make what the first sign-in under an unknown address would wait for, and be told by."""
        self._passwords.prepare()

    def sign_in(
        self, email: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn | NotSignedIn:
        """Sign in. `before`: the token the browser came with, whose session ends. See `throttle` for how often."""
        found = self._check(email, password, address, now)
        if isinstance(found, NotSignedIn):
            return found
        if found.disabled is not None:
            return NotSignedIn("disabled")
        return self._begin(found, address, agent, now, before)

    def check(self, account: AccountInfo, password: str, *, address: str, now: int) -> NotSignedIn | None:
        """Whether somebody who is signed in knows the password, before a deed that asks for it. None: yes."""
        found = self._check(account.email, password, address, now)
        return found if isinstance(found, NotSignedIn) else None

    def change_password(
        self, account: AccountInfo, session_id: str, old: str, new: str, *, address: str, now: int
    ) -> NotSignedIn | None:
        """Set another password, knowing the old one; all other web sessions end. None: done.

        Raises AccountError for a new one that is too short or too long.
        """
        checked_password(new)
        # Whoever must wait costs no hash, of the new one neither.
        refused = self.check(account, old, address=address, now=now)
        if refused is None:
            self.resets.set(account.id, self._passwords.hash(new), now=now, but=session_id)
        return refused

    def set_password(self, email: str, password: str, *, now: int) -> AccountInfo:
        """Set a password without the old one, as an operator may. All web sessions end. Raises AccountError."""
        found = self._accounts.account(email)
        self.resets.set(found.id, self._passwords.hash(password), now=now)
        return self._accounts.account_of(found.id)

    def account_id(self, email: str) -> str | None:
        """The id of an address's account, for the log; None where there is none, or for what is no address."""
        found = self._accounts.of_email(email)
        return None if found is None else found.id

    # Links

    def ask_reset(self, email: str, *, now: int) -> Letter | None:
        """The letter for somebody who forgot the password; None where none is to be sent.

        Send it after the page was answered, from another thread: else the time tells whether the address is known.
        """
        found = self._accounts.of_email(email)
        token = None if found is None or found.disabled is not None else self.resets.make(found.id, now=now)
        return Letter(found.email, "reset", token) if found is not None and token is not None else None

    def reset(
        self, token: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn | NotSignedIn:
        """Set a password by a link, once, and sign in. All other web sessions end.

        Raises AccountError for a password that cannot be, which leaves the link as it is, and a link that cannot be
        used any more.
        """
        if self.resets.find(token, now=now) is None:
            raise AccountError("this link was used or has run out: ask for a new one")
        found = self.resets.use(token, self._passwords.hash(password), now=now)
        if found.disabled is not None:
            return NotSignedIn("disabled")
        return self._begin(found, address, agent, now, before)

    def ask_to_join(self, email: str, plan: str, plans: Collection[str], *, now: int) -> Letter | None:
        """The letter for somebody who wants an account; None where none is to be sent. To be sent as `ask_reset`'s.

        One who has an account is told so by mail. Raises AccountError for what is no address, or an unknown plan.
        """
        email = checked_email(email)
        known = self._accounts.of_email(email)
        if known is not None:
            return Letter(known.email, "known")
        made = self.invitations.ask(email, plan, plans, now=now)
        return None if made is None else Letter(made[1].email, "join", made[0])

    def invitation(self, token: str, *, now: int) -> Invitation | None:
        """What a link to join is for, or None where it cannot be used any more."""
        return self.invitations.find(token, now=now)

    def join(
        self, token: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn:
        """Make the account of an invitation and sign in. Raises AccountError as `reset` does."""
        if self.invitations.find(token, now=now) is None:
            raise AccountError("this invitation was used or has run out: ask for a new one")
        made = self.invitations.accept(token, self._passwords.hash(password), now=now)
        return self._begin(made, address, agent, now, before)

    def _begin(self, account: AccountInfo, address: str, agent: str, now: int, before: str | None) -> SignedIn:
        with self._accounts.changing() as db:
            self._throttle.know(account.id, address, now=now)
            db.execute("UPDATE account SET signed_in = ? WHERE id = ?", (now, account.id))
            token, session = self.sessions.begin(account.id, agent, address, now=now, before=before)
            return SignedIn(token, session, self._accounts.account_of(account.id))

    def _check(self, email: str, password: str, address: str, now: int) -> AccountInfo | NotSignedIn:
        wait = self._throttle.take(email, address, now=now)
        if wait:
            return NotSignedIn("wait", wait)
        found = self._accounts.of_email(email)
        kept = None if found is None else self._kept(found.id)
        good, fresh = self._passwords.check(password, kept)
        if found is None or not good:
            return NotSignedIn("wrong")
        with self._accounts.changing() as db:
            if fresh is not None:
                sql = "UPDATE account SET password_hash = ? WHERE id = ? AND password_hash = ?"
                db.execute(sql, (fresh, found.id, kept))
            self._throttle.forgive(email, address, found.id, now=now)
        return found

    def _kept(self, account_id: str) -> str | None:
        with self._accounts.opened() as db:
            kept: str | None = db.execute("SELECT password_hash FROM account WHERE id = ?", (account_id,)).get
            return kept
