"""Formatting of numbers, periods and moments in answers. Nothing here reads a clock."""

from __future__ import annotations

import calendar
import csv
import io
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

#: The end of a day, when a release dated by its day counts as known, and a midnight.
_DAY_ENDS = ("T23:59:59Z", "T00:00:00Z")
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_PART = re.compile(r"(\d{4})-(Q[1-4]|H[12])")
#: A quarter or half without blanks and hyphens, in either order of year and part; likewise for fiscal ones.
_YEAR_FIRST = re.compile(r"([0-9]{4})(Q[1-4]|H[12])")
_YEAR_LAST = re.compile(r"(Q[1-4]|H[12])([0-9]{4})")
_FISCAL_YEAR_FIRST = re.compile(r"(?:FISCAL|FY)([0-9]{4})(Q[1-4]|H[12])?")
_FISCAL_YEAR_LAST = re.compile(r"(?:FISCAL(Q[1-4]|H[12])|(Q[1-4]|H[12])(?:FISCAL|FY))([0-9]{4})|([0-9]{4})FY")
_FISCAL = re.compile(r"FY([0-9]{4})(?:-(Q[1-4]|H[12]))?")
#: The fiscal name after a company's period.
_ALSO = re.compile(r" \((fiscal [^()]{4,10})\)$")


def number(value: float | str | None) -> str:
    """Return the shortest text that reads back as the same number, or an empty text for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def plain(text: object) -> str:
    """Return any value as one line of text, without characters that are invisible or change the reading direction."""
    line = " ".join(str(text).split())
    return (
        line if line.isprintable() else "".join([c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line])
    )


def plain_record(record: Any) -> Any:
    """Make each text of a record plain, because a publisher's name must not start a line that looks like one of ours."""
    if isinstance(record, str):
        return record if record.isprintable() else plain(record)
    if isinstance(record, dict):
        return {name: plain_record(value) for name, value in record.items()}
    return [plain_record(one) for one in record] if isinstance(record, (list, tuple)) else record


def day(moment: str | None) -> str:
    """Return the day of a moment in the interface's format."""
    return (moment or "")[:10]


def instant(moment: str | None) -> str:
    """Return the shortest form of a moment that can be asked for: just the day if that means the same."""
    text = moment or ""
    return text[:10] if text.endswith(_DAY_ENDS) else text


def period(row: Mapping[str, Any]) -> str:
    """Format a reference period: 2024, 2024-Q1, 2024-06 or 2024-06-30, or its first and last day for any other."""
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


def named(row: Mapping[str, Any], year: int | None, part: str | None) -> str:
    """
    Format a company's period by the calendar, followed by its fiscal name if that differs: `2024-Q3 (fiscal Q4 2024)`.

    `part` is FY, Q1 to Q4, H1 or H2. `year` and `part` are None if they aren't known.
    """
    text = period(row)
    if year is None or part is None:
        return text
    whole = str(year) if part == "FY" else f"{year}-{part}"
    start, end = day(row.get("periodStart")), day(row.get("periodEnd"))
    if end == last_day(whole) and start in {"", end, first_day(whole)}:
        return text
    return f"{text} (fiscal {year if part == 'FY' else f'{part} {year}'})"


def calendar_name(text: str) -> str:
    """Remove the fiscal name that `named` adds."""
    return _ALSO.sub("", text)


def spelled(text: str) -> str:
    """
    Rewrite a period in this module's spelling; other text stays as it is.

    `Q3 2024` and `2024Q3` become 2024-Q3, `fy 2024` becomes FY2024, and `fiscal Q3 2024` becomes FY2024-Q3. Of `2024-Q3
    (fiscal Q4 2024)`, as answers write it, the first part is taken.
    """
    text = calendar_name(text.strip())
    tight = "".join(text.split()).replace("-", "").upper()
    if found := _YEAR_FIRST.fullmatch(tight):
        return f"{found[1]}-{found[2]}"
    if found := _YEAR_LAST.fullmatch(tight):
        return f"{found[2]}-{found[1]}"
    if found := _FISCAL_YEAR_FIRST.fullmatch(tight):
        return f"FY{found[1]}" + (f"-{found[2]}" if found[2] else "")
    if found := _FISCAL_YEAR_LAST.fullmatch(tight):
        part = found[1] or found[2]
        return f"FY{found[4]}" if part is None else f"FY{found[3]}-{part}"
    return text


def fiscal(text: str) -> tuple[int, str] | None:
    """Return year and part (FY, Q1 to Q4, H1, H2) of FY2024 or FY2024-Q3, or None if the text isn't a fiscal period."""
    found = _FISCAL.fullmatch(spelled(text))
    return None if found is None else (int(found[1]), found[2] or "FY")


def first_day(text: str) -> str:
    """Return the first day of a year, half, quarter or month, as the interface takes a start. Other text stays as it is."""
    return _bound(text, last=False)


def last_day(text: str) -> str:
    """Return the last day of a year, half, quarter or month, as the interface takes an end. Other text stays as it is."""
    return _bound(text, last=True)


def _bound(text: str, *, last: bool) -> str:
    text = spelled(text)
    if found := _FISCAL.fullmatch(text):
        text = found[1] if found[2] is None else f"{found[1]}-{found[2]}"
    if _YEAR.fullmatch(text):
        return f"{text}-12-31" if last else f"{text}-01-01"
    if part := _PART.fullmatch(text):
        months = 3 if part[2][0] == "Q" else 6
        end = months * int(part[2][1])
        return _month_end(int(part[1]), end) if last else f"{part[1]}-{end - months + 1:02}-01"
    if (month := _MONTH.fullmatch(text)) and 1 <= int(month[2]) <= 12 and int(month[1]) > 0:
        return _month_end(int(month[1]), int(month[2])) if last else f"{text}-01"
    return text


def _month_end(year: int, month: int) -> str:
    if not 1 <= year <= 9999:
        return f"{year:04}-{month:02}-28"
    return f"{year:04}-{month:02}-{calendar.monthrange(year, month)[1]:02}"


def csv_line(cells: Iterable[object]) -> str:
    """Format a line of comma-separated values, quoted if needed. No cell spans several lines."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([plain(cell) for cell in cells])
    return line.getvalue()


def counted(many: int, noun: str) -> str:
    """Format a count with its noun: 1 row, 2 rows, 1 series, 2 matches, 3 entities."""
    if many == 1 or noun.endswith("s"):
        return f"{many} {noun}"
    return f"{many} {noun[:-1]}ies" if noun.endswith("y") else f"{many} {noun}{'es' if noun.endswith('ch') else 's'}"


def known(as_of: str | None, version: int | None) -> str:
    """Return the words for an answer's state of knowledge: as known on a day, or the latest data."""
    if as_of is not None:
        return f"as known on {as_of}"
    return "latest" if version is None else f"latest, data version {version}"


def ticker(symbol: str) -> str:
    """Return a ticker as the tools accept it. One of two or three letters may also be a country code, so it gets a prefix."""
    return f"ticker:{symbol}" if symbol.isalpha() and 2 <= len(symbol) <= 3 else symbol


def slug(indicator: str) -> str:
    """Return the name of an indicator in filters, from its id."""
    return indicator.removeprefix("indicator_")
