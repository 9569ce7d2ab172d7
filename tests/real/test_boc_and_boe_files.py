"""Own files of the Banks of Canada and of England, read again with regular expressions and compared value by value."""

import re
from datetime import datetime

from almanac.catalog.load import shipped
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Period, end_of
from almanac.sources.base import Payload
from almanac.sources.feeds import boc, boe_iadb

from .files import FOLDER, REAL, mirror

CANADA, ENGLAND = FOLDER / "macro/bank_of_canada", FOLDER / "macro/bank_of_england"

pytestmark = REAL


def parsed(connector, source, path):
    """The file at the URL it was fetched from."""
    catalog = shipped()
    (url,) = [row["url"] for row in mirror() if FOLDER / row["file"] == path]
    assert connector.owns(url)
    return connector.parse(Payload(url, path.read_bytes(), 0, ""), catalog.sources[source], catalog.series[source])


def check(result, native, expected):
    """One block with exactly these values, by last day."""
    (block,) = result.blocks
    assert block.native == native
    assert {end_of(s.period).isoformat(): s.value for s in block.statements} == expected
    assert len(block.statements) == len(expected)
    assert {(s.known, s.released, s.flags) for s in block.statements} == {(None, None, UNKNOWN)}
    assert [end_of(key).isoformat() for key in block.complete] == [min(expected), max(expected)]
    assert result.unmapped == {}


def test_canada():
    """Four days of the 2-year benchmark; by eye 2026-09-02 is 3.11."""
    path = CANADA / "boc_bd_cdn_2yr_2026-09.json"
    found = re.findall(r'"d":\s*"([^"]+)",\s*"BD\.CDN\.2YR\.DQ\.YLD":\s*\{\s*"v":\s*"([^"]*)"', path.read_text())
    expected = {day: float(value) for day, value in found}
    assert len(expected) == 4
    assert expected["2026-09-02"] == 3.11
    check(parsed(boc.CONNECTOR, "boc-valet", path), "BD.CDN.2YR.DQ.YLD", expected)


def test_bank_rate():
    """Nine business days; by eye 2026-09-11 is 3.75."""
    path = ENGLAND / "boe_iadb_iudbedr_2026-09.csv"
    lines = path.read_bytes().decode("ascii").split("\r\n")[1:]
    expected = {
        datetime.strptime(day, "%d %b %Y").date().isoformat(): float(value)
        for day, value in (line.split(",") for line in lines if line)
    }
    assert len(expected) == 9
    assert expected["2026-09-11"] == 3.75
    check(parsed(boe_iadb.CONNECTOR, "boe-iadb", path), "IUDBEDR", expected)


def test_notes_and_coin():
    """322 observations in two cubes are 161 months, each there twice with one value; by eye May 2025 is 92105."""
    path = ENGLAND / "boe_iadb_lpmvwyr.xml"
    found = re.findall(r'TIME="([^"]+)" OBS_VALUE="([^"]+)"', path.read_text("utf-8"))
    expected = {day: float(value) for day, value in found}
    assert (len(found), len(expected)) == (322, 161)
    assert expected["2025-05-31"] == 92_105
    result = parsed(boe_iadb.CONNECTOR, "boe-iadb", path)
    check(result, "LPMVWYR", expected)
    assert result.blocks[0].statements[0].period == Period.parse("2012-01").key
