"""Screeners: the same rows as the interface for the same filter, counts clause by clause, and words for all that is wrong."""

import csv
import html
import io
import random
import re
from typing import Any

import pytest
from markupsafe import escape

from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.explorer.screeners import _PAGE
from tests.contract.conftest import sandbox
from tests.contract.test_equity_screener import made_up, screen
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

__all__ = ["made_up", "sandbox", "screen"]

_TABLE = re.compile(r'<section class="panel" id="results">(.*?)</section>', re.DOTALL)
_ROW = re.compile(r"<tr>\s*(<th scope=\"row\".*?)</tr>", re.DOTALL)
_NAME = re.compile(r'href="/(?:companies|countries)/([^"?]+)')
_VALUE = re.compile(r'<td[^>]*data-value="([^"]+)"')
_OUTPUT = re.compile(r'<output class="note">([^<]*)</output>')
EVERYONE = "sector:in:technology|financials|énergie"


@pytest.fixture(scope="module")
def equity(screen: Service) -> Dashboard:
    return dashboard(screen)


@pytest.fixture(scope="module")
def macro(sandbox: Service) -> Dashboard:
    return dashboard(sandbox)


@pytest.fixture
def companies(equity: Dashboard) -> Browser:
    return signed_in(equity)


@pytest.fixture
def places(macro: Dashboard) -> Browser:
    return signed_in(macro)


def look(browser: Browser, path: str, status: int = 200, **query: str) -> str:
    answer = browser.get(path, **query)
    assert answer.status_code == status, answer.text
    return answer.text


def results(text: str) -> list[tuple[str, list[float]]]:
    """Rows of the table: the id each leads to, and its numbers."""
    table = _TABLE.search(text)
    assert table is not None
    return [(_NAME.search(row)[1], [float(value) for value in _VALUE.findall(row)]) for row in _ROW.findall(table[1])]


def clauses(rng: random.Random, fields: list[dict[str, Any]]) -> str:
    """One to three clauses within the bounds of fields that have values."""
    chosen = rng.sample(
        [one for one in fields if one["type"] == "number" and one["entityCount"] > 2], rng.randint(1, 3)
    )
    told = []
    for one in chosen:
        value = one["min"] + rng.random() * (one["max"] - one["min"])
        told.append(f"{one['field']}:{rng.choice(['gt', 'gte', 'lt', 'lte'])}:{value:.6f}")
    return ",".join(told)


def walked(browser: Browser, path: str, **query: str) -> list[tuple[str, list[float]]]:
    """All pages, by their links."""
    text = look(browser, path, **query)
    rows = results(text)
    while following := re.search(r'<a href="([^"]+)" rel="next">', text):
        text = browser.send("GET", html.unescape(following[1])).text
        rows += results(text)
    return rows


def test_companies_found_are_those_of_the_interface(companies: Browser, screen: Service) -> None:
    """Seeded filters: the same companies, in the same order, with the same numbers, on all pages; and so in the file."""
    rng, found = random.Random(6), 0
    fields = screen.ok("/equity-screener/filters")["fields"]
    for _ in range(25):
        text = clauses(rng, fields)
        query = {"filter": text, "sort": text.partition(":")[0], "order": rng.choice(["asc", "desc"])}
        query |= rng.choice([{}, {}, {"as_of": "2026-06-30"}])
        rows = screen.walk("/equity-screener", limit=200, **query)
        told = [(row["entityId"], [v for v in row["values"].values() if not isinstance(v, str)]) for row in rows]
        page = look(companies, "/screeners/equity", **query)
        if not rows:
            assert "there would be" in page or "passes" in page
            continue
        found += 1
        assert walked(companies, "/screeners/equity", **query) == told, query
        lines = list(csv.DictReader(io.StringIO(companies.get("/screeners/equity.csv", **query).text)))
        assert [line["entityId"] for line in lines] == [row["entityId"] for row in rows]
        for line, row in zip(lines, rows, strict=True):
            assert {name: float(line[name]) for name in row["values"]} == row["values"]
    assert found > 10


def test_pages_go_by_cursor(companies: Browser, screen: Service) -> None:
    rows = screen.walk("/equity-screener", limit=200, filter=EVERYONE)
    assert len(rows) > _PAGE
    assert [one for one, _ in walked(companies, "/screeners/equity", filter=EVERYONE)] == [
        row["entityId"] for row in rows
    ]


def test_places_found_are_those_of_the_interface(places: Browser, sandbox: Service) -> None:
    rng, found = random.Random(7), 0
    fields = sandbox.ok("/screener/filters")["fields"]
    for _ in range(25):
        query = {"filter": clauses(rng, fields)}
        query |= rng.choice([{}, {"freshness": "fresh"}, {"country": "USA"}, {"as_of": "2026-10-02"}])
        rows = sandbox.walk("/screener", limit=500, **query)
        page = look(places, "/screeners/macro", **query)
        if not rows:
            continue
        found += 1
        assert results(page) == [(row["entityId"], [match["value"] for match in row["matches"]]) for row in rows]
        # Each number has its period, and leads to its series.
        assert all(f"/series/{match['seriesId']}" in page for row in rows for match in row["matches"])
    assert found > 10


def test_a_count_stands_after_each_clause(companies: Browser, screen: Service) -> None:
    rng = random.Random(8)
    fields = screen.ok("/equity-screener/filters")["fields"]
    for _ in range(10):
        written = clauses(rng, fields).split(",")
        outputs = _OUTPUT.findall(look(companies, "/screeners/equity", filter=",".join(written)))
        for number in range(len(written)):
            query = {"filter": ",".join(written[: number + 1]), "limit": 1}
            total = screen.get("/equity-screener", "pro", None, **query).json()["meta"]["pagination"]["total"]
            assert outputs[number] == f"{total:,} {'passes' if total == 1 else 'pass'}"
        assert set(outputs[len(written) :]) == {""}


