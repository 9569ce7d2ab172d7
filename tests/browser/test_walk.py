"""
A real browser before a served dashboard: Debian's chromium, at the width of a phone and of a desk.

The policy must hold in it (nothing on its console), no page is wider than the screen, and a key made there answers the
interface. Skipped where there is no chromium.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.people import People
from tests.contract.conftest import once
from tests.contract.simulated import build
from tests.support.servers import free_port, serving

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium")
EMAIL, PASSWORD = "pro@example.org", "correct horse battery"  # invented
SERIES = "sandbox-us-treasury-par:country_usa:gov_yield_10y:D"
PAGES = ("/", "/search?q=10y+yield+usa&all=1", f"/series/{SERIES}", "/rates", "/rates/USA", "/screeners/macro", "/calendar",
         "/sources", "/indicators/gov_yield_10y", "/countries", "/keys", "/usage", "/account", "/console")  # fmt: skip

#: Of the dashboard, of the interface, and the home they serve.
Addresses = tuple[str, str, Path]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Addresses]:
    """Addresses of the dashboard and of the interface, over the yields of the simulated world."""
    home = tmp_path_factory.mktemp("browser") / "home"
    shutil.copytree(once(tmp_path_factory, worker_id, "contract-sandbox", build), home)
    accounts = Accounts(home / "accounts.db")
    People(accounts).set_password(EMAIL, PASSWORD, now=1)
    accounts.close()
    port = free_port()
    with serving(home, DASHBOARD="true", DASHBOARD_PORT=str(port)) as server:
        dashboard = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                httpx2.get(dashboard + "/signin", timeout=30)
                break
            except httpx2.TransportError:
                continue
        yield dashboard, server.base, home


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[390, 1440])
def page(request: pytest.FixtureRequest, served: Addresses, chromium) -> Iterator[object]:
    """Somebody signed in, at one width. Whatever the browser complains of fails the test."""
    context = chromium.new_context(viewport={"width": request.param, "height": 900})
    one, complaints = context.new_page(), []
    one.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
    one.on("pageerror", lambda error: complaints.append(str(error)))
    one.goto(served[0] + "/signin")
    one.fill("input[name=email]", EMAIL)
    one.fill("input[name=password]", PASSWORD)
    one.click("main button[type=submit]")
    one.wait_for_url(served[0] + "/")
    yield one
    assert complaints == []
    context.close()


def test_every_page_fits_the_screen_under_the_policy(page, served: Addresses) -> None:
    for path in PAGES:
        answer = page.goto(served[0] + path)
        assert answer.status == 200, path
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert page.locator("h1").count() == 1, path


def test_a_key_made_here_answers_there_and_ends(page, served: Addresses) -> None:
    page.goto(served[0] + "/keys")
    page.fill("#create input[name=name]", "Walked here")
    page.click("#create button[type=submit]")
    text = page.inner_text("#secret-key")
    ask = {"x-api-key": text}
    assert httpx2.get(served[1] + "/coverage", headers=ask).status_code == 200
    page.goto(served[0] + "/keys")
    assert text not in page.content()
    page.locator("a[href$='/revoke']", has_text="Walked here").first.click()
    page.click("main form button[type=submit]")
    page.wait_for_url(re.compile("done=revoked"))
    for _ in range(100):
        if httpx2.get(served[1] + "/coverage", headers=ask).status_code == 401:
            break
        page.wait_for_timeout(20)
    else:
        pytest.fail("a revoked key was answered for two seconds")


def test_the_table_of_a_past_day_is_what_the_interface_says(page, served: Addresses) -> None:
    page.goto(served[0] + f"/series/{SERIES}")
    page.fill("input[name=as_of]", "2026-10-15")
    page.locator("button", has_text="Show").first.click()
    page.wait_for_url(re.compile("as_of=2026-10-15"))
    assert "As known on" in page.inner_text("main")
    shown = [
        float(cell.get_attribute("data-value")) for cell in page.locator("#table td[data-value]:nth-child(2)").all()
    ]
    key = dict(line.split() for line in (served[2] / "keys").read_text().splitlines())["pro"]
    asked = {"entity_id": "country_usa", "indicator_id": "gov_yield_10y", "frequency": "D", "limit": "500",
             "source_id": "sandbox-us-treasury-par", "as_of": "2026-10-15"}  # fmt: skip
    told = httpx2.get(served[1] + "/observations", params=asked, headers={"x-api-key": key}).json()["data"]
    values = [row["valueNumeric"] for row in reversed(told)]
    assert shown
    assert shown == values[: len(shown)]
