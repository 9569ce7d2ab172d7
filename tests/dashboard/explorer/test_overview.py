"""The first page: what is new since the last visit, as the interface says it, and what is there where little is."""

import csv
import html
import io
import re

import pytest

from almanac.dashboard.explorer.calendar import COLUMNS
from almanac.dashboard.formatting.dates import day
from tests.support.page_visitor import dashboard, signed_in
from tests.support.withholding import withhold


def plain(text: str) -> str:
    return html.unescape(text).replace("\xa0", " ")


def rows(text: str, name: str) -> list[list[str]]:
    """Texts of a table's cells."""
    body = text[text.index(f'id="{name}"') :]
    body = body[body.index("<tbody") : body.index("</tbody>")]
    found = [
        re.findall(r"<(?:th|td)[^>]*>(.*?)</(?:th|td)>", row, re.DOTALL)
        for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    ]
    return [[plain(re.sub(r"<[^>]*>", " ", cell)).strip() for cell in row] for row in found]


def test_a_first_visit_looks_a_week_back_and_the_next_one_to_the_last(browser):
    one = browser()
    text = plain(one.get("/").text)
    assert "since 13 Nov 2026" in text
    assert "your last visit" not in text
    assert one.cookies["almanac-visit"] == "_2026-11-20"
    one.cookies["almanac-visit"] = "2026-11-02_2026-11-16"
    assert "since your last visit, 16 Nov 2026" in plain(one.get("/").text)
    assert one.cookies["almanac-visit"] == "2026-11-16_2026-11-20"
    # The same day once more is the same visit.
    assert "since your last visit, 16 Nov 2026" in plain(one.get("/").text)
    # One who was away for long is told a month of it.
    one.cookies["almanac-visit"] = "_2020-01-01"
    assert "since your last visit, 20 Oct 2026" in plain(one.get("/").text)


@pytest.mark.parametrize("kept", ["zzz", "2026-99-01_2026-11-40", "_", "2031-01-01_2031-01-02", "a_b_c_d"])
def test_what_a_browser_kept_is_not_believed(browser, kept):
    one = browser()
    one.cookies["almanac-visit"] = kept
    assert "since 13 Nov 2026" in plain(one.get("/").text)


def test_releases_have_headline_number_and_line(browser, service):
    text = browser().get("/", since="2026-10-01").text
    told = service.ok("/release-summaries", start_date="2026-10-01", limit=100)
    shown = rows(text, "releases")
    assert [row[1] for row in shown] == [plain(one["headline"]) for one in told[:12]]
    for row, one in zip(shown, told, strict=False):
        assert plain(day(one["releasedAt"])) in row[0]
    assert text.count('class="spark"') > 0
    assert all(reading["revisedPrevious"] is None for one in told for reading in one["readings"])
    assert rows(text, "revised") == [["No release since 1 Oct 2026 changed the number of the period before."]]


def test_a_withheld_number_is_not_on_the_first_page(own):
    page = signed_in(dashboard(own))
    before = rows(page.get("/", since="2026-10-01").text, "releases")
    assert [re.findall(r"\d", number) != [] for *_, number, _ in before] == [True] * 3
    withhold(own, "fred")
    after = rows(page.get("/", since="2026-10-01").text, "releases")
    assert [number for *_, number, _ in after] == ["Withheld"] * 3
    assert not any("%" in headline for _, headline, *_ in after)


def test_curves_of_all_scopes_stand_in_small(browser, service):
    text = browser().get("/").text
    part = plain(text[text.index('id="curves"') : text.index("</section>", text.index('id="curves"'))])
    assert re.findall(r'href="(/rates/\w+)"', part) == ["/rates/JPN", "/rates/USA"]
    ten = service.ok("/observations/latest", indicator_id="gov_yield_10y", country="USA")[0]["valueNumeric"]
    assert f"{ten:.2f}" in part


# -- the calendar as a table, and where each of its events leads ------------------------------------------------------


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
