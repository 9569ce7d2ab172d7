"""Sets of input series, each stored once and called by a number."""

from __future__ import annotations

import json
from collections.abc import Sequence

from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import next_id
from almanac.store.observations.digests import digest_of


def put(db: Database, inputs: Sequence[str]) -> int:
    """Return the number of a set of ids of series, in the order given; it is stored if it is new."""
    found = known(db, inputs)
    if found is None:
        listed = _listed(inputs)
        found = int(db.execute(_NEXT).get)
        db.execute("INSERT INTO lineage VALUES(?, ?, ?)", (found, digest_of(listed), listed))
    return found


def known(db: Database, inputs: Sequence[str]) -> int | None:
    """Return the number of a set of input series; None if it has none yet."""
    listed = _listed(inputs)
    sql = "SELECT lineage FROM lineage WHERE digest = ? AND inputs = ?"
    found: int | None = db.execute(sql, (digest_of(listed), listed)).get
    return found


def _listed(inputs: Sequence[str]) -> str:
    """Encode a set as its table has it."""
    return json.dumps(list(inputs), separators=(",", ":"))


_NEXT = f"SELECT {next_id('lineage', 'lineage')}"
