"""
No page of the dashboard, in no state, breaks a rule of axe-core: in light and dark, on a phone and at a desk.

Every rule that axe has on by itself is asked, best practice too. Of Swagger UI, which others wrote, this is true of its
operations too, closed, open and answered.
"""

from collections.abc import Callable
from typing import Any

import pytest

from almanac.dashboard.site import pages

from . import world
from .addresses import ADDRESSES, NOWHERE, PAGES
from .conftest import DESK, PHONE, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

#: Width, colours, and the rules asked: only what colours can break, where all others were asked at this width.
View = tuple[int, str, dict[str, Any]]
ALL: dict[str, Any] = {}
COLOURS: dict[str, Any] = {"runOnly": ["color-contrast", "link-in-text-block"]}
EVERY_VIEW: list[View] = [
    (DESK, "light", ALL),
    (DESK, "dark", COLOURS),
    (PHONE, "dark", COLOURS),
    (PHONE, "light", ALL),
]
#: Of a page's other states: each width and each theme once.
TWO_VIEWS: list[View] = [(DESK, "light", ALL), (PHONE, "dark", ALL)]


#: Told in the page, for axe's own answer is large.
ASK = """async options => {
  const told = await axe.run(document, {resultTypes: ['violations'], ...options});
  if (!told.passes.length) return ['axe looked at nothing'];
  return told.violations.flatMap(one => one.nodes.map(node =>
    `${one.id}: ${node.html.slice(0, 200)} ${(node.failureSummary ?? '').slice(0, 300)}`));
}"""


#: Rows of a long table are written by one line of a template: a dozen stand for all, once all were looked at.
SHORTEN = (
    """() => document.querySelectorAll('tbody').forEach(one => [...one.rows].slice(12).forEach(row => row.remove()))"""
)


def broken(page: Any, views: list[View], *, whole: bool = True) -> list[str]:
    """What axe finds wrong with the page as it stands, under these views: with all rows of its tables under the first, if `whole`."""
    page.evaluate(pytest.importorskip("axe_playwright_python.base", reason="axe is not installed").AXE_SCRIPT)
    found = []
    for number, (width, scheme, options) in enumerate(views):
        if number or not whole:
            page.evaluate(SHORTEN)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found += [f"{page.url} {width} {scheme} {text}" for text in page.evaluate(ASK, options)]
    return found


def test_every_page_of_the_routing_table_is_looked_at() -> None:
    assert set(ADDRESSES) == {page.path for page in pages() if page.look is not None}


@pytest.mark.parametrize("path", [*PAGES, "nowhere"])
def test_no_rule_is_broken(path: str, served: Served, visitor: Callable[..., Visitor]) -> None:
    found: list[str] = []
    seen: dict[str | None, Visitor] = {}
    for number, look in enumerate(PAGES.get(path, NOWHERE)):
        one = seen[look.who] = seen.get(look.who) or visitor(look.who)
        one.page.set_viewport_size({"width": DESK, "height": 900})
        one.go(look.path.format(**served.names), look.status)
        found += broken(one.page, TWO_VIEWS if number else EVERY_VIEW, whole=not number)
    assert found == []


def test_axe_finds_what_is_wrong(visitor: Callable[..., Visitor]) -> None:
    one = visitor(None)
    one.go("/signin")
    one.page.evaluate("document.querySelector('label').remove()")
    one.page.evaluate("document.querySelector('h1').style.color = '#999'")
    rules = {(text.split()[2], text.split()[3]) for text in broken(one.page, EVERY_VIEW)}
    assert rules >= {("light", "label:"), ("light", "color-contrast:")}


def test_forms_that_were_refused_and_a_key_just_made(visitor: Callable[..., Visitor]) -> None:
    found: list[str] = []
    stranger = visitor(None)
    stranger.go("/signin")
    stranger.page.fill("main [name=email]", world.PEOPLE["pro"])
    stranger.page.fill("main [name=password]", "something else")
    stranger.page.click("main [type=submit]")
    stranger.page.wait_for_selector("[role=alert]")
    found += broken(stranger.page, TWO_VIEWS)
    one = visitor("free")
    for path, fields, button, seen in (
        ("/keys", {}, "#create [type=submit]", "[role=alert]"),
        ("/keys", {"name": "Just made"}, "#create [type=submit]", "#secret-key"),
        ("/account/delete", {"password": "no"}, "main [type=submit]", "[role=alert]"),
        ("/account", {"password": "no", "new": "short"}, "[action='/account/password'] [type=submit]", "[role=alert]"),
    ):
        one.go(path)
        for name, text in fields.items():
            one.page.fill(f"main [name={name}]", text)
        one.page.click(button)
        one.page.wait_for_selector(seen)
        found += broken(one.page, TWO_VIEWS)
    assert found == []


def test_what_opens_on_a_page(visitor: Callable[..., Visitor]) -> None:
    one = visitor()
    one.go("/")
    one.page.fill("#search", "inflation")
    one.page.wait_for_selector("[role=option]")
    found = broken(one.page, EVERY_VIEW)
    one.go("/")
    one.page.set_viewport_size({"width": PHONE, "height": 900})
    one.page.click("details.menu summary")
    found += broken(one.page, [(PHONE, "light", ALL), (PHONE, "dark", COLOURS)])
    assert found == []
