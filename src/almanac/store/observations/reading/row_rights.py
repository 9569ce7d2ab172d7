"""Which rows may be sent, for thousands of rows at once: what `Directory.row_rights` says, without loading every series."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain

from almanac.domain.rights import Exposure, effective
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sql_compat import greatest, number_list
from almanac.store.observations.ids import series_hash
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
    given = db.execute(_LINEAGES, (json.dumps(sorted(lineages)),))
    inputs: dict[int, list[str]] = {lineage: json.loads(ids) for lineage, ids in given}
    hashes = {series_hash(identifier) for identifier in set(chain.from_iterable(inputs.values()))}
    opens: dict[tuple[str, int], bool] = {}
    # Whether each series shuts a value; None: it is derived itself.
    shuts: dict[str, bool | None] = {}
    for identifier, source, exposure, kind in db.execute(_SERIES, (json.dumps(sorted(hashes)),)):
        passes = opens.get((source, exposure))
        if passes is None:
            rights = directory.sources[source].rights
            strictest = effective(rights, Exposure(exposure), directory.consents.get(source))
            passes = opens[source, exposure] = rights.derivatives_allowed or strictest is Exposure.public
        shuts[identifier] = not passes if kind == "raw" else None
    shut: dict[int, bool] = {}
    for lineage, ids in inputs.items():
        told = [shuts[identifier] for identifier in ids if identifier in shuts]
        if told and None not in told:
            shut[lineage] = any(told)
    return shut


_LINEAGES = f"SELECT l.lineage, l.inputs FROM {number_list('?')} n CROSS JOIN lineage l ON l.lineage = n.value"
#: By what leads to a series from its id: there is no index of the ids themselves.
_SERIES = (
    f"SELECT s.id, s.source, {greatest('s.exposure', 'p.exposure')}, t.kind"
    f" FROM {number_list('?')} n CROSS JOIN series s ON s.hash = n.value"
    " CROSS JOIN spec p USING(spec) CROSS JOIN topic t ON t.topic = s.topic"
)
