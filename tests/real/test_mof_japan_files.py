"""The ministry's own files, read again line by line with a regular expression and compared value by value."""

import gzip
import re
from datetime import date

import pytest

from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights
from almanac.sources.base import Payload
from almanac.sources.feeds.mof_japan import CONNECTOR

from . import files
from .files import REAL

FOLDER = files.FOLDER / "macro/mof_japan"
BASE = "https://www.mof.go.jp/english/policy/jgbs/reference/interest_rate/"
COLUMNS = ["1Y", "2Y", "3Y", "4Y", "5Y", "6Y", "7Y", "8Y", "9Y", "10Y", "15Y", "20Y", "25Y", "30Y", "40Y"]
MAPPED = ["1Y", "2Y", "3Y", "5Y", "7Y", "10Y", "20Y", "30Y"]

pytestmark = REAL

SOURCE = Source(
    id="mof-japan",
    provider="mof_japan",
    name="JGB yields",
    description="For this test.",
    homepage="https://example.org",
    connector="mof_japan",
    rights=Rights(license="x", attribution="none"),
)
SERIES = {
    native: SeriesSpec(
        source=SOURCE.id,
        native=native,
        indicator=f"gov_yield_{native.lower()}",
        entity="country_jpn",
        frequency=Frequency.DAILY,
        unit="percent",
        name=native,
    )
    for native in MAPPED
}
#: Name of the file, its URL, days in it (counted with grep), first and last day.
FILES = [
    ("jgbcme_all.csv.gz", BASE + "historical/jgbcme_all.csv", 12_783, date(1974, 9, 24), date(2024, 7, 31)),
    ("jgbcme_2026-09.csv", BASE + "jgbcme.csv", 9, date(2026, 9, 1), date(2026, 9, 11)),
]


def body_of(name):
    raw = (FOLDER / name).read_bytes()
    return gzip.decompress(raw) if name.endswith(".gz") else raw


@pytest.mark.parametrize(("name", "url", "days", "first", "last"), FILES)
def test_every_value_of_every_day_is_read(name, url, days, first, last):
    body = body_of(name)
    again = {}
    lines = re.findall(rb"(?m)^(\d+)/(\d+)/(\d+),([^\r\n]*)", body)
    for year, month, day, cells in lines:
        for column, cell in zip(COLUMNS, cells.decode("ascii").split(","), strict=True):
            if cell != "-":
                again[column, date(int(year), int(month), int(day))] = float(cell)
    result = CONNECTOR.parse(Payload(url, body, 0, "text/csv"), SOURCE, SERIES)
    ours = {(block.native, end_of(s.period)): s.value for block in result.blocks for s in block.statements}
    assert len(lines) == days
    assert ours == {key: value for key, value in again.items() if key[0] in MAPPED}
    assert sum(len(block.statements) for block in result.blocks) == len(ours)
    assert result.unmapped == {
        column: sum(native == column for native, _ in again) for column in COLUMNS if column not in MAPPED
    }
    for block in result.blocks:
        assert block.complete == (Period(first, first).key, Period(last, last).key)
        assert {(s.known, s.released, s.flags) for s in block.statements} == {(None, None, UNKNOWN)}


def test_one_value_checked_by_hand():
    """10 years, 2024-07-31, the last line of the history: 1.07, read by eye in the file.

    And 1 year, 1974-09-24, the first line: 10.327.
    """
    name, url, *_ = FILES[0]
    result = CONNECTOR.parse(Payload(url, body_of(name), 0, "text/csv"), SOURCE, SERIES)
    blocks = {block.native: block.statements for block in result.blocks}
    assert (end_of(blocks["10Y"][-1].period), blocks["10Y"][-1].value) == (date(2024, 7, 31), 1.07)
    assert (end_of(blocks["1Y"][0].period), blocks["1Y"][0].value) == (date(1974, 9, 24), 10.327)
