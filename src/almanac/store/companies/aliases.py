"""Names of companies: kept for look-up, found by what a look-up compares. Those of countries are reference records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from almanac.domain.aliases import Alias
from almanac.domain.companies import FormerName
from almanac.domain.names import normal
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list

_COLUMNS = "entity, alias, scheme, main, valid_from, valid_to, source, norm"
_NAMES_OF = (
    "SELECT x.entity, x.scheme, x.alias, x.norm, x.main, x.valid_from, x.valid_to FROM {keys}alias x"
    " WHERE x.entity = k.column1 AND x.scheme NOT IN ('ticker', 'slug')"
)

#: Scheme, alias, normal form, whether it is the main one, first and last day (ordinals).
_Name = tuple[str, str, str, bool, int | None, int | None]


class Names(NamedTuple):
    """The names of a company, tickers and slug aside. `spelled`: its name as each kind of payload spells it."""

    cik: int
    name: str
    legal_name: str | None
    former_names: tuple[FormerName, ...]
    lei: str | None
    spelled: tuple[str, ...]
    source: str

    def rows(self) -> set[_Name]:
        """
        Return the names as they are stored.

        A former name has the days the regulator states; so has the name of today, where the list of former ones holds it too.
        """
        wanted: dict[tuple[str, str, int | None], _Name] = {}

        def add(
            scheme: str, alias: str, first: int | None = None, last: int | None = None, *, main: bool = False
        ) -> None:
            norm = normal(alias, scheme)
            if norm:
                wanted.setdefault((scheme, alias, first), (scheme, alias, norm, main, first, last))

        today = normal(self.name)
        began = [
            day
            for former in self.former_names
            if normal(former.name) == today and (day := _day(former.from_)) is not None
        ]
        add("name", self.name, min(began, default=None), main=True)
        for name in (self.legal_name, *self.spelled):
            if name is not None and name != self.name:
                add("name", name, min(began, default=None) if normal(name) == today else None)
        for former in self.former_names:
            if former.name != self.name:
                add("former_name", former.name, _day(former.from_), _day(former.to))
        add("cik", f"{self.cik:010d}", main=True)
        if self.lei is not None:
            add("lei", self.lei, main=True)
        return set(wanted.values())


def put_names(db: Database, wanted: Mapping[str, Names]) -> set[str]:
    """Make these the names of companies. Returns the companies of which any differs from before."""
    stored: dict[str, set[_Name]] = defaultdict(set)
    for entity, scheme, alias, norm, main, first, last in db.seek(_NAMES_OF, [(entity,) for entity in wanted]):
        stored[entity].add((scheme, alias, norm, bool(main), first, last))
    changed = {entity: rows for entity, names in wanted.items() if (rows := names.rows()) != stored[entity]}
    if changed:
        db.executemany(
            "DELETE FROM alias WHERE entity = ? AND scheme NOT IN ('ticker', 'slug')", [(entity,) for entity in changed]
        )
        db.insert(
            "alias",
            [
                (entity, scheme, alias, norm, int(main), first, last, wanted[entity].source, None)
                for entity, rows in changed.items()
                for scheme, alias, norm, main, first, last in sorted(rows, key=repr)
            ],
        )
    return set(changed)


def put_slugs(db: Database, slugs: Sequence[tuple[str, str, str]]) -> None:
    """Make these the slugs of companies: entity, slug and source of each."""
    if slugs:
        db.executemany("DELETE FROM alias WHERE entity = ? AND scheme = 'slug'", [(entity,) for entity, _, _ in slugs])
        db.insert(
            "alias", [(entity, "slug", slug, slug, 1, None, None, source, None) for entity, slug, source in slugs]
        )


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
