"""The search for the dearest request asks of every operation what it takes: each parameter, and nothing it refuses."""

import random
from urllib.parse import parse_qsl

import pytest

from bench.dearest import Words, mixtures, requests
from tests.contract.declared import ENDPOINTS

NAMES = (
    "indicator",
    "country",
    "entity",
    "source_id",
    "provider_id",
    "idOrSlug",
    "idOrIso",
    "idOrLookup",
    "alias",
    "q",
    "id",
)


@pytest.fixture
def words():
    one = Words.__new__(Words)
    one.values = {name: ["one", "two"] for name in NAMES} | {"since": ["0"], "filter": ["a:gt:0"], "scope": ["USA"]}
    one.derived, one.equity = ["derived"], "b:gt:0"
    return one


@pytest.mark.parametrize("path", sorted(ENDPOINTS))
def test_every_parameter_is_tried_and_most_requests_are_well_formed(path, words):
    endpoint = ENDPOINTS[path]
    asked = [parse_qsl(target.partition("?")[2]) for target in requests(endpoint, words, random.Random(1))]
    assert {name for query in asked for name, _ in query} == set(endpoint.by_name) - {"cursor"}
    assert asked == [parse_qsl(t.partition("?")[2]) for t in requests(endpoint, words, random.Random(1))]
    alone = [query for query in asked if len(query) <= 2]
    assert alone
    for query in alone:
        endpoint.read(query, 1_900_000_000)


def test_lists_are_asked_in_each_order_with_bounds_near_and_far(words):
    endpoint = ENDPOINTS["/observations"]
    asked = [dict(parse_qsl(target.partition("?")[2])) for target in mixtures(endpoint, words, random.Random(1), 3_000)]
    orders = {(one.get("sort"), one.get("order"), "start_date" in one, "period_end" in one) for one in asked}
    every = {(sort, order) for sort in endpoint.by_name["sort"].names for order in ("asc", "desc")}
    assert {(sort, order) for sort, order, *_ in orders} >= every
    for sort, order in every:
        assert {(sort, order, True, True), (sort, order, False, False)} <= orders
    assert any(one.get("period_start") == one.get("period_end") is not None for one in asked)
    assert not list(mixtures(ENDPOINTS["/rates/{scope}"], words, random.Random(1)))


@pytest.mark.parametrize("path", sorted(ENDPOINTS))
def test_mixtures_are_well_formed(path, words):
    for target in mixtures(ENDPOINTS[path], words, random.Random(2), 40):
        ENDPOINTS[path].read(parse_qsl(target.partition("?")[2]), 1_900_000_000)
