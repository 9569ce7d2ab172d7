"""Whole walks through a served dashboard in a real browser, at the width of a phone and of a desk.

What is read off a page is compared with what the interface itself says, under a key."""

import re
import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import httpx2
import pytest

from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.site import pages

from . import world
from .addresses import ADDRESSES, COMPANY, NOWHERE, PAGES
from .conftest import DESK, PHONE, WIDTHS, Served, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]
wide_and_narrow = pytest.mark.parametrize("width", WIDTHS)

#: A key that was revoked holds no longer than this.
_SECONDS = 2.0


def numbers(page: Any, cells: str) -> list[float]:
    """Whole values of the cells of a table."""
    return page.eval_on_selector_all(cells, "all => all.map(one => Number(one.dataset.value))")


@wide_and_narrow
def test_somebody_joins_makes_a_key_and_ends_it(width: int, served: Served, visitor: Callable[..., Visitor]) -> None:
    one, email = visitor(None, width), f"new{width}@example.org"
    page = one.page
    one.go("/signin")
    page.click("text=How to get an account")
    page.fill("main [name=email]", email)
    page.click("main [type=submit]")
    page.wait_for_selector(".notice.done")
    page.goto(letter(served, email))
    page.fill("main [name=password]", world.PASSWORD)
    page.click("main [type=submit]")
    page.wait_for_url(served.dashboard + "/")
    one.go("/keys")
    assert "You have no keys yet" in page.inner_text("main")
    page.fill("#create [name=name]", "Walked here")
    page.click("#create [type=submit]")
    key = page.inner_text("#secret-key")
    ask = {"x-api-key": key}
    assert httpx2.get(served.api + "/coverage", headers=ask).status_code == 200
    # The form sent once more by a reload makes no second key, and shows the first one no more.
    assert page.reload().status == 409
    assert "cannot be shown again" in page.inner_text("main")
    assert key not in page.content()
    one.go("/keys")
    assert key not in page.content()
    assert page.locator("#your-keys", has_text="Walked here").count() == 1
    assert page.locator("#your-keys a[href$='/revoke']").count() == 1
    page.click("#your-keys a[href$='/revoke']")
    page.click("main [type=submit]")
    page.wait_for_url(re.compile("done=revoked"))
    until = time.monotonic() + _SECONDS
    while httpx2.get(served.api + "/coverage", headers=ask).status_code != 401:
        assert time.monotonic() < until, "a revoked key was answered for two seconds"


def letter(served: Served, email: str) -> str:
    """The link in the letter to an address."""
    until = time.monotonic() + 20
    while True:
        for text in list(served.letters):
            told = text.decode().replace("=\r\n", "").replace("\r\n", "\n").replace("=3D", "=")
            if f"To: {email}" in told:
                return re.search(re.escape(served.dashboard) + r"/signup/\S+", told)[0]
        assert time.monotonic() < until, "no letter came"
        time.sleep(0.05)


