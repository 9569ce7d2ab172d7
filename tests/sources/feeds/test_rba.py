"""Tables of the Reserve Bank of Australia. Every payload here is invented; the shape is the publisher's."""

from datetime import date

import pytest

from almanac.domain.observations import UNKNOWN
from almanac.domain.rights import Exposure
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.rba import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table
from tests.support.workbooks import xls

BASE = "https://www.rba.gov.au/statistics/tables/csv/"
F1, F2, MONTHLY = BASE + "f1-data.csv", BASE + "f2-data.csv", BASE + "f2.1-data.csv"
PAST = "https://www.rba.gov.au/statistics/tables/xls-hist/"
F1_PAST, F2_PAST, MONTHLY_PAST = PAST + "f01dhist.xls", PAST + "f02dhist.xls", PAST + "f02histhist.xls"
SOURCE = source("rba")
SERIES = table({"FIRMMCRTD": "D", "FIRMMBAB90D": "D", "FIRMMTN3D": "D", "FCMYGBAG2D": "D", "FCMYGBAG2": "M"})
#: Invented numbers; the second row of data ends at its last value, the third has one for the first column only.
TEXT = (
    "F1 INTEREST RATES – INVENTED\r\n"
    "Title,Target,Invented swap,Bills,Notes\r\n"
    'Description,"Target, on date",Swap,Bills,Notes\r\n'
    "Frequency,Daily,as announced,Daily,Daily\r\n"
    "Type,Original,Original,Original,Original\r\n"
    "Units,Per cent,$m,Per cent,Per cent per annum\r\n"
    "\r\n"
    ",,,,\r\n"
    "Source,RBA,FENICS,ASX,RBA\r\n"
    "Publication date,06-Jan-2099,06-Jan-2099,06-Jan-2099,06-Jan-2099\r\n"
    "Series ID,FIRMMCRTD,FIRMMOIS1D,FIRMMBAB90D,FIRMMTN3D\r\n"
    "02-Jan-2099,4.75,,5,-0.25\r\n"
    "05-Jan-2099,4.75,7,5.25\r\n"
    "06-Jan-2099,4.5\r\n"
)
#: Serial numbers of 1990-08-01, 2010-12-31, 2011-01-04 and, of two months, 2013-04-30 and 2013-05-31.
RANGED, LAST, CURRENT, APRIL, MAY = 33_086, 40_543, 40_547, 41_394, 41_425
#: The rows of table F1 as its workbook of earlier years has them. Every number is invented.
F1_ROWS = [
    ["F1 INVENTED RATES"],
    ["Title", "Target", "Bills", "Notes"], ["Description", "Target, on date", "Bills", "Notes"],
    ["Frequency", "Daily", "Daily", "Daily"], ["Type", *["Original"] * 3], ["Units", *["Per cent"] * 3], [], [],
    ["Source", "RBA", "AFMA", "RBA"], ["Publication date", 42_499, 42_499, 42_499],
    ["Series ID", "FIRMMCRTD", "FIRMMBAB90D", "FIRMMTN3D"],
    [RANGED, "17.00 to 17.50", 15.25], [LAST, 4.75, None, 4.835], [CURRENT, 9.0, 9.0, 9.0],
]  # fmt: skip
F1_BOOK = xls({"Data": F1_ROWS, "Notes": [["F1 Invented"]]})


def older(native, *rows, name="F2  INVENTED YIELDS", unit="Per cent per annum"):
    """A workbook of tables F2 and F2.1, which has other rows above the days."""
    head = [
        [name], [unit], [], [None, "Australian Government"], [None, "2 yrs"], [], [], [],
        ["Last updated:", 41_415], ["Source", "RBA"], ["Mnemonic", native],
    ]  # fmt: skip
    return xls({"Data": [*head, *rows], "Notes": [["F2"]]})


def parse(text, url=F1, series=SERIES):
    return CONNECTOR.parse(payload(url, text), SOURCE, series)


def test_cells_belong_to_columns_from_the_left_and_an_empty_one_is_no_value():
    parsed = parse(TEXT)
    days = [key(day) for day in ("2099-01-02", "2099-01-05", "2099-01-06")]
    span = (days[0], days[2])
    assert read(parsed) == {
        "FIRMMCRTD": ({days[0]: 4.75, days[1]: 4.75, days[2]: 4.5}, span),
        "FIRMMBAB90D": ({days[0]: 5.0, days[1]: 5.25}, span),
        "FIRMMTN3D": ({days[0]: -0.25}, span),
    }
    assert parsed.unmapped == {"FIRMMOIS1D": 1}
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_a_column_of_another_owner_is_restricted_and_names_it():
    tightened = parse(TEXT).tightened
    assert set(tightened) == {"FIRMMBAB90D"}
    exposure, reason = tightened["FIRMMBAB90D"]
    assert exposure is Exposure.restricted
    assert "names ASX as the source" in reason
    sold = parse(TEXT.replace("Source,RBA,", "Source,Invented Exchange,")).tightened
    assert "Invented Exchange" in sold["FIRMMCRTD"][1]


