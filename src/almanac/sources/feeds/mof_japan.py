"""Ministry of Finance, Japan: constant-maturity yields of government bonds, CSV in Shift-JIS.

Two files of one layout: the current month, and the history to the end of last month. A title, a header
(`Date,1Y,2Y,…`), one line per day (`2026/9/1`), blank lines, and footnotes that begin with the reference mark. Native
codes are column names; numbers are percent; `-` is no value. The files state no time of publication.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from urllib.parse import urlsplit

from almanac.domain.reference import Source
from almanac.sources.base import TURN_OF_MONTH, Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import strict, tables

_HOST = "www.mof.go.jp"
#: In place of a value: there is none.
_NONE = "-"
_FOLDER = "/english/policy/jgbs/reference/interest_rate/"
_CURRENT = _FOLDER + "jgbcme.csv"
_HISTORY = _FOLDER + "historical/jgbcme_all.csv"

#: The code page of Windows, of which the publisher's Shift-JIS is a part.
_ENCODING = "cp932"
_REFERENCE_MARK = "\N{REFERENCE MARK}"
_UNIT = re.compile(r"\(Unit\s*:\s*%\)")
_TENOR = re.compile(r"[1-9][0-9]?Y")
_DATE = re.compile(r"(?P<y>[0-9]{4})/(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})")


class MofJapan(Connector):
    """The current-month file and the history file."""

    version = 3
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        Both files, always: corrections of earlier months appear in the history only. Its last month is there once that is
        over, so in the first days of the next it is asked for each turn, and on the slow round after that.
        """
        return [
            Request(f"https://{_HOST}{_HISTORY}", closed=today.day > TURN_OF_MONTH),
            Request(f"https://{_HOST}{_CURRENT}"),
        ]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one file, one block for each mapped column, complete from the file's first day to its last.

        Raises SourceChanged naming the column and day, also where none of the mapped columns is in the header.
        """
        path = urlsplit(payload.url).path
        if path not in {_CURRENT, _HISTORY}:
            return Parsed(ignored=f"{path}: neither the current month nor the history of bond yields")
        where = path.rpartition("/")[2]
        rows = strict.rows(payload.body, _ENCODING, where)
        columns = _layout(rows, where)
        parsed = Parsed()
        parsed.lack(series, columns, f"{where}: header {strict.shown(','.join(columns))}")
        days = tables.by_day(
            _body(rows[2:], where), columns, lambda text: strict.day(text, where, _DATE, "2026/9/1"), where
        )
        if not days:
            if path == _HISTORY:
                raise SourceChanged(f"{where} has a header and no days")
            return parsed  # the first days of a month
        for index, column in enumerate(columns):
            cells = {day: None if row[index] == _NONE else row[index] for day, row in days.items()}
            tables.take(parsed, column, cells, series, where)
        return parsed


def _layout(rows: list[list[str]], where: str) -> list[str]:
    """Names of the value columns. The title is checked too: it alone states the unit."""
    if len(rows) < 2:
        raise SourceChanged(f"{where} has {len(rows)} lines, expected a title, a header and one line per day")
    title, header = rows[0], rows[1]
    if not title or not title[0].startswith("Interest Rate"):
        raise SourceChanged(f"{where}: title {strict.shown(','.join(title))}, expected Interest Rate")
    if not any(_UNIT.fullmatch(cell.strip()) for cell in title):
        raise SourceChanged(f"{where}: title {strict.shown(','.join(title))} does not state the unit %")
    if header[:1] != ["Date"]:
        raise SourceChanged(f"{where}: header {strict.shown(','.join(header))}, expected Date,1Y,2Y,…")
    columns = header[1:]
    for column in columns:
        if _TENOR.fullmatch(column) is None:
            raise SourceChanged(f"{where}: column {strict.shown(column)}, expected a tenor like 10Y")
    if len(set(columns)) < len(columns):
        raise SourceChanged(f"{where}: header {strict.shown(','.join(header))}, expected each tenor once")
    return columns


def _body(rows: Iterable[list[str]], where: str) -> Iterator[list[str]]:
    """Lines with values: all that are not blank up to the footnotes, which end the file."""
    footer = False
    for row in rows:
        filled = [cell for cell in row if cell.strip()]
        if not filled:
            continue
        if filled == row[:1] and row[0].strip().startswith(_REFERENCE_MARK):
            footer = True
        elif footer:
            raise SourceChanged(f"{where}: line {strict.shown(','.join(row))} after the footnote")
        else:
            yield row


CONNECTOR = MofJapan()
