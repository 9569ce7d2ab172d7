"""Writers of the publishers' wire formats: the Treasury's Atom feed, the Ministry of Finance's CSV, FRED's JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

import numpy as np

from almanac.sandbox.noise import Days, Floats

TREASURY_URL = (
    "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
    "?data=daily_treasury_yield_curve&field_tdr_date_value={year}"
)
MOF_MONTH_URL = "https://www.mof.go.jp/english/policy/jgbs/reference/interest_rate/jgbcme.csv"
MOF_HISTORY_URL = "https://www.mof.go.jp/english/policy/jgbs/reference/interest_rate/historical/jgbcme_all.csv"
FRED_URL = "https://api.stlouisfed.org/fred/"

#: FRED's words for `from the beginning` and `still true`.
FRED_ALWAYS = "1776-07-04"
FRED_OPEN = "9999-12-31"

_TREASURY_ID = "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml-item?data=daily_treasury_yield_curve"

#: In English whatever the locale, unlike `strftime`.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

#: One row of an archive: reference date, release day, value as printed (`.` for a value withdrawn).
ArchiveRow = tuple[str, str, str]


def treasury_year(days: Days, curves: dict[str, Floats], updated: str, absent: frozenset[tuple[str, str]]) -> bytes:
    """
    Write one year of the par yield curve, percent with two decimals.

    `curves` maps element names to one yield a day; `absent` names (day, element) pairs without a value: the element is
    left out, as the Treasury does.
    """
    parts = []
    head = (
        '<?xml version="1.0" encoding="utf-8" standalone="yes" ?>\n'
        '<feed xml:base="https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml" '
        'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
        'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom"> \n'
        f'<title type="text">DailyTreasuryYieldCurveRateData</title>\n<id>{_TREASURY_ID}</id>\n<updated>{updated}</updated>\n'
        '<link rel="self" title="DailyTreasuryYieldCurveRateData" href="DailyTreasuryYieldCurveRateData"/>\n'
    )
    columns = {name: [f"{value:.2f}" for value in column.tolist()] for name, column in curves.items()}
    for number, day in enumerate(days.astype(str).tolist()):
        values = "".join(
            f'<d:{name} m:type="Edm.Double">{column[number]}</d:{name}>\n'
            for name, column in columns.items()
            if (day, name) not in absent
        )
        identity = int(day.replace("-", ""))
        parts.append(
            f'<entry>\n<id>{_TREASURY_ID}&amp;id={identity}</id>\n<title type="text"></title>\n<updated>{updated}</updated>\n'
            "<author><name /></author>\n"
            '<category term="TreasuryDataWarehouseModel.DailyTreasuryYieldCurveRateDatum" '
            'scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />\n'
            '<content type="application/xml">\n<m:properties>\n'
            f'<d:Id m:type="Edm.Int32">{identity}</d:Id>\n'
            f'<d:NEW_DATE m:type="Edm.DateTime">{day}T00:00:00</d:NEW_DATE>\n{values}'
            "</m:properties>\n</content>\n</entry>\n"
        )
    return "".join([head, *parts, "</feed>\n"]).encode()


def mof_table(
    days: Days, curves: dict[str, Floats], *, month: date | None, absent: frozenset[tuple[str, str]]
) -> bytes:
    """
    Write yields of Japanese government bonds in percent with three decimals, Shift-JIS, CRLF, and `-` for a missing one.

    `month` None writes the history file, which has no footer.
    """
    empty = "," * (len(curves) - 1)
    title = "Interest Rate" if month is None else f"Interest Rate ({MONTHS[month.month - 1]} {month.year})"
    lines = [f"{title}{empty},(Unit : %)", ",".join(["Date", *curves])]
    columns = [(name, [f"{value:.3f}" for value in column.tolist()]) for name, column in curves.items()]
    for number, day in enumerate(days.astype(object).tolist()):
        cells = ["-" if (day.isoformat(), name) in absent else column[number] for name, column in columns]
        lines.append(",".join([f"{day.year}/{day.month}/{day.day}", *cells]))
    if month is not None:
        note = "  ※If you cannot download the latest csv data, please clear the browser's cache and download again."
        lines += [f",{empty}", f'"{note}",{empty}']
    return "".join(f"{line}\r\n" for line in lines).encode("cp932")


def fred_snapshot(dates: Sequence[str], values: Sequence[str], day: date, start: str) -> bytes:
    """Write an ordinary answer: every row has the day of the request, whatever day it was published."""
    stamp = f'{{"realtime_start":"{day}","realtime_end":"{day}","date":"'
    rows = [f'{stamp}{when}","value":"{value}"}}' for when, value in zip(dates, values, strict=True)]
    return _observations(rows, (day.isoformat(), day.isoformat()), start)


def fred_archive(rows: Iterable[ArchiveRow]) -> bytes:
    """Write all vintages, given in order of date and release. Each is true up to the day before the next one's release."""
    ordered = list(rows)
    followers = [*ordered[1:], ("", "", "")]
    texts = []
    for (when, released, value), (following, then, _) in zip(ordered, followers, strict=True):
        until = str(np.datetime64(then) - 1) if following == when else FRED_OPEN
        texts.append(f'{{"realtime_start":"{released}","realtime_end":"{until}","date":"{when}","value":"{value}"}}')
    return _observations(texts, (FRED_ALWAYS, FRED_OPEN), "1600-01-01")


def _observations(rows: list[str], realtime: tuple[str, str], start: str) -> bytes:
    head = (
        f'{{"realtime_start":"{realtime[0]}","realtime_end":"{realtime[1]}","observation_start":"{start}",'
        f'"observation_end":"{FRED_OPEN}","units":"lin","output_type":1,"file_type":"json",'
        f'"order_by":"observation_date","sort_order":"asc","count":{len(rows)},"offset":0,"limit":100000,"observations":['
    )
    return f"{head}{','.join(rows)}]}}".encode("ascii")


def fred_releases(releases: Sequence[tuple[int, str]], day: date) -> bytes:
    """Write the list of releases as of one day."""
    rows = ",".join(
        f'{{"id":{number},"realtime_start":"{day}","realtime_end":"{day}","name":"{name}","press_release":true,'
        f'"link":"https:\\/\\/example.org\\/simulated\\/{number}"}}'
        for number, name in releases
    )
    return (
        f'{{"realtime_start":"{day}","realtime_end":"{day}","order_by":"release_id","sort_order":"asc",'
        f'"count":{len(releases)},"offset":0,"limit":1000,"releases":[{rows}]}}'
    ).encode("ascii")


def fred_release_dates(number: int, dates: Sequence[str]) -> bytes:
    """Write all days of one release, past and announced."""
    rows = ",".join(f'{{"release_id":{number},"date":"{day}"}}' for day in dates)
    return (
        f'{{"realtime_start":"{FRED_ALWAYS}","realtime_end":"{FRED_OPEN}","order_by":"release_date","sort_order":"asc",'
        f'"count":{len(dates)},"offset":0,"limit":10000,"release_dates":[{rows}]}}'
    ).encode("ascii")
