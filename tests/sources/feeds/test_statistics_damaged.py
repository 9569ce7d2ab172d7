"""Whatever is cut off or altered in an answer of a statistical office, it is read or refused: no other error comes out."""

import json

import pytest

from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import icalendars
from tests.sources.feeds import test_bls, test_bls_calendar, test_boj, test_world_bank
from tests.sources.formats import test_jsonstat
from tests.support import sdmx_invented
from tests.support.damage import altered


def numbers(parsed):
    return sum(len(block.statements) for block in parsed.blocks)


#: What reads a body and counts what it found, and a body.
SAMPLES = {
    "json-stat": (
        lambda body: numbers(sdmx_invented.parse(body, service=test_jsonstat.OFFICE)),
        json.dumps(test_jsonstat.CUBE).encode(),
    ),
    "world bank": (lambda body: numbers(test_world_bank.parse(body)), test_world_bank.TEXT.encode()),
    "bls": (lambda body: numbers(test_bls.parse(body)), test_bls.TEXT.encode()),
    "boj": (lambda body: numbers(test_boj.parse(body)), test_boj.TEXT.encode()),
    "calendar": (
        lambda body: len(icalendars.entries(body, "bls.ics", Parsed())),
        test_bls_calendar.calendar(
            test_bls_calendar.event(more="SEQUENCE:2\nLAST-MODIFIED:20260601T120000Z\n"),
            test_bls_calendar.event("DTSTART;VALUE=DATE:20260714", uid="b"),
            zones=test_bls_calendar.rules("US-Eastern"),
        ),
    ),
}


def outcome(count, body):
    """How much was read, None where the body is refused."""
    try:
        return count(body)
    except SourceChanged:
        return None


@pytest.mark.parametrize("name", SAMPLES)
def test_a_body_cut_anywhere_is_refused(name):
    count, whole = SAMPLES[name]
    assert outcome(count, whole)
    assert {outcome(count, whole[:length]) for length in range(0, len(whole.rstrip()), 3)} == {None}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_body_with_bytes_altered_is_read_or_refused(name):
    count, whole = SAMPLES[name]
    assert [outcome(count, body) for body in altered(whole, 600)].count(None) > 60
