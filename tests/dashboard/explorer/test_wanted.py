"""Words that name one thing and several places lead to their comparison; all others go where they went."""

from __future__ import annotations

import json

import pytest

COMPARED = "/compare?indicator=gov_yield_10y&entities="


@pytest.mark.parametrize(
    ("words", "to"),
    [
        ("gov_yield_10y usa japan", f"{COMPARED}united-states,japan"),
        ("10-year government yield, United States vs Japan", f"{COMPARED}united-states,japan"),
        ("jp us gov_yield_10y", f"{COMPARED}japan,united-states"),
    ],
)
def test_several_places_lead_to_a_comparison(browser, words, to):
    answer = browser().get("/search", q=words)
    assert (answer.status_code, answer.headers["location"]) == (303, to)
    offered = json.loads(browser().get("/search.json", q=words).text)
    assert [(one["kind"], one["href"]) for one in offered] == [("compare", to)]


@pytest.mark.parametrize("words", ["gov_yield_10y usa", "usa japan", "usa japan zzzz", "gov_yield_10y usa usa"])
def test_one_place_or_nothing_to_compare_by_leads_to_none(browser, words):
    answer = browser().get("/search", q=words)
    assert not answer.headers.get("location", "").startswith("/compare")


def test_all_results_stay_where_they_are_asked_for(browser):
    answer = browser().get("/search", q="gov_yield_10y usa japan", all="1")
    assert answer.status_code == 200
