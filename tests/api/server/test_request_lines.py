"""What the line of a request tells an operator: who keeps being refused, what was not found; and which lines are kept."""

import io
import itertools
import json
import random

import msgspec
import pytest
from prometheus_client import REGISTRY

from almanac.api.server import logs
from almanac.api.server.journal import Journal
from almanac.api.server.logs import told_path


@pytest.fixture
def lines(monkeypatch):
    stream = io.BytesIO()
    monkeypatch.setattr(logs.access, "stream", stream)

    def told():
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    return told


def refused(frame):
    """One answer of each kind that says who asked, and others beside them."""
    frame.limiter.hits["acc_pro"] = 1000
    frame.get("/coverage", None)
    frame.get("/events", frame.PRO)
    frame.get("/screener?filter=a", frame.NARROW)
    frame.get("/coverage", frame.FREE)
    frame.get("/coverage?wrong=1", frame.FREE)


def test_the_line_of_a_refused_client_says_from_where_it_asked(frame, lines):
    refused(frame)
    found = [(line["status"], line.get("address")) for line in lines()]
    assert found == [(401, "192.0.2.1"), (429, "192.0.2.1"), (403, "192.0.2.1"), (200, None), (400, None)]


def test_it_is_the_clients_address_behind_a_trusted_proxy(frame, lines):
    frame.peer = "10.1.2.3"
    frame.get("/coverage", None, x_forwarded_for="198.51.100.7, 10.9.9.9")
    assert lines()[0]["address"] == "198.51.100.7"


def test_addresses_are_left_out_where_the_operator_wants_none(frame, lines):
    frame.settings = msgspec.structs.replace(frame.settings, log_addresses=False)
    frame.__post_init__()
    refused(frame)
    assert [(line["status"], "address" in line) for line in lines()] == [
        (401, False), (429, False), (403, False), (200, False), (400, False),
    ]  # fmt: skip


def test_the_line_of_a_429_says_which_path_was_asked_for(frame, lines):
    """It is refused before its path is looked at; whoever wonders what keeps asking is told all the same."""
    frame.limiter.hits["acc_pro"] = 1000
    frame.limiter.failures["192.0.2.1"] = 300
    frame.get("/indicators/secret-name", frame.PRO)
    frame.get("/coverage", None)
    frame.get("/coverage?api_key=x", None)
    frame.get("/nowhere", frame.PRO)
    found = [(line["status"], line["path"]) for line in lines()]
    assert found == [(429, "/indicators/{idOrSlug}"), (429, "/coverage"), (429, "/coverage"), (429, None)]


def test_the_line_of_a_404_says_what_was_asked_for(frame, lines):
    frame.get("/indicators/gone")
    frame.get("/a%0Ab/%22c%22/é?secret=s3cret")
    frame.get(f"/{frame.PRO}/alm%5F{'Q' * 40}")
    frame.get(f"/{'ab/' * 500}")
    found = lines()
    assert [(line["status"], line["path"]) for line in found] == [(404, "/indicators/{idOrSlug}")] + [(404, None)] * 3
    assert found[0]["target"] == "/indicators/gone"
    assert found[1]["target"] == "/a%0Ab/%22c%22/%C3%A9"
    assert found[2]["target"] == "/[redacted]/[redacted]"
    assert found[3]["target"] == f"/{'ab/' * 500}"[:200] + "..."


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"/x/{'0123456789abcdef' * 2}/y", "/x/[redacted]/y"),  # a publisher's key
        ("/observations/obs_vybtlprlj7yali3577brtjln77", "/observations/obs_vybtlprlj7yali3577brtjln77"),
        (f"/alm%5F{'k' * 40}", "/alm%25[redacted]"),  # escaped twice
        ("/\ud800", "/?"),
        ("/" + "k" * 100_000, "/[redacted]"),
    ],
)
def test_nothing_as_long_as_a_key_is_told(path, told):
    assert told_path(path) == told.replace("?", "%3F")


def statuses(lines):
    return [line["status"] for line in lines()]


@pytest.mark.parametrize(("share", "kept"), [(1.0, 1000), (0.1, 100), (0.0, 0)])
def test_a_share_of_the_good_answers_is_kept_and_every_error(lines, monkeypatch, share, kept):
    numbers = itertools.count()
    monkeypatch.setattr(random, "random", lambda: next(numbers) % 1000 / 1000)
    journal = Journal(share=share)
    counted = {"path": f"/shared/{share}", "method": "GET", "status": "200"}
    for number in range(1000):
        journal.add(logs.AccessLine("req", None, "GET", counted["path"], 200, 1.0, None, None), 0.001)
        if number % 100 == 0:
            journal.add(logs.AccessLine("req", None, "GET", "/x", 404, 1.0, None, None), 0.001)
    assert statuses(lines).count(200) == kept
    assert statuses(lines).count(404) == 10
    assert REGISTRY.get_sample_value("almanac_requests_total", counted) == 1000
