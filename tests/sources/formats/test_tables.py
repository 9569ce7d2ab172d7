"""Tables with one row a day, invented."""

from datetime import date

import pytest

from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import tables
from tests.support.central_banks import key, read, table

ROWS = [["2026-09-02", "2", ""], [], ["", "", ""], ["2026-09-01", "1", "7"]]


def test_cells_by_day_without_the_blank_rows():
    assert tables.by_day(ROWS, ["A", "B"], date.fromisoformat, "file") == {
        date(2026, 9, 2): ["2", ""],
        date(2026, 9, 1): ["1", "7"],
    }


def test_a_row_may_end_at_its_last_value_where_the_publisher_writes_so():
    rows = [["2026-09-01", "1"], ["2026-09-02"]]
    days = tables.by_day(rows, ["A", "B"], date.fromisoformat, "file", ragged=True)
    assert days == {date(2026, 9, 1): ["1", ""], date(2026, 9, 2): ["", ""]}


@pytest.mark.parametrize(
    ("rows", "ragged", "message"),
    [
        ([["2026-09-01", "1"], ["2026-09-01", "2"]], False, "file: 2026-09-01 is there twice"),
        ([["2026-09-01"]], False, "file: 2026-09-01 has 0 values, the header 1"),
        ([["2026-09-01", "1", "2"]], False, "file: 2026-09-01 has 2 values, the header 1"),
        ([["2026-09-01", "1", "2"]], True, "file: 2026-09-01 has 2 values, the header 1"),
    ],
)
def test_a_row_that_does_not_fit_is_named(rows, ragged, message):
    with pytest.raises(SourceChanged) as caught:
        tables.by_day(rows, ["A"], date.fromisoformat, "file", ragged=ragged)
    assert str(caught.value) == message


def test_a_column_is_complete_over_all_days_and_has_its_values_in_order():
    parsed = Parsed()
    cells = {date(2026, 9, 3): None, date(2026, 9, 2): "2.5", date(2026, 9, 1): None}
    tables.take(parsed, "A", cells, table({"A": "D"}), "file")
    assert read(parsed) == {"A": ({key("2026-09-02"): 2.5}, (key("2026-09-01"), key("2026-09-03")))}
    tables.take(parsed, "B", cells, {}, "file")
    assert parsed.unmapped == {"B": 1}


def test_a_period_that_is_there_twice_is_named():
    cells = [tables.Cell(key("2026-09-01"), "1", "A first"), tables.Cell(key("2026-09-01"), "1", "A second")]
    with pytest.raises(SourceChanged, match="A second is there twice"):
        tables.add_block(Parsed(), "A", cells)


def test_a_column_without_days_claims_nothing():
    parsed = Parsed()
    tables.take(parsed, "A", {}, table({"A": "D"}), "file")
    assert read(parsed) == {"A": ({}, None)}


def test_a_number_nobody_can_read_is_named_with_its_day():
    with pytest.raises(SourceChanged) as caught:
        tables.take(Parsed(), "A", {date(2026, 9, 1): "n/a"}, table({"A": "D"}), "file")
    assert str(caught.value) == "file: A 2026-09-01: 'n/a' is not a number"
