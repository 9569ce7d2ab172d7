"""The head of a page at widths between a phone and a desk: its parts stand on one line, or behind the menu."""

from collections.abc import Callable

import pytest

from .conftest import DESK, PHONE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

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
