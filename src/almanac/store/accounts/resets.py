"""Links to set a new password. Each works once, and for half an hour."""

from __future__ import annotations

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.keytext import is_token, new_token
from almanac.store.accounts.records import AccountError, AccountInfo

#: How long a link lives.
LIFE_SECONDS = 30 * 60
#: Most live links of one account, so that repeated requests don't flood somebody who never asked.
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
            row = (self._accounts.digest("password_reset", token), account_id, now, now + LIFE_SECONDS)
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
