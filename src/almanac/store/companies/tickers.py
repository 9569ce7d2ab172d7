"""
Tickers through time, as far as payloads state them: who has one today, and until when another had it.

A list of tickers says who has them when it is fetched, not since when. So a ticker that is listed today has no dates, and
one that no longer is ended with the day it was last seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from almanac.domain.companies import Listing
from almanac.domain.names import normal
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database

#: Kinds of payload that list tickers. Submissions always do: an empty list there is the end of all listings.
LISTING = ("submissions", "tickers")


@dataclass(frozen=True)
class Claim:
    """The tickers a company has by its newest list, the main one first, as fetched at a moment (unix seconds)."""

    listings: tuple[Listing, ...]
    at: int
    #: Ticker → moment, of the older list, where it names some that the newest does not.
    older: Mapping[str, int]

    @cached_property
    def norms(self) -> list[str]:
        """Return what a look-up compares of each ticker, in their order."""
        return [normal(listing.ticker, "ticker") for listing in self.listings]

    @cached_property
    def listed(self) -> frozenset[str]:
        """Collect the normal forms of tickers, to look one up in: a company may list thousands."""
        return frozenset(self.norms)


def newest_list(parts: Mapping[str, tuple[tuple[Listing, ...], int]]) -> Claim:
    """Return what a company's parts claim: kind → (listings, fetched at). Of two lists the newer one counts."""
    lists = [
        (fetched_at, kind, listings)
        for kind, (listings, fetched_at) in parts.items()
        if kind in LISTING and (listings or kind == "submissions")
    ]
    if not lists:
        return Claim((), 0, {})
    # Fetched in one second, the submissions count: they know the exchanges.
    lists.sort(key=lambda each: (each[0], each[1] == "submissions"), reverse=True)
    fetched_at, _, listings = lists[0]
    current = {listing.ticker for listing in listings}
    older = {listing.ticker: at for at, _, others in lists[1:] for listing in others if listing.ticker not in current}
    return Claim(listings, fetched_at, older)


class _Row(NamedTuple):
    """A ticker that a company has or had. Days are ordinals; `is_main` None: it isn't decided yet."""

    alias: str
    is_main: bool | None
    valid_to: int | None
    source: str | None
    seen: int


#: (entity, normal form of a ticker) → row.
_Rows = dict[tuple[str, str], _Row]


def update(
    db: Database,
    claims: Mapping[str, tuple[Claim, str]],
    seen: Mapping[str, Mapping[str, int]],
    claims_of: Callable[[Iterable[str]], Mapping[str, Claim]],
) -> set[str]:
    """
    Write the tickers of companies that follow from their claims, each with its source. Returns the companies whose tickers changed.

    Of several companies that claim one ticker, the one whose list is newest has it; the others had it until the day of
    theirs. `seen`: entity → ticker → moment of other lists that named it. `claims_of` returns what other companies claim.
    """
    before = _stored(db, "entity", claims)
    norms = {norm for claim, _ in claims.values() for norm in claim.norms} | {norm for _, norm in before}
    before |= _stored(db, "norm", norms)
    rows = dict(before)
    for entity, (claim, source) in claims.items():
        sightings = [*claim.older.items(), *seen.get(entity, {}).items()]
        for ticker, at in [*sightings, *((listing.ticker, claim.at) for listing in claim.listings)]:
            key, day = (entity, normal(ticker, "ticker")), day_at(at)
            row = rows.get(key) or _Row(ticker, None, None, source, day)
            rows[key] = row._replace(seen=max(row.seen, day))
            norms.add(key[1])
        for listing, norm in zip(claim.listings, claim.norms, strict=True):
            rows[entity, norm] = rows[entity, norm]._replace(alias=listing.ticker, source=source)
    holders: dict[str, list[str]] = defaultdict(list)
    own: dict[str, list[str]] = defaultdict(list)
    for entity, norm in rows:
        holders[norm].append(entity)
        own[entity].append(norm)
    claimed = {entity: claim for entity, (claim, _) in claims.items()}
    claimed |= claims_of([entity for entity in own if entity not in claims])
    # What is not claimed any more ended with the day it was last seen, whichever payload that was.
    for entity, (claim, _) in claims.items():
        for norm in own[entity]:
            if norm not in claim.listed:
                rows[entity, norm] = rows[entity, norm]._replace(valid_to=rows[entity, norm].seen)
    rivals = {norm: [entity for entity in holders[norm] if norm in claimed[entity].listed] for norm in norms}
    for norm, several in rivals.items():
        newest = max((claimed[entity].at for entity in several), default=0)
        for entity in several:
            at = claimed[entity].at
            rows[entity, norm] = rows[entity, norm]._replace(valid_to=None if at == newest else day_at(at))
    others = {entity for several in rivals.values() for entity in several} - claims.keys()
    for key, row in _stored(db, "entity", others).items():
        before[key] = row
        rows.setdefault(key, row)
    moved = _write_main(db, rows, {entity: claimed[entity] for entity in [*claims, *sorted(others)]})
    _write(db, before, rows)
    served = {key: row[:3] for key, row in before.items()}
    return moved | {key[0] for key, row in rows.items() if key[0] in claims and served.get(key) != row[:3]}


