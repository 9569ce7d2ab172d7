"""The search for the dearest request asks of every operation what it takes: each parameter, and nothing it refuses."""

import os
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import pytest

from bench import dearest, servers
from bench.dearest import Running, Words, mixtures, requests
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


class Serving:
    """Stands for a server: so many nanoseconds for each request, and what it does by itself, each time it is looked at."""

    def __init__(self, port, answers):
        self.port = port
        self._answers = answers
        self._alone = [10**9, 10**9]

    def spent(self):
        self.total = getattr(self, "total", 0) + (self._alone.pop() if self._alone else 0)
        return self.total + sum(5_000_000 if "dear" in target else 1_000_000 for target in self._answers)


def test_a_dear_request_is_counted_in_plain_ones_when_the_service_rests(monkeypatch):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            asked.append(self.path)
            self.send_response(404 if self.path == "/missing" else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    monkeypatch.setattr(dearest, "_ROUNDS", 2)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running = Running(Serving(server.server_port, asked), "key")
        assert running.cost("/dear", "/plain", 3) == 5.0
        assert running.plain == {"/plain": 1.0}
        with pytest.raises(RuntimeError, match="404"):
            running.cost("/missing", "/plain")
        server.shutdown()
        thread.join()
    # Each once to begin with; both rounds; and the one that is refused.
    assert [asked.count(one) for one in ("/dear", "/plain", "/missing")] == [1 + 2 * 3, 1 + 2 * 60, 1]


def test_what_a_process_has_used_is_told_of_it_alone():
    before = servers._nanoseconds(os.getpid())
    sum(range(3_000_000))
    assert 0 < before < servers._nanoseconds(os.getpid()) <= time.process_time_ns()
    assert servers._nanoseconds(2**22) == 0
