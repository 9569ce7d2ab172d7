"""Arrow streams: typed columns, texts in dictionaries."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from almanac.api.formats.columns import ROWS_IN_ALL, Block, Column, Kind, Rows, Table

_WORDS = pa.dictionary(pa.int32(), pa.string())
_TYPES: dict[Kind, Any] = {
    "text": _WORDS,
    "time": pa.timestamp("s", "UTC"),
    "seconds": pa.timestamp("s", "UTC"),
    "day": pa.date32(),
    "number": pa.float64(),
    "floats": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "json": _WORDS,
    "ids": pa.string(),
}
#: A row's own id: every row has another, so that a dictionary would hold them all.
_ID = "id"


class ArrowWriter:
    """Writes the rows of a list. `whole`: with a last column that tells a list that was cut from one that is complete."""

    def __init__(self, table: Table, *, whole: bool) -> None:
        self._table, self._whole = table, whole
        columns = [*table.columns, *([Column(ROWS_IN_ALL, "integer")] if whole else [])]
        self._schema = pa.schema([pa.field(column.name, _type(column)) for column in columns])
        self._sink = io.BytesIO()
        self._stream: Any = None
        self._count = 0

    def write(self, rows: Rows, *, last: bool) -> bytes:
        """Return the next batch, at first with the schema, at last with the mark of the end."""
        if self._stream is None:
            self._stream = pa.ipc.new_stream(self._sink, self._schema)
        length, blocks = self._table.batch(rows)
        self._count += length
        arrays = [array for block in blocks for array in _arrays(block, length)]
        if self._whole and last and not self._count:
            arrays = [pa.nulls(1, _type(column)) for column in self._table.columns]
        if self._whole and arrays:
            end: list[int | None] = [None] * len(arrays[0])
            if last:
                end[-1] = self._count
            arrays.append(pa.array(end, pa.int64()))
        if arrays:
            self._stream.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        if last:
            self._stream.close()
        part = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return part


def _arrays(block: Block, length: int) -> list[Any]:
    """Return the columns of a block."""
    indices = None if block.codes is None else pa.array(block.codes)
    arrays = []
    for column, values in zip(block.columns, block.cells, strict=True):
        array = _array(column, values)
        if array.null_count == len(array):
            array = pa.nulls(length, _type(column))
        elif indices is not None:
            array = array.take(indices)
        arrays.append(array)
    return arrays


def _type(column: Column) -> Any:
    return pa.string() if column.name == _ID else _TYPES[column.kind]


def _array(column: Column, values: Sequence[Any]) -> Any:
    kind = _type(column)
    if column.kind in {"time", "day"}:
        return pa.array(values, pa.string()).cast(kind)
    if column.kind == "ids":
        return pa.array(values, pa.binary()).cast(kind)
    if kind == _WORDS:
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind, from_pandas=column.kind == "floats")
