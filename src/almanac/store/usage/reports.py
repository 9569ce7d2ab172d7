"""Usage reports: an account's requests by day, key, endpoint or status, and every single counter for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from almanac.domain.times import day_at, wire_time
from almanac.store.usage.counts import BY_ENDPOINT, BY_KEY, DAY, FIGURES, IN_ALL, UsageFile

By = Literal["day", "key", "endpoint", "status"]
_SUMS = ", ".join(f"sum({one})" for one in FIGURES)
_REFUSED = "sum(CASE WHEN status BETWEEN 400 AND 499 AND status <> 429 THEN requests ELSE 0 END)"
_LIMITED = "sum(CASE WHEN status = 429 THEN requests ELSE 0 END)"
_FAILED = "sum(CASE WHEN status >= 500 THEN requests ELSE 0 END)"
_FIGURES = f"{_REFUSED}, {_LIMITED}, {_FAILED}, {_SUMS} FROM daily"
_NAMED = "(SELECT n.name FROM name n WHERE n.n = daily.name)"
#: For each grouping, the part of `daily` that holds it, the column that it groups by, and what its rows are called.
_PARTS = {
    "day": (IN_ALL, "day", "day"),
    "key": (BY_KEY, "name", _NAMED),
    "endpoint": (BY_ENDPOINT, "name", _NAMED),
    "status": (IN_ALL, "status", "status"),
}
_CSV_PAGE = 2_000


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
    """One counter as stored: it covers a minute, and later an hour or a day."""

    #: First instant (RFC 3339), and length in seconds.
    start: str
    seconds: int
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
        part, column, name = _PARTS[what]
        order = column if what in {"day", "status"} else f"sum(requests) DESC, daily.{column}"
        # A bare `name` would be the name that is selected on PostgreSQL, and its number on SQLite.
        sql = (
            f"SELECT {name}, {_FIGURES} WHERE account = ? AND part = {part} AND day BETWEEN ? AND ?"
            f" GROUP BY {column} ORDER BY {order}"
        )
        with self._file.opened() as db:
            rows: Any = db.execute(sql, (_number(db, account), _day(first), _day(last))).fetchall()
        return [_row(wire_time(row[0] * 86_400)[:10] if what == "day" else str(row[0]), row[1:]) for row in rows]

    def total(self, account: str, first: int, last: int) -> UsageRow:
        """Return the totals of one account, zeros if it made no requests."""
        sql = f"SELECT {_FIGURES} WHERE account = ? AND part = {IN_ALL} AND day BETWEEN ? AND ?"
        with self._file.opened() as db:
            rows: Any = db.execute(sql, (_number(db, account), _day(first), _day(last))).fetchall()
        return _row("", [value or 0 for value in rows[0]])

    def requests(self, accounts: Sequence[str], first: int, last: int) -> dict[str, int]:
        """Return the number of requests of each account, for a page of accounts."""
        sql = f"SELECT sum(requests) FROM daily WHERE account = ? AND part = {IN_ALL} AND day BETWEEN ? AND ?"
        with self._file.opened() as db:
            return {one: int(db.execute(sql, (_number(db, one), _day(first), _day(last))).get or 0) for one in accounts}

    def counted(self, account: str, minute: int) -> int:
        """
        Return how many requests of an account counted towards its limit in a unix minute, as far as they have been
        written.
        """
        sql = "SELECT sum(requests) FROM counter WHERE account = ? AND at = ? AND span = 1 AND status <> 429"
        with self._file.opened() as db:
            return int(db.execute(sql, (_number(db, account), minute)).get or 0)

    def counters(self, account: str, first: int, last: int) -> Iterator[CounterRow]:
        """Yield every counter of an account that begins on these days, in order of time, reading a page at a time."""
        sql = (
            "SELECT c.at, c.span, c.key, c.endpoint, c.status, k.name, e.name, c.requests, c.micros FROM counter c"
            " JOIN name k ON k.n = c.key JOIN name e ON e.n = c.endpoint"
            " WHERE c.account = ?1 AND (c.at, c.span, c.key, c.endpoint, c.status) > (?2, ?3, ?4, ?5, ?6)"
            " AND c.at < ?7 ORDER BY c.at, c.span, c.key, c.endpoint, c.status LIMIT ?8"
        )
        after: tuple[int, ...] = (_day(first) * DAY, 0, 0, 0, 0)
        while True:
            with self._file.opened() as db:
                bound = (_number(db, account), *after, (_day(last) + 1) * DAY, _CSV_PAGE)
                rows: Any = db.execute(sql, bound).fetchall()
            for at, span, _, _, status, key, endpoint, requests, micros in rows:
                mean = round(micros / requests / 1_000, 3)
                yield CounterRow(wire_time(at * 60), span * 60, key, endpoint, status, requests, mean)
            if len(rows) < _CSV_PAGE:
                return
            after = tuple(rows[-1][:5])


def _number(db: Any, account: str) -> int:
    return int(db.execute("SELECT n FROM name WHERE name = ?", (account,)).get or 0)


def _day(ordinal: int) -> int:
    return ordinal - day_at(0)


def _row(name: str, values: Sequence[int]) -> UsageRow:
    refused, limited, failed, requests, micros = values
    mean = micros / requests / 1e6 if requests else None
    return UsageRow(name, requests, refused, limited, failed, mean)
