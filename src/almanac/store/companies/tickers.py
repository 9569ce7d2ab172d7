"""
Tickers through time, as far as payloads tell: who has one today, and until when another had it.

A list of tickers says who has them when it is fetched, not since when. So a ticker that is held today has no dates, and
one that is not any more ends with the day it was last seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from almanac.domain.companies import Listing
from almanac.domain.names import normal
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database

#: `main` of a ticker that was noted and not awarded yet, so that the award is a change.
_OPEN = -1
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
        """What a look-up compares of each ticker, in their order."""
        return [normal(listing.ticker, "ticker") for listing in self.listings]

    @cached_property
    def listed(self) -> frozenset[str]:
        """Collect the normal forms of tickers, to look one up in: a company may list thousands."""
        return frozenset(self.norms)


#: What a company claims by its parts.
ClaimOf = Callable[[Database, str], Claim]


def day_of(seconds: int) -> int:
    """Ordinal of the UTC day of a moment."""
    return day_at(seconds)


def listed(parts: Mapping[str, tuple[tuple[Listing, ...], int]]) -> Claim:
    """Return what a company's parts claim: kind → (listings, fetched at). Of two lists the newer one counts."""
    lists = [
        (fetched_at, kind, listings)
        for kind, (listings, fetched_at) in parts.items()
        if kind in LISTING and (listings or kind == "submissions")
    ]
    if not lists:
        return Claim((), 0, {})
    # Fetched in one second, the submissions count: they know the exchanges.
    lists.sort(key=lambda one: (one[0], one[1] == "submissions"), reverse=True)
    fetched_at, _, listings = lists[0]
    current = {listing.ticker for listing in listings}
    older = {one.ticker: at for at, _, others in lists[1:] for one in others if one.ticker not in current}
    return Claim(listings, fetched_at, older)


def seen(db: Database, entity: str, listings: Iterable[Listing], source: str, at: int) -> bool:
    """
    Note tickers that a payload lists which is not the newest, or not any more. Returns whether a row changed; then
    `contest` says so too.
    """
    changed = False
    for listing in listings:
        changed |= _last_seen(db, entity, listing.ticker, day_of(at), source)
    return changed


def _last_seen(db: Database, entity: str, ticker: str, day: int, source: str) -> bool:
    norm = normal(ticker, "ticker")
    held = db.execute(f"SELECT seen FROM alias {_THIS}", (norm, entity)).fetchone()
    if held is None:
        db.execute(
            f"INSERT INTO alias VALUES(?, 'ticker', ?, ?, {_OPEN}, NULL, ?, ?, ?)",
            (entity, ticker, norm, day, source, day),
        )
    elif held[0] < day:
        db.execute(f"UPDATE alias SET seen = ? {_THIS}", (day, norm, entity))
    else:
        return False
    return True


def contest(db: Database, entity: str, claim: Claim, source: str, claim_of: ClaimOf) -> bool:
    """
    Bring a company's tickers into step with what it claims. Returns whether anything served changed.

    Of several companies that claim one ticker, the one whose list is newest has it; the others had it until the day of
    theirs. `claim_of` says what another company claims.
    """
    before = _rows(db, entity)
    if not before and not claim.older and not _was_ever_had(db, claim):
        return _first(db, entity, claim, source)
    for ticker, at in claim.older.items():
        _last_seen(db, entity, ticker, day_of(at), source)
    for listing, norm in zip(claim.listings, claim.norms, strict=True):
        _last_seen(db, entity, listing.ticker, day_of(claim.at), source)
        db.execute(f"UPDATE alias SET alias = ?, source = ? {_THIS}", (listing.ticker, source, norm, entity))
    # What is not claimed any more ended with the day it was last seen, whichever payload that was.
    ended = [row[0] for row in _rows(db, entity) if row[0] not in claim.listed]
    db.executemany(f"UPDATE alias SET valid_to = seen {_THIS}", [(norm, entity) for norm in ended])
    claims, rivals = {entity: claim}, set[str]()
    for norm in sorted({*claim.norms, *(row[0] for row in before)}):
        rivals |= _award(db, norm, claims, claim_of)
    changed = [_main(db, rival, claims[rival]) for rival in sorted(rivals - {entity})]
    return _main(db, entity, claim) or any(changed) or _rows(db, entity) != before


