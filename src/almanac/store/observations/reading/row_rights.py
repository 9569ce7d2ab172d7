"""Which rows may be sent, for thousands of rows at once: what `Directory.row_rights` says, without loading every series."""

from __future__ import annotations

import json
from collections.abc import Iterable

from almanac.domain.rights import Exposure, effective
from almanac.store.engine.queryable import Queryable
from almanac.store.observations.reading.directory import Directory

#: Below this many lineages their series are looked up one by one, and remembered.
_FEW = 200

#: A row as far as its rights go: the number of its series and of its own lineage (0: the series').
Origin = tuple[int, int]


def withheld(db: Queryable, directory: Directory, origins: Iterable[Origin], held: dict[int, bool]) -> set[Origin]:
    """
    Those of the rows whose values may not be sent, by the rights of now.

    `held`: whether a lineage shuts a value, of those judged before under the same reference version; others are added.
    """
    every = set(origins)
    unknown = {lineage for _, lineage in every if lineage and lineage not in held}
    if len(unknown) >= _FEW:
        held.update(_judged(db, directory, unknown))
    return {
        (series, lineage)
        for series, lineage in every
        if (held[lineage] if lineage in held else directory.row_rights(directory.series(series), lineage).withheld)
    }


def _judged(db: Queryable, directory: Directory, lineages: Iterable[int]) -> dict[int, bool]:
    """
    Whether each lineage shuts a value, of those that consist of raw series.

    One with a derived series in it is left out, and so is one whose series are all lost.
    """
    shut: dict[int, bool] = {}
    mixed: set[int] = set()
    opens: dict[tuple[str, int], bool] = {}
    for lineage, source, exposure, kind in db.execute(_INPUTS, (json.dumps(sorted(lineages)),)):
        if kind != "raw":
            mixed.add(lineage)
            continue
        passes = opens.get((source, exposure))
        if passes is None:
            rights = directory.sources[source].rights
            strictest = effective(rights, Exposure(exposure), directory.consents.get(source))
            passes = opens[source, exposure] = rights.derivatives_allowed or strictest is Exposure.public
        shut[lineage] = shut.get(lineage, False) or not passes
    for lineage in mixed:
        shut.pop(lineage, None)
    return shut


_INPUTS = (
    "SELECT l.lineage, s.source, max(s.exposure, p.exposure), t.kind FROM json_each(?) n"
    " CROSS JOIN lineage l ON l.lineage = n.value CROSS JOIN json_each(l.inputs) i"
    " CROSS JOIN series s ON s.id = i.value CROSS JOIN spec p USING(spec) CROSS JOIN topic t ON t.topic = s.topic"
)
