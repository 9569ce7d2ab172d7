"""
Observations as columns, for the forms that have columns: what `redaction` makes row by row for JSON, made batch by batch.

What rows of one series and lineage share is made once for them, and so is what follows from one period, time or note.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from almanac.api.formats.columns import Batch, Block, Codes, Field, Kind, Table, distinct
from almanac.api.rows.redaction import Redaction, metadata_of_row, wire_period
from almanac.domain.observations import status
from almanac.store.observations.ids import observation_ids
from almanac.store.observations.reading.metadata import METADATA
from almanac.store.observations.reading.query import Found

T = TypeVar("T")
#: Cells of a column, and for each row the place of its cell; None: each row has its own.
_Cells = tuple[Any, Codes | None]

#: Fields whose cells are of another kind than the record says.
_KINDS: dict[str, Kind] = {
    "id": "ids",
    "value_numeric": "floats",
    "observed_at": "seconds",
    "released_at": "seconds",
    "ingested_at": "seconds",
}

_table = functools.cache(Table)


def observation_columns(redaction: Redaction, record: type[msgspec.Struct], rows: Sequence[Found]) -> Batch:
    """Return rows as they may be seen, as the columns of a record: a value that may not be sent is left out here."""
    if not rows:
        return Batch(0, [])
    _, _, periods, numbers, known, released, ingested, flags, lineages, values, texts, notes = zip(*rows, strict=True)
    # What the metadata of rows follow from beside their series.
    unreleased = [moment is None for moment in released]
    withdrawn = [value is None and text is None for value, text in zip(values, texts, strict=True)]
    ends, by_end = distinct(list(zip(flags, notes, unreleased, withdrawn, strict=True)))
    pairs, by_origin = distinct(list(zip(numbers, lineages, strict=True)))
    # What is the same for the rows of a series and a lineage.
    origins = redaction.view.directory.origins(pairs)
    series, rights = [origin.series for origin in origins], [origin.rights for origin in origins]
    freshness = redaction.freshness_of({info.number: info for info in series}.values())
    metadata = dict(zip(METADATA, zip(*[origin.metadata for origin in origins], strict=True), strict=True))
    shared: dict[str, list[Any]] = {
        "entity_id": [info.spec.entity for info in series],
        "indicator_id": [f"indicator_{info.spec.indicator}" for info in series],
        "source_id": [info.source.id for info in series],
        "provider_id": [info.source.provider for info in series],
        "unit": [info.unit for info in series],
        "frequency": [info.spec.frequency.word for info in series],
        "source_url": [info.page for info in series],
        "attribution": [right.attribution for right in rights],
        "freshness_status": [freshness[info.number] for info in series],
        "derived_from": [_encode(origin.inputs).decode() for origin in origins],
    }
    withheld = np.array([right.withheld for right in rights])[by_origin]
    numbers_shown = np.where(withheld, np.nan, np.array(values, np.float64))
    texts_shown = [None if hidden else text for text, hidden in zip(texts, withheld.tolist(), strict=True)]
    keys, by_period = distinct(periods)
    _, starts, lasts = zip(*map(wire_period, keys), strict=True)
    cells: dict[str, _Cells] = {
        **{name: (column, by_origin) for name, column in shared.items()},
        "id": (observation_ids([info.hash for info in series], by_origin, periods, known), None),
        "value_numeric": (numbers_shown, None),
        "value_text": distinct(texts_shown),
        "period_start": (starts, by_period),
        "period_end": (lasts, by_period),
        "observed_at": (known, None),
        "released_at": (released, None),
        "ingested_at": (ingested, None),
        "revision_status": ([status(end[0]) for end in ends], by_end),
    }
    table = _table(record)
    blocks: list[Block] = []
    for field in table.fields:
        if field.name == "metadata":
            said = table.cells(field.columns, [b"{%b}" % b",".join(metadata_of_row(*end)) for end in ends], field.name)
            blocks += _metadata(field, metadata, by_origin, said, by_end)
        elif field.name == "rights":
            encoded = [right.encoded for right in rights]
            blocks.append(Block(field.columns, table.cells(field.columns, encoded, field.name), by_origin))
        else:
            column, codes = cells[field.name]
            kind = _KINDS.get(field.name)
            columns = field.columns if kind is None else (field.columns[0]._replace(kind=kind),)
            blocks.append(Block(columns, [column], codes))
    return Batch(len(rows), blocks)


def _metadata(
    field: Field,
    shared: Mapping[str, Sequence[Any]],
    by_origin: Codes,
    said: Sequence[Sequence[Any]],
    by_end: Codes,
) -> Iterable[Block]:
    """Yield the columns of the metadata of rows: what is said of their series, and what is said of each, which wins."""
    for column, own in zip(field.columns, said, strict=True):
        name = column.name.removeprefix(f"{field.name}.")
        of_series = shared.get(name, (None,))
        if not any(cell is not None for cell in of_series):
            yield Block((column,), [own], by_end)
        elif not any(cell is not None for cell in own):
            yield Block((column,), [of_series], by_origin)
        else:
            pairs = zip(_deal(own, by_end), _deal(of_series, by_origin), strict=True)
            yield Block((column,), [[first if first is not None else second for first, second in pairs]])


def _deal(cells: Sequence[T], codes: Codes) -> list[T]:
    """Return the cell of each row."""
    dealt: list[T] = np.array(cells, object)[codes].tolist()
    return dealt


_encode = msgspec.json.Encoder().encode
