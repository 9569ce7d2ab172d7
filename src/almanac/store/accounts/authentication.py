"""Sign-in, passwords and sign-up. Answers never reveal whether an address is known."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.links import Invitations, Resets
from almanac.store.accounts.passwords import Passwords, checked_password
from almanac.store.accounts.records import AccountError, AccountInfo, checked_email
from almanac.store.accounts.throttle import Throttle
from almanac.store.accounts.web_sessions import WebSession, WebSessions


class SignedIn(msgspec.Struct, frozen=True):
    """A successful sign-in. `token` is for the cookie."""

    token: str
    session: WebSession
    account: AccountInfo


class NotSignedIn(msgspec.Struct, frozen=True):
    """A refused sign-in. `disabled` is reported only after a correct password; `wait` is in seconds."""

    reason: Literal["wrong", "disabled", "wait"]
    wait: int = 0


class Letter(msgspec.Struct, frozen=True):
    """
    A message to send to an address: `join` and `reset` with a link's token, `known` if the address already has an
    account.
    """

    to: str
    kind: Literal["join", "reset", "known"]
    token: str = ""


class Authentication:
    """
    The accounts as the dashboard's pages use them. `now` is real time in unix seconds.

    Checking a password takes a tenth of a second of CPU, so call these methods from a thread, never from an event loop.
    Use an `Accounts` of its own for them: the one that verifies keys in the event loop would wait for their writes.
    """

    def __init__(self, accounts: Accounts, passwords: Passwords | None = None) -> None:
        self._accounts = accounts
        self._passwords = passwords or Passwords()
        self._throttle = Throttle(accounts)
        self.sessions = WebSessions(accounts)
        self.invitations = Invitations(accounts)
        self.resets = Resets(accounts)

    def prepare(self) -> None:
        """
        Prepare the dummy hash in advance, because the first sign-in under an unknown address would otherwise take
        visibly longer.
        """
        self._passwords.prepare()

    def sign_in(
        self, email: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn | NotSignedIn:
        """
        Sign in. `before` is the token the browser came with; its session ends. The limits on attempts are in
        `throttle`.
        """
        found = self._check(email, password, address, now)
        if isinstance(found, NotSignedIn):
            return found
        if found.disabled is not None:
            return NotSignedIn("disabled")
        return self._begin(found, address, agent, now, before)

    def check(self, account: AccountInfo, password: str, *, address: str, now: int) -> NotSignedIn | None:
        """Check the password of somebody signed in, before an action that asks for it. Returns None if it is right."""
        found = self._check(account.email, password, address, now)
        return found if isinstance(found, NotSignedIn) else None

    def change_password(
        self, account: AccountInfo, session_id: str, old: str, new: str, *, address: str, now: int
    ) -> NotSignedIn | None:
        """
        Change a password, given the old one; all other web sessions end. Returns None on success.

        Raises AccountError for a new password that is too short or too long.
        """
        checked_password(new)
        # While waiting is required no hash is computed, not even of the new password.
        refused = self.check(account, old, address=address, now=now)
        if refused is None:
            self.resets.set(account.id, self._passwords.hash(new), now=now, but=session_id)
        return refused

    def set_password(self, email: str, password: str, *, now: int) -> AccountInfo:
        """
        Set a password without the old one, as an operator may. All web sessions end. Raises AccountError for an unknown
        address or an invalid password.
        """
        found = self._accounts.account(email)
        self.resets.set(found.id, self._passwords.hash(password), now=now)
        return self._accounts.account_of(found.id)

    # Links

    def ask_reset(self, email: str, *, now: int) -> Letter | None:
        """
        Return the letter for somebody who forgot the password, or None if none is to be sent.

        Send it from another thread after the page was answered, because the response time would otherwise reveal
        whether the address is known.
        """
        found = self._accounts.of_email(email)
        token = None if found is None or found.disabled is not None else self.resets.make(found.id, now=now)
        return Letter(found.email, "reset", token) if found is not None and token is not None else None

    def reset(
        self, token: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn | NotSignedIn:
        """
        Set a password by a link, once, and sign in. All other web sessions end.

        Raises AccountError for an invalid password, which leaves the link usable, and for a link that was used or has
        expired.
        """
        if self.resets.find(token, now=now) is None:
            raise AccountError("this link was used or has run out: ask for a new one")
        found = self.resets.use(token, self._passwords.hash(password), now=now)
        if found.disabled is not None:
            return NotSignedIn("disabled")
        return self._begin(found, address, agent, now, before)

    def ask_to_join(self, email: str, plan: str, plans: Collection[str], *, now: int) -> Letter | None:
        """
        Return the letter for somebody who wants an account, or None if none is to be sent. Send it as `ask_reset` says.

        If the address has an account, the letter says so. Raises AccountError for an invalid address or an unknown
        plan.
        """
        email = checked_email(email)
        known = self._accounts.of_email(email)
        if known is not None:
            return Letter(known.email, "known")
        made = self.invitations.ask(email, plan, plans, now=now)
        return None if made is None else Letter(made[1].email, "join", made[0])

    def join(
        self, token: str, password: str, *, address: str, agent: str, now: int, before: str | None = None
    ) -> SignedIn:
        """Create the account of an invitation and sign in. Raises AccountError as `reset` does."""
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
