"""Usage: the page, its four views and the CSV tell what was counted, and nothing of others."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from almanac.store.usage.counts import CountedUse
from tests.support.page_visitor import NOW

from .conftest import House

MINUTE = NOW // 60


def figures(requests: int) -> tuple[int, int]:
    return (requests, requests * 2_000)


@pytest.fixture
def used(house: House) -> House:
    mine = house.service.accounts.account("pro@example.org").id
    theirs = house.service.accounts.account("free@example.org").id
    key = house.service.accounts.list_keys("pro@example.org")[0].prefix
    house.usage.add(
        [
            CountedUse(MINUTE, mine, key, "/rates/{scope}", 200, figures(40)),
            CountedUse(MINUTE, mine, key, "/observations", 404, figures(3)),
            CountedUse(MINUTE - 1_440, mine, "alm_gonegone", "/observations", 429, figures(7)),
            CountedUse(MINUTE, theirs, "alm_theirs00", "/coverage", 200, figures(9_999)),
        ]
    )
    return house


def test_all_views_add_up_to_what_was_counted(used: House) -> None:
    browser = used.browser()
    for by in ("day", "key", "endpoint", "status"):
        text = browser.get("/usage", by=by).text
        assert ">50<" in text
        assert "9,999" not in text
        assert "20.0%" in text  # 10 of 50 were refused
    assert "deleted key" in browser.get("/usage", by="key").text
    assert "/rates/{scope}" in browser.get("/usage", by="endpoint").text


def test_the_csv_has_every_counter(used: House) -> None:
    answer = used.browser().get("/usage.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="usage-')
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert sorted(int(row["requests"]) for row in rows) == [3, 7, 40]
    assert {row["mean_ms"] for row in rows} == {"2.0"}


def test_days_may_be_chosen_and_wrong_ones_are_told(used: House) -> None:
    browser = used.browser()
    yesterday = (datetime.fromtimestamp(NOW, UTC) - timedelta(days=1)).date().isoformat()
    assert ">7<" in browser.get("/usage", **{"from": yesterday, "to": yesterday}).text
    answer = browser.get("/usage", **{"from": "31.4.27"})
    assert answer.status_code == 400
    assert "is not a date" in answer.text
