"""Compare: each line is what the interface says of it on its day, whatever the others are; files say the same."""

import csv
import html
import io
import re
from datetime import date, datetime
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from almanac.dashboard.formatting.numbers import full
from tests.dashboard.explorer.test_series import requests

CPI = "/compare?indicator=cpi_inflation_yoy&entities=usa&from=all"
YIELDS = "/compare?indicator=gov_yield_10y&entities=usa,jpn"
SVG = "{http://www.w3.org/2000/svg}"


def table(text: str) -> list[list[str | None]]:
    """Rows of the table: the period, then the whole value of each line."""
    body = text[text.index('id="table"') :]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', body, re.DOTALL)
    return [
        [html.unescape(period).replace("\xa0", " "), *(
            value or None for value in re.findall(r'<td class="right[^"]*"(?: data-value="([^"]*)")?>', cells)
        )]
        for period, cells in rows
    ]  # fmt: skip


def by_end(service, path="/observations", **asked):
    rows = service.walk(path, "pro", **asked)
    return [full(row["valueNumeric"]) for row in sorted(rows, key=lambda row: row["periodEnd"], reverse=True)]


@pytest.mark.parametrize("day", [None, "2025-06-30", "2026-11-18"])
def test_a_line_is_what_the_interface_says_on_that_day(service, browser, day):
    asked = {} if day is None else {"as_of": day}
    text = browser().get(CPI + (f"&as_of={day}" if day else "")).text
    wanted = by_end(service, "/derived-observations", indicator="cpi_inflation_yoy", country="USA", **asked)
    assert [row[1] for row in table(text)] == wanted[:60]
    assert any("/derived-observations?" in one and (day is None or f"as_of={day}" in one) for one in requests(text))
    assert ("As known on" in text) is (day is not None)


def test_each_line_has_a_day_of_its_own(service, browser):
    text = (
        browser().get("/compare?indicator=cpi_index_nsa&entities=usa,usa,usa&known=2:2025-06-30,3:first&from=all").text
    )
    rows = table(text)
    for place, asked in ((1, {}), (2, {"as_of": "2025-06-30"})):
        wanted = by_end(service, indicator="cpi_index_nsa", country="USA", **asked)
        assert [row[place] for row in rows if row[place]] == wanted[: len([row for row in rows if row[place]])]
    vintages = service.walk("/observations/vintages", "pro", indicator="cpi_index_nsa", country="USA")
    firsts = {}
    for row in vintages:
        firsts.setdefault(row["periodEnd"], row)
    wanted = {
        full(row["valueNumeric"]) for row in firsts.values() if row["revisionStatus"] in {"initial", "final"}
    }  # fmt: skip
    shown = {row[3] for row in rows if row[3]}
    assert shown
    assert shown <= wanted
    assert any(row[1] != row[3] for row in rows if row[3]), "no revision was seen"
    # Same thing on three days: the days are what tells the lines apart.
    ends = re.findall(r'<text class="end"[^>]*>(.*?)</text>', text)
    assert [one.replace("\xa0", " ") for one in ends[:3]] == ["today", "30 Jun 2025", "first"]


@pytest.mark.parametrize(
    ("indicator", "derived"),
    [("cpi_index_nsa", "cpi_inflation_yoy"), ("real_gdp", "gdp_growth_yoy"), ("unemployment_rate", "unemployment_change_12m"),
     ("gov_yield_10y", "yield_10y_change_1y")],
)  # fmt: skip
def test_over_a_year_it_is_exactly_the_derived_indicator_where_there_is_one(service, browser, indicator, derived):
    day = "2026-10-30"
    text = (
        browser()
        .get("/compare.csv", indicator=indicator, entities="usa", show="year", **{"from": "all", "as_of": day})
        .text
    )
    own = {row["periodEnd"]: row["value"] for row in csv.DictReader(io.StringIO(text)) if row["value"]}
    rows = service.walk("/derived-observations", "pro", indicator=derived, country="USA", as_of=day)
    assert own == {row["periodEnd"][:10]: full(row["valueNumeric"]) for row in rows}
    assert len(own) > 2


def test_units_that_differ_have_a_panel_each_and_never_a_second_scale(browser):
    text = browser().get("/compare?indicator=unemployment_rate,real_gdp,policy_rate_upper&entities=usa").text
    panels = re.findall(r'<figure class="panel figure" id="(chart-\d)".*?</figure>', text, re.DOTALL)
    assert panels == ["chart-1", "chart-2"]
    assert re.findall(r'<p class="unit">(.*?)</p>', text) == ["Percent", "USD billions, annual rate"]
    # Below each other they have one time axis.
    assert len(set(re.findall(r'<svg class="chart wide".*?data-x="([^"]*)"', text))) == 1
    # A label tells a line from those beside it, not from other panels.
    ends = re.findall(r'<text class="end"[^>]*>(.*?)</text>', text)
    assert ends[0].startswith("Unemployment rate")
    assert "United States" in ends
    # All in the one table.
    assert {len(row) for row in table(text)} == {4}


