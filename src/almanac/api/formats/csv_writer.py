"""CSV as RFC 4180 has it: a header row, lines that end with CR LF, texts quoted where they must be."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from almanac.api.formats.columns import ROWS_IN_ALL, Column, Field, Table, values_of

#: A text that begins so is taken for a formula by spreadsheets. An apostrophe is set before it, and before one of its own.
_FORMULA = frozenset("=+-@\t\r'")
#: What a text is quoted for, beside the end of a line.
_QUOTED = (",", '"', "\r")
_encode = msgspec.json.Encoder().encode


class CsvWriter:
    """Writes the rows of a list. `whole`: with a last column that tells a list that was cut from one that is complete."""

    def __init__(self, table: Table, *, whole: bool) -> None:
        self._table, self._whole = table, whole
        self._count: int | None = None

    def write(self, rows: Sequence[bytes] | Sequence[msgspec.Struct], *, last: bool) -> bytes:
        """Return the next lines, at first with the header."""
        table = self._table
        lines: list[str] = []
        if self._count is None:
            self._count = 0
            names = [column.name for column in table.columns]
            lines.append(",".join([*names, ROWS_IN_ALL] if self._whole else names))
        self._count += len(rows)
        structs = table.rows(rows)
        columns = [self._column(field, structs) for field in table.fields] if structs else []
        if self._whole:
            if last and not self._count:
                columns = [[""]] * len(table.columns)
            end = [""] * (len(structs) or last)
            if last:
                end[-1:] = [str(self._count)]
            columns.append(end)
        lines += map(",".join, zip(*columns, strict=True))
        return "".join([line + "\r\n" for line in lines]).encode()

    def _column(self, field: Field, rows: Sequence[msgspec.Struct]) -> list[str]:
        """Return the texts of a field's cells, those of a nested one joined."""
        if not field.paths:
            return _texts(field.columns[0], values_of(field, rows))
        numbers, cells = self._table.nested(field, rows)
        by_column = [
            _texts(column, list(values))
            for column, values in zip(field.columns, zip(*cells.values(), strict=True), strict=True)
        ]
        joined = dict(zip(cells, map(",".join, zip(*by_column, strict=True)), strict=True))
        return [joined[number] for number in numbers]


def _texts(column: Column, values: list[Any]) -> list[str]:
    """Return the texts of the cells of one column, empty for null."""
    if column.kind in {"number", "integer", "flag"}:
        texts = _encode(values)[1:-1].decode().split(",")
        return ["" if text == "null" else text for text in texts]
    present = ["" if value is None else value for value in values] if None in values else values
    if column.kind in {"time", "day"}:
        return present
    # Nearly no column has a text that needs more than to be written down, and most repeat a few.
    distinct = set(present)
    joined = "\n".join(distinct)
    if (
        not any(mark in joined for mark in _QUOTED)
        and joined.count("\n") == len(distinct) - 1
        and _FORMULA.isdisjoint([text[:1] for text in distinct])
    ):
        return present
    quoted = _quoted(distinct)
    return [quoted[text] for text in present]


def _quoted(texts: Collection[str]) -> dict[str, str]:
    """Return texts with the form that each has in a line."""
    lines: list[str] = []

    class _Lines:
        write = lines.append

    writer = csv.writer(_Lines())
    # Beside an empty cell: alone in its line, an empty text would be quoted.
    writer.writerows((f"'{text}" if text[:1] in _FORMULA else text, "") for text in texts)
    return {text: line.removesuffix(",\r\n") for text, line in zip(texts, lines, strict=True)}
