"""The calendar as files, and where each of its events leads."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, date, datetime

from icalendar import Calendar

from almanac.dashboard.explorer.calendar_files import COLUMNS, as_icalendar
from tests.support.page_visitor import dashboard, signed_in
from tests.support.withholding import withhold

SINCE = "2026-11-10"


def event(**more):
    return {
        "id": "evt_invented", "title": "Invented: prices, October 2026", "category": "macro_release", "status": "scheduled",
        "occurredAt": "2026-11-13T13:30:00Z", "timePrecision": "minute", "entityId": "country_usa", "indicatorId": None,
        "period": "2026-10", "actual": None, "revisedActual": None, "previous": None, "revisedPrevious": None, "unit": None,
        "url": None, "rights": {"valueWithheld": False}, **more,
    }  # fmt: skip


def unfolded(body):
    return body.decode().replace("\r\n ", "").split("\r\n")


def test_a_minute_is_a_time_and_a_day_is_a_whole_day():
    lines = unfolded(
        as_icalendar([event(), event(id="evt_day", timePrecision="day", status="tentative")], 1_800_000_000, {})
    )
    assert lines[0] == "BEGIN:VCALENDAR"
    assert "DTSTART:20261113T133000Z" in lines
    assert "DTSTART;VALUE=DATE:20261113" in lines
    assert "DTEND;VALUE=DATE:20261114" in lines
    assert "UID:evt_day@almanac" in lines
    assert f"DTSTAMP:{datetime.fromtimestamp(1_800_000_000, UTC):%Y%m%dT%H%M%SZ}" in lines
    assert [line for line in lines if line.startswith("STATUS:")] == ["STATUS:CONFIRMED", "STATUS:TENTATIVE"]


def test_texts_are_escaped_and_lines_are_short():
    title = "Ünited; prices, \\ and " + "a very long title " * 8
    body = as_icalendar([event(title=title)], 0, {"evt_invented": "https://example.org/a"})
    assert all(len(line) <= 75 for line in body.split(b"\r\n"))
    (summary,) = [line for line in unfolded(body) if line.startswith("SUMMARY:")]
    assert summary.startswith("SUMMARY:Ünited\\; prices\\, \\\\ and a very long")
    assert "URL:https://example.org/a" in unfolded(body)
    assert b"\n" not in body.replace(b"\r\n", b"")


def test_it_is_read_back_as_the_events_of_the_page(service, browser):
    body = browser().get("/calendar.ics", **{"from": SINCE})
    assert body.headers["content-type"].startswith("text/calendar")
    told = service.ok("/events", start_date=SINCE, end_date="2026-11-17", order="asc", limit=200)
    read = {str(entry["uid"]): entry for entry in Calendar.from_ical(body.content).walk("VEVENT")}
    assert len(read) == len(told) > 0
    for row in told:
        entry = read[f"{row['id']}@almanac"]
        start = entry["dtstart"].dt
        if row["timePrecision"] == "minute":
            assert f"{start:%Y-%m-%dT%H:%M:%SZ}" == row["occurredAt"]
        else:
            assert (type(start), start.isoformat()) == (date, row["occurredAt"][:10])


def test_the_table_is_what_the_interface_says(service, browser):
    answer = browser().get("/calendar.csv", **{"from": SINCE, "category": "macro_release"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    told = service.ok(
        "/events", start_date=SINCE, end_date="2026-11-17", category="macro_release", order="asc", limit=200
    )
    assert [row["id"] for row in rows] == [row["id"] for row in told] != []
    for row, one in zip(rows, told, strict=True):
        for name in COLUMNS:
            assert row[name] == ("" if one[name] is None else str(one[name]))


def test_a_withheld_number_is_in_no_file(own):
    page = signed_in(dashboard(own))
    numbers = ("actual", "revisedActual", "previous", "revisedPrevious")

    def rows():
        return list(csv.DictReader(io.StringIO(page.get("/calendar.csv", **{"from": SINCE}).text)))

    shown = {row["id"]: {row[name] for name in numbers} - {""} for row in rows() if row["actual"]}
    assert shown
    withhold(own, "fred")
    after = {row["id"]: row for row in rows()}
    calendar = page.get("/calendar.ics", **{"from": SINCE}).text
    for event_id, values in shown.items():
        assert after[event_id]["withheld"] == "true"
        assert [after[event_id][name] for name in numbers] == [""] * 4
        assert not any(value in calendar for value in values if len(value) > 1)


def test_every_event_leads_somewhere(service, browser):
    for since in ("2026-11-01", "2026-11-09", "2026-11-17"):
        text = browser().get("/calendar", **{"from": since}).text
        heads = re.findall(r'<th scope="row" role="rowheader"[^>]*>(.*?)</th>', text, re.DOTALL)
        cells = re.findall(r'data-label="Event">(.*?)</td>', text, re.DOTALL)
        assert len(cells) == len(heads)
        for cell in cells:
            assert "<a href=" in cell, cell


def test_a_release_leads_to_the_series_of_its_country(service, browser):
    told = service.ok("/events", start_date="2026-11-01", end_date="2026-11-30", category="macro_release", limit=200)
    pairs = {(row["indicatorId"], row["entityId"]) for row in told if row["indicatorId"] and row["entityId"]}
    held = {
        (row["indicatorId"], row["entityId"]): row["metadata"]["seriesId"]
        for indicator, entity in pairs
        for row in service.ok("/observations/latest", indicator_id=indicator, entity_id=entity)
    }
    assert held
    text = "".join(
        browser().get("/calendar", **{"from": since}).text for since in ("2026-11-01", "2026-11-09", "2026-11-17")
    )
    row = next(
        row for row in told if (row["indicatorId"], row["entityId"]) in held and row["occurredAt"] < "2026-11-24"
    )
    assert f'href="/series/{held[row["indicatorId"], row["entityId"]]}"' in text
