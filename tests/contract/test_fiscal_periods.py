"""Fiscal periods beside calendar ones, of a company whose year ends in September."""

import json
import re

import pytest

from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.workplace import Workplace
from tests.support.filed_company import ENTITY, FACTS_URL, INDEX_URL, facts, index
from tests.support.service import Service, make_accounts, settings

NOW = "2024-06-15T12:00:00Z"
PATH = "/derived-observations"
#: Days of the company's periods → the same of a year that ends three months earlier.
EARLIER = {
    "2022-01-01": "2021-10-01", "2022-12-31": "2022-09-30", "2023-01-01": "2022-10-01", "2023-03-31": "2022-12-31",
    "2023-04-01": "2023-01-01", "2023-06-30": "2023-03-31", "2023-07-01": "2023-04-01", "2023-09-30": "2023-06-30",
    "2023-12-31": "2023-09-30",
}  # fmt: skip


def moved(body):
    return re.sub(r"\b20\d\d-\d\d-\d\d\b", lambda day: EARLIER.get(day[0], day[0]), body.decode()).encode()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("fiscal") / "home", NOW=NOW)
    bodies = [(INDEX_URL, moved(index())), (FACTS_URL, moved(facts()))]
    assert json.loads(bodies[1][1])["facts"]["us-gaap"]["Assets"]["units"]["USD"][0]["end"] == "2022-09-30"
    with Workplace(chosen) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        outcome = run.run([Arrival(url, body, "application/json", None) for url, body in bodies])
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (2, {}, {})
    make_accounts(chosen)
    opened = Service(chosen.home, {"NOW": NOW})
    yield opened
    opened.close()


def asked(service, path=PATH, indicator="revenue", **query):
    """(last day, fiscal period, value) of each row, and what is warned of."""
    answer = service.get(path, entity=ENTITY, indicator=indicator, **query)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    rows = [
        (row["periodEnd"][:10], row["metadata"]["fiscalYear"], row["metadata"]["fiscalPeriod"], row["valueNumeric"])
        for row in found["data"]
    ]
    return rows, found["meta"].get("warnings", [])


Q1, Q2, Q3 = ("2022-12-31", 2023, "Q1", 100), ("2023-03-31", 2023, "Q2", 110), ("2023-06-30", 2023, "Q3", 120)
Q4, YEAR, YEAR_BEFORE = (
    ("2023-09-30", 2023, "Q4", 140),
    ("2023-09-30", 2023, "FY", 470),
    ("2022-09-30", 2022, "FY", 400),
)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({"period": "FY2023"}, [YEAR, Q1, Q2, Q3, Q4]),
        ({"period": "fy2023", "frequency": "annual"}, [YEAR]),
        ({"period": "FY2022"}, [YEAR_BEFORE]),
        ({"period": "FY2023-Q4"}, [Q4]),
        ({"period": "FY2023-h1"}, [Q1, Q2]),
        ({"period": "FY2023-H2", "order": "desc"}, [Q4, Q3]),
        ({"period": "FY2023", "period_start": "2023-01-01"}, [Q2, Q3, Q4]),
        ({"period": "FY2023", "as_of": "2023-12-01"}, [Q1, Q2, Q3]),
        ({"period": "FY2023", "sort": "period_end", "sources": "all", "frequency": "Q"}, [Q1, Q2, Q3, Q4]),
        ({"period": "FY2021"}, []),
        ({"period": "2023"}, [Q2, Q3, Q4]),
        ({"period": "2022-Q4"}, [Q1]),
    ],
)
@pytest.mark.parametrize("path", [PATH, "/observations/vintages", "/observations/changes"])
def test_a_period_by_either_name(service, path, query, rows):
    if path != PATH:
        query = {name: value for name, value in query.items() if name != "sort" or path.endswith("vintages")}
        if query.get("sort") == "period_end":
            del query["sort"]
    if path.endswith("changes"):
        query = {**query, "since": 0}
    assert asked(service, path, **query)[0] == rows


def test_pages_of_a_fiscal_period_are_the_whole(service):
    found, cursor = [], {}
    while cursor is not None:
        answer = service.get(PATH, entity=ENTITY, indicator="revenue", period="FY2023", limit=2, **cursor).json()
        found += [row["metadata"]["fiscalPeriod"] for row in answer["data"]]
        following = answer["meta"]["pagination"]["next_cursor"]
        cursor = None if following is None else {"cursor": following}
    assert found == ["FY", "Q1", "Q2", "Q3", "Q4"]


def test_latest_readings_and_measures_say_both(service):
    (row,) = service.ok("/observations/latest", entity=ENTITY, indicator="revenue_ttm")
    assert (row["periodEnd"][:10], row["metadata"]["fiscalYear"], row["metadata"]["fiscalPeriod"]) == Q4[:3]


def test_rows_and_statements_call_a_period_the_same(service):
    told = service.ok(f"/companies/{ENTITY}/financials")["incomeStatements"]
    called = {(one["frequency"], one["periodEnd"]): (one["fiscalYear"], one["fiscalPeriod"]) for one in told}
    rows = service.ok(PATH, entity=ENTITY, indicator="net_income")
    assert len(rows) == len(called) == 6
    for row in rows:
        said = row["metadata"]
        assert (said["fiscalYear"], said["fiscalPeriod"]) == called[row["frequency"], row["periodEnd"]]


def test_a_calendar_period_gives_the_rows_inside_it(service):
    for query in ({"period": "2023"}, {"period": "2023-Q3"}, {"period": "1990"}):
        _, warnings = asked(service, **query)
        assert warnings == []


def test_a_fiscal_period_of_what_has_none(service):
    assert service.ok("/observations", entity=ENTITY, period="FY2023") == []
    assert service.ok(PATH, country="USA", period="FY2023") == []


@pytest.mark.parametrize("text", ["FY20", "FY2023-Q5", "FY2023-06", "FY0000", "FY9999", "FY 2023", "2023FY"])
def test_a_fiscal_period_that_is_none(service, text):
    answer = service.get(PATH, entity=ENTITY, period=text)
    assert answer.status_code == 400
    assert "FY2026-Q3" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"period": "FY2022"}, True),
        ({"period": "2022-09-30"}, True),
        ({"period": "2022-Q3"}, True),
        ({"period": "2022"}, True),
        ({"period": "2022-Q2"}, False),
        ({"period": "FY2021"}, False),
        ({"period_start": "2022-09-30", "period_end": "2022-09-30"}, True),
        ({"period_start": "2022-09-30T00:00:01Z"}, False),
        ({"period_start": "2022-10-01", "period_end": "2022-12-30"}, False),
    ],
)
@pytest.mark.parametrize("path", [PATH, "/observations/vintages"])
def test_a_balance_sheet_lies_in_the_periods_that_its_day_lies_in(service, path, query, found):
    rows, _ = asked(service, path, "total_assets", **query)
    assert ("2022-09-30" in {day for day, *_ in rows}) is found
