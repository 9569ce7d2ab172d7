"""
Whole walks through a served dashboard in a real browser, at the width of a phone and of a desk.

What is read off a page is compared with what the interface itself says, under a key.
"""

import re
import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import httpx2
import pytest

from almanac.dashboard.formatting.company_names import company_name

from . import world
from .addresses import COMPANY
from .conftest import WIDTHS, Served, Visitor

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
