"""Invented mirror folders: a large one that takes seconds to read, and small ones of one response. All numbers are made up."""

import csv
import gzip
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.support.invented_mirror import EVER, FRED, MOF, TREASURY, fred_body, mof_file, treasury_file, weekdays

NOW = "2026-11-20T12:00:00Z"
SOURCES = ("us-treasury", "mof-japan", "fred")
TREASURY_SOURCE = "us-treasury-par"
HISTORY = MOF + "historical/jgbcme_all.csv"


class Response(NamedTuple):
    """One line of a mirror. `packed`: the file is written as `.gz`, and `body` is what it holds."""

    url: str
    body: bytes
    fetched_at: str
    media_type: str = "application/xml"
    packed: bool = False


def year_url(year: int) -> str:
    return f"{TREASURY}?data=daily_treasury_yield_curve&field_tdr_date_value={year}"


def fred_url(native: str) -> str:
    return f"{FRED}?file_type=json&realtime_end={EVER[1]}&realtime_start={EVER[0]}&series_id={native}"


def write(folder: Path, responses: Iterable[Response]) -> Path:
    """A mirror folder of these responses."""
    folder.mkdir(parents=True)
    with (folder / "mirror.csv").open("w", encoding="utf-8", newline="") as listing:
        lines = csv.writer(listing)
        lines.writerow(("url", "file", "fetched_at", "media_type", "status"))
        for number, one in enumerate(responses):
            name = f"{number:03}.gz" if one.packed else f"{number:03}"
            (folder / name).write_bytes(gzip.compress(one.body, 1) if one.packed else one.body)
            lines.writerow((one.url, name, one.fetched_at, one.media_type, 200))
    return folder


def year_file(year: int, until: str = "9", changed: dict[date, float] | None = None) -> bytes:
    """A year of the Treasury's curve on all weekdays up to a day."""
    days = [day for day in weekdays(f"{year}-01-02", f"{year}-12-31") if day.isoformat() <= min(until, "2026-11-19")]
    return treasury_file(days, changed)


def _months(native: str, count: int) -> bytes:
    """A monthly archive in which every value is revised once, a month after its release."""
    rows = []
    for number in range(count):
        month = date(1990 + number // 12, number % 12 + 1, 1)
        out = (month + timedelta(days=45)).isoformat()
        again = month + timedelta(days=75)
        base = 100 + len(native) + number / 4
        rows.append((month.isoformat(), f"{base - 0.5}", out, (again - timedelta(days=1)).isoformat()))
        rows.append((month.isoformat(), f"{base}", again.isoformat(), EVER[1]))
    return fred_body(rows, EVER)


def large(years: int = 8) -> list[Response]:
    """
    Several seconds of work: the curve by year, the latest year as fetched week after week with corrections, Japan, and
    monthly archives in which every value is revised.
    """
    found = [
        Response(year_url(year), year_file(year), f"{year + 1}-01-02T06:00:00Z") for year in range(2026 - years, 2026)
    ]
    for week in range(1, 11):
        until = date(2026, 8, 28) + timedelta(days=7 * week)
        corrected = {until - timedelta(days=2): 5.0 + week / 100}
        found.append(Response(year_url(2026), year_file(2026, until.isoformat(), corrected), f"{until}T23:30:00Z"))
    japan = weekdays("2018-01-02", "2026-10-30")
    found.append(Response(HISTORY, mof_file(japan), "2026-11-05T03:00:00Z", "text/csv"))
    current = mof_file(weekdays("2026-11-02", "2026-11-18"), " (November 2026)")
    found.append(Response(MOF + "jgbcme.csv", current, "2026-11-19T03:00:00Z", "text/csv"))
    for native in ("CPIAUCNS", "CPIAUCSL", "UNRATE", "PAYEMS"):
        found.append(Response(fred_url(native), _months(native, 420), "2026-11-16T06:00:00Z", "application/json"))
    return found
