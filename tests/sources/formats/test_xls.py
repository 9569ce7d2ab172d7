"""Sheets of old workbooks (.xls), all invented."""

import re

import pytest

from almanac.sources.base import SourceChanged
from almanac.sources.formats import xls as reader
from tests.support.damage import altered
from tests.support.xls import xls

ROWS = [["Invented – table"], [], [36_526, 1.25, None, "x", "#N/A", "", -0.5], [36_527]]
BOOK = xls({"Notes": [["of no use"]], "Data": ROWS})


def rows(body, sheet="Data"):
    return list(reader.rows(body, sheet, "a.xls"))


def test_cells_come_by_row_and_column_and_what_is_empty_is_not_there():
    assert rows(BOOK) == [
        (1, {0: "Invented – table"}),
        (3, {0: 36_526.0, 1: 1.25, 3: "x", 4: "#N/A", 6: -0.5}),
        (4, {0: 36_527.0}),
    ]


def test_a_row_of_one_cell_far_out_costs_that_row_alone():
    body = xls({"Data": [[*[None] * 255, 1.0], *[[2.0]] * 2_000]})
    found = rows(body)
    assert found[0] == (1, {255: 1.0})
    assert len(found) == 2_001


@pytest.mark.parametrize(
    ("body", "culprit"),
    [
        (b"", "not a workbook that can be read"),
        (b"<html>Page not found</html>", "not a workbook that can be read"),
        (b"PK\x03\x04" + bytes(60), "not a workbook that can be read"),
        (BOOK[:512], "not a workbook that can be read"),
        (xls({"Sheet1": ROWS}), "sheets 'Sheet1', expected Data"),
        (xls({"Data": ROWS}, from_1904=True), "counts its days from 1904, expected 1900"),
        (BOOK.ljust((16 << 20) + 1, b"\0"), "16777217 bytes, more than the 16777216 that are read"),
    ],
)
def test_what_is_no_workbook_is_refused_by_name(body, culprit):
    with pytest.raises(SourceChanged, match=re.escape(culprit)) as caught:
        rows(body)
    assert str(caught.value).startswith("a.xls")


def test_whatever_is_altered_it_is_read_or_refused():
    refused = 0
    for body in altered(BOOK, 400):
        try:
            assert len(rows(body)) < 100
        except SourceChanged:
            refused += 1
    assert refused > 30
