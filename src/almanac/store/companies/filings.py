"""What companies filed and when the public could read it: writing side, and what the derivation of statements reads."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.domain.companies import Filing
from almanac.domain.filings import known_at
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list

_COLUMNS = (
    "x.entity, x.exact, x.accession, x.form, x.filed, x.known_at, x.report_date, x.fiscal_year, x.fiscal_period, x.items,"
    " x.document, x.description"
)
#: A filing, whose `known_at` is never None, and whether that is exact.
Timed = tuple[Filing, bool]
#: Filings by entity and accession number.
Filings = dict[tuple[str, str], Timed]


def enter(db: Database, filed: Sequence[tuple[str, Filing]], source: str, payload: int) -> tuple[Filings, Filings]:
    """
    Enter the filings of one payload, each with its company, or what the payload adds to those that are stored.

    A filing of which only the day is stated counts as known from the end of that day. Of exact times the earlier one
    counts: each is a moment by which the filing could be read. Of two days of a report the one counts that is not the end of
    a month, and of the other fields the first that is stated.
    Returns the filings of which anything is new, and as they were before those of them that were stored.
    """
    before = stored(db, dict.fromkeys(entity for entity, _ in filed))
    after = dict(before)
    for entity, filing in filed:
        key = (entity, filing.accession)
        after[key] = _merged(after.get(key), filing)
    changed = {key: now for key, now in after.items() if before.get(key) != now}
    replaced = {key: before[key] for key in changed if key in before}
    if replaced:
        keys = sorted((entity, filing.known_at, accession) for (entity, accession), (filing, _) in replaced.items())
        db.executemany("DELETE FROM filing WHERE entity = ? AND known_at = ? AND accession = ?", keys)
    rows = [
        (
            entity, *filing[:4], exact, filing.report_date, filing.fiscal_year, filing.fiscal_period,
            msgspec.json.encode(filing.items).decode(), filing.document, filing.description, source, payload,
        )
        for (entity, _), (filing, exact) in changed.items()
    ]  # fmt: skip
    db.insert("filing", rows)
    return changed, replaced


def _merged(stored_filing: Timed | None, filing: Filing) -> Timed:
    """Return a stored filing with what another payload adds to it."""
    exact = filing.known_at is not None
    if stored_filing is None:
        return (filing if exact else filing._replace(known_at=known_at(filing.filed))), exact
    stored, was_exact = stored_filing
    moments = [timed.known_at for timed, is_exact in (stored_filing, (filing, exact)) if is_exact]
    # Data sets round the day of a report to the end of a month, the index does not.
    days = [day for day in (stored.report_date, filing.report_date) if day is not None]
    merged = (
        stored.accession,
        # The regulator's index is the authority on the form; facts may say "Other".
        filing.form if exact and not was_exact else stored.form,
        stored.filed if was_exact else filing.filed,
        min(filter(None, moments), default=stored.known_at),
        min(days, key=lambda day: (_ends_month(day), day), default=None),
        # A fiscal year of 0 is stated: by its truth value, two payloads read in turn would change the filing for ever.
        *(second if first in (None, "", ()) else first for first, second in zip(stored[5:], filing[5:], strict=True)),
    )
    return Filing._make(merged), was_exact or exact


def _ends_month(ordinal: int) -> bool:
    day = date.fromordinal(ordinal)
    return day.day == monthrange(day.year, day.month)[1]


def of(db: Queryable, entity: str) -> dict[str, Filing]:
    """Return all filings of a company by accession number; `known_at` is never None."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM filing x WHERE x.entity = ?", (entity,))
    return {row[2]: _filing(row)[0] for row in rows}


def stored(db: Database, entities: Iterable[str]) -> Filings:
    """Return all filings of companies."""
    rows = db.seek(f"SELECT {_COLUMNS} FROM {{keys}}filing x WHERE x.entity = k.column1", [(key,) for key in entities])
    return {(row[0], row[2]): _filing(row) for row in rows}


def _filing(row: Sequence[Any]) -> Timed:
    _, exact, *fields, items, document, description = row
    filing = Filing._make((*fields, msgspec.json.decode(items, type=tuple[str, ...]), document, description))
    return filing, bool(exact)


#: What its people and its holders file about a company, not the company itself.
_OTHERS = ("3", "4", "5", "144", "SC 13D", "SC 13G", "SCHEDULE 13D", "SCHEDULE 13G")
_BY_OTHERS = in_list("replace(x.form, '/A', '')", _OTHERS)


def newest(db: Queryable, entity: str, *, known_by: int, filed_from: int, limit: int) -> list[Filing]:
    """
    Return the newest filings of a company that were known by a moment and filed on a day (an ordinal) or later.

    What insiders and holders file about it is left out: it would be most of all.
    """
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM filing x WHERE x.entity = ? AND x.known_at <= ? AND x.filed >= ?"
        f" AND NOT ({_BY_OTHERS}) ORDER BY x.known_at DESC, x.accession DESC LIMIT ?",
        (entity, known_by, filed_from, *_OTHERS, limit),
    )
    return [_filing(row)[0] for row in rows]
