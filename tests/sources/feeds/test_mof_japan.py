"""Japanese government bond yields. Every payload here is invented; the shape is the publisher's."""

from datetime import date

import pytest

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.mof_japan import CONNECTOR
from tests.support.central_banks import key, payload, source, table

FOLDER = "https://www.mof.go.jp/english/policy/jgbs/reference/interest_rate/"
CURRENT, HISTORY = FOLDER + "jgbcme.csv", FOLDER + "historical/jgbcme_all.csv"
SOURCE, SERIES = source("mof-japan"), table({"2Y": "D", "40Y": "D"})
#: Invented numbers; blank lines and a footnote as the publisher sends them.
TEXT = (
    "Interest Rate (January 2099),,,(Unit : %)\r\n"
    "Date,2Y,9Y,40Y\r\n"
    "2099/1/13,0.5,1.25,4\r\n"
    "2099/1/5,-0.25,1.5,-\r\n"
    ",,,\r\n"
    '"  ※Invented, ""quoted""  footnote.",,,\r\n'
)


def parse(text, url=CURRENT, series=SERIES):
    body = text if isinstance(text, bytes) else text.encode("cp932")
    return CONNECTOR.parse(payload(url, body), SOURCE, series)


def test_columns_become_blocks_known_when_fetched_and_complete_between_the_file_s_days():
    parsed = parse(TEXT)
    first, last = key("2099-01-05"), key("2099-01-13")
    assert [(b.native, b.statements, b.complete) for b in parsed.blocks] == [
        ("2Y", [ReportedValue(first, -0.25, flags=UNKNOWN), ReportedValue(last, 0.5, flags=UNKNOWN)], (first, last)),
        ("40Y", [ReportedValue(last, 4.0, flags=UNKNOWN)], (first, last)),
    ]
    assert parsed.unmapped == {"9Y": 2}


def test_a_column_that_is_not_there_costs_nothing_but_itself():
    parsed = parse(TEXT.replace("2Y", "3Y"))
    assert [block.native for block in parsed.blocks] == ["40Y"]
    assert parsed.missing == {"2Y"}


def test_a_month_without_days_yet_is_read_as_empty_but_a_history_without_days_is_not():
    empty = "".join(TEXT.splitlines(keepends=True)[:2])
    assert parse(empty).blocks == []
    with pytest.raises(SourceChanged, match=r"jgbcme_all\.csv has a header and no days"):
        parse(empty, HISTORY)


WRONG = [
    (b"", "has 0 lines"),
    (TEXT.encode("utf-16"), "expected Interest Rate"),
    (TEXT.replace("%", "bp"), "does not state the unit %"),
    (TEXT.replace("9Y", "2Y"), "each tenor once"),
    (TEXT.replace("-0.25", "1_0"), "2Y 2099-01-05: '1_0'"),
    (TEXT.replace("2099/1/13", "2099/1/5"), "2099-01-05 is there twice"),
    (TEXT + "2099/1/14,1,1,1\r\n", "after the footnote"),
]


def test_other_files_of_the_ministry_are_owned_and_set_aside_by_name():
    url = "https://www.mof.go.jp/jgbs/reference/interest_rate/jgbcm.csv"
    assert CONNECTOR.owns(url)
    assert parse(TEXT, url).ignored == (
        "/jgbs/reference/interest_rate/jgbcm.csv: neither the current month nor the history of bond yields"
    )
    assert not CONNECTOR.owns("https://example.org/www.mof.go.jp")


def test_plan_asks_for_both_files():
    for since in (None, date(2099, 1, 1)):
        assert [r.url for r in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 1, 20), None)] == [HISTORY, CURRENT]
