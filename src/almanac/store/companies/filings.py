"""What companies filed and when the public could read it: writing side, and what the derivation of statements reads."""

from __future__ import annotations

import json
from typing import NamedTuple

from almanac.domain.companies import Filing
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable

_COLUMNS = "accession, form, filed, known_at, report_date, fiscal_year, fiscal_period, items, document, description"


class Entered(NamedTuple):
    """A filing as it now stands; whether its time is exact, whether that moved, whether anything is new."""

    filing: Filing
    exact: bool
    moved: bool
    new: bool


def put(db: Database, entity: str, filing: Filing, fallback: int, source: str, payload: int) -> Entered:
    """
    Enter a filing, or what another payload adds to it.

    `fallback`: when it counts as known while only its day is told. Of exact times the earlier one counts: each is a
    moment by which the filing could be read. Of the other fields the first that is told.
    """
    row = db.execute(
        f"SELECT {_COLUMNS}, exact FROM filing WHERE entity = ? AND accession = ?", (entity, filing.accession)
    ).fetchone()
    if row is None:
        known = fallback if filing.known_at is None else filing.known_at
        db.execute(
            "INSERT INTO filing VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                entity, filing.accession, filing.form, filing.filed, known, filing.known_at is not None, filing.report_date,
                filing.fiscal_year, filing.fiscal_period, json.dumps(filing.items), filing.document, filing.description,
                source, payload,
            ),
        )  # fmt: skip
        return Entered(filing._replace(known_at=known), filing.known_at is not None, moved=False, new=True)
    stored, exact = _filing(row[:-1]), bool(row[-1])
    assert stored.known_at is not None
    known = stored.known_at
    if filing.known_at is not None:
        known = min(known, filing.known_at) if exact else filing.known_at
    merged = Filing(
        stored.accession,
        # The regulator's index is the authority on the form; facts may say "Other".
        filing.form if filing.known_at is not None and not exact else stored.form,
        stored.filed if exact else filing.filed,
        known,
        _first(stored.report_date, filing.report_date),
        _first(stored.fiscal_year, filing.fiscal_year),
        stored.fiscal_period or filing.fiscal_period,
        stored.items or filing.items,
        stored.document or filing.document,
        stored.description or filing.description,
    )
    moved = known != stored.known_at
    different = merged != stored or (filing.known_at is not None and not exact)
    if different:
        db.execute(
            "UPDATE filing SET form = ?, filed = ?, known_at = ?, exact = ?, report_date = ?, fiscal_year = ?,"
            " fiscal_period = ?, items = ?, document = ?, description = ? WHERE entity = ? AND accession = ?",
            (
                merged.form, merged.filed, merged.known_at, exact or filing.known_at is not None, merged.report_date,
                merged.fiscal_year, merged.fiscal_period, json.dumps(merged.items), merged.document, merged.description,
                entity, filing.accession,
            ),
        )  # fmt: skip
    return Entered(merged, exact or filing.known_at is not None, moved, different)


def _first(held: int | None, told: int | None) -> int | None:
    return told if held is None else held


def of(db: Queryable, entity: str) -> dict[str, Filing]:
    """All filings of a company by accession number; `known_at` is never None."""
    found = db.execute(f"SELECT {_COLUMNS} FROM filing WHERE entity = ?", (entity,))
    return {row[0]: _filing(row) for row in found}


def _filing(row: tuple[object, ...]) -> Filing:
    accession, form, filed, known, report, year, period, items, document, description = row
    return Filing(accession, form, filed, known, report, year, period, tuple(json.loads(items)), document, description)  # type: ignore[arg-type]  # the columns' types are these


def every(db: Queryable, entity: str) -> list[tuple[Filing, bool]]:
    """All filings of a company, each with whether its time is exact."""
    found = db.execute(f"SELECT {_COLUMNS}, exact FROM filing WHERE entity = ?", (entity,))
    return [(_filing(row[:-1]), bool(row[-1])) for row in found]


def times(db: Queryable, entity: str) -> tuple[dict[str, int], frozenset[str]]:
    """When each filing of a company was known, by accession number; and those of which only the day is told."""
    known: dict[str, int] = {}
    by_day: set[str] = set()
    for accession, moment, exact in db.execute(
        "SELECT accession, known_at, exact FROM filing WHERE entity = ?", (entity,)
    ):
        known[accession] = moment
        if not exact:
            by_day.add(accession)
    return known, frozenset(by_day)
