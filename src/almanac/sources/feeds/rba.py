"""
Reserve Bank of Australia: statistical tables F1 (money market), F2 and F2.1 (government bonds), CSV, and their earlier years.

A table starts with its name, then one labelled row each for title, description, frequency, type, units, source,
publication date and series id of every column, then one row per day (`04-Jan-2011`). An empty cell is no value, and
rows end at their last value: cells belong to columns counted from the left. Native codes are the series ids. Columns
whose source is not the Reserve Bank belong to others and are restricted. Publication dates are of the whole table, so
they say nothing about when a value was first published.

The CSV begins in 2011 (F1) or 2013. What is older stands in workbooks (.xls, sheet `Data`) that the bank no longer changes:
days are serial numbers. That of F1 has the same rows above them; those of F2 and F2.1 state one unit below the name, have
issuers and maturities where the others have titles, and call the series id `Mnemonic`. They go on for a
while where the CSV has begun, without values or, for May 2013, with another average, so what is of the CSV's time is not
read from them.
Until August 1990 the target was a range (`17.00 to 17.50`), which is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple
from urllib.parse import urlsplit

from almanac.domain.periods import Frequency
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import strict, tables, workbook, xls

_HOST = "www.rba.gov.au"
_FOLDER, _PAST_FOLDER = "/statistics/tables/csv/", "/statistics/tables/xls-hist/"


class _Table(NamedTuple):
    """A table in CSV, and the workbook with its earlier years."""

    name: str
    file: str
    #: Form of the ids of its series.
    ids: re.Pattern[str]
    #: Its frequency, as written.
    word: str
    #: First day of the CSV.
    begins: date
    past_file: str
    #: How the name at the top of the workbook begins.
    past_name: str


_TABLES = (
    _Table("F1", "f1-data.csv", re.compile(r"FIRMM[A-Z0-9]+"), "Daily", date(2011, 1, 4), "f01dhist.xls", "F1"),
    _Table("F2", "f2-data.csv", re.compile(r"FCMYG[A-Z0-9]+D"), "Daily", date(2013, 5, 20), "f02dhist.xls", "F2"),
    _Table(
        "F2.1", "f2.1-data.csv", re.compile(r"FCMYG[A-Z0-9]+(?<!D)"), "Monthly", date(2013, 5, 31), "f02histhist.xls", "F2",
    ),
)  # fmt: skip
_LABELS = ("Title", "Description", "Frequency", "Type", "Units", "Source", "Publication date", "Series ID")
#: The same labels in the older workbooks.
_OLDER = {"Last updated:": "Publication date", "Mnemonic": "Series ID"}
_SHEET = "Data"
_DAY = re.compile(r"(?P<d>[0-9]{2})-(?P<m>[A-Z][a-z]{2})-(?P<y>[0-9]{4})")
_RANGE = re.compile(r"-?[0-9]+\.[0-9]+ to -?[0-9]+\.[0-9]+")
_FREQUENCIES = {"Daily": Frequency.DAILY, "Monthly": Frequency.MONTHLY}
_UNITS = {"Per cent": "percent", "Per cent per annum": "percent"}
_OWNER, _NAMES = "RBA", "The Reserve Bank of Australia names"


class _Column(NamedTuple):
    native: str
    frequency: str
    units: str
    source: str


class Rba(Connector):
    """Three tables, each whole as the bank publishes it today, and three workbooks with what is older, which it no longer changes."""

    version = 4
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        Every table that has a wanted series, whole: the bank publishes no part of one. Its earlier years are of the closed past,
        and left out where nothing as old is wanted.
        """
        planned = []
        for table in _TABLES:
            if not any(table.ids.fullmatch(native) for native in series):
                continue
            planned.append(Request(f"https://{_HOST}{_FOLDER}{table.file}"))
            if since is None or since < table.begins:
                planned.append(Request(f"https://{_HOST}{_PAST_FOLDER}{table.past_file}", closed=True))
        return planned

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one table or the workbook of its earlier years, one block for each mapped column, complete from its first day to its last.

        Raises SourceChanged naming the column and day, also where no mapped column is there or one is now published at
        another frequency or in another unit.
        """
        path = urlsplit(payload.url).path
        for table in _TABLES:
            if path == _FOLDER + table.file:
                return _read(table, strict.rows(payload.body, "utf-8", table.file), table.name, table.file, series)
            if path == _PAST_FOLDER + table.past_file:
                return _read(table, [*_rows_of(payload.body, table)], table.past_name, table.past_file, series)
        return Parsed(ignored=f"{path}: none of the tables {', '.join(table.name for table in _TABLES)}")


def _read(table: _Table, rows: Sequence[list[str]], name: str, where: str, series: Specs) -> Parsed:
    parsed = Parsed()
    columns, start = _layout(rows, name, where, parsed)
    natives = [column.native for column in columns]
    parsed.lack(filter(table.ids.fullmatch, series), natives, where)
    days = tables.by_day(
        rows[start:], natives, lambda text: strict.day(text, where, _DAY, "31-Oct-2026"), where, ragged=True
    )
    if not days:
        raise SourceChanged(f"{where} has a header and no days")
    for index, column in enumerate(columns):
        spec = series.get(column.native)
        if spec is not None:
            # A column of another frequency or unit is another series.
            named = f"{where}: {column.native}"
            if _FREQUENCIES.get(column.frequency) is not spec.frequency:
                stated = strict.shown(column.frequency)
                raise SourceChanged(f"{named} has frequency {stated}, expected {spec.frequency.word}")
            if _UNITS.get(column.units) != spec.unit:
                raise SourceChanged(f"{named} has units {strict.shown(column.units)}, expected {spec.unit}")
            if column.source != _OWNER:
                reason = f"{_NAMES} {column.source} as the source of this column, which is not under its open licence."
                parsed.tightened[column.native] = (Exposure.restricted, reason)
        tables.take(parsed, column.native, {day: cells[index] or None for day, cells in days.items()}, series, where)
    return parsed


def _rows_of(body: bytes, table: _Table) -> Iterator[list[str]]:
    """Rows of a workbook as the CSV would have them, to the day before the CSV begins. Raises SourceChanged."""
    where = table.past_file
    unit, headed = "", False
    for number, row in xls.rows(body, _SHEET, where):
        label = row.get(0, "")
        cells = [_text(row.get(column, "")) for column in range(1, max(row) + 1)]
        if isinstance(label, float):
            day = workbook.day(label, where)
            if day < table.begins and any(cells):
                yield [f"{day:%d}-{strict.MONTHS[day.month - 1]}-{day.year}", *cells]
        elif label in _UNITS and not cells:
            unit = label
        elif label:
            if label == "Mnemonic":
                # One unit and one frequency for all of it, where other tables have a row of each.
                yield ["Units", *[unit] * len(cells)]
                yield ["Frequency", *[table.word] * len(cells)]
            headed = headed or _OLDER.get(label, label) == "Series ID"
            yield [_OLDER.get(label, label), *cells]
        elif headed:
            raise SourceChanged(f"{where}: row {number} has no day")


def _text(value: float | str) -> str:
    """Return a cell as the CSV would have it; a range is no value."""
    if isinstance(value, float):
        return repr(value)
    return "" if _RANGE.fullmatch(value) else value


def _layout(rows: Sequence[list[str]], expected: str, where: str, parsed: Parsed) -> tuple[list[_Column], int]:
    """Return the columns, and the number of the first row of data."""
    name = rows[0][0] if rows and rows[0] else ""
    if not name.startswith(expected + " "):
        raise SourceChanged(f"{where}: title {strict.shown(name)}, expected {expected}")
    head: dict[str, list[str]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(row):
            continue
        label, cells = row[0], row[1:]
        if label not in _LABELS:
            parsed.meet([strict.shown(label)], "row")
            continue
        if label in head:
            raise SourceChanged(f"{where}: row {label} is there twice")
        head[label] = cells
        if label == "Series ID":
            return _columns(head, where), number
    raise SourceChanged(f"{where}: no row Series ID")


def _columns(head: Mapping[str, list[str]], where: str) -> list[_Column]:
    ids = head["Series ID"]
    for label in ("Frequency", "Units", "Source"):
        if len(head.get(label, ())) != len(ids):
            raise SourceChanged(f"{where}: row {label} has {len(head.get(label, ()))} cells, Series ID {len(ids)}")
    if len(set(ids)) < len(ids) or "" in ids:
        raise SourceChanged(f"{where}: Series ID {strict.shown(','.join(ids))}, expected each id once")
    return list(map(_Column, ids, head["Frequency"], head["Units"], head["Source"]))


CONNECTOR = Rba()
