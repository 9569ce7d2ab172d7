"""
Limits on sign-in attempts.

An attempt counts as failed before the password is checked, and is forgiven if it was right, so simultaneous attempts
can't slip through. While somebody must wait, no password is checked and nothing is counted.

1. An address that tries one account has 5 attempts; before the sixth it waits 5 s, then 10 s, 20 s, … up to 5 minutes.
An hour without an attempt resets this.

2. All addresses together have 50 attempts an hour for one account, and one address has 100 an hour over all accounts;
after that they wait for the end of that hour.

3. Rule 2 does not apply to an address from which the account was signed in to in the last 90 days. So strangers,
however many, can't lock the owner out there, unless they guess from that very address; then the owner waits at most 5
minutes. At a new address the owner can use the link for a new password, which is sent by mail and makes the address
known.

An IPv6 address counts by its first 64 bits, because whoever has one has all of those. An unknown account is counted
like any other.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from almanac.store.accounts.file import AccountsFile
from almanac.store.accounts.records import askable, folded
from almanac.store.engine.protocol import Database

_FREE, _FIRST_WAIT, _LONGEST_WAIT = 5, 5, 300
_HOUR = 3_600
_MOST_OF_ACCOUNT, _MOST_OF_ADDRESS = 50, 100
_KNOWN_SECONDS = 90 * 86_400
_ALL = b""


class Throttle:
    """Counts of attempts, shared by all processes. `now` is real time in unix seconds."""

    def __init__(self, file: AccountsFile) -> None:
        self._file = file

    def take(self, email: str, address: str, *, now: int) -> int:
        """Count one attempt and return 0, or return the seconds to wait if it isn't allowed; then nothing was counted."""
        who, whence = self._who(email), self._whence(address)
        with self._file.changing() as db:
            db.execute("DELETE FROM sign_in_try WHERE last <= ?", (now - _HOUR,))
            held = [self._pair(db, who, whence, now)]
            if not self._known(db, email, whence, now):
                held.append(_bound(db, who, _ALL, _MOST_OF_ACCOUNT, now))
                held.append(_bound(db, _ALL, whence, _MOST_OF_ADDRESS, now))
            if (wait := max(held)) > 0:
                return wait
            for key in ((who, whence), (who, _ALL), (_ALL, whence)):
                # The hour of the loose limits begins with its first attempt; a pair's ends an hour after its last.
                _count(db, *key, now)
        return 0

    def forgive(self, email: str, address: str, account_id: str, *, now: int) -> None:
        """Remove a successful attempt from all counts, and remember the address for this account."""
        who, whence = self._who(email), self._whence(address)
        with self._file.changing() as db:
            db.execute("DELETE FROM sign_in_try WHERE who = ? AND whence = ?", (who, whence))
            for key in ((who, _ALL), (_ALL, whence)):
                db.execute("UPDATE sign_in_try SET failures = failures - 1 WHERE who = ? AND whence = ?", key)
            self.know(account_id, address, now=now)

    def know(self, account_id: str, address: str, *, now: int) -> None:
        """Remember an address as the owner's: one used to sign in, or where a link sent to the owner was opened."""
        with self._file.changing() as db:
            db.execute(
                "DELETE FROM known_address WHERE account_id = ? AND last <= ?", (account_id, now - _KNOWN_SECONDS)
            )
            db.execute(
                "INSERT INTO known_address VALUES(?, ?, ?)"
                " ON CONFLICT(account_id, whence) DO UPDATE SET last = excluded.last",
                (account_id, self._whence(address), now),
            )

    def _who(self, email: str) -> bytes:
        return self._file.digest("sign_in", folded(email))

    def _whence(self, address: str) -> bytes:
        return self._file.digest("sign_in", network(address))

    def _known(self, db: Database, email: str, whence: bytes, now: int) -> bool:
        sql = (
            "SELECT 1 FROM known_address k JOIN account a ON a.id = k.account_id"
            " WHERE a.email_key = ? AND k.whence = ? AND k.last > ?"
        )
        return bool(db.execute(sql, (askable(folded(email)), whence, now - _KNOWN_SECONDS)).get)

    @staticmethod
    def _pair(db: Database, who: bytes, whence: bytes, now: int) -> int:
        failures, _, last = _row(db, who, whence)
        if failures < _FREE:
            return 0
        wait = min(_FIRST_WAIT << min(failures - _FREE, 10), _LONGEST_WAIT)
        return max(0, last + wait - now)


def _bound(db: Database, who: bytes, whence: bytes, most: int, now: int) -> int:
    failures, since, _ = _row(db, who, whence)
    return max(0, since + _HOUR - now) if failures >= most else 0


def _row(db: Database, who: bytes, whence: bytes) -> tuple[int, int, int]:
    sql = "SELECT failures, since, last FROM sign_in_try WHERE who = ? AND whence = ?"
    row: Any = next(iter(db.execute(sql, (who, whence)).fetchall()), (0, 0, 0))
    return row[0], row[1], row[2]


def _count(db: Database, who: bytes, whence: bytes, now: int) -> None:
    loose = _ALL in {who, whence}
    over = "?4 = 1 AND sign_in_try.since <= ?3 - ?5"
    db.execute(
        "INSERT INTO sign_in_try VALUES(?1, ?2, 1, ?3, ?3) ON CONFLICT(who, whence) DO UPDATE SET last = ?3,"
        f" failures = CASE WHEN {over} THEN 1 ELSE sign_in_try.failures + 1 END,"
        f" since = CASE WHEN {over} THEN ?3 ELSE sign_in_try.since END",
        (who, whence, now, int(loose), _HOUR),
    )


def network(address: str) -> str:
    """Return what an address counts as: of IPv6 its first 64 bits, else itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
