"""
Columns of a record, which CSV and Arrow share: one for each plain field, and one for each field of a nested record.

Lists, and objects whose keys are not declared, are one column of JSON text. Rows come as blocks of columns (`Batch`): what many
rows share is in a block once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, cast

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
_NULL = msgspec.Raw(b"null")
#: Nested values that a table remembers the cells of.
_REMEMBERED = 4_096


class Column(NamedTuple):
    """A column: its name, as in `rights.reason`, and what its cells are."""

    name: str
    kind: Kind


class Field(NamedTuple):
    """A field of a record with its columns. `paths`: where the cell of each is in a nested value; empty for a plain field."""

    name: str
    columns: tuple[Column, ...]
    paths: tuple[tuple[str, ...], ...] = ()


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
        declared = msgspec.structs.fields(record)
        self.fields = tuple(_field(declared_field, opened) for declared_field in declared)
        self.columns = tuple(column for field in self.fields for column in field.columns)
        row_fields: list[Any] = [
            (
                declared_field.name,
                msgspec.Raw if field.paths else Any,
                msgspec.field(name=declared_field.encode_name, default=None),
            )
            for declared_field, field in zip(declared, self.fields, strict=True)
        ]
        row = msgspec.defstruct(record.__name__, row_fields)
        self._decoder: msgspec.json.Decoder[list[msgspec.Struct]] = msgspec.json.Decoder(list[row])  # type: ignore[valid-type]
        #: By the names of nested fields, what gives the cells of a value from its JSON.
        self._readers = {field.name: lru_cache(_REMEMBERED)(_reader(field)) for field in self.fields if field.paths}

    def batch(self, rows: Rows) -> Batch:
        """Return rows as blocks of columns."""
        if isinstance(rows, Batch):
            return rows
        if rows and isinstance(rows[0], bytes):
            structs = self._decoder.decode(b"[%b]" % b",".join(cast("Sequence[bytes]", rows)))
        else:
            structs = cast("list[msgspec.Struct]", rows)
        return Batch(len(structs), [self._block(field, structs) for field in self.fields] if structs else [])

    def _block(self, field: Field, rows: Sequence[msgspec.Struct]) -> Block:
        values = list(map(attrgetter(field.name), rows))
        if not field.paths:
            return Block(field.columns, [values])
        # Rows share most of their nested values, so each is taken apart once.
        by_number = dict(zip(map(id, values), values, strict=True))
        _, codes = distinct(list(map(id, values)))
        texts = [
            bytes(value) if isinstance(value, msgspec.Raw) else msgspec.json.encode(value)
            for value in by_number.values()
        ]
        return Block(field.columns, self.cells(field.name, texts), codes)

    def cells(self, field: str, texts: Iterable[bytes]) -> list[tuple[Any, ...]]:
        """Return the cells of each column of a nested field, from its values as JSON."""
        return list(zip(*map(self._readers[field], texts), strict=True))


def _reader(field: Field) -> Callable[[bytes], tuple[Any, ...]]:
    """Return what reads the cells of a nested field from its JSON."""
    if field.paths == ((),):
        return lambda text: (None if text == b"null" else text.decode(),)
    inner: dict[str, list[tuple[tuple[str, ...], Column]]] = {}
    for (key, *rest), column in zip(field.paths, field.columns, strict=True):
        inner.setdefault(key, []).append((tuple(rest), column))
    #: Of keys whose value is not the cell itself: lists, and objects in the object.
    nested = {
        place: _reader(Field(key, tuple(column for _, column in parts), tuple(path for path, _ in parts)))
        for place, (key, parts) in enumerate(inner.items())
        if parts[0][0] or parts[0][1].kind == "json"
    }
    keys: list[Any] = [
        (
            f"field{place}",
            msgspec.Raw if place in nested else Any,
            msgspec.field(name=key, default=_NULL if place in nested else None),
        )
        for place, key in enumerate(inner)
    ]
    decode = msgspec.json.Decoder(msgspec.defstruct("Nested", keys) | None).decode
    nothing = (None,) * len(field.columns)

    def read(text: bytes) -> tuple[Any, ...]:
        whole = decode(text)
        if whole is None:
            return nothing
        cells = list(msgspec.structs.astuple(whole))
        for place in reversed(nested):
            cells[place : place + 1] = nested[place](bytes(cells[place]))
        return tuple(cells)

    return read


def _field(field: msgspec.structs.FieldInfo, opened: Mapping[str, Kind]) -> Field:
    parts = list(_parts(inspect.type_info(field.type), (), opened))
    columns = tuple(Column(".".join((field.encode_name, *path)), kind) for path, kind in parts)
    is_plain = len(parts) == 1 and parts[0] == ((), columns[0].kind) and columns[0].kind != "json"
    return Field(field.name, columns, () if is_plain else tuple(path for path, _ in parts))


def _parts(
    kind: inspect.Type, path: tuple[str, ...], opened: Mapping[str, Kind], text_format: Any = None
) -> Iterator[tuple[tuple[str, ...], Kind]]:
    """Yield the columns of a type: the keys that lead to each from the value of the field, and its kind."""
    if isinstance(kind, inspect.Metadata):
        text_format = (kind.extra_json_schema or {}).get("format", text_format)
        yield from _parts(kind.type, path, opened, text_format)
    elif isinstance(kind, inspect.UnionType):
        present = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        if len(present) == 1:
            yield from _parts(present[0], path, opened, text_format)
        else:
            yield path, "json"
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield from _parts(field.type, (*path, field.encode_name), opened)
    elif isinstance(kind, inspect.DictType) and opened:
        for key, of_key in opened.items():
            yield (*path, key), of_key
    else:
        plain = _PLAIN.get(type(kind), "json")
        yield path, _FORMATS.get(text_format, plain) if plain == "text" else plain
