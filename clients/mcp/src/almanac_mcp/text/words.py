"""Words: how numbers, periods and moments are written in an answer. Nothing here reads a clock."""

from __future__ import annotations

import calendar
import csv
import io
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

#: The end of a day, which is when a release that is dated to the day counts as known.
_DAY_ENDS = ("T23:59:59Z", "T00:00:00Z")
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_QUARTER = re.compile(r"(\d{4})-Q([1-4])", re.IGNORECASE)


def number(value: float | str | None) -> str:
    """The shortest text that reads back as the same number; empty for none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def plain(text: object) -> str:
    """One line of text, whatever it was."""
    return " ".join(str(text).split())


def day(moment: str | None) -> str:
    """The day of a moment as the interface writes it."""
    return (moment or "")[:10]


def instant(moment: str | None) -> str:
    """A moment as short as it can be said and still be asked for: the day alone where that means the same."""
    text = moment or ""
    return text[:10] if text.endswith(_DAY_ENDS) else text


def period(row: Mapping[str, Any]) -> str:
    """A reference period: 2024, 2024-Q1, 2024-06, 2024-06-30, or first and last day of any other."""
    end = day(row.get("periodEnd"))
    start = day(row.get("periodStart")) or end
    if start == end:
        return end
    first, last = date.fromisoformat(start), date.fromisoformat(end)
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    if first.day != 1 or (last + timedelta(days=1)).day != 1:
        return f"{start}/{end}"
    if months == 1:
        return end[:7]
    if months == 3 and first.month % 3 == 1:
        return f"{first.year}-Q{(first.month + 2) // 3}"
    if months == 12 and first.month == 1:
        return end[:4]
    return f"{start}/{end}"


def first_day(text: str) -> str:
    """A start as the interface takes it: a year, quarter or month means its first day; all else is passed on."""
    return _bound(text, last=False)


def last_day(text: str) -> str:
    """An end likewise: a year, quarter or month means its last day."""
    return _bound(text, last=True)


def _bound(text: str, *, last: bool) -> str:
    text = text.strip()
    if _YEAR.fullmatch(text):
        return f"{text}-12-31" if last else f"{text}-01-01"
    if quarter := _QUARTER.fullmatch(text):
        year, months = int(quarter[1]), 3 * int(quarter[2])
        return _month_end(year, months) if last else f"{year:04}-{months - 2:02}-01"
    if (month := _MONTH.fullmatch(text)) and 1 <= int(month[2]) <= 12 and int(month[1]) > 0:
        return _month_end(int(month[1]), int(month[2])) if last else f"{text}-01"
    return text


def _month_end(year: int, month: int) -> str:
    if not 1 <= year <= 9999:
        return f"{year:04}-{month:02}-28"
    return f"{year:04}-{month:02}-{calendar.monthrange(year, month)[1]:02}"


def csv_line(cells: Iterable[object]) -> str:
    """A line of comma-separated values, quoted where it must be; no cell spans lines."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([plain(cell) for cell in cells])
    return line.getvalue()


def counted(many: int, noun: str) -> str:
    """1 row, 2 rows, 1 series, 2 matches, 3 entities."""
    if many == 1 or noun.endswith("s"):
        return f"{many} {noun}"
    return f"{many} {noun[:-1]}ies" if noun.endswith("y") else f"{many} {noun}{'es' if noun.endswith('ch') else 's'}"


def known(as_of: str | None, version: int | None) -> str:
    """From when an answer is: as known on a day, or the newest data there are."""
    if as_of is not None:
        return f"as known on {as_of}"
    return "latest" if version is None else f"latest, data version {version}"


def slug(indicator: str) -> str:
    """The name of an indicator in filters, from its id."""
    return indicator.removeprefix("indicator_")
