"""Tables with one row a day, invented."""

import math
import re
from datetime import date

import pytest

from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import strict, tables
from almanac.sources.formats import xls as reader
from almanac.sources.formats.archive import Archive, Budget
from almanac.sources.formats.workbook import Workbook, day
from tests.support.central_banks import key, read, table
from tests.support.damage import altered
from tests.support.workbooks import MAIN, MONDAY, sheet, workbook, xls, zipped

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


# -- sheets of old workbooks (.xls), all invented ---------------------------------------------------------------------


XLS_ROWS = [["Invented – table"], [], [36_526, 1.25, None, "x", "#N/A", "", -0.5], [36_527]]
BOOK = xls({"Notes": [["of no use"]], "Data": XLS_ROWS})


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
        (xls({"Sheet1": XLS_ROWS}), "sheets 'Sheet1', expected Data"),
        (xls({"Data": XLS_ROWS}, from_1904=True), "counts its days from 1904, expected 1900"),
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


# -- archives and workbooks. Every one here is invented; damage and bombs are made for the test -----------------------


def workbook_rows(members, name="one", budget=None):
    book = Workbook(Archive(zipped(members), budget or Budget(), "a.xlsx"))
    return [cells for _, cells in book.rows(name)]


def one(body, **more):
    return workbook({"one": body, "two": sheet([[1]])}, **more)


def test_cells_have_their_column_and_value_and_empty_ones_are_left_out():
    members = one(sheet([["shared 1", 0.5, None, "inline", "#N/A"], [], [None], [-2, "1E-3"]]), texts=("a", "years:"))
    members["xl/worksheets/sheet1.xml"] = members["xl/worksheets/sheet1.xml"].replace(
        '<c r="B4" t="inlineStr"><is><t>1E-3</t></is></c>',
        '<c><v>1E-3</v></c><c t="b"><v>1</v></c><c t="str"><f>A1</f><v>x</v></c>',
    )
    assert workbook_rows(members) == [
        {0: "years:", 1: 0.5, 3: "inline", 4: "#N/A"},
        {0: -2.0, 1: 0.001, 2: "1", 3: "x"},
    ]
    assert workbook_rows(members, "two") == [{0: 1.0}]


def test_rows_have_the_number_they_state_or_follow_the_one_before():
    def numbers(body):
        return [number for number, _ in Workbook(Archive(zipped(one(body)), Budget(), "a.xlsx")).rows("one")]

    body = sheet([[1], [], [2], [3]])
    assert numbers(body) == [1, 3, 4]
    assert numbers(body.replace(' r="4"', "")) == [1, 3, 4]
    with pytest.raises(SourceChanged, match="'x' is not the number of a row"):
        numbers(body.replace('<row r="1">', '<row r="x">'))


def test_a_text_of_nothing_is_a_blank_cell():
    assert workbook_rows(one(sheet([["shared 0", "", 1]]), texts=("",))) == [{2: 1.0}]


def test_a_column_may_have_two_letters():
    body = sheet([[1]]).replace('r="A1"', 'r="AB1"')
    assert workbook_rows(one(body)) == [{27: 1.0}]


def test_days_count_from_the_turn_of_the_century():
    assert day(float(MONDAY), "x") == date(2099, 1, 5)
    assert day(61.0, "x") == date(1900, 3, 1)
    for wrong in (60.0, 72_690.5, 3_000_000.0, "text"):
        with pytest.raises(SourceChanged, match="is not the serial number of a day"):
            day(wrong, "x")


ENTITY = f'<!DOCTYPE worksheet [<!ENTITY a "1"><!ENTITY b "&a;&a;">]><worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1"><v>&b;</v></c></row></sheetData></worksheet>'


WRONG = [
    ({}, "a.xlsx has no member xl/workbook.xml"),
    (one(sheet([[1]]), properties='<workbookPr date1904="1"/>'), "counts its days from 1904"),
    (one("<html/>"), "a.xlsx/one starts with element html"),
    (one(sheet([[1]])[:-20]), "a.xlsx/one is not well-formed XML"),
    (one(ENTITY.replace('"1"', 'SYSTEM "file:///etc/hostname"')), "a.xlsx/one has a document type declaration"),
    (one(sheet([["shared x"]])), "a.xlsx/one A1: 'x' is no number of a shared text"),
    (one(sheet([[1]]).replace('r="A1"', 'r="1A"')), "a.xlsx/one: '1A' is not a cell like B5"),
]


