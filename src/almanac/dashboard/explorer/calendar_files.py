"""The events of a calendar as files: iCalendar (RFC 5545) for calendars of people, CSV for tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from icalendar import Calendar, Event

from almanac.dashboard.words.dates import day_of, moment_of
from almanac.dashboard.words.periods import event_title

Row = Mapping[str, Any]

#: Columns of the table, as the interface has them.
COLUMNS = (
    "occurredAt", "timePrecision", "title", "category", "status", "entityId", "indicatorId", "period", "actual", "revisedActual",
    "previous", "revisedPrevious", "unit", "url", "id",
)  # fmt: skip
_STATUS = {"canceled": "CANCELLED", "tentative": "TENTATIVE", "unknown": "TENTATIVE"}
#: Of a time that is known to the minute, how long the entry is.
_LASTS = timedelta(minutes=30)


def as_csv(rows: Iterable[Row]) -> bytes:
    """Events as the interface gives them; what may not be shown is empty, and `withheld` says so."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*COLUMNS, "withheld"])
    for row in rows:
        told = ["" if row[name] is None else row[name] for name in COLUMNS]
        writer.writerow([*told, str(row["rights"]["valueWithheld"]).lower()])
    return out.getvalue().encode()


def as_icalendar(rows: Iterable[Row], now: int, addresses: Mapping[str, str]) -> bytes:
    """
    Events as entries: at their minute, or for the whole day where only that is known. No number is in them.

    `now`: unix seconds, when the file was made; `addresses`: of the page of each event, by its id.
    """
    made = Calendar()
    made.add("prodid", "-//Almanac//Calendar//EN")
    made.add("version", "2.0")
    made.add("x-wr-calname", "Almanac")
    for row in rows:
        made.add_component(_entry(row, datetime.fromtimestamp(now, UTC), addresses.get(row["id"], "")))
    found: bytes = made.to_ical()
    return found


def _entry(row: Row, made: datetime, address: str) -> Event:
    entry = Event()
    entry.add("uid", f"{row['id']}@almanac")
    entry.add("dtstamp", made)
    if row["timePrecision"] == "minute":
        start = moment_of(row["occurredAt"])
        entry.add("dtstart", start)
        entry.add("dtend", start + _LASTS)
    else:
        # The end of a whole day is the day after it.
        entry.add("dtstart", day_of(row["occurredAt"]))
        entry.add("dtend", day_of(row["occurredAt"]) + timedelta(days=1))
    # No-break spaces are for pages: calendars wrap as they like.
    entry.add("summary", event_title(row["title"]).replace("\xa0", " "))
    entry.add("categories", [row["category"].replace("_", " ")])
    entry.add("status", _STATUS.get(row["status"], "CONFIRMED"))
    entry.add("transp", "TRANSPARENT")
    if address:
        entry.add("url", address)
    return entry
