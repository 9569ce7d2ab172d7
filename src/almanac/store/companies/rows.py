"""Companies as they are read: one by any of its names, several by id, and the names themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from almanac.domain.aliases import Alias
from almanac.domain.companies import DELISTING_FORMS, CompanyRecord
from almanac.domain.names import normal
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sql_compat import in_list

_ENTITY = re.compile(r"company_[0-9]{10}")


class Company(NamedTuple):
    """
    One row of `company`. Its slug and its ticker are told apart from those of others.

    `country` is an entity id; `ticker` and `exchange` are those of the main listing of today.
    """

    entity: str
    cik: int
    source: str
    #: The name as a slug, before others of that name are told apart.
    base: str
    slug: str
    name: str
    ticker: str | None
    exchange: str | None
    country: str | None
    currency: str | None
    sector: str
    industry: str | None
    template: str
    #: 1 if it has statements.
    reports: int
    #: `record` as JSON.
    body: str

    @property
    def record(self) -> CompanyRecord:
        """Return what its payloads say of it, put together."""
        return msgspec.json.decode(self.body, type=CompanyRecord)


class AliasRow(NamedTuple):
    """One row of `alias`. Days are ordinals; `seen`: of a ticker, the last day on which a list had it."""

    entity: str
    scheme: str
    alias: str
    norm: str
    main: int
    valid_from: int | None = None
    valid_to: int | None = None
    source: str | None = None
    seen: int | None = None


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
    return by_ids(db, [entity]).get(entity)


def by_ids(db: Queryable, entities: Iterable[str]) -> dict[str, Company]:
    """Several companies by entity id; those that are none are left out."""
    wanted = list(entities)
    columns = ", ".join(Company._fields)
    rows = db.execute(f"SELECT {columns} FROM company WHERE {in_list('entity', wanted)}", wanted)
    return {row[0]: Company._make(row) for row in rows}


def names(db: Queryable) -> dict[str, str]:
    """Entity id → name, of all companies."""
    return dict(db.execute("SELECT entity, name FROM company"))


def tickers(db: Queryable, company: Company) -> list[str]:
    """Tickers a company has today, the main one first, then in the order of its list."""
    names = of_entity(db, company.entity)
    current = {alias.norm for alias in names if alias.scheme == "ticker" and alias.valid_to is None}
    return [listing.ticker for listing in company.record.listings if normal(listing.ticker, "ticker") in current]


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


def subjects(db: Queryable) -> Iterator[tuple[str, str, str, bool]]:
    """(entity id, name, slug, whether it has statements) of all companies."""
    for entity, name, slug, reports in db.execute("SELECT entity, name, slug, reports FROM company"):
        yield entity, name, slug, bool(reports)


_BY_ALIAS = (
    "SELECT c.entity FROM alias a JOIN company c USING(entity) WHERE a.norm = ? AND a.scheme = ? AND a.valid_to IS NULL"
    " ORDER BY c.reports DESC, c.cik LIMIT 1"
)


# -- names: those of countries are reference records --------------------------------------------------------------------


def of_entity(db: Queryable, entity: str) -> list[Alias]:
    """Return all names of a company."""
    return _aliases(db, "entity = ?", [entity])


def matching(db: Queryable, norms: Sequence[str]) -> list[Alias]:
    """Return names of companies that compare equal to one of these; the caller tells which schemes it meant."""
    return _aliases(db, in_list("norm", norms), norms)


def beginning(db: Queryable, norm: str) -> list[Alias]:
    """Return names and former names of companies that are these words (a normal form), or begin with them and go on with others."""
    return _aliases(db, f"{_NAMES} AND (norm = ?1 OR (norm >= ?1 || ' ' AND norm < ?1 || '!'))", [norm])


def spelled_out(db: Queryable) -> list[Alias]:
    """Return every name and former name of a company, for look-ups that forgive spelling."""
    return _aliases(db, f"{_NAMES} ORDER BY entity, scheme DESC, alias")


_NAMES = "scheme IN ('name', 'former_name')"


def _aliases(db: Queryable, where: str, values: Sequence[str] = ()) -> list[Alias]:
    rows = db.execute(
        f"SELECT entity, alias, scheme, main, valid_from, valid_to, source, norm FROM alias WHERE {where}", values
    )
    return [Alias(entity, alias, scheme, bool(main), *more) for entity, alias, scheme, main, *more in rows]
