"""What companies filed and when the public could read it: writing side, and what the derivation of statements reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from almanac.domain.companies import Filing
from almanac.domain.filings import known_at
from almanac.store.engine.protocol import Database, Queryable

#: What nearly all filings have for items.
_NO_ITEMS = "[]"
_COLUMNS = (
    "x.entity, x.accession, x.form, x.filed, x.known_at, x.report_date, x.fiscal_year, x.fiscal_period, x.items, x.document,"
    " x.description, x.exact"
)


class EnteredFiling(NamedTuple):
    """A filing as it now stands: whether its time is exact, whether that moved, and whether anything is new."""

    entity: str
    filing: Filing
    exact: bool
    moved: bool
    new: bool


def enter(db: Database, filed: Sequence[tuple[str, Filing]], source: str, payload: int) -> list[EnteredFiling]:
    """
    Enter the filings of one payload, each with its company, or what the payload adds to those that are stored.

    A filing of which only the day is stated counts as known from the end of that day. Of exact times the earlier one
    counts: each is a moment by which the filing could be read. Of the other fields the first that is stated counts.
    """
    before = stored(db, {entity for entity, _ in filed})
    after = dict(before)
    entered = []
    for entity, filing in filed:
        key = (entity, filing.accession)
        held = after.get(key)
        after[key] = filing, exact = _merged(held, filing)
        moved = held is not None and held[0].known_at != filing.known_at
        entered.append(EnteredFiling(entity, filing, exact, moved, after[key] != held))
    changed = {key: now for key, now in after.items() if before.get(key) != now}
    db.insert(
        "filing",
        [
            (entity, accession, *_columns(filing, exact), source, payload)
            for (entity, accession), (filing, exact) in changed.items()
            if (entity, accession) not in before
        ],
    )
    updates = [
        (*_columns(*now), entity, before[entity, accession][0].known_at, accession)
        for (entity, accession), now in changed.items()
        if (entity, accession) in before
    ]
    if updates:
        db.executemany(
            "UPDATE filing SET form = ?, filed = ?, known_at = ?, exact = ?, report_date = ?, fiscal_year = ?,"
            " fiscal_period = ?, items = ?, document = ?, description = ?"
            " WHERE entity = ? AND known_at = ? AND accession = ?",
            updates,
        )
    return entered


def _merged(held: tuple[Filing, bool] | None, filing: Filing) -> tuple[Filing, bool]:
    """Return a stored filing (and whether its time is exact) with what another payload adds to it."""
    exact = filing.known_at is not None
    if held is None:
        return (filing if exact else filing._replace(known_at=known_at(filing.filed))), exact
    stored, was_exact = held
    assert stored.known_at is not None
    known = stored.known_at
    if filing.known_at is not None:
        known = min(known, filing.known_at) if was_exact else filing.known_at
    merged = Filing(
        stored.accession,
        # The regulator's index is the authority on the form; facts may say "Other".
        filing.form if exact and not was_exact else stored.form,
        stored.filed if was_exact else filing.filed,
        known,
        _first(stored.report_date, filing.report_date),
        _first(stored.fiscal_year, filing.fiscal_year),
        stored.fiscal_period or filing.fiscal_period,
        stored.items or filing.items,
        stored.document or filing.document,
        stored.description or filing.description,
    )
    return merged, was_exact or exact


def _columns(filing: Filing, exact: bool) -> tuple[object, ...]:
    return (
        filing.form, filing.filed, filing.known_at, exact, filing.report_date, filing.fiscal_year, filing.fiscal_period,
        json.dumps(filing.items), filing.document, filing.description,
    )  # fmt: skip


def _first(held: int | None, told: int | None) -> int | None:
    return told if held is None else held


def of(db: Queryable, entity: str) -> dict[str, Filing]:
    """Return all filings of a company by accession number; `known_at` is never None."""
    return {
        row[1]: _filing(row)[0] for row in db.execute(f"SELECT {_COLUMNS} FROM filing x WHERE entity = ?", (entity,))
    }


def stored(db: Database, entities: Iterable[str]) -> dict[tuple[str, str], tuple[Filing, bool]]:
    """Return all filings of companies by entity and accession number, each with whether its time is exact."""
    rows = db.seek(f"SELECT {_COLUMNS} FROM {{keys}}filing x WHERE x.entity = k.column1", [(key,) for key in entities])
    return {(row[0], row[1]): _filing(row) for row in rows}


def _filing(row: Sequence[Any]) -> tuple[Filing, bool]:
    _, accession, form, filed, known, report, year, period, items, document, description, exact = row
    told = () if items == _NO_ITEMS else tuple(json.loads(items))
    return Filing(accession, form, filed, known, report, year, period, told, document, description), bool(exact)
