"""
Columns of a record, which CSV and Arrow share: one for each plain field, and one for each field of a nested record.

Lists, and objects whose keys are not declared, are one column of JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import inspect

#: What the cells of a column are: texts, times and days as JSON has them, numbers, true or false, or JSON text.
Kind = Literal["text", "time", "day", "number", "integer", "flag", "json"]
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

    def rows(self, rows: Sequence[bytes] | Sequence[msgspec.Struct]) -> Sequence[msgspec.Struct]:
        """Return rows as structs with a field's value under its name; nested values are JSON text."""
        if rows and isinstance(rows[0], bytes):
            return self._decoder.decode(b"[%b]" % b",".join(cast("Sequence[bytes]", rows)))
        return cast("Sequence[msgspec.Struct]", rows)

    def nested(self, field: Field, rows: Sequence[msgspec.Struct]) -> tuple[list[int], dict[int, tuple[Any, ...]]]:
        """
        Return a number for each row, and for each number the cells of a nested field.

        Rows share most of these values, so each is taken apart once; its number is the identity of the object.
        """
        values, read = values_of(field, rows), self._readers[field.name]
        numbers = list(map(id, values))
        distinct = dict(zip(numbers, values, strict=True))
        return numbers, {
            number: read(bytes(value) if isinstance(value, msgspec.Raw) else msgspec.json.encode(value))
            for number, value in distinct.items()
        }


def values_of(field: Field, rows: Sequence[msgspec.Struct]) -> list[Any]:
    """Return the values of a field."""
    return list(map(attrgetter(field.name), rows))


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
