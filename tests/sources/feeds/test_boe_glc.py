"""The Bank of England's yield-curve archives. Every payload here is invented; no real file was at hand to copy."""

from datetime import date

import pytest

from almanac.domain.observations import UNKNOWN
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.boe_glc import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table
from tests.support.workbooks import MONDAY, TUESDAY, WEDNESDAY, sheet, workbook, zipped

FOLDER = "https://www.bankofengland.co.uk/-/media/boe/files/statistics/yield-curves/"
LATEST, HISTORY = FOLDER + "latest-yield-curve-data.zip", FOLDER + "glcnominalddata.zip"
SOURCE, SERIES = source("boe-glc"), table({"spot 2y": "D", "spot 30y": "D"})
NAME = "GLC Nominal daily data current month.xlsx"
HEAD = [["UK nominal spot curve"], [], ["Maturity"], ["shared 0", 0.5, 2, 30], ["#VALUE!", "#VALUE!", "#VALUE!"]]
#: Invented yields; Tuesday lies before Monday in the sheet, and Wednesday is a holiday that is listed.
DAYS = [[TUESDAY, 4.25, 3.5, 5], [MONDAY, 4.2, -0.25, None], [WEDNESDAY, None, None, None], []]
FIRST, SECOND, THIRD = (key(f"2099-01-0{day}") for day in (5, 6, 7))


def book(days=DAYS, head=HEAD, name="4. spot curve"):
    return zipped(workbook({"info": sheet([["Invented"]]), name: sheet([*head, *days])}))


def parse(members, url=LATEST, series=SERIES):
    body = members if isinstance(members, bytes) else zipped(members)
    return CONNECTOR.parse(payload(url, body, "application/zip"), SOURCE, series)


def test_maturities_become_blocks_and_a_blank_cell_is_not_fitted():
    parsed = parse({NAME: book(), "GLC Real daily data current month.xlsx": b"another curve"})
    assert read(parsed) == {
        "spot 2y": ({FIRST: -0.25, SECOND: 3.5}, (FIRST, THIRD)),
        "spot 30y": ({SECOND: 5.0}, (FIRST, THIRD)),
    }
    assert parsed.unmapped == {"spot 0.5y": 2}
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_workbooks_may_lie_in_an_archive_inside():
    inner = zipped({"Latest/" + NAME: book()})
    nested = {"uknom.gif": b"GIF89a", "Latest Yield Curve data (current month).zip": inner}
    assert read(parse(nested)) == read(parse({NAME: book()}))


def test_the_history_joins_its_workbooks_though_the_older_ones_end_at_a_shorter_maturity():
    old = book([[MONDAY, 4.2, 3.25]], [["shared 0", 0.5, 2], []], "4. nominal spot curve")
    new = book([[TUESDAY, 4.25, 3.5, 5]])
    members = {
        "GLC Nominal daily data_1979 to 2015.xlsx": old,
        "GLC Nominal daily data_2016 to present.xlsx": new,
        "__MACOSX/GLC Nominal daily data_2016 to present.xlsx": b"not a workbook",
    }
    assert read(parse(members, HISTORY)) == {
        "spot 2y": ({FIRST: 3.25, SECOND: 3.5}, (FIRST, SECOND)),
        "spot 30y": ({SECOND: 5.0}, (SECOND, SECOND)),
    }


@pytest.mark.parametrize(
    "under",
    [
        ["Refresh", "Refresh", "Refresh", "Refresh"],
        ["#VALUE!"],
        [],
        [None, 9.5, 9.75, 9.25],  # leftover numbers of an older file
        [MONDAY, 9.5, 9.75, 9.25],
    ],
)
def test_the_row_under_the_maturities_is_never_read(under):
    parsed = parse({NAME: book(head=[*HEAD[:4], under])})
    assert read(parsed) == read(parse({NAME: book()}))
    assert parsed.unknown == ({"a day under years: 72690": 1} if under[:1] == [MONDAY] else {})


def test_a_text_of_nothing_is_a_blank_cell():
    def with_texts(day):
        return zipped(workbook({"4. spot curve": sheet([*HEAD, day])}, texts=("years:", "")))

    for blank in ("shared 1", ""):
        parsed = parse({NAME: with_texts([MONDAY, blank, 4.5, blank])})
        assert read(parsed) == {"spot 2y": ({FIRST: 4.5}, (FIRST, FIRST)), "spot 30y": ({}, (FIRST, FIRST))}


def test_a_maturity_that_is_not_there_costs_nothing_but_itself():
    parsed = parse({NAME: book(head=[*HEAD[:3], ["shared 0", 0.5, 2, 25], []])})
    assert [block.native for block in parsed.blocks] == ["spot 2y"]
    assert parsed.missing == {"spot 30y"}


def changed(days=DAYS, head=HEAD, **more):
    return {NAME: book(days, head, **more)}


WRONG = [
    (b"", "is not a zip archive"),
    ({"GLC Real daily data.xlsx": book()}, "no workbook of the nominal curve among 'GLC Real daily data.xlsx'"),
    (changed(name="5. other curve"), "sheets 'info, 5. other curve', expected 4. spot curve"),
    (changed(head=[["shared 0", 2, 2, 30]]), "expected each maturity once"),
    (changed([[MONDAY + 0.5, 1, 1, 1]]), "'72690.5' is not the serial number of a day"),
    (changed([[None, 1, 1, 1]]), "a yield spot 0.5y without a day"),
]


def test_a_bomb_is_refused_before_it_is_unpacked():
    bomb = zipped({"xl/workbook.xml": bytes(65 << 20)})
    assert len(bomb) < 1 << 20
    with pytest.raises(SourceChanged, match=r"xl/workbook\.xml unpacks to more than 67108864 bytes"):
        parse({NAME: bomb})


def test_other_curves_are_owned_and_set_aside_by_name():
    url = FOLDER + "glcrealddata.zip"
    assert CONNECTOR.owns(url)
    assert (parse(b"", url).ignored or "").endswith("neither the history nor the current month of the nominal curve")
    assert not CONNECTOR.owns("https://www.bankofengland.co.uk/boeapps/iadb/fromshowcolumns.asp")
    assert not CONNECTOR.owns("https://example.org/-/media/boe/files/statistics/yield-curves/x.zip")


def test_plan_leaves_the_history_out_where_the_current_month_is_enough():
    def urls(since):
        return [r.url for r in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 1, 20), None)]

    assert urls(None) == urls(date(2098, 12, 31)) == [HISTORY, LATEST]
    assert urls(date(2099, 1, 1)) == [LATEST]
