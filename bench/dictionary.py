"""
Makes the dictionary with which bodies of statements are packed (almanac.store.companies.statement_bodies).

    python -m bench.dictionary HOME FILE

`HOME` holds a simulated world, so that nothing of a publisher's gets into the file.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import zstandard

from almanac.store.companies.statement_bodies import unpack
from almanac.store.engine import sqlite

SIZE = 16 << 10
_SAMPLES = 4_000


def trained(home: Path) -> bytes:
    """A dictionary of statements of this store, as an ingest has left it."""
    with sqlite.Connection(str(home / "data.db")) as db:
        bodies = [unpack(body) for (body,) in db.execute("SELECT body FROM statement WHERE length(body) > 0")]
    return zstandard.train_dictionary(SIZE, random.Random(1).sample(bodies, _SAMPLES)).as_bytes()


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(trained(Path(sys.argv[1])))
