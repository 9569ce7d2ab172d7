"""What companies filed and when the public could read it: writing side, and what the derivation of statements reads."""

from __future__ import annotations

import json
from typing import NamedTuple

from almanac.domain.companies import Filing
from almanac.store.engine.protocol import Database, Queryable

#: What nearly all filings have for items.
_NO_ITEMS = "[]"
_COLUMNS = "accession, form, filed, known_at, report_date, fiscal_year, fiscal_period, items, document, description"


class Entered(NamedTuple):
    """A filing as it now stands; whether its time is exact, whether that moved, whether anything is new."""

    filing: Filing
    exact: bool
    moved: bool
    new: bool


class FilingBook:
    """The filings of one company, read once, to which payloads add."""

    def __init__(self, db: Database, entity: str) -> None:
        self._db = db
        self._entity = entity
        self._held = {filing.accession: (filing, exact) for filing, exact in every(db, entity)}

    def put(self, filing: Filing, fallback: int, source: str, payload: int) -> Entered:
        """
        Enter a filing, or what another payload adds to it.

        `fallback`: when it counts as known while only its day is told. Of exact times the earlier one counts: each is a
        moment by which the filing could be read. Of the other fields the first that is told.
        """
        held = self._held.get(filing.accession)
        if held is None:
            return self._insert(filing, fallback, source, payload)
        stored, exact = held
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
        now_exact = exact or filing.known_at is not None
        different = (merged, now_exact) != held
        if different:
            self._db.execute(
                "UPDATE filing SET form = ?, filed = ?, known_at = ?, exact = ?, report_date = ?, fiscal_year = ?,"
                " fiscal_period = ?, items = ?, document = ?, description = ?"
                " WHERE entity = ? AND known_at = ? AND accession = ?",
                (
                    merged.form, merged.filed, merged.known_at, now_exact, merged.report_date, merged.fiscal_year,
                    merged.fiscal_period, json.dumps(merged.items), merged.document, merged.description,
                    self._entity, stored.known_at, filing.accession,
                ),
            )  # fmt: skip
            self._held[filing.accession] = merged, now_exact
        return Entered(merged, now_exact, known != stored.known_at, different)

    def _insert(self, filing: Filing, fallback: int, source: str, payload: int) -> Entered:
        exact = filing.known_at is not None
        entered = filing._replace(known_at=fallback if filing.known_at is None else filing.known_at)
        self._db.execute(
            "INSERT INTO filing VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self._entity, filing.accession, filing.form, filing.filed, entered.known_at, exact, filing.report_date,
                filing.fiscal_year, filing.fiscal_period, json.dumps(filing.items), filing.document, filing.description,
                source, payload,
            ),
        )  # fmt: skip
        self._held[filing.accession] = entered, exact
        return Entered(entered, exact, moved=False, new=True)


def _first(held: int | None, told: int | None) -> int | None:
    return told if held is None else held


def of(db: Queryable, entity: str) -> dict[str, Filing]:
    """All filings of a company by accession number; `known_at` is never None."""
    found = db.execute(f"SELECT {_COLUMNS} FROM filing WHERE entity = ?", (entity,))
    return {row[0]: _filing(row) for row in found}


def _filing(row: tuple[object, ...]) -> Filing:
    accession, form, filed, known, report, year, period, items, document, description = row
    told = () if items == _NO_ITEMS else tuple(json.loads(items))  # type: ignore[arg-type]  # a text
    return Filing(accession, form, filed, known, report, year, period, told, document, description)  # type: ignore[arg-type]  # the columns' types are these


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
