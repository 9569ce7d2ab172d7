"""The small line beside each match: the values that were known on the day of the screen, and of nothing that is withheld."""

import html
import re
from datetime import date

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.domain.observations import FAILED, INITIAL, Vintage
from almanac.store.engine import opening
from almanac.store.observations.writing.batch import Batch
from tests.contract.conftest import sandbox
from tests.contract.invented_companies import INSTANTS, QUARTERS, Made, known
from tests.contract.test_equity_screener import EVERYONE, MADE, NOW, changing, made_up, reading, screen, seconds
from tests.support.browser import Browser
from tests.support.drawn import strokes
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

__all__ = ["changing", "made_up", "sandbox", "screen"]

_ROW = re.compile(r'<tr><th scope="row"><a href="/(?:companies|countries)/([^"?]+)(.*?)</tr>', re.DOTALL)
_LINE = re.compile(r'<svg class="spark".*?</svg>')
_COMPANIES = {one.entity: one for one in MADE}


@pytest.fixture(scope="module")
def equity(screen: Service) -> Dashboard:
    return dashboard(screen)


def lines(browser: Browser, address: str, **query: str) -> dict[str, str]:
    """Of each row of all pages its line, empty where it has none."""
    found: dict[str, str] = {}
    answer = browser.get(address, **query)
    while True:
        assert answer.status_code == 200, answer.text
        for name, row in _ROW.findall(answer.text):
            drawn = _LINE.findall(row)
            assert len(drawn) < 2
            found[name] = drawn[0] if drawn else ""
        following = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
        if following is None:
            return found
        answer = browser.send("GET", html.unescape(following[1]))


def told(company: Made, field: str, at: int, first: date) -> list[float | None]:
    """What was known of each quarter at a moment, the oldest first and None where nothing was; none of what ends before `first`."""
    found = []
    for quarter in QUARTERS:
        values = company.values.get(field, {}).get(quarter, [])
        seen = [value for n, value in enumerate(values) if known(quarter, n) <= at and quarter.end >= first]
        found.append(seen[-1] if seen else None)
    return found


def heights(values: list[float | None]) -> list[list[float]]:
    """The lines of neighbouring quarters, as heights of a drawing of 20 whose edges are 3 wide."""
    shown = [value for value in values if value is not None]
    low, high = min(shown), max(shown)
    runs: list[list[float]] = [[]]
    for value in values:
        if value is None:
            runs.append([])
        else:
            runs[-1].append(17 - 14 * (value - low) / (high - low) if high > low else 10)
    return [run for run in runs if len(run) > 1]


def drawn(svg: str) -> list[list[float]]:
    return [[y for _, y in stroke] for stroke in strokes(svg, "line")] if 'd=""' not in svg else []


@pytest.mark.parametrize("as_of", ["", "2025-09-15", "2026-06-30"])
@pytest.mark.parametrize("field", ["net_margin", "total_assets", "piotroski_f"])
def test_a_line_is_what_was_known_then_and_ends_at_the_value_beside_it(
    equity: Dashboard, field: str, as_of: str
) -> None:
    at = seconds(as_of) if as_of else NOW
    query = {"filter": f"{EVERYONE},currency:in:USD|EUR|JPY", "sort": field} | ({"as_of": as_of} if as_of else {})
    found = lines(signed_in(equity), "/screeners/equity", **query)
    compared = gaps = 0
    for entity, svg in found.items():
        company = _COMPANIES[entity]
        values = told(company, field, at, date.min)
        newest = reading(company, field, at, dollars=False)
        if newest is None or sum(value is not None for value in values) < 2:
            # Withheld, failing a grave check, or too little of it.
            assert svg == "", (company, svg)
            continue
        while values[-1] is None:
            values.pop()
        if not svg:
            # Listed for its newest statement, and its reading is older than a screen looks.
            assert newest[1].end < date(2025, 6, 1)
            continue
        assert drawn(svg) == [pytest.approx(run, abs=0.06) for run in heights(values)]
        compared += 1
        gaps += None in values[values.index(next(one for one in values if one is not None)) :]
    assert compared > 10
    assert gaps > 3


def test_a_quarter_that_fails_a_grave_check_is_a_gap(changing: Service) -> None:
    """A screen leaves such a value out, and so does the line."""
    company = next(
        one for one in MADE
        if len(one.quarters) == len(QUARTERS) and len(one.values.get("current_ratio", {})) > 9
        and one.marks.get("current_ratio", 0) != FAILED
    )  # fmt: skip
    assert "current_ratio" not in INSTANTS
    bad = sorted(company.values["current_ratio"], key=lambda quarter: quarter.end)[4]
    db, at = opening.create(changing.settings.home / "data.db"), known(bad, 0)
    with Batch(db, 1, "test") as batch:
        one = batch.existing(f"sec:{company.entity}:current_ratio:Q")
        lineage = batch.lineage([f"sec:{company.entity}:us_gaap_{tag}:Q" for tag in ("revenues", "net_income_loss")])
        batch.replace(one, {bad.key: [Vintage(at, 999.0, None, FAILED | INITIAL, at, 1_800_000_000, 0, None, lineage)]})
    db.close()
    values = told(company, "current_ratio", NOW, date.min)
    values[QUARTERS.index(bad)] = None
    found = lines(
        signed_in(dashboard(changing)), "/screeners/equity", filter="current_ratio:gt:-1,currency:in:USD|EUR|JPY"
    )
    assert drawn(found[company.entity]) == [pytest.approx(run, abs=0.06) for run in heights(values)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that the interface is asked for."""
    paths: list[str] = []
    ask = InProcessApi.ask
    monkeypatch.setattr(
        InProcessApi, "ask", lambda api, account, plan, path, params=None: paths.append(path) or ask(api, account, plan, path, params)
    )  # fmt: skip
    return paths


def test_places_have_lines_of_the_series_that_their_values_are_of(sandbox: Service, asked: list[str]) -> None:
    """Yields of seven scopes over a year of days, as known then; read in a few questions, whatever the number of rows."""
    query = {"filter": "gov_yield_10y:gt:0", "as_of": "2026-10-02"}
    browser = signed_in(dashboard(sandbox))
    found = lines(browser, "/screeners/macro", **query)
    rows = sandbox.ok("/screener", **query)
    assert set(found) == {row["entityId"] for row in rows} != set()
    assert asked.count("/observations/latest") == 2  # the day is asked for by one of them
    assert asked.count("/observations") <= 8
    assert "Small lines: 10-year government yield, a year of daily data." in browser.text
    for row in rows:
        (match,) = row["matches"]
        _, entity, indicator, _ = match["seriesId"].split(":")
        source = match["seriesId"].partition(":")[0]
        told = sandbox.walk(
            "/observations", entity_id=entity, indicator_id=indicator, source_id=source, frequency="daily", sources="all",
            period_start="2025-10-01", as_of=query["as_of"], limit=500,
        )  # fmt: skip
        values = [one["valueNumeric"] for one in told if one["valueNumeric"] is not None]
        assert len(values) > 20
        low, high = min(values), max(values)
        shown = [y for run in drawn(found[row["entityId"]]) for y in run]
        assert min(shown) == 3.0
        assert max(shown) == 17.0
        assert shown[-1] == pytest.approx(17 - 14 * (match["value"] - low) / (high - low), abs=0.3)
