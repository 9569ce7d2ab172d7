"""The Swiss National Bank's own files, read again line by line with a regular expression and compared value by value."""

import re

import pytest

from almanac.catalog.load import shipped
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Period
from almanac.sources.base import Payload
from almanac.sources.feeds.snb import CONNECTOR

from . import files
from .files import REAL

FOLDER = files.FOLDER / "macro/snb"

pytestmark = REAL

#: File, cube, lines of data (counted with grep), items mapped.
FILES = [
    ("snb_rendeiduebd_excerpt_2026-09.csv", "rendeiduebd", 96, 8),
    ("snb_rendoblid_excerpt_2025-07.csv", "rendoblid", 45, 8),
    ("snb_zimoma.csv", "zimoma", 8463, 4),
]
LINE = re.compile(rb'(?m)^"(\d{4}-\d\d(?:-\d\d)?)";((?:"\w+";)+)(?:"([^"]*)")?\r?$')


def parsed(file, cube):
    catalog = shipped()
    payload = Payload(f"https://data.snb.ch/api/cube/{cube}/data/csv/en", (FOLDER / file).read_bytes(), 0, "text/csv")
    return CONNECTOR.parse(payload, catalog.sources["snb"], catalog.series["snb"])


@pytest.mark.parametrize(("file", "cube", "lines", "items"), FILES)
def test_every_value_is_read(file, cube, lines, items):
    found = LINE.findall((FOLDER / file).read_bytes())
    assert len(found) == lines
    dates, values = {}, {}
    for stamp, coordinates, value in found:
        native = cube + "{" + ",".join(re.findall(r"\w+", coordinates.decode())) + "}"
        dates.setdefault(native, []).append(stamp.decode())
        if value:
            values[native, Period.parse(stamp.decode()).key] = float(value)
    result = parsed(file, cube)
    mapped = {block.native for block in result.blocks}
    ours = {(block.native, s.period): s.value for block in result.blocks for s in block.statements}
    assert len(mapped) == items
    assert ours == {key: value for key, value in values.items() if key[0] in mapped}
    assert sum(len(block.statements) for block in result.blocks) == len(ours)
    assert result.unmapped == {n: sum(key[0] == n for key in values) for n in dates if n not in mapped}
    for block in result.blocks:
        spelt = dates[block.native]
        assert block.complete == (Period.parse(min(spelt)).key, Period.parse(max(spelt)).key)
        assert {s.flags for s in block.statements} <= {UNKNOWN}


def test_values_checked_by_hand():
    """10 years on 2026-09-30: 0.586, and on 2025-07-31: 0.378 (the foreign item beside it says 2.745)."""
    new = {b.native: {s.period: s.value for s in b.statements} for b in parsed(*FILES[0][:2]).blocks}
    old = {b.native: {s.period: s.value for s in b.statements} for b in parsed(*FILES[1][:2]).blocks}
    assert new["rendeiduebd{CHF,10J}"][Period.parse("2026-09-30").key] == 0.586
    assert old["rendoblid{10J0}"][Period.parse("2025-07-31").key] == 0.378
    assert "rendoblid{10J1}" not in old


def test_libor_stops_and_the_bills_go_on():
    """By eye: 3M0 is empty from 2026-03 back to 2022-01; EG3M is -0.083 in 2026-03."""
    money = {b.native: {s.period: s.value for s in b.statements} for b in parsed(*FILES[2][:2]).blocks}
    assert max(money["zimoma{3M0}"]) == Period.parse("2021-12").key
    assert money["zimoma{EG3M}"][Period.parse("2026-03").key] == -0.083
