"""
Tickers through time, as far as payloads state them: who has one today, and until when another had it.

A list of tickers says who has them when it is fetched, not since when. So a ticker that is listed today has no dates, and
one that no longer is ended with the day it was last seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from almanac.domain.companies import Listing
from almanac.domain.names import normal
from almanac.domain.times import day_at
from almanac.store.companies.aliases import AliasRow

#: Kinds of payload that list tickers. Submissions always do: an empty list there is the end of all listings.
LISTING = ("submissions", "tickers")
#: Tickers that a company has or had, by their normal forms.
Tickers = dict[str, AliasRow]


@dataclass(frozen=True)
class Claim:
    """The tickers a company has by its newest list, the main one first, as fetched at a moment (unix seconds)."""

    listings: tuple[Listing, ...]
    at: int
    #: Ticker → moment, of the older list, where it names some that the newest does not.
    older: Mapping[str, int]

    @cached_property
    def by_norm(self) -> dict[str, Listing]:
        """Return the listings by the normal form of their tickers, the first of each, in their order."""
        listings: dict[str, Listing] = {}
        for listing in self.listings:
            listings.setdefault(normal(listing.ticker, "ticker"), listing)
        return listings


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


def note_seen(own: Tickers, entity: str, claim: Claim, seen: Iterable[tuple[str, int]], source: str) -> None:
    """
    Enter among a company's own tickers those that it claims, and those that other lists named at a moment (`seen`).

    One that it doesn't claim any more ended with the day it was last seen, whichever payload that was.
    """
    listed = [(listing.ticker, claim.at) for listing in claim.listings]
    for ticker, at in [*claim.older.items(), *seen, *listed]:
        norm, day = normal(ticker, "ticker"), day_at(at)
        row = own.get(norm) or AliasRow(entity, "ticker", ticker, norm, 0, source=source, seen=day)
        own[norm] = row._replace(seen=max(row.seen or day, day))
    for ticker, _ in listed:
        norm = normal(ticker, "ticker")
        own[norm] = own[norm]._replace(alias=ticker, source=source)
    for norm, row in own.items():
        if norm not in claim.by_norm:
            own[norm] = row._replace(valid_to=row.seen)


def award(
    tickers: Mapping[str, Tickers], claims: Mapping[str, Claim], norms: Iterable[str]
) -> dict[str, Listing | None]:
    """
    Enter who has each of these tickers today, and return the main listing of each company, which `tickers` and `claims` are by.

    Of several companies that claim one ticker, the one whose list is newest has it; the others had it until the day of
    theirs.
    """
    rivals: dict[str, list[str]] = {norm: [] for norm in norms}
    for entity, own in tickers.items():
        for norm in own:
            if norm in rivals and norm in claims[entity].by_norm:
                rivals[norm].append(entity)
    for norm, several in rivals.items():
        newest = max((claims[entity].at for entity in several), default=0)
        for entity in several:
            at = claims[entity].at
            tickers[entity][norm] = tickers[entity][norm]._replace(valid_to=None if at == newest else day_at(at))
    mains: dict[str, Listing | None] = {}
    for entity, own in tickers.items():
        by_norm = claims[entity].by_norm
        main = next((norm for norm in by_norm if own[norm].valid_to is None), None)
        mains[entity] = None if main is None else by_norm[main]
        own.update({norm: row._replace(main=int(norm == main)) for norm, row in own.items()})
    return mains
