"""Room that a database file holds and does not use: given back to the disk, beside readers."""

from __future__ import annotations

import shutil
from pathlib import Path

from almanac.store.engine.errors import DatabaseError
from almanac.store.engine.sqlite import Connection, faults

#: Share of a file that is free, from which on it is worth while to write the rest anew; and what is left free on the disk.
_WORTH, _SPARE = 0.1, 16 << 20


def give_back(db: Connection, path: Path) -> str | None:
    """
    Write a database file anew without the room it does not use. Returns why it could not be done, None where it was or need
    not be.

    It is one transaction: readers go on, other writers wait, and whatever ends it leaves the file as it was. Beside the file
    it takes twice the room of what is in it until then, which is looked for beforehand. The file gets shorter when its log is
    cut (`Database.truncate_log`).
    """
    with faults():
        size, pages, free = (int(db.pragma(name)) for name in ("page_size", "page_count", "freelist_count"))
    if free < _WORTH * pages:
        return None
    needed, there = 2 * (pages - free) * size + _SPARE, shutil.disk_usage(path.parent).free
    told = f"{free * size >> 20} MiB of {path.name} are not used"
    if there < needed:
        return f"{told}; to give them back takes {needed >> 20} MiB on its disk, where {there >> 20} MiB are free"
    try:
        with faults():
            # The copy it makes first stands in a file beside this one: in memory there may be no room for it.
            db.pragma("temp_store_directory", str(path.parent))
            db.pragma("temp_store", 1)
            db.execute("VACUUM")
    except DatabaseError as error:
        return f"{told}, and could not be given back ({error}): nothing was changed"
    finally:
        db.pragma("temp_store", 2)
        db.pragma("temp_store_directory", "")
    return None


def lacks(db: Connection, path: Path) -> str | None:
    """Why there may not be room enough to make all that is in a file once more, which stands in its log meanwhile; None: there is."""
    with faults():
        size, pages, free = (int(db.pragma(name)) for name in ("page_size", "page_count", "freelist_count"))
    needed, there = (pages - free) * size, shutil.disk_usage(path.parent).free
    if there >= needed:
        return None
    return (
        f"there may not be room enough: what is made anew takes up to {needed >> 20} MiB beside {path.name} until it is"
        f" committed, and {there >> 20} MiB are free; where it runs out, all stays as it was"
    )
