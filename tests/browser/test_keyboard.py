"""Without a pointer: the tab key comes to every control in turn, each shows that it has the focus, and keys do the rest."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from .addresses import COMPANY, PRICES
from .conftest import DESK, PHONE, WIDTHS, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

#: What a keyboard must come to, in the order of the page: controls that are shown, a group of radios counting once.
CONTROLS = """() => {
  const told = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(one =>
    one.tabIndex >= 0 && !one.disabled && one.checkVisibility({visibilityProperty: true}) && one.type !== 'hidden');
  const groups = new Map();
  for (const one of told) if (one.type === 'radio') {
    if (!groups.has(one.name) || one.checked) groups.set(one.name, one);
  }
  return told.filter(one => one.type !== 'radio' || groups.get(one.name) === one).map((one, place) => {
    one.dataset.place = place;
    return place;
  }).length;
}"""
#: Where the focus is, and whether it can be seen: an outline of two pixels at least, inside the window.
FOCUSED = """() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  return {
    place: one.dataset.place === undefined ? -1 : Number(one.dataset.place),
    seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.width > 1 && box.height > 1
      && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    html: one.outerHTML.slice(0, 160),
  };
}"""
LOOKS = ("/", f"/series/{PRICES}", "/screeners/equity?filter=piotroski_f:gte:5", "/keys", "/countries/germany", "/rates/USA",
         COMPANY, "/calendar", "/usage", "/account", "/search?q=inflation+germany")  # fmt: skip


def tabbed(page: Any) -> tuple[int, list[dict[str, Any]]]:
    """How many controls there are, and where each press of the tab key leads, from the top of the page to its end."""
    page.evaluate("document.activeElement?.blur?.(); scrollTo(0, 0)")
    count = page.evaluate(CONTROLS)
    steps = []
    for _ in range(count):
        page.keyboard.press("Tab")
        steps.append(page.evaluate(FOCUSED))
    return count, steps


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", LOOKS)
def test_the_tab_key_comes_to_every_control_in_order(path: str, width: int, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width)
    one.go(path)
    count, steps = tabbed(one.page)
    assert count > 10
    assert [step["place"] for step in steps] == list(range(count))
    assert [step["html"] for step in steps if not step["seen"]] == []


def test_first_comes_the_way_to_the_content(visitor: Callable[..., Visitor]) -> None:
    one = visitor()
    one.go(f"/series/{PRICES}")
    one.page.keyboard.press("Tab")
    assert one.page.evaluate("document.activeElement.textContent") == "Skip to content"
    assert one.page.evaluate(FOCUSED)["seen"]
    one.page.keyboard.press("Enter")
    assert one.page.evaluate("document.activeElement.id") == "main"
    one.page.keyboard.press("Tab")
    assert one.page.evaluate("document.activeElement.closest('main') !== null")


def test_searching_by_keys_alone(visitor: Callable[..., Visitor]) -> None:
    one = visitor()
    one.go("/")
    page = one.page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("inflation")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("Escape")
    assert page.locator("[role=listbox]").is_hidden()
    assert page.input_value("#search") == "inflation"
    with page.expect_response(re.compile("q=inflation%20germany")):
        page.keyboard.type(" germany")
    page.wait_for_selector("[role=option] >> text=Germany")
    page.keyboard.press("ArrowDown")
    chosen = page.get_attribute("#search", "aria-activedescendant")
    to = page.get_attribute(f"#{chosen}", "data-href")
    assert page.input_value("#search") == "inflation germany"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(re.escape(to)))


def test_the_menu_of_a_phone_opens_and_leads_on(served: Served, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", PHONE)
    one.go("/")
    page = one.page
    page.focus("details.menu summary")
    page.keyboard.press("Enter")
    assert page.locator("details.menu nav").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator("details.menu nav").is_hidden()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    page.focus("details.menu nav >> text=Rates")
    page.keyboard.press("Enter")
    page.wait_for_url(served.dashboard + "/rates")


def test_the_slider_goes_by_release_by_twelve_and_to_its_ends(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", DESK)
    one.go(f"/series/{PRICES}")
    page = one.page
    days = page.evaluate("JSON.parse(document.getElementById('releases').textContent).days")
    last = len(days) - 1
    page.focus("#release")
    for key, place in (
        ("ArrowLeft", last - 1),
        ("PageDown", last - 13),
        ("PageUp", last - 1),
        ("Home", 0),
        ("ArrowRight", 1),
        ("End", last),
    ):
        page.keyboard.press(key)
        assert page.input_value("#release") == str(place), key
        page.wait_for_url(re.compile(f"as_of={days[place]}" if place < last else f"{re.escape(PRICES)}$"))
        assert page.get_attribute("#release", "aria-valuetext").startswith("Known ")
        assert page.evaluate("document.activeElement.id") == "release"


def test_a_chart_is_read_point_by_point(visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", DESK)
    one.go(f"/series/{PRICES}")
    page = one.page
    plot = "#chart [data-chart]"
    page.wait_for_selector(f"{plot}[tabindex='0']")
    page.focus(plot)
    data = page.evaluate("JSON.parse(document.getElementById('chart-readout').textContent).lines[0].points")
    for key, place in (("End", -1), ("ArrowLeft", -2), ("PageUp", -2 - 12), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        page.wait_for_function(
            "told => document.querySelector('#chart .readout').textContent === told", arg=data[place][2]
        )
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    assert page.locator("#chart .cursor").count() == 0
