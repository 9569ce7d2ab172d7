"""Values of one sheet of an Office Open XML workbook (.xlsx), row by row.

Only what a table of numbers needs is read: numbers, texts, truth values and error marks. Formulas count by the value
the publisher's program stored. Entities and document types are refused as in every other XML payload.

Read by hand because every byte then passes a budget (see `archive`), which no library lets us put between it and the
archive. Measured with openpyxl 3.1.5, read-only, and python-calamine 0.9.1, each in a process of its own. A real
workbook of the Bank of England (1.3 MB, 27,000 cells) costs us and openpyxl 0.5 s to 0.7 s, calamine 0.04 s, and all
of them 2 MB: it is asked for once a day. A workbook of 91 kB with twelve million shared texts is refused here after
0.9 s at 146 MB; openpyxl was stopped after 60 s, and calamine reads it at 302 MB. One of 120 kB with a text of 120 MB is
refused here, and read there at 405 and 614 MB.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from lxml import etree

from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict
from almanac.sources.formats.archive import Archive

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]*)")
#: Day 0 of the serial numbers: they count a 29 February 1900 that never was, so this holds from March 1900 on.
_EPOCH = date(1899, 12, 30)
_FIRST_DAY, _LAST_DAY = 61, 2_958_465

#: Column number (from 0) → number, or text (also of an error mark such as `#N/A`). A blank cell, or a text of nothing, is
#: not there.
SheetRow = dict[int, float | str]


class Workbook:
    """A workbook inside an archive. Raises SourceChanged naming the member where it is none."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        where = archive.where
        book = strict.xml(archive.read("xl/workbook.xml"), f"{_MAIN}workbook", f"{where}/xl/workbook.xml")
        if any(part.get("date1904") in {"1", "true"} for part in book.iter(f"{_MAIN}workbookPr")):
            raise SourceChanged(f"{where} counts its days from 1904, expected 1900")
        links = "xl/_rels/workbook.xml.rels"
        targets = {
            link.get("Id"): link.get("Target", "")
            for link in strict.xml(archive.read(links), f"{_PACKAGE}Relationships", f"{where}/{links}")
        }
        # A link counts from the folder `xl` unless it begins with a stroke.
        self._members = {
            sheet.get("name", ""): posixpath.join("/xl", targets.get(sheet.get(_ID), ""))[1:]
            for sheet in book.iter(f"{_MAIN}sheet")
        }
        self._texts: list[str] | None = None

    @property
    def sheets(self) -> list[str]:
        """Names of the sheets, in order."""
        return list(self._members)

    def rows(self, sheet: str) -> Iterator[tuple[int, SheetRow]]:
        """Rows of a sheet that have cells, with their numbers (from 1), in order. Raises SourceChanged for what cannot be read."""
        with self._archive.open(self._members[sheet]) as stream:
            where = f"{self._archive.where}/{sheet}"
            file: Any = stream  # the type stubs ask for more than `read`
            parser = etree.iterparse(file, events=("start", "end"), **strict.XML_BOUNDS)
            first, number = True, 0
            try:
                for event, element in parser:
                    if first and element.getroottree().docinfo.internalDTD:
                        raise SourceChanged(f"{where} has a document type declaration (DOCTYPE)")
                    if first and element.tag != f"{_MAIN}worksheet":
                        raise SourceChanged(f"{where} starts with element {element.tag}, expected {_MAIN}worksheet")
                    first = False
                    if event == "end" and element.tag == f"{_MAIN}row":
                        # A row that states no number follows the one before.
                        stated = element.get("r", str(number + 1))
                        if not (stated.isascii() and stated.isdigit()):
                            raise SourceChanged(f"{where}: {strict.shown(stated)} is not the number of a row")
                        number = int(stated)
                        row = {column: value for column, value in self._cells(element, where) if value is not None}
                        # Rows read are let go, or a long sheet would be held whole.
                        element.clear()
                        while element.getprevious() is not None:
                            del element.getparent()[0]
                        if row:
                            yield number, row
            except etree.XMLSyntaxError as error:
                raise SourceChanged(f"{where} is not well-formed XML: {error.msg}") from None

    def _cells(self, row: etree._Element, where: str) -> Iterator[tuple[int, float | str | None]]:
        column = -1
        for cell in row.iterchildren(f"{_MAIN}c"):
            reference = cell.get("r")
            column = column + 1 if reference is None else _column(reference, where)
            yield column, self._value(cell, f"{where} {reference or f'column {column + 1}'}")

    def _value(self, cell: etree._Element, where: str) -> float | str | None:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(text.text or "" for text in cell.iter(f"{_MAIN}t")) or None
        written = cell.findtext(f"{_MAIN}v")
        if not written:
            return None
        if kind == "n":
            return strict.number(written, where)
        if kind == "s":
            texts = self._shared()
            if not written.isascii() or not written.isdigit() or int(written) >= len(texts):
                raise SourceChanged(f"{where}: {strict.shown(written)} is no number of a shared text")
            return texts[int(written)] or None
        if kind in {"str", "e", "b"}:
            return written
        raise SourceChanged(f"{where}: a cell of type {strict.shown(kind)}, expected a number or a text")

    def _shared(self) -> list[str]:
        if self._texts is None:
            name = "xl/sharedStrings.xml"
            root = strict.xml(self._archive.read(name), f"{_MAIN}sst", f"{self._archive.where}/{name}")
            self._texts = ["".join(t.text or "" for t in item.iter(f"{_MAIN}t")) for item in root]
        return self._texts


def day(serial: float | str, where: str) -> date:
    """Return the day of a serial number. Raise SourceChanged for a time of day, or a day before March 1900."""
    if isinstance(serial, str) or not serial.is_integer() or not _FIRST_DAY <= serial <= _LAST_DAY:
        raise SourceChanged(f"{where}: {strict.shown(str(serial))} is not the serial number of a day")
    return _EPOCH + timedelta(days=int(serial))


def _column(reference: str, where: str) -> int:
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise SourceChanged(f"{where}: {strict.shown(reference)} is not a cell like B5")
    number = 0
    for letter in match[1]:
        number = number * 26 + ord(letter) - 64
    return number - 1