def _write_main(db: Database, rows: _Rows, claims: Mapping[str, Claim]) -> set[str]:
    """Mark each company's main ticker of those it has today, and write it into its row. Returns the companies with another."""
    today: dict[str, set[str]] = defaultdict(set)
    for (entity, norm), row in rows.items():
        if row.valid_to is None:
            today[entity].add(norm)
    mains = {
        entity: next(
            ((each, norm) for each, norm in zip(claim.listings, claim.norms, strict=True) if norm in today[entity]),
            (None, None),
        )
        for entity, claim in claims.items()
    }
    for (entity, norm), row in rows.items():
        if entity in mains:
            rows[entity, norm] = row._replace(is_main=norm == mains[entity][1])
    stored = {
        entity: tuple(row)
        for entity, *row in db.seek(
            "SELECT x.entity, x.ticker, x.exchange FROM {keys}company x WHERE x.entity = k.column1",
            [(e,) for e in mains],
        )
    }
    moved = [
        (listing and listing.ticker, listing and listing.exchange, entity)
        for entity, (listing, _) in mains.items()
        if stored.get(entity) != (listing and listing.ticker, listing and listing.exchange)
    ]
    if moved:
        db.executemany("UPDATE company SET ticker = ?, exchange = ? WHERE entity = ?", moved)
    return {entity for _, _, entity in moved}


def _stored(db: Database, column: str, values: Iterable[str]) -> _Rows:
    found = db.seek(
        "SELECT x.entity, x.norm, x.alias, x.main, x.valid_to, x.source, x.seen FROM {keys}alias x"
        f" WHERE x.{column} = k.column1 AND x.scheme = 'ticker'",
        [(value,) for value in sorted(values)],
    )
    return {(entity, norm): _Row(alias, bool(main), *more) for entity, norm, alias, main, *more in found}


def _write(db: Database, before: _Rows, rows: _Rows) -> None:
    changed = {key: row for key, row in rows.items() if before.get(key) != row}
    db.insert(
        "alias",
        [
            (entity, "ticker", row.alias, norm, int(bool(row.is_main)), None, row.valid_to, row.source, row.seen)
            for (entity, norm), row in changed.items()
            if (entity, norm) not in before
        ],
    )
    updates = [
        (row.alias, int(bool(row.is_main)), row.valid_to, row.source, row.seen, norm, entity)
        for (entity, norm), row in changed.items()
        if (entity, norm) in before
    ]
    if updates:
        # Found by the ticker, which few companies ever had; by the company there may be thousands.
        db.executemany(
            "UPDATE alias SET alias = ?, main = ?, valid_to = ?, source = ?, seen = ?"
            " WHERE norm = ? AND entity || '' = ? AND scheme = 'ticker'",
            updates,
        )