def test_an_error_stands_at_its_row_in_the_interfaces_words_and_others_still_count(
    companies: Browser, screen: Service
) -> None:
    text = look(companies, "/screeners/equity", filter=f"net_margn:gt:1,{EVERYONE},score:foo:1,score")
    for clause in ("net_margn:gt:1", "score:foo:1", "score"):
        error = screen.error("/equity-screener", 400, filter=clause)["message"]
        assert text.count(str(escape(error))) == 2  # in the summary and at the row
    assert "did you mean &#39;net_margin&#39;" in text
    assert [bool(output) for output in _OUTPUT.findall(text)[:4]] == [False, True, False, False]
    assert '<option value="net_margn" selected>' in text
    assert 'value="score" aria-label="Value"' in text
    assert 'id="results"' not in text


def test_rows_write_the_text_and_the_text_writes_rows(companies: Browser) -> None:
    """By GET alone: rows filled in, one removed, the text edited; each goes on at the address of the filter it means."""

    def to(**query: str) -> str:
        answer = companies.get("/screeners/equity", **query)
        assert answer.status_code == 303
        return answer.headers["location"]

    rows = {
        "field1": "net_margin", "operator1": "gte", "value1": "0.1", "field2": "industry", "operator2": "eq",
        "value2": "Fire, Marine & Casualty", "field3": "", "operator3": "gte", "value3": "", "was": "", "filter": "",
    }  # fmt: skip
    assert to(**rows) == "/screeners/equity?filter=net_margin:gte:0.1,industry:eq:%22Fire,+Marine+%26+Casualty%22"
    assert to(**rows, remove="1").endswith("filter=industry:eq:%22Fire,+Marine+%26+Casualty%22")
    assert to(**rows, add="1", sort="score").endswith("&sort=score&rows=1")
    assert to(**(rows | {"filter": "score:gt:50"})) == "/screeners/equity?filter=score:gt:50"
    assert to(**(rows | {"value2": 'Fire "x'})).endswith("industry:eq:%22Fire+%22%22x%22")
    text = look(companies, "/screeners/equity", filter='net_margin:gte:0.15,sector:in:technology|"énergie"')
    assert '<option value="net_margin" selected>' in text
    assert '<span class="note">15%</span>' in text
    assert 'name="value2" value="technology|&#34;énergie&#34;"' in text
    assert text.count('role="group" aria-label="Filter ') == 3
    assert "Did you mean 0.15?" in look(companies, "/screeners/equity", filter="net_margin:gte:15")
    assert look(companies, "/screeners/equity", filter="score:gt:50", rows="2").count('aria-label="Filter ') == 5


def test_the_count_for_the_script_is_the_interfaces(companies: Browser, screen: Service) -> None:
    query = {
        "field1": "score",
        "operator1": "gte",
        "value1": "50",
        "field2": "net_margin",
        "operator2": "gt",
        "value2": "",
    }
    told = companies.get("/screeners/equity.json", **query).json()
    total = screen.get("/equity-screener", "pro", None, filter="score:gte:50", limit=1).json()["meta"]["pagination"][
        "total"
    ]
    assert (told["filter"], told["total"], told["error"]) == ("score:gte:50", total, None)
    wrong = companies.get("/screeners/equity.json", filter="score:gte:x").json()
    assert wrong["total"] is None
    assert (
        wrong["error"]
        == wrong["rows"][0]["error"]
        == screen.error("/equity-screener", 400, filter="score:gte:x")["message"]
    )
    assert companies.get("/screeners/equity.json").json()["total"] is None


def test_all_fields_are_listed_with_bounds_and_those_without_values_cannot_be_chosen(
    places: Browser, sandbox: Service
) -> None:
    fields = sandbox.ok("/screener/filters")["fields"]
    page, form = look(places, "/screeners/macro/fields"), look(places, "/screeners/macro")
    assert len(fields) > 100
    for one in fields:
        assert f"<small>{one['field']}</small>" in page
        option = re.search(rf'<option value="{one["field"]}"([^>]*)>', form)
        assert ("disabled" in option[1]) == (one["entityCount"] == 0)
    bounds = {one[name] for one in fields for name in ("min", "max") if one[name] is not None}
    assert bounds <= {float(value) for value in re.findall(r'data-value="([^"]+)"', page)}
    narrow = look(places, "/screeners/macro/fields", q="yield 10-year")
    assert "<small>gov_yield_10y</small>" in narrow
    assert "<small>cpi_index</small>" not in narrow
    assert "Nothing matches “&lt;b&gt;”" in look(places, "/screeners/macro/fields", q="<b>")


@pytest.mark.parametrize("screener", ["macro", "equity"])
def test_a_filter_of_commas_is_asked_no_oftener_than_one_of_as_many_clauses_as_may_be(sandbox, monkeypatch, screener):
    """Each row is judged by the interface; what is beyond the most there may be is not asked at all."""
    asked = []
    ask = InProcessApi.ask
    monkeypatch.setattr(InProcessApi, "ask", lambda api, *given: asked.append(given) or ask(api, *given))
    browser = signed_in(dashboard(sandbox))
    for commas, status in ((100, 200), (7_999, 200), (8_001, 400), (15_000, 400)):
        asked.clear()
        assert browser.get(f"/screeners/{screener}?filter={',' * commas}").status_code == status
        assert len(asked) < 60
