"""The Reserve Bank's own files, split again at every comma and compared value by value."""

import re
from datetime import datetime

import pytest

from almanac.catalog.load import shipped
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.rights import Exposure
from almanac.sources.base import Payload
from almanac.sources.feeds.rba import CONNECTOR

from . import files
from .files import REAL

FOLDER = files.FOLDER / "macro/rba"
BASE = "https://www.rba.gov.au/statistics/tables/csv/"

pytestmark = REAL

#: File, its name at the publisher, days in it (counted with grep), frequency.
FILES = [
    ("rba_f1_excerpt_2011_2026.csv", "f1-data.csv", 321, "D"),
    ("rba_f2_excerpt_2013-2014.csv", "f2-data.csv", 189, "D"),
    ("rba_f2.1_excerpt_2013.csv", "f2.1-data.csv", 5, "M"),
]


def parsed(file, name):
    catalog = shipped()
    payload = Payload(BASE + name, (FOLDER / file).read_bytes(), 0, "text/csv")
    return CONNECTOR.parse(payload, catalog.sources["rba"], catalog.series["rba"])


def again(file):
    """(series id, day) → value, from the text alone: rows of numbers have no quotes, so commas are enough."""
    text = (FOLDER / file).read_text("utf-8-sig")
    ids = re.search(r"(?m)^Series ID,(.*)$", text)[1].split(",")
    owners = dict(zip(ids, re.search(r"(?m)^Source,(.*)$", text)[1].split(","), strict=True))
    lines = re.findall(r"(?m)^(\d\d-[A-Z][a-z]{2}-\d{4})(.*)$", text)
    found = {}
    for stamp, rest in lines:
        day = datetime.strptime(stamp, "%d-%b-%Y").date()
        for native, cell in zip(ids, rest.split(",")[1:], strict=False):
            if cell:
                found[native, day] = float(cell)
    return found, owners, len(lines)


@pytest.mark.parametrize(("file", "name", "days", "frequency"), FILES)
def test_every_value_is_read(file, name, days, frequency):
    expected, owners, lines = again(file)
    result = parsed(file, name)
    mapped = {block.native for block in result.blocks}
    ours = {(block.native, end_of(s.period)): s.value for block in result.blocks for s in block.statements}
    assert lines == days
    assert ours == {key: value for key, value in expected.items() if key[0] in mapped}
    assert sum(len(block.statements) for block in result.blocks) == len(ours)
    assert result.unmapped == {
        native: sum(key[0] == native for key in expected) for native in owners if native not in mapped
    }
    ends = [day for _, day in expected]
    for block in result.blocks:
        assert block.complete == tuple(Period.ending(day, Frequency(frequency)).key for day in (min(ends), max(ends)))
        assert {s.flags for s in block.statements} <= {UNKNOWN}
    assert {native: exposure for native, (exposure, _) in result.tightened.items()} == {
        native: Exposure.restricted for native in mapped if owners[native] != "RBA"
    }


def test_values_checked_by_hand():
    """10 years on 2014-02-13, the last line of F2: 4.154. 3-month notes on 2011-01-04, the first line of F1: 4.84.

    That row has sixteen values for seventeen columns: the last one belongs to the column before the last.
    """
    f2 = {block.native: block.statements for block in parsed(*FILES[1][:2]).blocks}
    last = f2["FCMYGBAG10D"][-1]
    assert (end_of(last.period).isoformat(), last.value) == ("2014-02-13", 4.154)
    f1 = {block.native: block.statements for block in parsed(*FILES[0][:2]).blocks}
    first = f1["FIRMMTN3D"][0]
    assert (end_of(first.period).isoformat(), first.value) == ("2011-01-04", 4.84)
    assert end_of(f1["FIRMMTN6D"][0].period).isoformat() == "2011-03-10"


def test_the_monthly_table_is_the_average_of_the_daily_one():
    """Which the table itself does not say; the catalogue's notes do."""
    daily = {(b.native, end_of(s.period)): s.value for b in parsed(*FILES[1][:2]).blocks for s in b.statements}
    monthly = {b.native: b.statements for b in parsed(*FILES[2][:2]).blocks}
    compared = 0
    for statement in monthly["FCMYGBAG10"]:
        month = end_of(statement.period).isoformat()[:7]
        days = [v for (native, day), v in daily.items() if native == "FCMYGBAG10D" and day.isoformat()[:7] == month]
        assert statement.value == pytest.approx(sum(days) / len(days), abs=0.0006)
        compared += 1
    assert compared == 5
