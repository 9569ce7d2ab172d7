"""A value that is in doubt by itself costs its row, by name, and proves nothing; the rest of the payload is read. In all feeds."""

import json
from dataclasses import replace

import pytest

from tests.sources.feeds import (
    test_bls,
    test_boc,
    test_boe_glc,
    test_boe_iadb,
    test_boj,
    test_fred_realtime,
    test_mof_japan,
    test_rba,
    test_snb,
    test_us_treasury,
    test_world_bank,
)
from tests.sources.formats import test_jsonstat
from tests.support import sdmx_invented
from tests.support.xls import xls

SNAPSHOT = test_fred_realtime.observations(
    [("2098-10-01", "1.5"), ("2099-01-01", "2.5")], test_fred_realtime.TODAY, count=2
)
#: How a feed reads a payload, one that is whole, and what in it is replaced by what.
FEEDS = {
    "bls": (test_bls.parse, test_bls.TEXT, '"314.25"', '"NaN"'),
    "boc": (test_boc.parse, test_boc.TEXT, "3.10", "NaN"),
    "boe csv": (test_boe_iadb.parse, test_boe_iadb.TEXT, "-0.5", "nan"),
    "boe xml": (lambda text: test_boe_iadb.parse(text, test_boe_iadb.XML), test_boe_iadb.TWO_CUBES, '"520"', '"NaN"'),
    "boj": (test_boj.parse, test_boj.answer(test_boj.one()), "1.5", '"NaN"'),
    "fred": (lambda text: test_fred_realtime.parse(json.loads(text)), json.dumps(SNAPSHOT), '"2.5"', '"NaN"'),
    "mof-japan": (test_mof_japan.parse, test_mof_japan.TEXT, "-0.25", "NaN"),
    "rba": (test_rba.parse, test_rba.TEXT, "5.25", "#N/A"),
    "sdmx csv": (sdmx_invented.parse, sdmx_invented.CSV, "-0.25", "INF"),
    "sdmx xml": (sdmx_invented.parse, sdmx_invented.GENERIC, '"-0.25"', '"-INF"'),
    "snb": (test_snb.parse, test_snb.TEXT, "0.75", "Infinity"),
    "us-treasury": (test_us_treasury.parse, test_us_treasury.TWO_DAYS, "4.30", "1e999"),
    "world-bank": (test_world_bank.parse, test_world_bank.TEXT, "847622872687300", '"NaN"'),
}


def apart(whole, read):
    """The block that lost a row, beside the one it was."""
    before, after = ({block.native: block for block in parsed.blocks} for parsed in (whole, read))
    assert set(before) == set(after)
    (native,) = (name for name in before if before[name] != after[name])
    return before[native], after[native]


@pytest.mark.parametrize("feed", FEEDS)
def test_a_value_in_doubt_costs_its_row_by_name(feed):
    parse, text, number, doubt = FEEDS[feed]
    assert text.count(number) == 1
    whole, read = parse(text), parse(text.replace(number, doubt))
    before, after = apart(whole, read)
    (lost,) = set(before.statements) - set(after.statements)
    assert lost.value == float(number.strip('"'))
    # What stood there before is not withdrawn: that it is no more was not said.
    assert after == replace(before, statements=[one for one in before.statements if one != lost], complete=None)
    assert before.complete is not None
    (name,) = set(read.unread) - set(whole.unread)
    assert name.startswith("unknown value ")
    assert doubt.strip('"') in name
    # Other text is none that the publisher writes: of that the payload is refused, as its own feed's tests hold.


def test_the_error_of_a_formula_costs_its_day():
    monday = test_boe_glc.MONDAY
    book = test_boe_glc.changed([[monday, 1, "#N/A", 1]])
    read = test_boe_glc.parse(book)
    assert [(block.native, len(block.statements), block.complete is None) for block in read.blocks if not block.statements] == [
        ("spot 2y", 0, True)
    ]  # fmt: skip
    assert [name for name in read.unread if "spot 2y" in name and "'#N/A' is not a number" in name]
    past = xls({"Data": [*test_rba.F1_ROWS, [test_rba.LAST - 1, "#N/A"]]})
    assert [name for name in test_rba.parse(past, test_rba.F1_PAST).unread if "FIRMMCRTD 2010-12-30: '#N/A'" in name]


FORMS = {
    "csv": (sdmx_invented.CSV, "-0.25,", "NaN,", {}),
    "xml": (sdmx_invented.GENERIC, '"-0.25"', '"NaN"', {}),
    "json-stat": (json.dumps(test_jsonstat.CUBE), "-0.25", '"NaN"', {"service": test_jsonstat.OFFICE}),
}


@pytest.mark.parametrize("form", FORMS)
def test_nan_of_sdmx_is_a_number_missing_on_purpose(form):
    """The standard's own word for it: nothing is in doubt, and what was known there is withdrawn."""
    text, number, nan, more = FORMS[form]
    whole, read = (sdmx_invented.parse(body, **more) for body in (text, text.replace(number, nan)))
    before, after = apart(whole, read)
    kept = [one for one in before.statements if one.value != -0.25]
    assert after == replace(before, statements=kept)
    assert after.complete is not None
    assert read.unread == whole.unread
