"""The search for the dearest request asks of every operation what it takes: each parameter, and nothing it refuses."""

import random
from urllib.parse import parse_qsl

import pytest

from bench.dearest import Words, requests
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
