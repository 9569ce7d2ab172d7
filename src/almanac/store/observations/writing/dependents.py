"""
Which topics are concerned where what rows say beside their values changes: rights, unit, lineage of a series.

Such a change moves no row, so it is written down when it is made: `change` gets the whole of every topic that has one
of the series, or one computed from them, however far removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import greatest, least

#: Notes that cells of a topic changed in a version; what was noted before in the same version is widened.
NOTE_SQL = (
    "INSERT INTO change VALUES(?, ?, ?, ?) ON CONFLICT(topic, version)"
    f" DO UPDATE SET low = {least('change.low', 'excluded.low')}, high = {greatest('change.high', 'excluded.high')}"
)
#: Upper end of a span that stands for all cells of a topic, whether rows of theirs moved or not.
WHOLE = 1 << 62


def of_sources(db: Database, sources: Iterable[str]) -> set[int]:
    """Numbers of all series of some sources."""
    return {
        number
        for source in sources
        for (number,) in db.execute("SELECT series FROM series WHERE source = ?", (source,))
    }


def note_whole(db: Database, version: int, series: Collection[int]) -> None:
    """Note that all cells of these series changed in a version, and those of every series computed from them."""
    every = set(series)
    fresh = _ids(db, every)
    mixed: list[tuple[int, int]] | None = None
    while fresh:
        lineages = {
            lineage
            for lineage, inputs in db.execute("SELECT lineage, inputs FROM lineage")
            if not fresh.isdisjoint(json.loads(inputs))
        }
        if not lineages:
            break
        if mixed is None:
            # Series whose rows have lineages of their own: which ones they have had is only said there.
            mixed = list(db.execute(_MIXED))
        shared = db.execute("SELECT series, lineage FROM series WHERE lineage > 0")
        found = {number for number, lineage in shared if lineage in lineages}
        found |= {number for number, lineage in mixed if lineage in lineages}
        fresh = _ids(db, found - every)
        every |= found
    topics = {topic for number in every for (topic,) in db.execute(_TOPIC, (number,))}
    db.executemany(NOTE_SQL, [(topic, version, 0, WHOLE) for topic in sorted(topics)])


def _ids(db: Database, series: Iterable[int]) -> set[str]:
    return {name for number in series for (name,) in db.execute("SELECT id FROM series WHERE series = ?", (number,))}


_TOPIC = "SELECT topic FROM series WHERE series = ?"
_MIXED = (
    "SELECT DISTINCT x.series, x.lineage FROM series s JOIN topic t USING(topic)"
    " CROSS JOIN vintages x ON x.topic = s.topic AND x.series = s.series"
    " WHERE t.kind = 'derived' AND s.lineage = 0 AND x.lineage > 0"
)
