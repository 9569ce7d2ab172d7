"""
Which raw store a database belongs to: each carries the raw store's name, so that a host with another one is told.

Two hosts that share a database on a server and keep raw payloads each in a folder of their own have half of them each:
neither can make the data anew. So one that would take payloads in for a database of another raw store is refused.
"""

from __future__ import annotations

from enum import Enum

from almanac.config import Settings
from almanac.pipeline.lacking import lost, named
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database
from almanac.store.raw.captures import Corrupt, RawStore

#: The database's note of the raw store's name.
_KEY = "raw"


class RawStoreError(Exception):
    """The raw store is not the one that the data came from. The message says what to set."""


class Standing(Enum):
    """What a raw store is to a database."""

    own = "own"
    another = "another"
    unknown = "unknown"  # they were written before there were names, or nothing was taken in yet


def standing(db: Database, raw: RawStore, settings: Settings) -> Standing:
    """Nothing is written. Raises OSError and store.raw.Corrupt where the raw store's name cannot be read."""
    held, name = meta(db, _KEY), raw.identity()
    if held is None or name is None:
        return Standing.another if _foreign(db, raw, settings) else Standing.unknown
    return Standing.own if held == name else Standing.another


def check(db: Database, raw: RawStore, settings: Settings) -> None:
    """Raise RawStoreError where what would be taken in belongs elsewhere, unless the settings say that it is meant so."""
    if settings.raw_stores == "one" and standing(db, raw, settings) is Standing.another:
        raise RawStoreError(
            f"{settings.raw_place} is not the raw store that the data came from ({why(db, raw)}): what is taken in here could"
            " not be made anew there, nor the rest here. Set ALMANAC_RAW_URL to that one (a folder or a bucket that the hosts"
            " share), or let that host alone ingest; ALMANAC_RAW_STORES=several says that each shall keep its own"
        )


def why(db: Database, raw: RawStore) -> str:
    """What tells that a raw store is another one, in a few words."""
    rows = named(db)
    have = len(rows) - len(lost(rows, raw))
    names = f"it is called {raw.identity() or 'nothing yet'}, theirs {meta(db, _KEY) or 'nothing yet'}"
    return f"it holds {have} of their {len(rows)} payloads; {names}"


def explain_other_store(db: Database, raw: RawStore, settings: Settings) -> str | None:
    """
    For whoever only serves, to whom it makes no difference: that the raw store is another one, and what follows. None where it
    is not, or cannot be looked at just now.
    """
    try:
        if standing(db, raw, settings) is not Standing.another:
            return None
        return (
            f"{settings.raw_place}: {why(db, raw)}; this host may serve the data, and can neither take payloads in nor rebuild"
            " or back up all of them"
        )
    except (OSError, Corrupt):
        return None


def settle(db: Database, raw: RawStore, settings: Settings) -> None:
    """
    `check`, then give the database and its raw store the same name where one of them has none: before the first payload
    goes in. Killed in between, the next run goes on. Of two hosts that begin at once, the second is refused.
    """
    check(db, raw, settings)
    held = meta(db, _KEY)
    name = raw.identity()
    if name is None:  # where several are meant, another's gets a name of its own
        name = raw.identify(None if standing(db, raw, settings) is Standing.another else held)
    if held is None:
        with db.transaction():
            if meta(db, _KEY) is None:
                set_meta(db, _KEY, name)
        check(db, raw, settings)


def adopt(db: Database, raw: RawStore, *, whole: bool) -> None:
    """
    Note, inside the caller's transaction, that the data are a consequence of this raw store: they were just made of it.

    `whole`: nothing was lost by it, so it may be the one the data had, that lost its name.
    """
    set_meta(db, _KEY, raw.identity() or raw.identify(meta(db, _KEY) if whole else None))


def _foreign(db: Database, raw: RawStore, settings: Settings) -> bool:
    """
    Whether a raw store is another's where it or the database has no name: it lacks most of what the database names.

    Of two hosts of an installation from before there were names, one has most. A file without a name is shared by nobody;
    and where it has one, a raw store without belongs to it only if it holds something.
    """
    held = meta(db, _KEY)
    if held is None and settings.data_file is not None:
        return False
    rows = named(db)
    if not rows:
        return held is not None and settings.data_file is None
    return 2 * len(lost(rows, raw)) > len(rows)
