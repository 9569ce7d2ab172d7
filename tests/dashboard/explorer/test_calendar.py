"""The calendar as a table, and where each of its events leads."""

import csv
import io
import re

from almanac.dashboard.explorer.calendar import COLUMNS
from tests.support.page_visitor import dashboard, signed_in
from tests.support.withholding import withhold

SINCE = "2026-11-10"


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
    shown = [
        row
        for row in own.ok("/events", start_date="2026-11-01", end_date="2026-11-08", limit=200)
        if row["actual"] is not None
    ]
    before = page.get("/calendar.csv", **{"from": "2026-11-01"}).text
    withhold(own, "fred")
    after = page.get("/calendar.csv", **{"from": "2026-11-01"}).text
    if shown:
        assert after != before
    for row in csv.DictReader(io.StringIO(after)):
        if row["withheld"] == "true":
            assert (row["actual"], row["previous"]) == ("", "")


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


def test_no_day_is_refused(browser):
    assert browser().get("/calendar.csv", **{"from": "2026-02-30"}).status_code == 400
