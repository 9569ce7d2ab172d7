"""Names of companies: kept for look-up, found by what a look-up compares. Those of countries are reference records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from almanac.domain.aliases import Alias
from almanac.domain.companies import CompanyRecord
from almanac.domain.names import normal
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list

_COLUMNS = "entity, alias, scheme, main, valid_from, valid_to, source, norm"


def put_names(db: Database, entity: str, record: CompanyRecord, spelled: Iterable[str], source: str) -> bool:
    """
    Make these the names of a company, tickers and slug aside. Returns whether any differs from before.

    `spelled`: the name as each kind of payload spells it. A former name has the days the regulator states; so has the
    name of today, where the list of former ones holds it too.
    """
    wanted: dict[tuple[str, str, int | None], tuple[str, bool, int | None]] = {}

    def add(scheme: str, alias: str, first: int | None = None, last: int | None = None, *, main: bool = False) -> None:
        norm = normal(alias, scheme)
        if norm:
            wanted.setdefault((scheme, alias, first), (norm, main, last))

    today = normal(record.name)
    began = [
        day
        for former in record.former_names
        if normal(former.name) == today and (day := _day(former.from_)) is not None
    ]
    add("name", record.name, min(began, default=None), main=True)
    for name in (record.legal_name, *spelled):
        if name is not None and name != record.name:
            add("name", name, min(began, default=None) if normal(name) == today else None)
    for former in record.former_names:
        if former.name != record.name:
            add("former_name", former.name, _day(former.from_), _day(former.to))
    add("cik", f"{record.cik:010d}", main=True)
    if record.lei is not None:
        add("lei", record.lei, main=True)
    rows = {(scheme, alias, norm, main, first, last) for (scheme, alias, first), (norm, main, last) in wanted.items()}
    stored = {
        (scheme, alias, norm, bool(main), first, last)
        for scheme, alias, norm, main, first, last in db.execute(
            "SELECT scheme, alias, norm, main, valid_from, valid_to FROM alias WHERE entity = ?"
            " AND scheme NOT IN ('ticker', 'slug')",
            (entity,),
        )
    }
    if rows == stored:
        return False
    db.execute("DELETE FROM alias WHERE entity = ? AND scheme NOT IN ('ticker', 'slug')", (entity,))
    db.insert(
        "alias",
        [
            (entity, scheme, alias, norm, int(main), first, last, source, None)
            for scheme, alias, norm, main, first, last in sorted(rows, key=repr)
        ],
    )
    return True


def put_slug(db: Database, entity: str, slug: str, source: str) -> None:
    """Make this the slug of a company."""
    db.execute("DELETE FROM alias WHERE entity = ? AND scheme = 'slug'", (entity,))
    db.execute("INSERT INTO alias VALUES(?, 'slug', ?, ?, 1, NULL, NULL, ?, NULL)", (entity, slug, slug, source))


def _day(text: str | None) -> int | None:
    """Ordinal of a day `YYYY-MM-DD`, whatever follows it."""
    return None if text is None else date.fromisoformat(text[:10]).toordinal()


def of_entity(db: Queryable, entity: str) -> list[Alias]:
    """All names of a company."""
    return [_alias(row) for row in db.execute(f"SELECT {_COLUMNS} FROM alias WHERE entity = ?", (entity,))]


def matching(db: Queryable, norms: Sequence[str]) -> list[Alias]:
    """Names of companies that compare equal to one of these; the caller tells which schemes it meant."""
    return [
        _alias(row) for row in db.execute(f"SELECT {_COLUMNS} FROM alias WHERE {in_list('norm', norms)}", list(norms))
    ]


def beginning(db: Queryable, norm: str) -> list[Alias]:
    """Names and former names of companies that are these words (a normal form), or begin with them and go on with others."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM alias WHERE scheme IN ('name', 'former_name')"
        " AND (norm = ?1 OR (norm >= ?1 || ' ' AND norm < ?1 || '!'))",
        (norm,),
    )
    return [_alias(row) for row in found]


def spelled_out(db: Queryable) -> list[Alias]:
    """Every name and former name of a company, for look-ups that forgive spelling."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM alias WHERE scheme IN ('name', 'former_name') ORDER BY entity, scheme DESC, alias"
    )
    return [_alias(row) for row in found]


def _alias(row: tuple[object, ...]) -> Alias:
    entity, alias, scheme, main, first, last, source, norm = row
    return Alias(entity, alias, scheme, bool(main), first, last, source, norm)  # type: ignore[arg-type]  # the columns' types are these
