"""The triangle: each column is what was known on the day of that release."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from almanac.dashboard.explorer.one_series import Vintages
from almanac.dashboard.explorer.revisions import by_release, typical_change
from almanac.dashboard.formatting.numbers import unit

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
    whole = by_release(held, days, list(held.cells), words, 12, rows[0]["frequency"])
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


def test_a_source_without_vintages_says_since_when_changes_are_kept(browser):
    text = browser().get("/series/mof-japan:country_jpn:gov_yield_10y:D").text
    assert re.search(r"This source publishes no vintages\. We keep every change since \d", text)


# -- pictures -----------------------------------------------------------------------------------------------------------

REVISED = "fred:country_usa:cpi_index_nsa:M"


def _vintages(service, **asked):
    rows = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred", **asked)
    return Vintages([row for row in rows if row["metadata"]["seriesId"] == REVISED], complete=True)


def test_the_life_of_a_figure_is_its_states(service, browser):
    cells = _vintages(service).cells
    cell, states = max(cells.items(), key=lambda item: len(item[1]))
    numbers = [row["valueNumeric"] for row in states if row["valueNumeric"] is not None]
    told = [now for before, now in zip([None, *numbers], numbers, strict=False) if now != before]
    assert len(told) > 1
    text = browser().get(f"/series/{REVISED}/revisions", period=cell[1][:7]).text
    table = text.partition('id="states"')[2].partition("</table>")[0]
    assert [float(one) for one in re.findall(r'data-value="([^"]+)"', table)] == told
    drawn = text.partition('id="life"')[2].partition("</figure>")[0]
    chart = drawn.partition('<svg class="chart wide"')[2].partition("</svg>")[0]
    assert chart.count("<circle") == len(told)
    for value in told:
        assert f"{value:,}" in drawn.partition("application/json")[2]


def test_no_picture_shows_what_was_not_known_on_its_day(service, browser):
    releases = [release.day for release in _vintages(service).releases]
    day = releases[len(releases) // 2]
    text = browser().get(f"/series/{REVISED}/revisions", as_of=day).text
    pictures = text.partition('id="fan"')[2].partition('aria-label="View"')[0]
    known = {row["valueNumeric"] for row in _vintages(service, as_of=day).rows}
    later = {row["valueNumeric"] for row in _vintages(service).rows if row["observedAt"][:10] > day} - known - {None}
    assert later
    shown = {float(one) for one in re.findall(r'data-value="([^"]+)"', pictures)}
    assert shown <= known
    lives = re.findall(r'<option value="([^"]+)"', pictures)
    assert lives
    assert max(lives) <= max(row["periodEnd"][:7] for row in _vintages(service, as_of=day).rows)


def test_the_histogram_counts_every_period_once(service, browser):
    words = unit("index")
    moves = typical_change(_vintages(service), words)
    text = browser().get(f"/series/{REVISED}/revisions").text
    table = text.partition('id="steps"')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row">([^<]+)</th>\s*<td class="right(?: right)?">([\d,]+)</td>', table)
    assert sum(int(count) for _, count in rows) == len(moves) > 0
    assert dict(rows)["0"] == str(sum(not move for move in moves))
    caption = text.partition('id="sizes-caption">')[2].partition("</p>")[0]
    changed = [move for move in moves if move]
    assert f"{len(changed)} of {len(moves)} months differ from their first publication" in caption
