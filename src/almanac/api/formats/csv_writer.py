"""CSV as RFC 4180 has it: a header row, lines that end with CR LF, texts quoted where they must be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.formats.columns import ROWS_IN_ALL, Block, Column, Rows, Table, distinct
from almanac.domain.times import FIRST_SECOND

#: A text that begins so is taken for a formula by spreadsheets. An apostrophe is set before it, and before one of its own.
_FORMULA = frozenset("=+-@\t\r'")
#: What a text is quoted for.
_QUOTED = (",", '"', "\r", "\n")
_encode = msgspec.json.Encoder().encode


class CsvWriter:
    """Writes the rows of a list. `whole`: with a last column that tells a list that was cut from one that is complete."""

    def __init__(self, table: Table, *, whole: bool) -> None:
        self._table, self._whole = table, whole
        self._count: int | None = None

    def write(self, rows: Rows, *, last: bool) -> bytes:
        """Return the next lines, at first with the header."""
        lines: list[str] = []
        if self._count is None:
            self._count = 0
            names = [column.name for column in self._table.columns]
            lines.append(",".join([*names, ROWS_IN_ALL] if self._whole else names))
        length, blocks = self._table.batch(rows)
        self._count += length
        # Neighbours that follow from the same thing are joined before they are dealt out to rows.
        texts = [_dealt(list(group)) for _, group in groupby(blocks, key=lambda block: id(block.codes))]
        if self._whole:
            if last and not self._count:
                texts = [[""]] * len(self._table.columns)
            end = [""] * (length or last)
            if last:
                end[-1:] = [str(self._count)]
            texts.append(end)
        lines += map(",".join, zip(*texts, strict=True))
        return "".join([line + "\r\n" for line in lines]).encode()


def _dealt(blocks: Sequence[Block]) -> list[str]:
    """Return for each row the texts of its cells in blocks with the same codes, joined."""
    columns = [
        _texts(column, values) for block in blocks for column, values in zip(block.columns, block.cells, strict=True)
    ]
    joined = columns[0] if len(columns) == 1 else list(map(",".join, zip(*columns, strict=True)))
    codes = blocks[0].codes
    dealt: list[str] = joined if codes is None else np.array(joined, object)[codes].tolist()
    return dealt


def _texts(column: Column, values: Sequence[Any]) -> list[str]:
    """Return the texts of the cells of one column, empty for null."""
    if column.kind in {"number", "integer", "flag"}:
        texts = _encode(values)[1:-1].decode().split(",")
        return ["" if text == "null" else text for text in texts]
    if column.kind == "seconds":
        return _times(values)
    if column.kind == "floats":
        return _floats(np.asarray(values))
    if column.kind == "ids":
        ids: list[str] = np.asarray(values).astype(str).tolist()
        return ids
    present = ["" if value is None else value for value in values] if None in values else list(values)
    if column.kind in {"time", "day"}:
        return present
    # Nearly no column has a text that needs more than to be written down, and most repeat a few.
    written = {text: _written(text) for text in set(present)}
    return [written[text] for text in present]


def _written(text: str) -> str:
    """Return a text as a cell: with an apostrophe before what spreadsheets would compute, in quotes where it must be (RFC 4180)."""
    text = f"'{text}" if text[:1] in _FORMULA else text
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in _QUOTED) else text


def _floats(values: npt.NDArray[np.float64]) -> list[str]:
    """Return numbers as rows of observations have them: whole ones without a point; empty for null."""
    missing = np.isnan(values)
    numbers = b"%b," % _encode(np.where(missing, 0.0, values + 0.0).tolist())[1:-1]
    texts = np.array(numbers.replace(b".0,", b",").decode().split(",")[:-1], object)
    texts[missing] = ""
    floats: list[str] = texts.tolist()
    return floats


def _times(seconds: Sequence[int | None]) -> list[str]:
    """Return times as `wire_time` writes them, empty for null."""
    moments, codes = distinct(seconds)
    instants = np.maximum([FIRST_SECOND if moment is None else moment for moment in moments], FIRST_SECOND)
    texts = np.datetime_as_string(instants.astype("datetime64[s]"), timezone="UTC").astype(object)
    texts[[moment is None for moment in moments]] = ""
    times: list[str] = texts[codes].tolist()
    return times
