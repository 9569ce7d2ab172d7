"""Events under the axis in a real browser: asked for, read by keys and found in a list; wide and narrow, light and dark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from .addresses import COMPANY, COMPARED, YIELDS
from .conftest import DESK, PHONE, Visitor, readable

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_events_are_marked_read_and_followed(visitor: Callable[..., Visitor], width: int, scheme: str) -> None:
    one = visitor("pro", width, scheme=scheme)
    page = one.page
    one.go(f"/series/{YIELDS}")
    assert page.locator("path.event:visible").count() == 0
    # By the keyboard alone: the link, then the chart, then from the values to the events.
    page.get_by_role("link", name="Mark all events of the United States").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**events=all**")
    readable(page)
    marks = page.locator("svg.chart:visible path.event")
    assert marks.count() > 10
    plot = page.locator("#chart [data-chart]")
    plot.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => /%/.test(document.querySelector('.readout').textContent)")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => document.querySelector('.readout').textContent.includes('Nov')")
    page.keyboard.press("End")
    events = json.loads(page.locator("#chart-readout").inner_text())["lines"][-1]["points"]
    page.wait_for_function("words => document.querySelector('.readout').textContent === words", arg=events[-1][2])
    page.keyboard.press("Home")
    page.wait_for_function("words => document.querySelector('.readout').textContent === words", arg=events[0][2])
    page.keyboard.press("Escape")
    # A mark lies within the drawing, and says under the pointer what it is.
    drawing, box = page.locator("svg.chart:visible").bounding_box(), marks.last.bounding_box()
    assert drawing["y"] < box["y"] < drawing["y"] + drawing["height"]
    assert drawing["x"] <= box["x"]
    assert box["x"] + box["width"] <= drawing["x"] + drawing["width"] + 1
    assert re.match(r"\d+\s\w{3}\s2026: ", marks.last.locator("title").text_content())
    # The list below leads to what each was about.
    page.locator("details.marked summary").focus()
    page.keyboard.press("Enter")
    link = page.locator("details.marked li a").first
    link.wait_for()
    if width == PHONE:
        assert link.locator("xpath=..").bounding_box()["height"] >= 24
    link.click()
    page.wait_for_url(lambda address: YIELDS not in address)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_events_stay_when_the_day_is_slid(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro")
    page = one.page
    one.go(f"/series/{YIELDS}?events=all")
    readable(page)
    before = page.locator("details.marked li").count()
    page.locator("#release").focus()
    page.keyboard.press("PageDown")
    page.wait_for_url("**as_of=2026-**")
    page.wait_for_function("count => document.querySelectorAll('details.marked li').length < count", arg=before)
    assert "events=all" in page.url
    assert page.locator("svg.chart:visible path.event").count() > 5


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "dark"), (PHONE, "light")])
def test_releases_of_several_places_are_marked_read_and_followed(
    visitor: Callable[..., Visitor], width: int, scheme: str
) -> None:
    one = visitor("pro", width, scheme=scheme)
    page = one.page
    one.go(COMPARED)
    assert page.locator("path.event:visible").count() == 0
    page.get_by_role("link", name="Mark releases of these series").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**events=own**")
    page.locator("svg.chart:visible path.event").first.wait_for()
    # From a value to the events above it in the order of the lines, and on among them.
    readable(page)
    plot = page.locator("#chart-1 [data-chart]")
    plot.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => /%/.test(document.querySelector('.readout').textContent)")
    assert page.locator(".beside li").count() >= 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    events = json.loads(page.locator("#chart-1-readout").inner_text())["lines"][-1]["points"]
    page.wait_for_function("words => document.querySelector('.readout').textContent === words", arg=events[-1][2])
    assert re.match(r"\d+\s\w{3}\s2026, (United States|Germany|Japan): ", events[-1][2])
    assert page.locator(".beside").count() == 0
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => /%/.test(document.querySelector('.readout').textContent)")
    assert not re.search("Events:", page.locator(".beside").inner_text())
    page.keyboard.press("Escape")
    # A line that is ticked off takes its events along.
    places = page.locator("details.marked li").all_text_contents()
    assert any("Japan" in words for words in places)
    page.locator("#on-3").focus()
    page.keyboard.press("Space")
    page.wait_for_function(
        "() => ![...document.querySelectorAll('details.marked li')].some((one) => /Japan/.test(one.textContent))"
    )
    assert "events=own" in page.url
    assert page.locator("details.marked li").count() > 10
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator("details.marked summary").focus()
    page.keyboard.press("Enter")
    page.locator("details.marked li a").first.click()
    page.wait_for_url(lambda address: "/series/" in address)
    one.done()


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_a_company_is_marked_with_its_reports(visitor: Callable[..., Visitor], width: int) -> None:
    one = visitor("pro", width)
    page = one.page
    company = COMPANY.removeprefix("/companies/")
    one.go(COMPANY)
    page.get_by_role("link", name="Debt and cash").click()
    page.wait_for_url(f"**/compare?indicator=total_debt,cash_and_equivalents&entities={company}&events=own")
    marks = page.locator("svg.chart:visible path.event")
    marks.first.wait_for()
    assert marks.count() > 5
    listed = page.locator("details.marked li").all_text_contents()
    assert any("annual report" in words for words in listed)
    assert len(listed) <= 120
    page.get_by_role("link", name="Mark none").click()
    page.wait_for_url(lambda address: "events" not in address)
    page.locator("path.event").first.wait_for(state="detached")
    one.done()
