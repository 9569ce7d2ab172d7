"""Rates: each number is the interface's, of one day; what may not be shown, or is not known of the past, is named."""

import html
import random
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from almanac.dashboard.app import Dashboard
from almanac.reports.rates import SCOPES, TENORS
from tests.contract.conftest import sandbox
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

__all__ = ["sandbox"]

_CURL = re.compile(r"\$ALMANAC_API_KEY(?:&#34;|\") (?:&#34;|\")http://[^/]+(/.*?)(?:&#34;|\")</code>")
_VALUE = re.compile(r'data-value="([^"]+)"')
_POINT = re.compile(r'<circle class="dot ([^"]*)" cx="([^"]+)" cy="([^"]+)"')
DAYS = ["2026-09-15", "2026-10-02", "2026-11-10"]


@pytest.fixture(scope="module")
def app(sandbox: Service) -> Dashboard:
    return dashboard(sandbox)


@pytest.fixture
def browser(app: Dashboard) -> Browser:
    return signed_in(app)


def look(browser: Browser, path: str, status: int = 200, **query: str) -> str:
    answer = browser.get(path, **query)
    assert answer.status_code == status, answer.text
    return answer.text


def numbers(data: object) -> set[float]:
    """Every number in an answer."""
    if isinstance(data, dict):
        return set().union(*map(numbers, data.values())) if data else set()
    if isinstance(data, list):
        return set().union(*map(numbers, data)) if data else set()
    return {float(data)} if isinstance(data, int | float) and not isinstance(data, bool) else set()


def answers(service: Service, text: str) -> list[tuple[str, dict[str, str], object]]:
    """What the requests that a page shows are answered, each with its path and query."""
    asked = [urlsplit(html.unescape(one)) for one in _CURL.findall(text)]
    assert asked
    told = []
    for one in asked:
        query = dict(parse_qsl(one.query))
        told.append((one.path, query, service.ok(one.path, "pro", **query)))
    return told


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("as_of", [None, *DAYS])
def test_each_number_is_of_the_requests_the_page_shows(
    browser: Browser, sandbox: Service, scope: str, as_of: str | None
) -> None:
    text = look(browser, f"/rates/{scope}", **({"as_of": as_of} if as_of else {}))
    told = answers(sandbox, text)
    shown = [float(value) for value in _VALUE.findall(text)]
    assert len(shown) > 30
    assert set(shown) <= set().union(*(numbers(data) for _, _, data in told))
    assert all(query.get("as_of") == as_of for _, query, _ in told)
    # The analytics of today take no day: a page of the past is made of their history.
    asked = {path for path, _, _ in told if path.startswith("/rates/")}
    assert asked == {f"/rates/{scope}" if as_of is None else f"/rates/{scope}/history"}


def test_all_spreads_and_slopes_of_today_are_on_the_page(browser: Browser, sandbox: Service) -> None:
    for scope in SCOPES:
        rates = sandbox.ok(f"/rates/{scope}")
        shown = {float(value) for value in _VALUE.findall(look(browser, f"/rates/{scope}"))}
        assert {point["yield"] for point in rates["curve"]} <= shown
        assert {peer["spreadBp"] for spread in rates["spreads"] for peer in spread["peers"]} <= shown
        assert {spread["spreadToMeanBp"] for spread in rates["spreads"]} <= shown
        assert {slope["valueBp"] for slope in [*rates["slopes"], *rates["peerSlopes"]]} <= shown
        assert all(html.escape(note, quote=False) in browser.text for note in rates["comparability"])
        # The notes stand before the table they are about.
        assert browser.text.index('id="comparing"') < browser.text.index('id="spreads"')


def test_the_overview_has_the_yields_of_all_scopes(browser: Browser, sandbox: Service) -> None:
    for as_of in (None, *DAYS):
        query = {"as_of": as_of} if as_of else {}
        text = look(browser, "/rates", **query)
        rows = sandbox.ok(
            "/observations/latest", indicator_id=",".join(f"gov_yield_{t}" for t in TENORS), limit=500, **query
        )
        shown = [float(value) for value in _VALUE.findall(text)]
        assert {row["valueNumeric"] for row in rows} <= set(shown)
        assert len(rows) == len(SCOPES) * len(TENORS)
        assert all(f'href="/rates/{scope}{"?as_of=" + as_of if as_of else ""}"' in text for scope in SCOPES)


def test_peers_are_drawn_on_choice_and_the_table_has_all_that_is_drawn(browser: Browser) -> None:
    rng = random.Random(14)
    for _ in range(4):
        own, *peers = rng.sample(SCOPES, rng.randint(1, 5))
        text = look(browser, f"/rates/{own}", **{"with": ",".join(peers)})
        # The plot says where its axes lie, so points of the drawing are read back as yields.
        first = text[text.index('class="chart wide"') :]
        low, high, bottom, top = map(float, re.search(r'data-y="([^"]+)"', first)[1].split())
        curve = first[: first.index("</svg>")]
        drawn = [low + (float(y) - bottom) / (top - bottom) * (high - low) for _, _, y in _POINT.findall(curve)]
        assert len(drawn) >= (1 + len(peers)) * len(TENORS)
        shown = [float(value) for value in _VALUE.findall(text)]
        assert all(min(abs(point - value) for value in shown) < 0.02 * (high - low) for point in drawn)
        assert len(re.findall(r'aria-current="true"', text)) == len(peers)


def test_a_scope_goes_by_any_name_and_an_unsupported_one_has_the_seven_links(browser: Browser) -> None:
    answer = browser.get("/rates/japan", as_of="2026-10-02")
    assert (answer.status_code, answer.headers["location"]) == (301, "/rates/JPN?as_of=2026-10-02")
    text = look(browser, "/rates/FRA", 404)
    assert "There are no rates for “FRA”. There are for AUS, CAN, CHE, EUR, GBR, JPN and USA." in text
    assert all(f'href="/rates/{scope}"' in text for scope in SCOPES)
    assert "<b>" not in look(browser, "/rates/%3Cb%3E", 404)
