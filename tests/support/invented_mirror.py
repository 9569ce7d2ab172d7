"""
An invented mirror folder in the publishers' own formats. Every number here is made up.

What is where (now is 2026-11-20T12:00:00Z, so the free plan begins on 2024-11-20):

- Treasury: yields of stretches of 2023 to 2026; the file of 2026 twice, the second time with 2026-11-17 corrected and
  2026-11-12 left out.
- MOF: yields of Japan, the current month and some older days.
- FRED: prices and unemployment with their vintages (one revised, one withdrawn), GDP, projections, a weekly series, a
  copy of the Treasury's 2-year and 10-year yields, and a spread whose owner allows no redistribution.
"""

import csv
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

NOW = "2026-11-20T12:00:00Z"
FREE_FROM = "2024-11-20"
TREASURY = "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
MOF = "https://www.mof.go.jp/english/policy/jgbs/reference/interest_rate/"
FRED = "https://api.stlouisfed.org/fred/series/observations"
EVER = ("1776-07-04", "9999-12-31")
#: When the last files were fetched, and with that the time from which the corrections are known.
FIRST_FETCH, LAST_FETCH = "2026-11-18T23:30:00Z", "2026-11-20T01:00:00Z"
ARCHIVE_FETCH = "2026-11-16T06:00:00Z"
WITHDRAWN_DAY, CORRECTED_DAY, CORRECTED = date(2026, 11, 12), date(2026, 11, 17), 4.44
TENORS = {"BC_3MONTH": 3.5, "BC_2YEAR": 3.6, "BC_5YEAR": 3.8, "BC_10YEAR": 4.1, "BC_30YEAR": 4.7}


def weekdays(first: str, last: str) -> list[date]:
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    found = []
    while day <= end:
        if day.weekday() < 5:
            found.append(day)
        day += timedelta(days=1)
    return found


TREASURY_DAYS = [
    *weekdays("2023-11-13", "2023-11-17"),
    *weekdays("2024-11-18", "2024-11-22"),
    *weekdays("2025-11-03", "2025-11-20"),
    *weekdays("2026-10-29", "2026-11-19"),
]
MOF_DAYS = [*weekdays("2025-11-10", "2025-11-14"), *weekdays("2026-10-29", "2026-11-18")]


def treasury_value(element: str, day: date) -> float:
    """Two decimals, another one for every day."""
    return round(TENORS[element] + (day.toordinal() % 37) / 100, 2)


def mof_value(years: int, day: date) -> float:
    """Three decimals."""
    return round(0.5 + years / 20 + (day.toordinal() % 23) / 1000, 3)


def treasury_file(days: list[date], changed: dict[date, float] | None = None) -> bytes:
    """One year of the par curve; `changed` are other values for the 10-year yield."""
    head = (
        '<feed xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
        'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom">'
        "<title>invented</title>"
    )
    entries = []
    for day in days:
        cells = {name: treasury_value(name, day) for name in TENORS}
        if changed and day in changed:
            cells["BC_10YEAR"] = changed[day]
        inside = "".join(f"<d:{name}>{value}</d:{name}>" for name, value in cells.items())
        entries.append(
            f"<entry><id>{day}</id><content><m:properties><d:NEW_DATE>{day}T00:00:00</d:NEW_DATE>{inside}"
            "</m:properties></content></entry>"
        )
    return f"{head}{''.join(entries)}</feed>".encode()


def mof_file(days: list[date], month: str = "") -> bytes:
    years = (1, 2, 3, 5, 7, 10, 20, 30)
    lines = [f"Interest Rate{month},,,,,,,,(Unit : %)", "Date," + ",".join(f"{n}Y" for n in years)]
    for day in days:
        lines.append(f"{day.year}/{day.month}/{day.day}," + ",".join(str(mof_value(n, day)) for n in years))
    return "\r\n".join([*lines, ",,,,,,,,", '"※Invented footnote.",,,,,,,,']).encode("cp932")


def fred_body(rows: list[tuple[str, str, str, str]], real: tuple[str, str]) -> bytes:
    """Rows are (date, value, realtime_start, realtime_end)."""
    listed = [dict(zip(("date", "value", "realtime_start", "realtime_end"), row, strict=True)) for row in rows]
    body = {
        "realtime_start": real[0], "realtime_end": real[1], "observation_start": "1600-01-01",
        "observation_end": "9999-12-31", "units": "lin", "output_type": 1, "file_type": "json",
        "order_by": "observation_date", "sort_order": "asc", "count": len(rows), "offset": 0, "limit": 100_000,
        "observations": listed,
    }  # fmt: skip
    return json.dumps(body).encode()


def snapshot(values: dict[date, Any], today: str) -> bytes:
    return fred_body([(day.isoformat(), str(value), today, today) for day, value in values.items()], (today, today))


def months(first: date, last: date) -> list[date]:
    found = [first]
    while found[-1] < last:
        found.append((found[-1] + timedelta(days=32)).replace(day=1))
    return found


MONTHS = months(date(2023, 1, 1), date(2026, 10, 1))
REVISED_MONTH, WITHDRAWN_MONTH = date(2026, 8, 1), date(2026, 3, 1)
REVISED_ON, WITHDRAWN_ON = "2026-10-14", "2026-06-11"


def price(month: date) -> float:
    """An index that grows by half a point a month: inflation over a year is 600/x percent."""
    return 290 + ((month.year - 2023) * 12 + month.month - 1) * 0.5


def jobless(month: date) -> float:
    return round(3.5 + ((month.year * 12 + month.month) % 7) / 10, 1)