@wide_and_narrow
def test_from_signing_in_to_the_raw_response_of_a_past_value(
    width: int, served: Served, visitor: Callable[..., Visitor]
) -> None:
    one = visitor(None, width)
    page = one.page
    page.goto(served.dashboard + "/")
    page.fill("main [name=email]", world.PEOPLE["pro"])
    page.fill("main [name=password]", world.PASSWORD)
    page.click("main [type=submit]")
    page.wait_for_url(served.dashboard + "/")
    page.fill("#search", "inflation germany")
    page.press("#search", "Enter")
    page.wait_for_url(re.compile("/search"))
    page.click("#series a >> nth=0")
    page.wait_for_url(re.compile("/series/"))
    series = page.url.rpartition("/")[2]
    source, entity, slug, _ = series.split(":")
    assert entity == "country_deu"
    days = page.evaluate("JSON.parse(document.getElementById('releases').textContent).days")
    now = page.inner_text("#table tbody tr >> nth=0")
    page.focus("#release")
    for _ in range(5):
        page.press("#release", "ArrowLeft")
    day = days[-6]
    page.wait_for_url(re.compile(f"as_of={day}"))
    page.wait_for_function(
        "day => document.querySelector('[data-part=asof]').textContent.includes('As known on')", arg=day
    )
    page.wait_for_function("now => document.querySelector('#table tbody tr').innerText !== now", arg=now)
    path = "/derived-observations" if slug.endswith("_yoy") else "/observations"
    told = served.ask(path, entity_id=entity, indicator_id=slug, source_id=source, as_of=day, order="desc", limit=500)
    rows = [row["valueNumeric"] for row in told if row["metadata"]["seriesId"] == series]
    shown = numbers(page, "#table tbody td[data-value]:nth-child(2)")
    assert shown
    assert shown == rows[: len(shown)]
    assert (
        numbers(page, "#table tbody td[data-value]:nth-child(2)")
        != [
            row["valueNumeric"]
            for row in served.ask(path, entity_id=entity, indicator_id=slug, source_id=source, order="desc", limit=500)
        ][: len(shown)]
    )
    # Down the lineage, input by input, to what was fetched.
    page.click("#table tbody tr:first-child a")
    page.wait_for_url(re.compile("/observations/"))
    for _ in range(4):
        if page.locator("#payload").count():
            break
        page.click("#lineage .nodes a >> nth=0")
    observation = page.url.rpartition("/")[2].partition("#")[0]
    payload = served.ask(f"/observations/{observation}/provenance")["payload"]
    assert payload["sha256"] in page.inner_text("#payload")
    assert payload["url"] in page.inner_text("#payload")


@wide_and_narrow
def test_a_screen_is_built_and_has_the_rows_of_the_interface(
    width: int, served: Served, visitor: Callable[..., Visitor]
) -> None:
    one = visitor("pro", width)
    page = one.page
    one.go("/screeners/equity")
    page.select_option("[name=field1]", "piotroski_f")
    page.select_option("[name=operator1]", "gte")
    page.fill("[name=value1]", "5")
    page.wait_for_function("() => document.querySelector('[name=filter]').value !== ''")
    page.click("text=Add a filter")
    page.select_option("[name=field2]", "current_ratio")
    page.select_option("[name=operator2]", "gt")
    page.fill("[name=value2]", "0")
    text = "piotroski_f:gte:5,current_ratio:gt:0"
    page.wait_for_function("text => document.querySelector('[name=filter]').value === text", arg=text)
    page.wait_for_function("() => /^\\d+ compan/.test(document.querySelector('[data-total]').textContent)")
    counted = int(page.inner_text("[data-total]").split()[0])
    page.click("main button.primary")
    page.wait_for_url(re.compile("filter="))
    told = served.ask("/equity-screener", filter=text)
    assert told
    assert len(told) == counted
    assert page.locator("#results tbody th").all_inner_texts() == [company_name(row["name"]) for row in told]
    wanted = [row["values"][name] for row in told for name in ("piotroski_f", "current_ratio")]
    assert set(wanted) <= set(numbers(page, "#results td[data-value]"))


@wide_and_narrow
def day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def restated(served: Served, told: Any) -> tuple[str, str, float, float]:
    """A period and a line of income that an amendment changed: what it was the day before, and what it is."""
    for row in told["incomeStatements"]:
        earlier = served.ask(
            f"{COMPANY}/financials", frequency="quarterly", limit=100, as_of=day_before(row["observedAt"][:10])
        )["incomeStatements"]
        for other in earlier:
            if other["periodEnd"] == row["periodEnd"]:
                for line, value in row["items"].items():
                    if line in other["items"] and value not in (None, other["items"][line]):
                        return row["periodEnd"], line, other["items"][line], value
    raise AssertionError("nothing was restated")


# No page of the dashboard, in no state, breaks a rule of axe-core: in light and dark, on a phone and at a desk.


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
