"""
Tables as a workbook (.xlsx): dates as dates, numbers as numbers, and a sheet that says what they are and under which licence.

Texts are written as texts, whatever they begin with: a name that looks like a formula is none.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import xlsxwriter

from almanac.dashboard.formatting.dates import NBSP

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
Cell = str | float | int | Decimal | date | None
_PLAIN = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
#: Of every file alike, so that the same numbers are the same bytes.
_MADE = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_WIDEST = 60


def workbook(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], about: Sequence[Sequence[Cell]], *, data: str = "Data"
) -> bytes:
    """
    Return a workbook of two sheets: `data` with its columns, and `About` with rows as they are given, the first cell a heading.

    A cell that is None is empty.
    """
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, _PLAIN) as book:
        book.set_properties({"created": _MADE})
        head = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        day = book.add_format({"num_format": "yyyy-mm-dd", "align": "left"})
        sheet = book.add_worksheet(data)
        for place, title in enumerate(columns):
            sheet.write_string(0, place, _plain(title), head)
            wide = max([12, *(len(cell) for row in rows if isinstance(cell := row[place], str))])
            sheet.set_column(place, place, min(wide, _WIDEST))
        for number, row in enumerate(rows, 1):
            for place, cell in enumerate(row):
                _write(sheet, number, place, cell, day)
        sheet.freeze_panes(1, 1)
        told = book.add_worksheet("About")
        for number, row in enumerate(about):
            for place, cell in enumerate(row):
                if place == 0 and isinstance(cell, str):
                    told.write_string(number, 0, cell, head)
                else:
                    _write(told, number, place, cell, day)
        told.set_column(0, 0, 22)
        told.set_column(1, max([1, *(len(row) - 1 for row in about)]), 40)
    return out.getvalue()


def _plain(words: str) -> str:
    """Return a text that is found by what people type: a page's no-break spaces are spaces here."""
    return words.replace(NBSP, " ")


def _write(sheet: xlsxwriter.workbook.Worksheet, row: int, column: int, cell: Cell, day: object) -> None:
    if cell is None:
        return
    if isinstance(cell, str):
        sheet.write_string(row, column, _plain(cell))
    elif isinstance(cell, date):
        # A spreadsheet's calendar begins in 1900.
        if cell.year < 1900:
            sheet.write_string(row, column, cell.isoformat())
        else:
            sheet.write_datetime(row, column, cell, day)
    else:
        sheet.write_number(row, column, cell)
