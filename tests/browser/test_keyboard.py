"""Without a pointer: the tab key comes to every control in turn, each shows that it has the focus, and keys do the rest."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from almanac.dashboard.formatting.company_names import company_name

from .addresses import COMPANY, PAGES, PRICES
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


# -- the head of a page at widths between a phone and a desk: its parts stand on one line, or behind the menu ---------


#: Of links that are shown, how many lines they stand on; of the menu, whether it is shown; what is wider than the screen.
MEASURE = """() => {
  const shown = one => one.checkVisibility();
  const links = [...document.querySelectorAll(".top > .parts a")].filter(shown);
  return {
    links: links.length,
    lines: new Set(links.map(one => Math.round(one.getBoundingClientRect().top))).size,
    menu: shown(document.querySelector(".menu summary")),
    search: shown(document.querySelector("#search")),
    over: document.documentElement.scrollWidth - innerWidth,
  };
}"""
#: An operator has a part more than anybody else.
PARTS = 12


@pytest.mark.parametrize("width", [320, PHONE, 700, 759, 760, 800, 900, 959, 960, 1024, DESK])
def test_the_parts_are_on_one_line_or_behind_the_menu(width: int, visitor: Callable[..., Visitor]) -> None:
    one = visitor("operator", width)
    one.go("/screeners/macro")
    told = one.page.evaluate(MEASURE)
    assert told == (
        {"links": 0, "lines": 0, "menu": True, "search": True, "over": 0}
        if width < 960
        else {"links": PARTS, "lines": 1, "menu": False, "search": True, "over": 0}
    )
    if width < 960:
        one.page.click(".menu summary")
        parts = one.page.locator(".menu nav a")
        assert parts.count() == PARTS + 1  # the account is there as well
        boxes = [parts.nth(number).bounding_box() for number in range(parts.count())]
        assert all(box["height"] >= 44 and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
        assert one.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    one.done()


@pytest.mark.parametrize("width", [PHONE, 700, 800, 900, 1024, DESK])
@pytest.mark.parametrize(
    "path", ["/", "/screeners/equity?filter=net_margin:gt:-1", "/countries", "/indicators/cpi_inflation_yoy"]
)
def test_no_page_is_wider_than_its_screen(path: str, width: int, visitor: Callable[..., Visitor]) -> None:
    one = visitor("pro", width)
    one.go(path)
    assert one.page.evaluate(MEASURE)["over"] == 0
    one.done()


# -- a browser without script gets the same: every form and every number, by plain links and GET parameters -----------


def main_text(page: Any) -> str:
    """What is read on a page."""
    return " ".join(page.inner_text("main").split())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_screen_of_two_fields(width: int, served: Served, visitor: Callable[..., Visitor]) -> None:
    """Chosen row by row, it has the rows of the interface."""
    one = visitor("pro", width, script=False)
    page = one.page
    one.go("/screeners/equity")
    page.select_option("[name=field1]", "cash_and_equivalents")
    page.select_option("[name=operator1]", "gt")
    page.fill("[name=value1]", "1e9")
    page.click("main button.primary")
    text = "cash_and_equivalents:gt:1e9"
    assert page.input_value("[name=filter]") == text
    assert page.input_value("[name=value1]") == "1e9"
    told = served.ask("/equity-screener", filter=text)
    assert told
    names = [company_name(row["name"]) for row in told]
    assert page.locator("#results tbody th").all_inner_texts() == names


def test_nothing_on_a_page_waits_for_script(served: Served, visitor: Callable[..., Visitor]) -> None:
    """What only script can use is hidden, and what is read without script is read with it too."""
    seen = {who: (visitor(who), visitor(who, script=False)) for who in ("pro", "operator", None)}
    for looks in PAGES.values():
        look = looks[0]
        address = look.path.format(**served.names)
        scripted, plain = seen[look.who]
        scripted.go(address, look.status)
        plain.go(address, look.status)
        assert plain.page.locator(".js:visible").count() == 0, address
        with_script, without = (set(main_text(one.page).split()) for one in (scripted, plain))
        assert {word for word in without - with_script if not _request(word)} == set(), address


def _request(word: str) -> bool:
    """Numbers of requests and forms, times that pass, and cursors, which hold one, differ from one look to the next."""
    return word.startswith("req_") or "cursor=" in word or bool(re.fullmatch(r"[\d:]+", word))
