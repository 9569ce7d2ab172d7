"""Names of companies: kept for look-up, found by what a look-up compares. Those of countries are reference records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from almanac.domain.aliases import Alias
from almanac.domain.companies import CompanyRecord
from almanac.domain.names import normal
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list

_COLUMNS = "entity, alias, scheme, main, valid_from, valid_to, source, norm"
#: Schemes of names that follow from what companies are called; tickers and slugs are contested.
NAMING = frozenset({"name", "former_name", "cik", "lei"})


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


class Names(NamedTuple):
    """The names of a company, tickers and slug aside. `spelled`: its name as each kind of payload spells it."""

    record: CompanyRecord
    spelled: tuple[str, ...]
    source: str

    def rows(self) -> set[AliasRow]:
        """
        Return the names as they are stored.

        A former name has the days the regulator states; so has the name of today, where the list of former ones holds it too.
        """
        record, today = self.record, normal(self.record.name)
        formers = [(former.name, _day(former.from_), _day(former.to)) for former in record.former_names]
        began = min((day for name, day, _ in formers if day is not None and normal(name) == today), default=None)
        spelled = [name for name in (record.legal_name, *self.spelled) if name is not None and name != record.name]
        listed: list[tuple[str, str, int, int | None, int | None]] = [
            ("name", record.name, 1, began, None),
            *(("name", name, 0, began if normal(name) == today else None, None) for name in spelled),
            *(("former_name", name, 0, first, last) for name, first, last in formers if name != record.name),
            ("cik", f"{record.cik:010d}", 1, None, None),
            ("lei", record.lei or "", 1, None, None),
        ]
        aliases: dict[tuple[str, str, int | None], AliasRow] = {}
        for scheme, alias, main, first, last in listed:
            if norm := normal(alias, scheme):
                row = AliasRow(record.entity, scheme, alias, norm, main, first, last, self.source)
                aliases.setdefault((scheme, alias, first), row)
        return set(aliases.values())


def stored(db: Database, column: str, values: Iterable[str]) -> set[AliasRow]:
    """Return the names whose column, `entity` or `norm`, has one of these values."""
    sql = f"SELECT x.{', x.'.join(AliasRow._fields)} FROM {{keys}}alias x WHERE x.{column} = k.column1"
    return set(map(AliasRow._make, db.seek(sql, [(value,) for value in sorted(values)])))


def write(db: Database, before: set[AliasRow], after: set[AliasRow]) -> None:
    """Write the difference between the stored names and those that shall be."""
    gone = sorted((row.norm, row.entity, row.scheme, row.alias, row.valid_from) for row in before - after)
    if gone:
        # Found by what is compared, which few have; by the company there may be thousands of tickers.
        db.executemany(
            "DELETE FROM alias WHERE norm = ? AND entity || '' = ? AND scheme = ? AND alias = ?"
            " AND valid_from IS NOT DISTINCT FROM ?",
            gone,
        )
    db.insert("alias", sorted(after - before, key=repr))


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
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM alias WHERE scheme IN ('name', 'former_name')"
        " AND (norm = ?1 OR (norm >= ?1 || ' ' AND norm < ?1 || '!'))",
        (norm,),
    )
    return [_alias(row) for row in rows]


def spelled_out(db: Queryable) -> list[Alias]:
    """Every name and former name of a company, for look-ups that forgive spelling."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM alias WHERE scheme IN ('name', 'former_name') ORDER BY entity, scheme DESC, alias"
    )
    return [_alias(row) for row in rows]


def _alias(row: tuple[object, ...]) -> Alias:
    entity, alias, scheme, main, first, last, source, norm = row
    return Alias(entity, alias, scheme, bool(main), first, last, source, norm)  # type: ignore[arg-type]  # the columns' types are these
