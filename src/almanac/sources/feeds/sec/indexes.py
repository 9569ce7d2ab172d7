"""EDGAR's daily indexes: who filed what on a day, so that a turn asks for those alone of whom there is something new.

The SEC describes them in "Accessing EDGAR Data" (https://www.sec.gov/search-filings/edgar-search-assistance/accessing-edgar-data):
a folder for each quarter with a listing for programs (`index.json`), and in it for each day on which there were filings
`master.YYYYMMDD.idx`, written at about 22:00 New York time. Its lines are `CIK|Company Name|Form Type|Date Filed|File Name`
behind a head that ends with a line of dashes. No file of it is among those that this project was built from: the shape is
as the SEC describes it and as many programs that read it quote it, with days as 20260930.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

import msgspec

from almanac.domain.times import DAY_SECONDS, end_of_day
from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict

FOLDER = "/Archives/edgar/daily-index/"
_LISTING = re.compile(r"/Archives/edgar/daily-index/[0-9]{4}/QTR[1-4]/index\.json")
_MASTER = re.compile(r"/Archives/edgar/daily-index/[0-9]{4}/QTR[1-4]/master\.([0-9]{8})\.idx")
#: Days whose indexes are looked at: so many that everything is asked for once in them, on the slow round.
WINDOW = 35
_NAME = re.compile(r"master\.([0-9]{8})\.idx")
_HEAD = re.compile(r"CIK\|Company Name\|Form Type\|Date Filed\|File ?[Nn]ame\s*")
_DASHES = re.compile(r"-{10,}\s*")
#: Forms that others file about a company, or its owners about themselves: there are no facts in them.
_WITHOUT_FACTS = re.compile(r"(?:3|4|5|144|SC 13[DG]|SCHEDULE 13[DG])(?:/A)?")
#: Reports whose facts are what statements are made of: the interface of facts may have them some days after the filing.
_PERIODIC = re.compile(r"(?:10-[KQ]|20-F|40-F)(?:T|/A|T/A)?")
#: Hours of UTC by which what was filed on the day before is there, and days for which facts of reports may be late.
_MORNING, LATE = 6 * 3_600, 2


class _Item(msgspec.Struct):
    name: str


class _Directory(msgspec.Struct):
    item: list[_Item]


class _QuarterListing(msgspec.Struct):
    directory: _Directory


def quarters(today: date) -> list[str]:
    """Paths of the listings that have the days before today, the latest one first: a folder begins with its first day of work."""
    last, first = today - timedelta(days=1), today - timedelta(days=WINDOW)
    while last.weekday() > 4 or (last.month, last.day) == (1, 1):
        last -= timedelta(days=1)
    return list(dict.fromkeys(_folder(day) + "index.json" for day in (last, first)))


def is_listing(path: str) -> bool:
    """Return whether a path is that of a quarter's listing."""
    return _LISTING.fullmatch(path) is not None


def masters(body: bytes, today: date, where: str) -> Iterator[tuple[str, date]]:
    """Path and day of every index that a listing has of the days before today. Raises SourceChanged."""
    try:
        listed = msgspec.json.decode(body, type=_QuarterListing).directory.item
    except msgspec.DecodeError as error:
        raise SourceChanged(f"{where}: {error}") from None
    for item in listed:
        if found := _NAME.fullmatch(item.name):
            day = strict.day(found[1], f"{where}: {item.name}", strict.COMPACT_DAY, "20260930")
            if today - timedelta(days=WINDOW) <= day < today:
                yield _folder(day) + item.name, day


def settled_at(day: date) -> int:
    """From when on the index of a day names nothing new to anybody, and is not asked for again (unix seconds)."""
    return end_of_day(day) + 1 + _MORNING + LATE * DAY_SECONDS


def changed(body: bytes, day: date, where: str) -> dict[tuple[int, bool], int]:
    """
    CIK and whether its facts are meant, or its submissions → from when on whoever asks has all that was filed on that day (unix
    seconds). Raises SourceChanged naming the line.
    """
    found: dict[tuple[int, bool], int] = {}
    there = end_of_day(day) + 1 + _MORNING
    for cik, form in _rows(body, where):
        found[cik, False] = there
        if _PERIODIC.fullmatch(form):
            found[cik, True] = there + LATE * DAY_SECONDS
        elif not _WITHOUT_FACTS.fullmatch(form):
            found.setdefault((cik, True), there)
    return found


def _rows(body: bytes, where: str) -> Iterator[tuple[int, str]]:
    """CIK and form of each line."""
    lines = iter(strict.text(body, "latin-1", where).split("\n"))  # there are more ends of lines in Latin-1
    if not any(_HEAD.fullmatch(line) for line in lines):
        raise SourceChanged(f"{where}: no line with the names of its columns")
    if not _DASHES.fullmatch(next(lines, "")):
        raise SourceChanged(f"{where}: no line of dashes behind the names of its columns")
    for line in lines:
        if not line.strip():
            continue
        cik, _, rest = line.partition("|")
        parts = rest.rsplit("|", 3)
        if len(parts) != 4 or not (cik.isascii() and cik.isdigit() and len(cik) <= 10):
            raise SourceChanged(f"{where}: {strict.shown(line)} is not a CIK, a name, a form, a day and a file")
        yield int(cik), parts[1].strip()


def _folder(day: date) -> str:
    return f"{FOLDER}{day.year}/QTR{(day.month + 2) // 3}/"


def day_of(path: str) -> date | None:
    """Return the day of the index at a path; None for another path."""
    found = _MASTER.fullmatch(path)
    return None if found is None else strict.day(found[1], path, strict.COMPACT_DAY, "20260930")
