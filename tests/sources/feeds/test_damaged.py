"""Whatever is cut off or altered in a payload of any feed, it is read or refused: no other error comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest

from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import icalendars
from tests.sources.feeds import (
    test_bls,
    test_bls_calendar,
    test_boc,
    test_boe_glc,
    test_boe_iadb,
    test_boj,
    test_rba,
    test_snb,
    test_world_bank,
)
from tests.sources.formats import test_jsonstat
from tests.support import sdmx_invented
from tests.support.damage import altered


class Sample(NamedTuple):
    """How a feed's payload is read, one that is whole, and whether a shorter one may be whole too: of lines, not of brackets."""

    parse: Callable[[bytes], Parsed | list[object]]
    whole: bytes
    in_part: bool


def calendar(body):
    return icalendars.entries(body, "bls.ics", Parsed())


CALENDAR = test_bls_calendar.calendar(
    test_bls_calendar.event(more="SEQUENCE:2\nLAST-MODIFIED:20260601T120000Z\n"),
    test_bls_calendar.event("DTSTART;VALUE=DATE:20260714", uid="b"),
    zones=test_bls_calendar.rules("US-Eastern"),
)
FEEDS = {
    "rba": Sample(test_rba.parse, test_rba.TEXT.encode("utf-8-sig"), True),
    "rba past": Sample(lambda body: test_rba.parse(body, test_rba.F1_PAST), test_rba.F1_BOOK, True),
    "boc": Sample(test_boc.parse, test_boc.TEXT.encode(), True),
    "snb": Sample(test_snb.parse, test_snb.TEXT.encode("utf-8-sig"), True),
    "boe csv": Sample(test_boe_iadb.parse, test_boe_iadb.TEXT.encode(), True),
    "boe xml": Sample(
        lambda body: test_boe_iadb.parse(body, test_boe_iadb.XML), test_boe_iadb.TWO_CUBES.encode(), True
    ),
    "boe glc": Sample(test_boe_glc.parse, test_boe_glc.zipped({test_boe_glc.NAME: test_boe_glc.book()}), True),
    "json-stat": Sample(
        lambda body: sdmx_invented.parse(body, service=test_jsonstat.OFFICE),
        json.dumps(test_jsonstat.CUBE).encode(),
        False,
    ),
    "world bank": Sample(test_world_bank.parse, test_world_bank.TEXT.encode(), False),
    "bls": Sample(test_bls.parse, test_bls.TEXT.encode(), False),
    "boj": Sample(test_boj.parse, test_boj.TEXT.encode(), False),
    "calendar": Sample(calendar, CALENDAR, False),
}


def outcome(sample, body):
    """How many values or entries were read, None where the body is refused."""
    try:
        found = sample.parse(body)
    except SourceChanged:
        return None
    return sum(len(block.statements) for block in found.blocks) if isinstance(found, Parsed) else len(found)


def cut(sample):
    """What comes of the payload cut after every few bytes."""
    step = 7 if sample.in_part else 3
    return [outcome(sample, sample.whole[:length]) for length in range(0, len(sample.whole.rstrip()), step)]


@pytest.mark.parametrize("name", [name for name, sample in FEEDS.items() if sample.in_part])
def test_a_payload_of_lines_cut_anywhere_is_read_in_part_or_refused(name):
    sample = FEEDS[name]
    complete, found = outcome(sample, sample.whole), cut(sample)
    assert complete
    assert max(one or 0 for one in found) <= complete
    assert found.count(None) > len(found) // 3


@pytest.mark.parametrize("name", [name for name, sample in FEEDS.items() if not sample.in_part])
def test_a_payload_with_an_end_cut_anywhere_is_refused(name):
    sample = FEEDS[name]
    assert outcome(sample, sample.whole)
    assert set(cut(sample)) == {None}


@pytest.mark.parametrize("name", FEEDS)
def test_a_payload_with_bytes_altered_is_read_or_refused(name):
    sample = FEEDS[name]
    assert [outcome(sample, body) for body in altered(sample.whole, 300)].count(None) > 30
