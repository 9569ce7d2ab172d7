"""Bank of England: the fitted curve of gilts (government liability curve), zip archives of workbooks.

Two archives: the history, one workbook for each stretch of years, and the current month, whose workbooks may lie in a
second archive inside the first. The sheet of spot yields has a row `years:` with the maturities, under it a row that
the bank's own program refreshes from (`#VALUE!`, `Refresh`, in older files leftover numbers), then one row per day; a
blank cell is a maturity not fitted that day. Yields are in percent, continuously compounded. Native codes are
`spot 10y` for the column of that maturity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlsplit

from almanac.domain.reference import Source
from almanac.sources.base import TURN_OF_MONTH, Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import tables, workbook
from almanac.sources.formats.archive import Archive, Budget
from almanac.sources.formats.strict import is_not_finite, shown
from almanac.sources.formats.workbook import SheetRow, Workbook

_HOST = "www.bankofengland.co.uk"
_FOLDER = "/-/media/boe/files/statistics/yield-curves/"
_LATEST, _HISTORY = _FOLDER + "latest-yield-curve-data.zip", _FOLDER + "glcnominalddata.zip"
_NOMINAL = re.compile(r"(?:.*/)?GLC[ _]Nominal[ _]daily[ _]data[^/]*\.xlsx", re.IGNORECASE)
#: The sheet's name until 2004, and since.
_SHEETS = ("4. spot curve", "4. nominal spot curve")


#: Value (None: not fitted; a text: the error of a formula) by native code and day.
_Curve = dict[str, dict[date, float | str | None]]


class BoeGlc(Connector):
    """The archive of the history and the archive of the current month."""

    version = 3
    hosts = frozenset({_HOST})
    folder = _FOLDER

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        Both archives; the current month alone where nothing older is wanted. The last month is in the history once it is over,
        so in the first days of the next that is asked for each turn, and on the slow round after that.
        """
        begins = today.replace(day=1)
        history = Request(f"https://{_HOST}{_HISTORY}", closed=today.day > TURN_OF_MONTH)
        latest = Request(f"https://{_HOST}{_LATEST}")
        return [latest] if since is not None and since >= begins else [history, latest]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one archive, one block for each mapped maturity, complete from the maturity's first day to its last.

        Raises SourceChanged naming member, day and maturity, also where no mapped maturity is in a workbook, or an
        archive unpacks to more than is allowed.
        """
        path = urlsplit(payload.url).path
        if path not in {_LATEST, _HISTORY}:
            return Parsed(ignored=f"{path}: neither the history nor the current month of the nominal curve")
        where = path.removeprefix(_FOLDER)
        parsed, curve = Parsed(), _Curve()
        for archive in _workbooks(payload.body, where):
            _read(archive, curve, parsed)
        parsed.lack(series, curve, where)
        for native, days in sorted(curve.items()):
            tables.take(parsed, native, days, series, where)
        return parsed


def _workbooks(body: bytes, where: str) -> Iterator[Archive]:
    """Every workbook of the nominal curve, from the archive or from the archives in it."""
    budget = Budget()
    outer = Archive(body, budget, where)
    layers = [outer]
    if not _nominal(outer):
        inner = [name for name in outer.names if name.lower().endswith(".zip")]
        layers = [Archive(outer.read(name), budget, f"{where}/{name}") for name in inner]
    found = [(layer, name) for layer in layers for name in _nominal(layer)]
    if not found:
        names = [name for layer in [outer, *layers] for name in layer.names]
        raise SourceChanged(f"{where}: no workbook of the nominal curve among {shown(', '.join(names))}")
    for layer, name in found:
        yield Archive(layer.read(name), budget, f"{layer.where}/{name}")


def _nominal(archive: Archive) -> list[str]:
    return [name for name in archive.names if _NOMINAL.fullmatch(name) and not name.startswith("__MACOSX/")]


def _read(archive: Archive, curve: _Curve, parsed: Parsed) -> None:
    """Add what one workbook says to the curve. A day where none should be is reported."""
    book = Workbook(archive)
    sheet = next((name for name in book.sheets if name.strip().lower() in _SHEETS), None)
    if sheet is None:
        raise SourceChanged(f"{archive.where}: sheets {shown(', '.join(book.sheets))}, expected {_SHEETS[0]}")
    where = f"{archive.where}/{sheet}"
    columns: dict[int, str] | None = None
    refreshed = 0
    seen: set[date] = set()
    for number, row in book.rows(sheet):
        label = row.get(0)
        if columns is None:
            if isinstance(label, str) and label.strip().lower() == "years:":
                columns, refreshed = _maturities(row, where), number + 1
                for native in columns.values():
                    curve.setdefault(native, {})
            continue
        if number == refreshed:  # never read: nothing in it tells a leftover from a yield
            parsed.meet([f"{label:g}"] if isinstance(label, float) else [], "a day under years:")
            continue
        if label is None:
            # A row without a day may hold marks of the spreadsheet program, never a yield.
            for column, native in columns.items():
                if isinstance(row.get(column), float):
                    raise SourceChanged(f"{where}: a yield {native} without a day")
            continue
        day = workbook.day(label, where)
        if day in seen:
            raise SourceChanged(f"{where}: {day} is there twice")
        seen.add(day)
        for column, native in columns.items():
            value = row.get(column)
            if isinstance(value, str) and not is_not_finite(value):
                raise SourceChanged(f"{where}: {day} {native}: {shown(value)} is not a number")
            if curve[native].setdefault(day, value) != value:
                raise SourceChanged(f"{where}: {day} {native} differs from another workbook of the archive")
    if columns is None:
        raise SourceChanged(f"{where}: no row years:")


def _maturities(row: SheetRow, where: str) -> dict[int, str]:
    """Native code of each column of the row `years:`."""
    columns: dict[int, str] = {}
    for column, years in row.items():
        if column == 0:
            continue
        if isinstance(years, str) or years <= 0:
            raise SourceChanged(f"{where}: maturity {shown(str(years))} is not a number of years")
        columns[column] = f"spot {years:g}y"
    if not columns or len(set(columns.values())) < len(columns):
        raise SourceChanged(
            f"{where}: row years: has {shown(', '.join(columns.values()))}, expected each maturity once"
        )
    return columns


CONNECTOR = BoeGlc()
