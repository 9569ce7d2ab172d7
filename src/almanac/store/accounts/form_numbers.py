"""Numbers that let each form be sent only once: a repeated form finds its number used, so nothing is created twice."""

from __future__ import annotations

import contextlib
import hmac
import re
import secrets
from collections.abc import Iterator

from almanac.store.accounts.accounts import Accounts

#: How long a form may lie open.
LIFE_SECONDS = 86_400
_SHAPE = re.compile(r"([0-9a-f]{32})-([0-9]{1,12})-([0-9a-f]{32})")


class FormUsed(Exception):  # noqa: N818 - it names a state, and the page says what came of it
    """A form that was sent before. Nothing was done."""


class FormStale(Exception):  # noqa: N818 - as above
    """A form that was open too long or belongs to another account. Nothing was done."""


class FormNumbers:
    """Issue and accept form numbers. A number is stored only once it comes back. `now` is real time in unix seconds."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def give(self, account_id: str, purpose: str, *, now: int) -> str:
        """Return a number for one form of an account and purpose (such as `create_key`), made of `0-9a-f-`."""
        body = f"{secrets.token_hex(16)}-{now + LIFE_SECONDS}"
        return f"{body}-{self._sign(body, account_id, purpose)}"

    @contextlib.contextmanager
    def taken(self, number: str, account_id: str, purpose: str, *, now: int) -> Iterator[None]:
        """
        Use a number in one transaction with what the block writes to the accounts. An error in the block releases it.

        Raises FormUsed or FormStale before the block begins.
        """
        shape = _SHAPE.fullmatch(number)
        if shape is None or int(shape[2]) <= now:
            raise FormStale
        if not hmac.compare_digest(shape[3], self._sign(f"{shape[1]}-{shape[2]}", account_id, purpose)):
            raise FormStale
        with self._accounts.changing() as db:
            db.execute("DELETE FROM form_number WHERE expires <= ?", (now,))
            row = (bytes.fromhex(shape[1]), int(shape[2]))
            if not db.update("INSERT INTO form_number VALUES(?, ?) ON CONFLICT DO NOTHING", row):
                raise FormUsed
            yield

    def _sign(self, body: str, account_id: str, purpose: str) -> str:
        return self._accounts.digest("form", f"{purpose}\n{account_id}\n{body}").hex()[:32]
