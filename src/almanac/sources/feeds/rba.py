"""Reserve Bank of Australia: statistical tables F1 (money market), F2 and F2.1 (government bonds), CSV.

A table starts with its name, then one labelled row each for title, description, frequency, type, units, source,
publication date and series id of every column, then one row per day (`04-Jan-2011`). An empty cell is no value, and
rows end at their last value: cells belong to columns counted from the left. Native codes are the series ids. Columns
whose source is not the Reserve Bank belong to others and are restricted. Publication dates are of the whole table, so
they say nothing about when a value was first published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple
from urllib.parse import urlsplit

from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged
from almanac.sources.formats import dates, strict, tables
from almanac.sources.reckoning import Size, periods

_HOST = "www.rba.gov.au"
_FOLDER = "/statistics/tables/csv/"
#: Name of a table → its file, and the series ids that are in it.
_TABLES: dict[str, tuple[str, re.Pattern[str]]] = {
    "F1": ("f1-data.csv", re.compile(r"FIRMM[A-Z0-9]+")),
    "F2": ("f2-data.csv", re.compile(r"FCMYG[A-Z0-9]+D")),
    "F2.1": ("f2.1-data.csv", re.compile(r"FCMYG[A-Z0-9]+(?<!D)")),
}
_LABELS = ("Title", "Description", "Frequency", "Type", "Units", "Source", "Publication date", "Series ID")
_FREQUENCIES = {"Daily": Frequency.DAILY, "Monthly": Frequency.MONTHLY}
_UNITS = {"Per cent": "percent", "Per cent per annum": "percent"}
_OWNER = "RBA"
#: First day of a table at the earliest, columns of one, separators and bytes of a value.
_BEGINNING, _COLUMNS, _PARTS, _WIDTH = date(1969, 7, 1), 16, 1, 8


class _Column(NamedTuple):
    native: str
    frequency: str
    units: str
    source: str


class Rba:
    """
    Three tables, each whole as the bank publishes it today. What is older than its first row (daily yields before 2013, rates
    of the money market before 2011) stands in workbooks of an older format (`f02dhist.xls`, `f01dhist.xls`), which nobody reads.
    """

    version = 2

    def owns(self, url: str) -> bool:
        """Whether the URL is on the bank's host."""
        return urlsplit(url).hostname == _HOST

    def plan(
        self, source: Source, series: Mapping[str, SeriesSpec], since: date | None, today: date, key: str | None
    ) -> list[Request]:
        """Every table that has a wanted series, whole: the bank publishes no part of one."""
        return [
            Request(
                f"https://{_HOST}{_FOLDER}{file}",
                size=Size.of(_COLUMNS * periods(frequencies, _BEGINNING, today), _PARTS, _WIDTH),
            )
            for file, ids in _TABLES.values()
            if (frequencies := {spec.frequency for native, spec in series.items() if ids.fullmatch(native)})
        ]

    def parse(self, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
        """Read one table, one block for each mapped column, complete from the table's first day to its last.

        Raises SourceChanged naming the column and day, also where no mapped column is there or one is now published at
        another frequency or in another unit.
        """
        path = urlsplit(payload.url).path
        table = next((name for name, (file, _) in _TABLES.items() if path == _FOLDER + file), None)
        if table is None:
            return Parsed(ignored=f"{path}: none of the tables {', '.join(_TABLES)}")
        where = _TABLES[table][0]
        rows = strict.rows(payload.body, "utf-8", where)
        parsed = Parsed()
        columns, start = _layout(rows, table, where, parsed)
        natives = [column.native for column in columns]
        parsed.lack(filter(_TABLES[table][1].fullmatch, series), natives, where)
        days = tables.by_day(rows[start:], natives, lambda text: dates.named_day(text, "-", where), where, ragged=True)
        if not days:
            raise SourceChanged(f"{where} has a header and no days")
        for index, column in enumerate(columns):
            spec = series.get(column.native)
            if spec is not None:
                _check(column, spec, where)
                if column.source != _OWNER:
                    parsed.tightened[column.native] = (Exposure.restricted, _reason(column.source))
            tables.take(parsed, column.native, {day: cells[index] for day, cells in days.items()}, series, where)
        return parsed


def _reason(owner: str) -> str:
    return f"The Reserve Bank of Australia names {owner} as the source of this column, which is not under its open licence."


def _layout(rows: Sequence[list[str]], table: str, where: str, parsed: Parsed) -> tuple[list[_Column], int]:
    """The columns, and the number of the first row of data."""
    name = rows[0][0] if rows and rows[0] else ""
    if not name.startswith(table + " "):
        raise SourceChanged(f"{where}: title {strict.shown(name)}, expected {table}")
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


def _check(column: _Column, spec: SeriesSpec, where: str) -> None:
    """A column that changed its frequency or unit is another series."""
    if _FREQUENCIES.get(column.frequency) is not spec.frequency:
        raise SourceChanged(
            f"{where}: {column.native} has frequency {strict.shown(column.frequency)}, expected {spec.frequency.word}"
        )
    if _UNITS.get(column.units) != spec.unit:
        raise SourceChanged(f"{where}: {column.native} has units {strict.shown(column.units)}, expected {spec.unit}")


CONNECTOR: Connector = Rba()