def released(month: date) -> str:
    """The 12th of the month after."""
    return (month + timedelta(days=32)).replace(day=12).isoformat()


def prices() -> bytes:
    rows = []
    for month in MONTHS:
        day, out = month.isoformat(), released(month)
        if month == REVISED_MONTH:
            rows.append((day, str(price(month) - 1), out, "2026-10-13"))
            rows.append((day, str(price(month)), REVISED_ON, EVER[1]))
        elif month == WITHDRAWN_MONTH:
            rows.append((day, str(price(month)), out, "2026-06-10"))
        else:
            rows.append((day, str(price(month)), out, EVER[1]))
    return fred_body(rows, EVER)


def unemployment() -> bytes:
    return fred_body([(m.isoformat(), str(jobless(m)), released(m), EVER[1]) for m in MONTHS], EVER)


def gdp() -> bytes:
    rows = []
    for number, year in enumerate((2025, 2026)):
        for quarter in range(4 if year == 2025 else 3):
            first = date(year, quarter * 3 + 1, 1)
            out = (first + timedelta(days=120)).replace(day=5).isoformat()
            rows.append((first.isoformat(), str(23_000 + (number * 4 + quarter) * 100), out, EVER[1]))
    return fred_body(rows, EVER)


DAILY = [*weekdays("2025-10-13", "2025-10-24"), *weekdays("2026-10-01", "2026-11-18")]
#: What must never be seen: distinctive numbers of the restricted series.
SECRETS = {day: round(7.0 + number * 0.137, 3) for number, day in enumerate(DAILY)}


#: What the second source of the American curve says, and to which days it keeps.
COPY_DAYS = weekdays("2026-11-10", "2026-11-18")
COPY_10Y = {day: round(treasury_value("BC_10YEAR", day) + 0.5, 2) for day in COPY_DAYS}
COPY_2Y = {day: round(treasury_value("BC_2YEAR", day) + 0.25, 2) for day in COPY_DAYS}


def responses() -> list[tuple[str, bytes, str, str]]:
    """(url, body, fetched_at, media type), as a mirror lists them."""

    def treasury(year: int, fetched: str, changed: dict[date, float] | None = None, until: str = "9") -> Any:
        days = [d for d in TREASURY_DAYS if d.year == year and d.isoformat() <= until]
        if changed is not None:
            days.remove(WITHDRAWN_DAY)
        url = f"{TREASURY}?data=daily_treasury_yield_curve&field_tdr_date_value={year}"
        return (url, treasury_file(days, changed), fetched, "application/xml")

    def fred(native: str, body: bytes, fetched: str, real: bool = False) -> Any:
        span = f"&realtime_end={EVER[1]}&realtime_start={EVER[0]}" if real else ""
        return (f"{FRED}?file_type=json{span}&series_id={native}", body, fetched, "application/json")

    quarters = [date(year, month, 1) for year in (2026, 2027) for month in (1, 4, 7, 10)]
    claims = {day: 210_000 + n * 1000 for n, day in enumerate(date(2026, 10, 3) + timedelta(7 * w) for w in range(7))}
    upper = {date(2026, 1, 1) + timedelta(n): 4.0 if n < 200 else 3.75 for n in range(322)}
    return [
        treasury(2023, "2024-01-02T06:00:00Z"),
        treasury(2024, "2025-01-02T06:00:00Z"),
        treasury(2025, "2026-01-02T06:00:00Z"),
        treasury(2026, FIRST_FETCH, until="2026-11-18"),
        treasury(2026, LAST_FETCH, {CORRECTED_DAY: CORRECTED}),
        (MOF + "historical/jgbcme_all.csv", mof_file([d for d in MOF_DAYS if d.isoformat() < "2026-11"]), "2026-11-05T03:00:00Z", "text/csv"),
        (MOF + "jgbcme.csv", mof_file([d for d in MOF_DAYS if d.isoformat() > "2026-11"], " (November 2026)"), "2026-11-19T03:00:00Z", "text/csv"),
        fred("CPIAUCNS", prices(), ARCHIVE_FETCH, real=True),
        fred("UNRATE", unemployment(), ARCHIVE_FETCH, real=True),
        fred("GDPC1", gdp(), ARCHIVE_FETCH, real=True),
        fred("GDPPOT", snapshot({day: 24_000 + n * 50 for n, day in enumerate(quarters)}, "2026-11-16"), ARCHIVE_FETCH),
        fred("ICSA", snapshot(claims, "2026-11-16"), ARCHIVE_FETCH),
        fred("DFEDTARU", snapshot(upper, "2026-11-19"), "2026-11-19T07:00:00Z"),
        fred("DGS10", snapshot(COPY_10Y, "2026-11-19"), "2026-11-19T06:00:00Z"),
        fred("DGS2", snapshot(COPY_2Y, "2026-11-19"), "2026-11-19T06:00:00Z"),
        fred("BAMLH0A0HYM2", snapshot(SECRETS, "2026-11-19"), "2026-11-19T08:00:00Z"),
    ]  # fmt: skip


def write(folder: Path) -> Path:
    """Write the mirror folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mirror.csv").open("w", newline="") as listing:
        lines = csv.writer(listing)
        lines.writerow(("url", "file", "fetched_at", "media_type", "status"))
        for number, (url, body, fetched, media_type) in enumerate(responses()):
            (folder / f"{number:02}").write_bytes(body)
            lines.writerow((url, f"{number:02}", fetched, media_type, 200))
    return folder
