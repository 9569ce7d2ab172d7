"""
Columns of a record, which CSV and Arrow share: one for each plain field, and one for each field of a nested record.

Lists, and objects whose keys are not declared, are one column of JSON text. Rows come as blocks of columns (`Batch`): what many
rows share is in a block once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import inspect

T = TypeVar("T")

#: What the cells of a column are: texts, times and days as JSON has them, numbers, true or false, JSON text. Three kinds are of
#: batches alone: `seconds` are times as unix seconds, `floats` an array of numbers with NaN for null, whole ones to be written without
#: a point, `ids` an array of ASCII.
Kind = Literal["text", "time", "day", "number", "integer", "flag", "json", "seconds", "floats", "ids"]
#: The last column of a whole list: empty but in the last row, where it is the number of rows.
ROWS_IN_ALL = "rowsInAll"
NOTHING_OPENED: Mapping[str, Kind] = MappingProxyType({})
_FORMATS: dict[Any, Kind] = {"date-time": "time", "date": "day"}
_PLAIN: dict[type[inspect.Type], Kind] = {
    inspect.StrType: "text",
    inspect.LiteralType: "text",
    inspect.FloatType: "number",
    inspect.IntType: "integer",
    inspect.BoolType: "flag",
}
_objects = msgspec.json.Decoder(list[dict[str, msgspec.Raw] | None]).decode


class Column(NamedTuple):
    """A column: its name, as in `rights.reason`, and what its cells are."""

    name: str
    kind: Kind


class Field(NamedTuple):
    """A field of a record with its columns: more than one, or one of another name, where it is opened."""

    name: str
    columns: tuple[Column, ...]


Codes = npt.NDArray[np.int32]


#: Cells of a column: a sequence or an array.
Cells = Any


class Block(NamedTuple):
    """
    Columns that stand side by side, and whose cells follow from the same thing.

    `cells`: those of each column. `codes`: for each row the place of its cells there; None: each row has cells of its own.
    """

    columns: tuple[Column, ...]
    cells: Sequence[Cells]
    codes: Codes | None = None


class Batch(NamedTuple):
    """Rows as blocks of columns, in the order of their table."""

    length: int
    blocks: Sequence[Block]


#: Rows of a list: JSON objects, encoded or structs of what they hold, or as blocks of columns.
Rows = Sequence[bytes] | Sequence[msgspec.Struct] | Batch


def distinct(values: Sequence[T]) -> tuple[list[T], Codes]:
    """Return the values that differ, in the order they come in, and for each value its place among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.fromiter(map(places.__getitem__, values), np.int32, len(values))


class Table:
    """
    The columns of a record, in the order of its fields.

    `opened`: the keys that its field without declared keys may have, with their kinds: each becomes a column.
    """

    def __init__(self, record: type[msgspec.Struct], opened: Mapping[str, Kind] = NOTHING_OPENED) -> None:
        self.fields = tuple(
            Field(field.name, tuple(_columns(inspect.type_info(field.type), field.encode_name, opened)))
            for field in msgspec.structs.fields(record)
        )
        self.columns = tuple(column for field in self.fields for column in field.columns)

    def batch(self, rows: Rows) -> Batch:
        """Return rows as blocks of columns."""
        if isinstance(rows, Batch):
            return rows
        texts = [row if isinstance(row, bytes) else msgspec.json.encode(row) for row in rows]
        return Batch(len(texts), [Block(self.columns, self.cells(self.columns, texts))] if texts else [])

    @staticmethod
    def cells(columns: Iterable[Column], texts: Iterable[bytes], name: str = "") -> list[Cells]:
        """Return the cells of columns, read from rows as JSON or, with the name of an object, from its values as JSON."""
        #: By the names of objects, theirs of each row with their members still encoded.
        objects = {name: _objects(b"[%b]" % b",".join(texts))}

        def members(path: str) -> list[bytes | msgspec.Raw]:
            parent, _, key = path.rpartition(".")
            if parent not in objects:
                objects[parent] = _objects(b"[%b]" % b",".join(members(parent)))
            return [b"null" if row is None else row.get(key, b"null") for row in objects[parent]]

        return [_cells(column.kind, members(column.name)) for column in columns]


def _cells(kind: Kind, texts: list[bytes | msgspec.Raw]) -> Cells:
    """Return the cells of one column from their JSON."""
    if kind == "json":
        return [None if text == b"null" else text.decode() for text in map(bytes, texts)]
    return msgspec.json.decode(b"[%b]" % b",".join(texts))


def _columns(kind: inspect.Type, name: str, opened: Mapping[str, Kind], text_format: object = None) -> Iterator[Column]:
    """Yield the columns of a type, each named by the keys that lead to it."""
    if isinstance(kind, inspect.Metadata):
        yield from _columns(kind.type, name, opened, (kind.extra_json_schema or {}).get("format", text_format))
    elif isinstance(kind, inspect.UnionType):
        present = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        if len(present) == 1:
            yield from _columns(present[0], name, opened, text_format)
        else:
            yield Column(name, "json")
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield from _columns(field.type, f"{name}.{field.encode_name}", opened)
    elif isinstance(kind, inspect.DictType) and opened:
        for key, of_key in opened.items():
            yield Column(f"{name}.{key}", of_key)
    else:
        plain = _PLAIN.get(type(kind), "json")
        yield Column(name, _FORMATS.get(text_format, plain) if plain == "text" else plain)