def test_a_row_nobody_knows_and_a_column_that_is_not_there_cost_nothing_else():
    parsed = parse(TEXT.replace("FIRMMTN3D", "FIRMMTN3X").replace("Series ID,", "Mood,a,b,c,d\r\nSeries ID,"))
    whole = read(parse(TEXT))
    assert read(parsed) == {native: values for native, values in whole.items() if native != "FIRMMTN3D"}
    assert (parsed.missing, parsed.unknown) == ({"FIRMMTN3D"}, {"row 'Mood'": 1})


def test_the_monthly_table_is_about_months():
    text = (
        "F2.1 INVENTED\nFrequency,Monthly\nUnits,Per cent per annum\nSource,RBA\nSeries ID,FCMYGBAG2\n"
        "28-Feb-2099,3.5\n31-Mar-2099,\n"
    )
    assert read(parse(text, MONTHLY)) == {"FCMYGBAG2": ({key("2099-02"): 3.5}, (key("2099-02"), key("2099-03")))}
    with pytest.raises(SourceChanged, match="2099-02-27 is not the last day of a monthly period"):
        parse(text.replace("28-Feb", "27-Feb"), MONTHLY)


WRONG = [
    (b"", "title ''"),
    (TEXT.replace("F1 ", "F11 "), "expected F1"),
    (TEXT.replace("Units,", "Unit,"), "row Units has 0 cells, Series ID 4"),
    (TEXT.replace("Frequency,Daily,as announced,Daily,Daily\r\n", ""), "row Frequency has 0 cells"),
    (TEXT.replace("Units,Per cent", "Units,Basis points"), "FIRMMCRTD has units 'Basis points', expected percent"),
    (TEXT.replace("05-Jan", "02-Jan"), "2099-01-02 is there twice"),
    (TEXT.replace('on date"', "on date"), "is not CSV"),
]


def test_earlier_years_of_the_money_market_have_the_rows_of_the_table_and_days_by_number():
    parsed = parse(F1_BOOK, F1_PAST)
    span = (key("1990-08-01"), key("2010-12-31"))
    assert read(parsed) == {
        "FIRMMCRTD": ({span[1]: 4.75}, span),  # a range is no value
        "FIRMMBAB90D": ({span[0]: 15.25}, span),
        "FIRMMTN3D": ({span[1]: 4.835}, span),
    }
    assert set(parsed.tightened) == {"FIRMMBAB90D"}
    assert "names AFMA as the source" in parsed.tightened["FIRMMBAB90D"][1]
    assert (parsed.unknown, parsed.missing) == ({}, set())
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_earlier_years_of_bonds_have_one_unit_for_all_and_another_word_for_the_id():
    parsed = parse(older("FCMYGBAG2D", [34_702, 10.23], [41_411, 2.455], [41_414]), F2_PAST)
    span = (key("1995-01-03"), key("2013-05-17"))
    assert read(parsed) == {"FCMYGBAG2D": ({span[0]: 10.23, span[1]: 2.455}, span)}
    assert parsed.unread == []


def test_what_is_of_the_time_of_the_table_is_not_read_from_its_earlier_years():
    """So that no day is said twice, in two ways: the month in which the table begins has another average in each."""
    parsed = parse(older("FCMYGBAG2", [APRIL, 2.7375], [MAY, 2.5]), MONTHLY_PAST)
    assert read(parsed) == {"FCMYGBAG2": ({key("2013-04"): 2.7375}, (key("2013-04"), key("2013-04")))}


WRONG_BOOKS = [
    (TEXT.encode(), F1_PAST, "is not a workbook that can be read"),
    (xls({"Data": F1_ROWS[:11]}), F1_PAST, "has a header and no days"),
    (xls({"Data": [*F1_ROWS, [LAST, 4.75]]}), F1_PAST, "2010-12-31 is there twice"),
    (older("FCMYGBAG2D", [34_702, 10.23], unit="Basis points"), F2_PAST, "FCMYGBAG2D has units '', expected"),
    (older("FCMYGBAG2", [APRIL - 1, 2.7]), MONTHLY_PAST, "2013-04-29 is not the last day of a monthly period"),
]


def test_other_tables_are_owned_and_set_aside_by_name():
    url = BASE + "f17-data.csv"
    assert CONNECTOR.owns(url)
    assert parse(TEXT, url).ignored == "/statistics/tables/csv/f17-data.csv: none of the tables F1, F2, F2.1"
    assert not CONNECTOR.owns("https://example.org/www.rba.gov.au")


def test_plan_asks_for_the_tables_that_have_a_wanted_series():
    def planned(natives, since=None):
        wanted = {native: SERIES[native] for native in natives}
        return [(r.url, r.closed) for r in CONNECTOR.plan(SOURCE, wanted, since, date(2099, 1, 20), None)]

    every = [(F1, False), (F1_PAST, True), (F2, False), (F2_PAST, True), (MONTHLY, False), (MONTHLY_PAST, True)]
    assert planned(SERIES) == every
    assert planned(["FCMYGBAG2"]) == every[4:]
    assert planned(["FCMYGBAG2D"]) == every[2:4]


def test_the_earlier_years_are_asked_for_where_something_as_old_is_wanted():
    def urls(since):
        return [one.url for one in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 1, 20), None)]

    assert urls(date(2013, 6, 1)) == [F1, F2, MONTHLY]
    assert urls(date(2012, 1, 1)) == [F1, F2, F2_PAST, MONTHLY, MONTHLY_PAST]