def test_a_line_is_added_by_a_few_words(browser):
    one = browser()
    answer = one.get(
        "/compare", indicator="gov_yield_10y", entities="usa", lines="1", add="10 year yield japan", **{"on-1": "1"}
    )
    assert answer.headers["location"] == "/compare?indicator=gov_yield_10y&entities=usa,country_jpn"
    answer = one.get(
        "/compare", indicator="gov_yield_10y", entities="usa", lines="1", add="real gdp usa", **{"on-1": "1"}
    )
    assert (
        answer.headers["location"] == "/compare?indicator=gov_yield_10y&entities=usa&series=fred:country_usa:real_gdp:Q"
    )
    answer = one.get("/compare", indicator="gov_yield_10y", entities="usa", lines="1", add="zzzz", **{"on-1": "1"})
    assert answer.status_code == 400
    assert "Nothing that can be drawn matches “zzzz”" in answer.text
    assert table(answer.text)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/compare?indicator=gov_yield_10y&entities=che", "There are no values of these lines."),
        (
            "/compare?indicator=gov_yield_10y&entities=usa&as_of=1950-01-01",
            "Nothing of these lines was known on 1\xa0Jan\xa01950.",
        ),
        (f"{YIELDS}&from=1950-01-01&to=1950-12-31", "No period of these lines lies in this range."),
    ],
)
def test_an_empty_panel_says_why_it_is(browser, address, words):
    """A range is not blamed for a series that there is not."""
    assert words in html.unescape(browser().get(address).text)


def test_the_workbook_has_dates_as_dates_and_says_what_it_is(service, browser):
    answer = browser().get("/compare.xlsx", indicator="gov_yield_10y", entities="usa,jpn", as_of="2026-11-18")
    assert answer.headers["content-disposition"] == 'attachment; filename="comparison.xlsx"'
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    rows = list(book["Data"].iter_rows(values_only=True))
    assert rows[0] == (
        "Period", "First day", "Last day", "10-year government yield, United States, known on 18 Nov 2026 (Percent)",
        "10-year government yield, Japan, known on 18 Nov 2026 (Percent)",
    )  # fmt: skip
    newest = service.ok(
        "/observations", indicator="gov_yield_10y", country="USA", as_of="2026-11-18", order="desc", limit=1
    )[0]
    first = next(row for row in rows[1:] if row[3] is not None)
    assert isinstance(first[2], datetime)
    assert first[2].date().isoformat() == newest["periodEnd"][:10]
    assert first[3] == newest["valueNumeric"]
    about = [row for row in book["About"].iter_rows(values_only=True) if row[0]]
    told = {row[0]: row[1] for row in about}
    assert isinstance(told["As of"], datetime)
    assert told["As of"].date() == date(2026, 11, 18)
    assert told["Address"].endswith("/compare?indicator=gov_yield_10y&entities=usa,jpn&as_of=2026-11-18")
    assert "/observations?" in told["Request 2"]
    line = next(row for row in about if row[1] == newest["metadata"]["seriesId"])
    rights = newest["rights"]
    assert rights["license"] in line
    assert rights["attribution"] in line
    assert line[-1].endswith(f"/series/{newest['metadata']['seriesId']}?as_of=2026-11-18#lineage")


def test_the_picture_carries_its_name_source_licence_day_and_address(service, browser):
    answer = browser().get(
        "/compare.svg", indicator="cpi_inflation_yoy", entities="usa", as_of="2026-10-30", show="change"
    )
    root = ET.fromstring(answer.content)
    words = " ".join("".join(one.itertext()).replace("\xa0", " ") for one in root.iter(f"{SVG}text"))
    newest = service.ok("/derived-observations", indicator="cpi_inflation_yoy", country="USA", limit=1)[0]
    assert root.find(f"{SVG}title").text.startswith(
        "Consumer price inflation, change on the period before, United States, "
    )
    assert newest["rights"]["attribution"] in words
    assert f"Licence: {newest['rights']['license']}" in words
    assert "As known on 30 Oct 2026" in words
    assert "/compare?indicator=cpi_inflation_yoy&entities=usa&as_of=2026-10-30&show=change" in words.replace(" ", "")
    assert "Computed here from Consumer price inflation" in words
    assert "var(" not in answer.text
    assert {path.get("class") for path in root.iter(f"{SVG}path")} >= {"grid", "line c1"}


def test_the_workbook_of_one_line_says_since_when_each_value_is_known(service, browser):
    answer = browser().get("/compare.xlsx", series="fred:country_usa:cpi_index_nsa:M", **{"from": "all"})
    rows = list(openpyxl.load_workbook(io.BytesIO(answer.content))["Data"].iter_rows(values_only=True))
    assert rows[0][-2:] == ("Known since", "Revision status")
    told = {row[2].date().isoformat(): (row[4].date().isoformat(), row[5]) for row in rows[1:]}
    wanted = service.walk("/observations", "pro", indicator="cpi_index_nsa", country="USA")
    assert told == {row["periodEnd"][:10]: (row["observedAt"][:10], row["revisionStatus"]) for row in wanted}
    assert "revised" in {status for _, status in told.values()}