def _first(db: Database, entity: str, claim: Claim, source: str) -> bool:
    """
    Return the tickers of a company that had none, which nobody else ever had: what the rest of `contest` comes to for nearly every
    company of a register. Returns whether there are any.
    """
    if not claim.listings:
        return False
    main, day = claim.listings[0], day_of(claim.at)
    spelled = dict(zip(claim.norms, claim.listings, strict=True))
    for norm, listing in spelled.items():
        db.execute(
            "INSERT INTO alias VALUES(?, 'ticker', ?, ?, ?, NULL, NULL, ?, ?)",
            (entity, listing.ticker, norm, int(norm == claim.norms[0]), source, day),
        )
    db.execute("UPDATE company SET ticker = ?, exchange = ? WHERE entity = ?", (main.ticker, main.exchange, entity))
    return True


def _was_ever_had(db: Database, claim: Claim) -> bool:
    """Whether anybody ever had one of the tickers claimed."""
    return any(_holders(db, norm) for norm in claim.norms)


def _holders(db: Database, norm: str) -> list[str]:
    """All that ever had a ticker."""
    return [row[0] for row in db.execute("SELECT entity FROM alias WHERE norm = ? AND scheme = 'ticker'", (norm,))]


def _award(db: Database, norm: str, claims: dict[str, Claim], claim_of: ClaimOf) -> set[str]:
    """
    Find who has a ticker today among all that ever had it. Returns who claims it.

    `claims`: what companies claim, as far as it is known; of others it is asked once, and stands here then.
    """
    rivals = {}
    for holder in _holders(db, norm):
        if holder not in claims:
            claims[holder] = claim_of(db, holder)
        if norm in claims[holder].listed:
            rivals[holder] = claims[holder]
    newest = max((one.at for one in rivals.values()), default=0)
    for holder, one in rivals.items():
        valid_to = None if one.at == newest else day_of(one.at)
        db.execute(f"UPDATE alias SET valid_to = ? {_THIS}", (valid_to, norm, holder))
    return set(rivals)


def _main(db: Database, entity: str, claim: Claim) -> bool:
    """Mark the main ticker of those held today, and write it into the company's row. Returns whether it is another."""
    today = {norm for norm, _, _, valid_to in _rows(db, entity) if valid_to is None}
    main = next((one for one, norm in zip(claim.listings, claim.norms, strict=True) if norm in today), None)
    norm = None if main is None else normal(main.ticker, "ticker")
    db.execute(
        "UPDATE alias SET main = CASE WHEN norm IS NOT DISTINCT FROM ? THEN 1 ELSE 0 END WHERE entity = ? AND scheme = 'ticker'",
        (norm, entity),
    )
    moved = db.update(
        "UPDATE company SET ticker = ?1, exchange = ?2 WHERE entity = ?3"
        " AND (ticker IS DISTINCT FROM ?1 OR exchange IS DISTINCT FROM ?2)",
        (main and main.ticker, main and main.exchange, entity),
    )
    return moved > 0


def _rows(db: Database, entity: str) -> list[tuple[str, str, int, int | None]]:
    found = db.execute(
        "SELECT norm, alias, main, valid_to FROM alias WHERE entity = ? AND scheme = 'ticker' ORDER BY norm", (entity,)
    )
    return list(found)


# Found by the ticker, which few companies ever had; by the company there may be thousands.
_THIS = "WHERE norm = ? AND entity || '' = ? AND scheme = 'ticker'"
