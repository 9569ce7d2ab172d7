"""Archives and workbooks. Every one here is invented; damage and bombs are made for the test."""

from datetime import date

import pytest

from almanac.sources.base import SourceChanged
from almanac.sources.formats.archive import Archive, Budget
from almanac.sources.formats.workbook import Workbook, day
from tests.support.workbooks import MAIN, MONDAY, sheet, workbook, zipped


def rows(members, name="one", budget=None):
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
    assert rows(members) == [
        {0: "years:", 1: 0.5, 3: "inline", 4: "#N/A"},
        {0: -2.0, 1: 0.001, 2: "1", 3: "x"},
    ]
    assert rows(members, "two") == [{0: 1.0}]


def test_rows_have_the_number_they_state_or_follow_the_one_before():
    def numbers(body):
        return [number for number, _ in Workbook(Archive(zipped(one(body)), Budget(), "a.xlsx")).rows("one")]

    body = sheet([[1], [], [2], [3]])
    assert numbers(body) == [1, 3, 4]
    assert numbers(body.replace(' r="4"', "")) == [1, 3, 4]
    with pytest.raises(SourceChanged, match="'x' is not the number of a row"):
        numbers(body.replace('<row r="1">', '<row r="x">'))


def test_a_text_of_nothing_is_a_blank_cell():
    assert rows(one(sheet([["shared 0", "", 1]]), texts=("",))) == [{2: 1.0}]


def test_a_column_may_have_two_letters():
    body = sheet([[1]]).replace('r="A1"', 'r="AB1"')
    assert rows(one(body)) == [{27: 1.0}]


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
        rows(bomb, budget=Budget(total=300_000))
    assert len(rows(bomb, budget=Budget(total=3_000_000))) == 20_000


def test_one_member_has_a_bound_of_its_own():
    archive = Archive(zipped({"big": b"0" * 1_001, "small": b"0" * 1_000}), Budget(member=1_000), "a.zip")
    assert archive.read("small") == b"0" * 1_000
    with pytest.raises(SourceChanged, match=r"a\.zip/big unpacks to more than 1000 bytes"):
        archive.read("big")
    with pytest.raises(SourceChanged, match=r"sheet1\.xml unpacks to more than 5000 bytes"):
        rows(one(sheet([[1]] * 1_000)), budget=Budget(member=5_000))


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
