"""
Values of one sheet of a workbook in the Binary Interchange File Format (.xls), row by row.

Read with xlrd, which holds the whole of a sheet. The format is not compressed, and a sheet of it has at most 65,536 rows
of 256 columns, so that is bounded: some 150 MB where a crooked file fills the last column of every row. A real workbook
of 1.5 MB (8,800 days, 13 columns) takes 0.15 s and 12 MB.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import xlrd

from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict
from almanac.sources.formats.workbook import SheetRow

#: Bytes of a workbook that are read at once: ten times the largest of any feed of ours.
_BYTES = 16 << 20


def rows(body: bytes, sheet: str, where: str) -> Iterator[tuple[int, SheetRow]]:
    """
    Rows of a sheet that have cells, with their numbers (from 1), in order.

    Days are serial numbers (`workbook.day`). Raises SourceChanged for what is no such workbook, for one without the sheet,
    and for one that counts its days from 1904.
    """
    if len(body) > _BYTES:
        raise SourceChanged(f"{where} has {len(body)} bytes, more than the {_BYTES} that are read")
    try:
        book = xlrd.open_workbook(file_contents=body, logfile=io.StringIO(), on_demand=True, ragged_rows=True)
        found = book.sheet_by_name(sheet) if sheet in book.sheet_names() else None
    except Exception as error:  # a damaged workbook fails in xlrd in as many ways as it has parts
        raise SourceChanged(f"{where} is not a workbook that can be read: {strict.shown(str(error))}") from None
    if found is None:
        raise SourceChanged(f"{where}: sheets {strict.shown(', '.join(book.sheet_names()))}, expected {sheet}")
    if book.datemode:
        raise SourceChanged(f"{where} counts its days from 1904, expected 1900")
    for number in range(found.nrows):
        cells = {column: _value(cell) for column, cell in enumerate(found.row(number)) if cell.value != ""}
        if cells:
            yield number + 1, cells


def _value(cell: Any) -> float | str:
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    return cell.value if isinstance(cell.value, str) else float(cell.value)
