"""
The binding of a database to its raw store. Each records the raw store's name, so that a host with another one is
noticed.

If two hosts share a database server but store raw payloads in separate folders, each has only half of them and neither
can rebuild the data. So a host is refused if it would ingest into a database of another raw store.
"""

from __future__ import annotations

from almanac.config import Settings
from almanac.domain.errors import UserError
from almanac.pipeline.missing_payloads import lost, named
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database
from almanac.store.raw.captures import Corrupt, RawStore

#: Key of the database's record of the raw store's name.
_KEY = "raw"


class RawStoreError(UserError):
    """The raw store is not the one that the data came from. The message says what to set."""


def is_foreign(db: Database, raw: RawStore, settings: Settings) -> bool:
    """
    Return whether a raw store is another database's, without writing anything.

    A database gets a name with its first payload. A raw store without one, such as a copy, is foreign to a named database
    if it lacks any of its payloads, or if the database is on a server and has none yet: another host is about to take its
    first one in.

    Raises OSError or store.raw.Corrupt if the raw store's name cannot be read.
    """
    expected, name = meta(db, _KEY), raw.identity()
    if expected is None or name is not None:
        return expected is not None and expected != name
    rows = named(db)
    return bool(lost(rows, raw)) if rows else isinstance(settings.data_place, str)


def check(db: Database, raw: RawStore, settings: Settings) -> None:
    """Raise RawStoreError if the raw store is another database's, unless the settings allow several raw stores."""
    if settings.raw_stores == "one" and is_foreign(db, raw, settings):
        raise RawStoreError(
            f"{settings.raw_place} is not the raw store that the data came from ({why(db, raw)}): what is taken in here could"
            " not be made anew there, nor the rest here. Set ALMANAC_RAW_URL to that one (a folder or a bucket that the hosts"
            " share), or let that host alone ingest; ALMANAC_RAW_STORES=several says that each shall keep its own"
        )


def why(db: Database, raw: RawStore) -> str:
    """Return a short text on the differences between a raw store and the database's own."""
    rows = named(db)
    have = len(rows) - len(lost(rows, raw))
    names = f"it is called {raw.identity() or 'nothing yet'}, theirs {meta(db, _KEY) or 'nothing yet'}"
    return f"it holds {have} of their {len(rows)} payloads; {names}"


def explain_other_store(db: Database, raw: RawStore, settings: Settings) -> str | None:
    """
    Return a warning, for a host that only serves, that the raw store is not the data's own and what follows from it.

    Return None if it is the data's own, or cannot be read at the moment.
    """
    try:
        if not is_foreign(db, raw, settings):
            return None
        return (
            f"{settings.raw_place}: {why(db, raw)}; this host may serve the data, and can neither take payloads in nor rebuild"
            " or back up all of them"
        )
    except (OSError, Corrupt):
        return None


def settle(db: Database, raw: RawStore, settings: Settings) -> None:
    """
    Check the raw store, and then name the database and the raw store alike if one has no name, before the first payload
    goes in.

    If it is killed in between, the next run continues. Of two hosts that begin at once, the second is refused.
    """
    check(db, raw, settings)
    expected = meta(db, _KEY)
    name = raw.identity()
    if name is None:  # where several are meant, another's gets a name of its own
        name = raw.identify(None if is_foreign(db, raw, settings) else expected)
    if expected is None:
        with db.transaction():
            if meta(db, _KEY) is None:
                set_meta(db, _KEY, name)
        check(db, raw, settings)


def adopt(db: Database, raw: RawStore, *, whole: bool) -> None:
    """
    Record, in the caller's transaction, that the data was just built from this raw store.

    `whole` means that nothing was lost by it, so a raw store without a name takes over the name that the data knows.
    """
    set_meta(db, _KEY, raw.identity() or raw.identify(meta(db, _KEY) if whole else None))
