"""Companies as they are read: one by any of its names, several by id, and what one filed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import DELISTING_FORMS, CompanyRecord
from almanac.domain.names import normal
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sql_compat import in_list

_COLUMNS = "entity, cik, source, slug, name, ticker, exchange, country, currency, sector, industry, template, reports"
_ENTITY = re.compile(r"company_[0-9]{10}")


class Company(NamedTuple):
    """One row of `company`. `country` is an entity id, `ticker` and `exchange` those of the main listing of today."""

    entity: str
    cik: int
    source: str
    slug: str
    name: str
    ticker: str | None
    exchange: str | None
    country: str | None
    currency: str | None
    sector: str
    industry: str | None
    template: str
    #: Whether it has statements.
    reports: bool
    record: CompanyRecord


def by_lookup(db: Queryable, text: str) -> Company | None:
    """
    Return a company by entity id, CIK (padded or not), ticker of today, LEI or slug, in this order; case does not matter.

    A ticker that two companies list on one day leads to the one with statements, then to the lower CIK.
    """
    name = text.strip().lower()
    if _ENTITY.fullmatch(name):
        return by_id(db, name)
    cik = normal(text, "cik")
    found = by_id(db, f"company_{int(cik):010d}") if cik else None
    for scheme in ("ticker", "lei", "slug"):
        if found is None:
            entity = db.execute(_BY_ALIAS, (normal(text, scheme), scheme)).get
            found = None if entity is None else by_id(db, entity)
    return found


def by_id(db: Queryable, entity: str) -> Company | None:
    """Return a company by its entity id."""
    row = db.execute(f"SELECT {_COLUMNS}, body FROM company WHERE entity = ?", (entity,)).fetchone()
    return None if row is None else _company(row)


def by_name(db: Queryable, name: str) -> Company | None:
    """Return a company by entity id or slug, as an entity is addressed."""
    row = db.execute(f"SELECT {_COLUMNS}, body FROM company WHERE entity = ?1 OR slug = ?1", (name.lower(),)).fetchone()
    return None if row is None else _company(row)


def by_ids(db: Queryable, entities: Iterable[str]) -> dict[str, Company]:
    """Several companies by entity id; those that are none are left out."""
    wanted = list(entities)
    found = db.execute(f"SELECT {_COLUMNS}, body FROM company WHERE {in_list('entity', wanted)}", wanted)
    return {row[0]: _company(row) for row in found}


def names(db: Queryable) -> dict[str, str]:
    """Entity id → name, of all companies."""
    return dict(db.execute("SELECT entity, name FROM company"))


def tickers(db: Queryable, company: Company) -> list[str]:
    """Tickers a company has today, the main one first, then in the order of its list."""
    held = {
        norm
        for (norm,) in db.execute(
            "SELECT norm FROM alias WHERE entity = ? AND scheme = 'ticker' AND valid_to IS NULL", (company.entity,)
        )
    }
    return [one.ticker for one in company.record.listings if normal(one.ticker, "ticker") in held]


def last_tickers(db: Queryable, entities: Iterable[str], listed_at: int | None = None) -> dict[str, str]:
    """
    Return the last ticker of each company that has none today, by entity id.

    With `listed_at` (unix seconds) only of those listed then: seen in a list on that day or later, or not yet taken off an
    exchange by a filing.
    """
    wanted, listed, bounds = list(entities), "", tuple[int, ...]()
    if listed_at is not None:
        farewells = ", ".join(f"'{form}'" for form in DELISTING_FORMS)
        listed = (
            " AND (a.valid_to >= ? OR NOT EXISTS (SELECT 1 FROM filing f WHERE f.entity = a.entity"
            f" AND f.form IN ({farewells}) AND f.known_at <= ?))"
        )
        bounds = day_at(listed_at), listed_at
    found = db.execute(
        f"SELECT a.entity, a.alias FROM alias a JOIN company c USING(entity) WHERE {in_list('a.entity', wanted)}"
        f" AND a.scheme = 'ticker' AND a.valid_to IS NOT NULL AND c.ticker IS NULL{listed}"
        " ORDER BY a.valid_to, length(a.norm) DESC, a.norm DESC",
        (*wanted, *bounds),
    )
    return dict(found)


def countries(db: Queryable, entities: Iterable[str]) -> dict[str, str | None]:
    """Entity id → entity id of its country, of those that are companies."""
    wanted = list(entities)
    return dict(db.execute(f"SELECT entity, country FROM company WHERE {in_list('entity', wanted)}", wanted))


def subjects(db: Queryable) -> Iterator[tuple[str, str, str, bool]]:
    """(entity id, name, slug, whether it has statements) of all companies."""
    for entity, name, slug, reports in db.execute("SELECT entity, name, slug, reports FROM company"):
        yield entity, name, slug, bool(reports)


def _company(row: tuple[Any, ...]) -> Company:
    *columns, reports, body = row
    return Company._make((*columns, bool(reports), msgspec.json.decode(body, type=CompanyRecord)))


_BY_ALIAS = (
    "SELECT c.entity FROM alias a JOIN company c USING(entity) WHERE a.norm = ? AND a.scheme = ? AND a.valid_to IS NULL"
    " ORDER BY c.reports DESC, c.cik LIMIT 1"
)


# -- filings --------------------------------------------------------------------------------------------------------------


class FilingRow(NamedTuple):
    """One filing as a list shows it. Days are ordinals, `known` unix seconds."""

    accession: str
    form: str
    filed: int
    known: int
    report_date: int | None
    document: str | None


#: What its people and its holders file about a company, not the company itself.
_OTHERS = ("3", "4", "5", "144", "SC 13D", "SC 13G", "SCHEDULE 13D", "SCHEDULE 13G")


def filings(db: Queryable, entity: str, *, known_by: int, filed_from: int, limit: int) -> list[FilingRow]:
    """
    Return the newest filings of a company that were known by a moment and filed on a day (an ordinal) or later.

    What insiders and holders file about it is left out: it would be most of all.
    """
    marks = ", ".join("?" * len(_OTHERS))
    found = db.execute(
        "SELECT accession, form, filed, known_at, report_date, document FROM filing WHERE entity = ? AND known_at <= ?"
        f" AND filed >= ? AND replace(form, '/A', '') NOT IN ({marks}) ORDER BY known_at DESC, accession DESC LIMIT ?",
        (entity, known_by, filed_from, *_OTHERS, limit),
    )
    return [FilingRow(*row) for row in found]