def test_what_unpacks_to_more_than_is_allowed_is_refused_while_it_is_read():
    bomb = one(sheet([[1]] * 20_000))
    packed = zipped(bomb)
    assert len(packed) < 200_000
    with pytest.raises(SourceChanged, match=r"a\.xlsx/xl/worksheets/sheet1\.xml unpacks to more than is allowed"):
        workbook_rows(bomb, budget=Budget(total=300_000))
    assert len(workbook_rows(bomb, budget=Budget(total=3_000_000))) == 20_000


def test_one_member_has_a_bound_of_its_own():
    archive = Archive(zipped({"big": b"0" * 1_001, "small": b"0" * 1_000}), Budget(member=1_000), "a.zip")
    assert archive.read("small") == b"0" * 1_000
    with pytest.raises(SourceChanged, match=r"a\.zip/big unpacks to more than 1000 bytes"):
        archive.read("big")
    with pytest.raises(SourceChanged, match=r"sheet1\.xml unpacks to more than 5000 bytes"):
        workbook_rows(one(sheet([[1]] * 1_000)), budget=Budget(member=5_000))


def test_the_budget_is_shared_by_everything_in_a_payload():
    budget = Budget(total=1_500)
    inner = zipped({"x": b"0" * 1_000})
    Archive(inner, budget, "a").read("x")
    with pytest.raises(SourceChanged, match="b/x unpacks to more than is allowed"):
        Archive(inner, budget, "b").read("x")


def test_a_damaged_archive_is_refused_by_name():
    whole = zipped({"x": bytes(range(256)) * 40})
    start = whole.index(b"x") + 1
    damaged = whole[:start] + bytes(60) + whole[start + 60 :]
    with pytest.raises(SourceChanged, match=r"a\.zip is not a zip archive"):
        Archive(whole[:-30], Budget(), "a.zip")
    with pytest.raises(SourceChanged, match=r"a\.zip is not a zip archive"):
        Archive(b"<!DOCTYPE html>", Budget(), "a.zip")
    with pytest.raises(SourceChanged, match=r"a\.zip/x is damaged"):
        Archive(damaged, Budget(), "a.zip").read("x")


def test_an_encrypted_member_is_refused_by_name():
    whole = bytearray(zipped({"x": b"secret"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.index(mark) + offset] |= 1
    with pytest.raises(SourceChanged, match=r"a\.zip/x is damaged: .*encrypted"):
        Archive(bytes(whole), Budget(), "a.zip").read("x")


# -- strict reading of what several feeds share. Every payload here is invented ---------------------------------------


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), ("-2.50", -2.5), ("+3.", 3.0), (".5", 0.5), ("1e-3", 0.001), ("007", 7.0)]
)
def test_a_number_is_what_a_publisher_writes(text, value):
    assert strict.number(text, "x") == value


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1\n", "1_0", "1,5", "0x1", "nan", "inf", "-Infinity", "٣", "1e", ".", None]
)
def test_what_python_would_forgive_is_no_number(text):
    with pytest.raises(SourceChanged, match=r"^here: .* is not a number$"):
        strict.number(text, "here")


def test_a_number_is_finite_and_never_negative_zero():
    assert math.copysign(1, strict.number("-0.0", "x")) == 1.0
    with pytest.raises(SourceChanged, match="'-1e400' is too large"):
        strict.number("-1e400", "x")


@pytest.mark.parametrize(
    "text", ["2099-1-01", "20990101", "2099-W01-1", "2099-02-29", "2099-01-01\n", "0000-01-01", None]
)
def test_a_day_is_written_one_way(text):
    assert strict.day("2096-02-29", "x") == date(2096, 2, 29)
    with pytest.raises(SourceChanged, match=r"^here: .* is not a day like"):
        strict.day(text, "here")


def test_a_message_quotes_a_payload_on_one_short_line():
    assert strict.shown("a\n" + "b" * 90) == repr("a\n" + "b" * 58 + "…")


def test_csv_keeps_line_ends_inside_quotes():
    assert strict.rows(b'a;"b\r\nc"\r\n\r\nd;e', "ascii", "x", ";") == [["a", "b\r\nc"], [], ["d", "e"]]


def test_comments_and_instructions_are_no_part_of_xml():
    root = strict.xml(b"<?xml version='1.0'?><!-- x --><a><?skip me?><!-- y --><b>1<!-- z -->2</b></a>", "a", "x")
    assert [(child.tag, child.text) for child in root] == [("b", "12")]
