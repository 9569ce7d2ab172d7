"""The accounts as pages use them: who is signed in, what they used, and the parts of the store that pages write to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

import msgspec

from almanac.dashboard.letters import Letters
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication, Letter
from almanac.store.accounts.form_numbers import FormNumbers
from almanac.store.accounts.watchlist import Watchlist
from almanac.store.engine.errors import UnavailableError
from almanac.store.usage.reports import UsageReports

T = TypeVar("T")

#: How long accounts that did not answer are left alone.
_REST_SECONDS = 2.0


class Person(msgspec.Struct, frozen=True):
    """Somebody signed in: `role` is `user` or `operator`. `session` names the web session, and is no secret."""

    account: str
    email: str
    plan: str
    role: str
    session: str


class People:
    """
    The dashboard's store of people. `walltime` is real time: sessions, keys and limits use no other clock.

    `accounts` is opened for it alone, apart from the one in which keys are verified.
    """

    def __init__(
        self,
        accounts: Accounts,
        usage: UsageReports,
        letters: Letters,
        authentication: Authentication | None = None,
        walltime: Callable[[], float] = time.time,
    ) -> None:
        self.accounts, self.usage = accounts, usage
        self.authentication = authentication or Authentication(accounts)
        self.forms = FormNumbers(accounts)
        self.watchlist = Watchlist(accounts)
        #: Until when lists are left alone, by the clock of the process, because the accounts did not answer.
        self._rests = -math.inf
        self._letters, self._walltime = letters, walltime

    def now(self) -> int:
        """Real time, unix seconds."""
        return int(self._walltime())

    def walltime(self) -> float:
        """Real time, unix seconds and what is between two of them."""
        return self._walltime()

    def today(self) -> date:
        """Today, UTC, by real time: usage is counted by it."""
        return datetime.fromtimestamp(self.now(), UTC).date()

    def person(self, token: str) -> Person | None:
        """Whose web session a cookie's value is; None for one that ended or never was."""
        found = self.authentication.sessions.find(token, now=self.now())
        if found is None:
            return None
        session, account = found
        return Person(account.id, account.email, account.plan, account.role, session.id)

    def look_up(self, ask: Callable[[Watchlist], T]) -> T | None:
        """
        Return what a list says of an account; None while the accounts do not answer: pages of data go on without what is watched.
        For some seconds then nobody asks, for each page would wait for it.
        """
        if time.monotonic() < self._rests:
            return None
        try:
            return ask(self.watchlist)
        except UnavailableError:
            self._rests = time.monotonic() + _REST_SECONDS
            return None

    def left(self, account: str, limit: int) -> int:
        """Return what is left of this minute for an account, as far as its requests are written down: up to a few seconds ago."""
        return max(0, limit - self.usage.counted(account, self.now() // 60))

    def used_by_key(self, account: str, days: int = 30) -> dict[str, int]:
        """Return requests of the last days, by the prefix of the key."""
        return {row.name: row.requests for row in self.usage.by("key", account, *self._last(days))}

    def used_by_accounts(self, accounts: Sequence[str], days: int = 30) -> dict[str, int]:
        """Return requests of the last days, of each of some accounts."""
        return self.usage.requests(accounts, *self._last(days))

    def _last(self, days: int) -> tuple[int, int]:
        """First and last of the last days, ordinals."""
        last = self.today()
        return (last - timedelta(days=days - 1)).toordinal(), last.toordinal()

    def write_later(self, make: Callable[[int], Letter | None], address: str) -> None:
        """Have a letter made, with the time it is then, and sent, after this page was answered."""
        self._letters.later(lambda: make(self.now()), address)
