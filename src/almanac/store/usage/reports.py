"""Usage reports: an account's requests by day, key, endpoint or status, and every single counter for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal

import msgspec

from almanac.domain.times import EPOCH_ORDINAL
from almanac.store.usage.counts import UsageFile

By = Literal["day", "key", "endpoint", "status"]
_REFUSED = "sum(CASE WHEN status BETWEEN 400 AND 499 AND status <> 429 THEN requests ELSE 0 END)"
_LIMITED = "sum(CASE WHEN status = 429 THEN requests ELSE 0 END)"
_FAILED = "sum(CASE WHEN status >= 500 THEN requests ELSE 0 END)"
_FIGURES = f"sum(requests), {_REFUSED}, {_LIMITED}, {_FAILED}, sum(micros)"
_NAMED = "(SELECT n.name FROM name n WHERE n.n = u.{})"
#: Names of an account's counters, between two days: bound are the account's name and the days.
_OF_ACCOUNT = "FROM day_use u WHERE u.account = (SELECT n FROM name WHERE name = ?) AND u.day BETWEEN ? AND ?"


class UsageRow(msgspec.Struct, frozen=True):
    """Requests that share a property. `mean` is in seconds, or None without requests."""

    #: An ISO day, a key's prefix, a path template, or a status; empty for a total.
    name: str
    requests: int
    #: Counts of 4xx other than 429, of 429, and of 5xx.
    refused: int
    limited: int
    failed: int
    mean: float | None


class CounterRow(msgspec.Struct, frozen=True):
    """One counter as stored: the requests of a day that share key, endpoint and status."""

    #: An ISO day.
    day: str
    key: str
    endpoint: str
    status: int
    requests: int
    #: Milliseconds, the mean of these requests.
    mean_ms: float


class UsageReports:
    """Reports over the usage file. Days are ordinals (`date.toordinal()`) in UTC, both ends included."""

    def __init__(self, file: UsageFile) -> None:
        self._file = file

    def by(self, what: By, account: str, first: int, last: int) -> list[UsageRow]:
        """
        Return the rows of one account: days in order, without those that have no requests; other groups by requests,
        the most first.
        """
        name = _NAMED.format(what) if what in {"key", "endpoint"} else f"u.{what}"
        order = f"u.{what}" if what in {"day", "status"} else f"sum(requests) DESC, u.{what}"
        rows = self._read(
            f"SELECT {name}, {_FIGURES} {_OF_ACCOUNT} GROUP BY u.{what} ORDER BY {order}", account, first, last
        )
        return [_row(_iso(row[0]) if what == "day" else str(row[0]), row[1:]) for row in rows]

    def total(self, account: str, first: int, last: int) -> UsageRow:
        """Return the totals of one account, zeros if it made no requests."""
        (row,) = self._read(f"SELECT {_FIGURES} {_OF_ACCOUNT}", account, first, last)
        return _row("", [value or 0 for value in row])

    def requests(self, accounts: Sequence[str], first: int, last: int) -> dict[str, int]:
        """Return the number of requests of each account, for a page of accounts."""
        return {account: self.total(account, first, last).requests for account in accounts}

    def counted(self, account: str, minute: int) -> int:
        """Return how many requests of an account counted towards its limit in its last minute, if that is this unix minute."""
        sql = "SELECT requests FROM minute_use WHERE account = (SELECT n FROM name WHERE name = ?) AND minute = ?"
        with self._file.opened() as db:
            return int(db.execute(sql, (account, minute)).get or 0)

    def counters(self, account: str, first: int, last: int) -> list[CounterRow]:
        """Return every counter of an account on these days, in order of time."""
        sql = (
            f"SELECT u.day, {_NAMED.format('key')}, {_NAMED.format('endpoint')}, u.status, u.requests, u.micros"
            f" {_OF_ACCOUNT} ORDER BY u.day, u.key, u.endpoint, u.status"
        )
        return [
            CounterRow(_iso(day), key, endpoint, status, requests, round(micros / requests / 1_000, 3))
            for day, key, endpoint, status, requests, micros in self._read(sql, account, first, last)
        ]

    def _read(self, sql: str, account: str, first: int, last: int) -> list[Any]:
        with self._file.opened() as db:
            return db.execute(sql, (account, first - EPOCH_ORDINAL, last - EPOCH_ORDINAL)).fetchall()


def _iso(day: int) -> str:
    return date.fromordinal(EPOCH_ORDINAL + day).isoformat()


def _row(name: str, values: Sequence[int]) -> UsageRow:
    requests, refused, limited, failed, micros = values
    return UsageRow(name, requests, refused, limited, failed, micros / requests / 1e6 if requests else None)
