"""Statements of a company as they were known at a moment, ready for the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from almanac.domain.periods import EVERY_KEY, end_of, lowest_key
from almanac.store.companies.statement_bodies import unpack
from almanac.store.companies.statement_book import BALANCE, CASH_FLOW, INCOME
from almanac.store.engine.queryable import Queryable

KINDS = (INCOME, BALANCE, CASH_FLOW)
FREQUENCIES = ("A", "Q", "S")


class StatementRow(NamedTuple):
    """One statement: its frequency, period key, the moment it was known (unix seconds) and its body as JSON."""

    frequency: str
    period: int
    known: int
    body: bytes


def newest(
    db: Queryable,
    entity: str,
    kind: int,
    frequencies: Iterable[str],
    *,
    version: int,
    known_by: int,
    ends_from: date | None,
    limit: int,
) -> list[StatementRow]:
    """
    The newest statements of one kind, each as last known by a moment: by last day, of one day annual before quarterly.
    Beside quarters a half-year stands only where no quarter ends with it.

    `ends_from`: periods must end on or after this day.
    """
    low = 0 if ends_from is None else lowest_key(ends_from)
    found = [
        StatementRow(frequency, period, known, unpack(body))
        for frequency in frequencies
        for period, known, body in db.execute(
            _NEWEST, (version, known_by, entity, kind, frequency, low, EVERY_KEY[1], limit)
        )
    ]
    quarters = {end_of(one.period) for one in found if one.frequency == "Q"}
    found = [one for one in found if one.frequency != "S" or end_of(one.period) not in quarters]
    found.sort(key=lambda one: (-end_of(one.period).toordinal(), one.frequency))
    return found[:limit]


def last_period(db: Queryable, entity: str, *, version: int, known_by: int, ends_from: date | None) -> int | None:
    """Key of the newest period a company has a statement of, as known by a moment; None where there is none."""
    found = [
        told.period
        for kind in KINDS
        for told in newest(
            db, entity, kind, FREQUENCIES, version=version, known_by=known_by, ends_from=ends_from, limit=1
        )
    ]
    return max(found, default=None)


_OPEN = "{0}.from_version <= ?1 AND {0}.to_version > ?1 AND {0}.known_at <= ?2"
#: A version counts if no later one was known; an empty body says that there is no statement any more.
_NEWEST = (
    "SELECT s.period, s.known_at, s.body FROM statement s WHERE s.entity = ?3 AND s.kind = ?4 AND s.frequency = ?5"
    f" AND s.period BETWEEN ?6 AND ?7 AND {_OPEN.format('s')} AND length(s.body) > 0"
    " AND NOT EXISTS (SELECT 1 FROM statement z WHERE z.entity = s.entity AND z.kind = s.kind"
    f" AND z.frequency = s.frequency AND z.period = s.period AND z.known_at > s.known_at AND {_OPEN.format('z')})"
    " ORDER BY s.period DESC LIMIT ?8"
)
