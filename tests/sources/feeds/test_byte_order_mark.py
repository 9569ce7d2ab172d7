"""A byte-order mark before a body is passed over, whatever feed and format it is of (RFC 8259, section 8.1)."""

import codecs
import json
from functools import partial

import pytest

from almanac.sources.base import Parsed
from almanac.sources.feeds.sec import datasets, reference
from almanac.sources.formats import strict
from tests.sources.feeds import (
    test_damaged,
    test_fred_realtime,
    test_mof_japan,
    test_sec_reference,
    test_us_treasury,
)
from tests.support import sdmx_invented
from tests.support.sec_invented import NUM, SUB, amount, archive, submission, table

ROWS = [("2099-01-01", "1.5", "2099-05-20", "2099-05-20")]


def counted(parse):
    return lambda body: sum(len(block.statements) for block in parse(body).blocks)


SAMPLES = {
    **{name: (partial(test_damaged.outcome, sample), sample.whole) for name, sample in test_damaged.FEEDS.items()},
    "sdmx csv": (counted(sdmx_invented.parse), sdmx_invented.CSV.encode()),
    "sdmx json": (counted(sdmx_invented.parse), sdmx_invented.json_1().encode()),
    "sdmx generic": (counted(sdmx_invented.parse), sdmx_invented.GENERIC.encode()),
    "sdmx specific": (counted(sdmx_invented.parse), sdmx_invented.SPECIFIC.encode()),
    "treasury": (counted(test_us_treasury.parse), test_us_treasury.TWO_DAYS.encode()),
    "fred": (counted(test_fred_realtime.parse), json.dumps(test_fred_realtime.observations(ROWS)).encode()),
    "sec": (lambda body: len(reference.tickers(body, Parsed())), json.dumps(test_sec_reference.TICKERS).encode()),
}


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in {"boe glc", "rba past"}])
def test_a_mark_before_a_body_changes_nothing_of_what_is_read(name):
    read, body = SAMPLES[name]
    body = body.removeprefix(codecs.BOM_UTF8)
    assert read(codecs.BOM_UTF8 + body) == read(body) > 0


def test_a_mark_is_that_of_utf_8_whatever_the_feed_s_own_encoding():
    text, read = test_mof_japan.TEXT, counted(test_mof_japan.parse)
    assert read(codecs.BOM_UTF8 + text.encode()) == read(text.encode("cp932")) > 0


def test_one_mark_is_passed_over_and_no_other_character():
    assert strict.text(codecs.BOM_UTF8 + b"a", "cp932", "x") == "a"
    assert strict.text(2 * codecs.BOM_UTF8, "utf-8", "x") == "\N{BYTE ORDER MARK}"
    with pytest.raises(strict.SourceChanged, match="x is not JSON"):
        strict.json(2 * codecs.BOM_UTF8 + b"{}", dict, "x", Parsed())


def test_a_mark_before_a_table_of_an_archive_is_passed_over():
    members = {"sub.txt": table(SUB, [submission()]), "num.txt": table(NUM, [amount()]), "pre.txt": b"", "tag.txt": b""}
    wanted = frozenset(["us-gaap:NetIncomeLoss"])
    plain, marked = (
        datasets.read(archive({name: mark * bool(body) + body for name, body in members.items()}), "2009q3.zip", wanted)
        for mark in (b"", codecs.BOM_UTF8)
    )
    assert plain.facts == marked.facts
    assert marked.facts
