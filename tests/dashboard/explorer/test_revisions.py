"""The triangle: each column is what was known on the day of that release."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from almanac.dashboard.explorer.series import revisions
from almanac.dashboard.explorer.series.vintages import Vintages
from almanac.dashboard.words.units import unit

SERIES = (
    ("fred:country_usa:cpi_index_nsa:M", "/observations"),
    ("fred:country_usa:cpi_inflation_yoy:M", "/derived-observations"),
    ("us-treasury-par:country_usa:gov_yield_10y:D", "/observations"),
)


@pytest.mark.parametrize(("series", "path"), SERIES)
def test_a_column_is_what_the_interface_says_as_of_that_day(service, series, path):
    source, entity, slug, _ = series.split(":")
    asked = {"indicator": slug, "entity_id": entity, "source_id": source}
    rows = service.walk("/observations/vintages", **asked)
    held = Vintages(rows, complete=True)
    words = unit("index")._replace(computed=12)
    days = [release.day for release in held.releases]
    whole = revisions.by_release(held, days, list(held.cells), words, 12, rows[0]["frequency"])
    for place, day in list(enumerate(days))[-6:]:
        then = {
            (row["periodStart"], row["periodEnd"]): words.cell(row["valueNumeric"], 12)
            for row in service.walk(path, **asked, as_of=day)
        }
        column = [row["cells"][place] for row in whole.rows]
        shown = {
            cell: one["text"]
            for cell, one in zip(held.cells, column, strict=True)
            if one["state"] != "none" and one["text"] != "withdrawn"
        }
        assert shown == then


def test_what_changed_is_marked_with_its_direction(service, browser):
    rows = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    held = Vintages(rows, complete=True)
    changed = [states for states in held.cells.values() if len(states) > 1 and states[-1]["valueNumeric"] is not None]
    assert changed
    one = browser()
    text = one.get("/series/fred:country_usa:cpi_index_nsa:M/revisions").text
    pages = [text]
    while (older := re.search(r'href="([^"]+)" rel="next"', pages[-1])) is not None:
        pages.append(one.get(older[1].replace("&amp;", "&")).text)
    found = [word for page in pages for word in re.findall(r", revised (up|down)</span>", page)]
    wanted = sum(
        before["valueNumeric"] is not None and now["valueNumeric"] not in (None, before["valueNumeric"])
        for states in held.cells.values()
        for before, now in pairwise(states)
    )
    assert len(found) == wanted > 0


def test_by_age_and_its_foot(service, browser):
    text = browser().get("/series/fred:country_usa:cpi_index_nsa:M/revisions", by="age").text
    assert "After a year" in text
    assert "Mean absolute revision" in text
    rows = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    cells = Vintages(rows, complete=True).cells
    assert len(re.findall(r'<tr><th scope="row">|<tr>\s*<th scope="row">', text)) == len(cells)


def test_a_source_without_vintages_says_since_when_changes_are_kept(browser):
    text = browser().get("/series/mof-japan:country_jpn:gov_yield_10y:D").text
    assert re.search(r"This source publishes no vintages\. We keep every change since \d", text)
