"""
Looking at data in a real browser: an indicator on a map and on a past day, all economies at a glance, and how one figure
was revised. By keyboard and by pointer, at a desk and on a phone; what is read off a page is what the interface says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .addresses import PAST, PRICES
from .conftest import DESK, PHONE, WIDTHS, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]
wide_and_narrow = pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])

INDICATOR = "/indicators/cpi_inflation_yoy"


def ranked(page: Any) -> dict[str, float]:
    """Entity and whole value of each row of the table of an indicator."""
    return page.eval_on_selector_all(
        "#latest tbody tr",
        """rows => Object.fromEntries(rows.map(row =>
             [row.querySelector('[name=entities]').value, Number(row.querySelector('[data-value]').dataset.value)]))""",
    )


def told(served: Served, **asked: str) -> dict[str, float]:
    rows = served.ask("/observations/latest", indicator="cpi_inflation_yoy", **asked)
    return {row["entityId"]: row["valueNumeric"] for row in rows}


@wide_and_narrow
def test_a_slider_takes_the_whole_page_to_a_past_day_and_back(
    width: int, scheme: str, served: Served, visitor: Callable[..., Visitor]
) -> None:
    one = visitor("pro", width, scheme=scheme)
    page = one.page
    one.go(INDICATOR)
    assert ranked(page) == told(served) != {}
    page.focus("#past")
    page.keyboard.press("PageDown")
    page.wait_for_url("**as_of=*")
    day = page.input_value("#as-of")
    assert day < "2025-12-31"
    page.wait_for_function("day => document.querySelector('.asof')?.innerText.includes('As known on')", arg=day)
    assert ranked(page) == told(served, as_of=day) != told(served)
    # The thumb is still held, and every link of the page is of that day.
    assert page.evaluate("document.activeElement.id") == "past"
    assert f"as_of={day}" in page.get_attribute("#latest tbody th a", "href")
    page.keyboard.press("End")
    page.wait_for_url(lambda url: "as_of" not in url)
    page.wait_for_function("() => !document.querySelector('.asof')")
    assert ranked(page) == told(served)
    one.done()


@wide_and_narrow
def test_the_ticked_go_to_one_chart(width: int, scheme: str, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width, scheme=scheme)
    one.go(INDICATOR)
    boxes = one.page.locator("#latest [name=entities]")
    for number in range(boxes.count()):
        boxes.nth(number).set_checked(number < 2)
    chosen = [boxes.nth(number).get_attribute("value") for number in range(2)]
    one.page.click("text=Compare the ticked")
    one.page.wait_for_url(f"**/compare?indicator=cpi_inflation_yoy&entities={','.join(chosen)}")
    one.done()


def test_a_country_of_the_map_leads_to_its_series_by_pointer(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", DESK)
    one.go(INDICATOR)
    link = one.page.locator(".world a", has=one.page.locator("title", has_text="United States"))
    href = link.get_attribute("href")
    assert ":country_usa:cpi_inflation_yoy:" in href
    box = link.locator("path").bounding_box()
    one.page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.75)
    one.page.wait_for_url(f"**{href}")
    one.done()


@wide_and_narrow
def test_all_economies_on_a_past_day(width: int, scheme: str, served: Served, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width, scheme=scheme)
    one.go(f"/countries?as_of={PAST}&section=inflation")
    for name, slug in (("Germany", "germany"), ("Japan", "japan")):
        brief = served.ask(f"/briefs/{slug}", as_of=PAST)
        section = next(section for section in brief["sections"] if section["key"] == "inflation")
        wanted = sorted(reading["value"] for reading in section["readings"] if reading["value"] is not None)
        row = one.page.locator("#heat tbody tr", has=one.page.locator("th", has_text=name))
        shown = row.locator("[data-value]").evaluate_all("all => all.map(one => Number(one.dataset.value))")
        assert sorted(shown) == wanted != []
    one.done()


@wide_and_narrow
def test_the_life_of_a_figure_is_played(width: int, scheme: str, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width, scheme=scheme)
    page = one.page
    one.go(f"/series/{PRICES}/revisions")
    states = page.eval_on_selector_all("#states tbody tr", "all => all.map(one => one.cells[0].innerText.trim())")
    assert len(states) > 1
    page.focus("[data-life] input")
    page.keyboard.press("Home")
    page.wait_for_function("day => document.querySelector('#life .readout').innerText.includes(day)", arg=states[0])
    assert page.locator("#states .chosen th").inner_text().strip() == states[0]
    page.click("[data-life] button")
    page.wait_for_function("day => document.querySelector('#life .readout').innerText.includes(day)", arg=states[-1])
    assert page.locator("#states .chosen th").inner_text().strip() == states[-1]
    one.done()


@pytest.mark.parametrize("width", WIDTHS)
def test_without_script_a_past_day_is_a_link_away(width: int, served: Served, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width, script=False)
    one.go(INDICATOR)
    assert one.page.locator("#past").is_hidden()
    one.page.click("text=Month before")
    one.page.wait_for_url("**as_of=*")
    day = one.page.input_value("#as-of")
    assert ranked(one.page) == told(served, as_of=day)
    one.page.click("[data-steps] >> text=Today")
    assert ranked(one.page) == told(served)


@pytest.mark.parametrize("script", [True, False])
@wide_and_narrow
def test_each_match_of_a_screen_has_its_line_beside_the_number(
    width: int, scheme: str, script: bool, visitor: Callable[..., Visitor]
) -> None:
    """On a phone too it is seen without scrolling the table; readers of a screen hear what the column is."""
    one = visitor("pro", width, script=script, scheme=scheme)
    for path in ("/screeners/macro?filter=cpi_inflation_yoy:gt:-50", "/screeners/equity?filter=net_margin:gt:-100"):
        one.go(path)
        rows = one.page.locator("#results tbody tr")
        assert rows.count() > 1
        for number in range(rows.count()):
            line, value = rows.nth(number).locator("svg.spark"), rows.nth(number).locator("[data-value]").first
            box, beside = line.bounding_box(), value.bounding_box()
            assert beside["x"] + beside["width"] <= box["x"]
            assert box["x"] + box["width"] <= width
            assert line.get_attribute("aria-hidden") == "true"
        assert one.page.locator("#results th", has_text="Line").count() == 1
    one.done()
