"""Cubes of the Swiss National Bank. Every payload here is invented; the shape is the publisher's."""

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.domain.observations import UNKNOWN
from almanac.domain.times import wire_time
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.snb import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table

PORTAL = "https://data.snb.ch/api/cube/"
NSS = "SNB1A.SNB.NSS.KZS.EID"
WAREHOUSE = f"https://data.snb.ch/api/warehouse/cube/{NSS}/data/csv/en"
SOURCE = source("snb")
CURRENT = "{}{{J{:02}M0,A1100,P1D_L,ZZ}}"
TEN, TWO = CURRENT.format(NSS, 10), CURRENT.format(NSS, 2)
SERIES = table(
    {
        "rendoblid{10J0}": {"indicator": "ten"},
        "rendoblid{2J}": {"indicator": "two"},
        TEN: {"indicator": "ten", "from_date": date(2099, 2, 1)},
        TWO: {"indicator": "two", "from_date": date(2099, 2, 1)},
        "rendeiduebd{CHF,10J}": {"indicator": "ten", "copy_of": TEN},
        "zimoma{3M0}": {"frequency": "M", "indicator": "money"},
    }
)
#: Invented numbers.
TEXT = (
    '"CubeId";"rendoblid"\n"PublishingDate";"2099-01-20 14:30"\n\n"Date";"D0";"Value"\n'
    '"2099-01-05";"2J";"-0.25"\n"2099-01-05";"10J0";"0.5"\n"2099-01-05";"10J1";"2.75"\n'
    '"2099-01-06";"2J";\n"2099-01-06";"10J0";"0.75"\n"2099-01-06";"10J1";"2.5"\n\n'
)
MONTHS = '"CubeId";"zimoma"\n"PublishingDate";"2099-04-01 14:30"\n\n"Date";"D0";"Value"\n"2099-02";"3M0";"1.5"\n"2099-03";"3M0";\n'
CURVE = (
    '"CubeId";"SNB1A@SNB.NSS.KZS.EID"\r\n"PublishingDate";"2099-02-03 08:30"\r\n\r\n'
    '"Date";"LAUFZEIT";"ZEITPUNKT";"frequency";"AGGREGATIONSMETHODE";"Value"\r\n'
    '"2099-02-02";"J10M0";"A1100";"P1D_L";"ZZ";"0.564"\r\n"2099-02-02";"J10M0";"A1600";"P1D_L";"ZZ";"0.6"\r\n'
)


def parse(text, url=PORTAL + "rendoblid/data/csv/en", series=SERIES):
    return CONNECTOR.parse(payload(url, text), SOURCE, series)


def test_items_become_blocks_and_an_empty_value_is_none():
    parsed = parse(TEXT)
    first, second = key("2099-01-05"), key("2099-01-06")
    assert read(parsed) == {
        "rendoblid{10J0}": ({first: 0.5, second: 0.75}, (first, second)),
        "rendoblid{2J}": ({first: -0.25}, (first, second)),
    }
    assert parsed.unmapped == {"rendoblid{10J1}": 2}
    assert {wire_time(block.updated) for block in parsed.blocks} == {"2099-01-20T14:30:00Z"}
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_a_monthly_cube_is_about_months():
    parsed = parse(MONTHS, PORTAL + "zimoma/data/csv/de?fromDate=2099-02")
    assert read(parsed) == {"zimoma{3M0}": ({key("2099-02"): 1.5}, (key("2099-02"), key("2099-03")))}


def test_every_dimension_of_the_warehouse_is_part_of_the_code():
    url = f"{WAREHOUSE}?dimSel=LAUFZEIT(J10M0),ZEITPUNKT(A1100)&fromDate=2099-02-01"
    parsed = parse(CURVE, url)
    assert read(parsed) == {TEN: ({key("2099-02-02"): 0.564}, (key("2099-02-02"), key("2099-02-02")))}
    assert parsed.unmapped == {f"{NSS}{{J10M0,A1600,P1D_L,ZZ}}": 1}
    assert parsed.missing == set()
    # Not left out by the request, so it is missing.
    assert len(parse(CURVE, WAREHOUSE + "?fromDate=2099-02-01").missing) == 1


def test_an_item_that_is_not_there_costs_nothing_but_itself():
    parsed = parse(TEXT.replace("10J0", "10J"))
    assert read(parsed) == {"rendoblid{2J}": read(parse(TEXT))["rendoblid{2J}"]}
    assert parsed.missing == {"rendoblid{10J0}"}
    assert "rendoblid{10J}" in parsed.unmapped


def test_nothing_new_since_a_day_is_no_fault_but_an_empty_history_is():
    empty = TEXT[: TEXT.index('"2099-01-05"')]
    assert parse(empty, PORTAL + "rendoblid/data/csv/en?fromDate=2099-01-20").blocks == []
    with pytest.raises(SourceChanged, match="rendoblid has a header and no rows"):
        parse(empty)


WRONG = [
    (b"", "has 0 lines"),
    (TEXT.replace('"rendoblid"', '"rendoblim"'), "expected CubeId;rendoblid"),
    (TEXT.replace("2099-01-20 14:30", "2099-02-30 14:30"), "expected PublishingDate and a time"),
    (TEXT.replace('"D0";"Value"', '"D0";"D1";"Value"'), "has 3 cells, the header 4"),
    (TEXT.replace("0.75", "0,75"), "rendoblid{10J0} 2099-01-06: '0,75'"),
    (TEXT.replace('"0.75"', '"0.75'), "is not CSV"),
]


def test_a_day_in_a_monthly_cube_and_another_number_of_dimensions_are_refused():
    with pytest.raises(SourceChanged, match=r"zimoma\{3M0\}: '2099-02-28' is not a month like 2026-10"):
        parse(MONTHS.replace("2099-02", "2099-02-28"), PORTAL + "zimoma/data/csv/en")
    odd = table({"rendoblid{CHF,2J}": "D"})
    with pytest.raises(SourceChanged, match=r"rendoblid has dimensions D0, rendoblid\{CHF,2J\} another number"):
        parse(TEXT, series=odd)
    with pytest.raises(ValueError, match="2J is not a native code"):
        parse(TEXT, series=table({"rendoblid.2J": "D"}))


def test_other_answers_of_the_portal_are_owned_and_set_aside_by_name():
    url = PORTAL + "rendoblid/data/json/en"
    assert CONNECTOR.owns(url)
    assert parse(TEXT, url).ignored == "/api/cube/rendoblid/data/json/en: not a cube in CSV"
    assert not CONNECTOR.owns("https://example.org/data.snb.ch")


def test_plan_asks_for_each_cube_that_speaks_for_the_time_wanted_and_for_no_copy():
    def urls(since):
        return [r.url for r in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 3, 1), None)]

    chosen = (
        f"{WAREHOUSE}?dimSel=LAUFZEIT(J02M0,J10M0),ZEITPUNKT(A1100),frequency(P1D_L),AGGREGATIONSMETHODE(ZZ)&fromDate="
    )
    stopped, money = (f"{PORTAL}{cube}/data/csv/en?fromDate=" for cube in ("rendoblid", "zimoma"))
    assert urls(None) == [chosen + "2099-02-01", stopped + "1950-01-01", money + "1950-01"]
    assert urls(date(2099, 1, 31)) == [chosen + "2099-02-01", stopped + "2099-01-31", money + "2099-01"]
    assert urls(date(2099, 2, 10)) == [chosen + "2099-02-10", money + "2099-02"]


def test_the_ten_year_item_of_the_monthly_cube_has_a_code_of_its_own():
    """`10J0` in the daily cube, `10J` in the monthly one, as the catalogue has it. Yields are invented."""
    catalog = shipped()
    mapped = catalog.series["snb"]
    months = [native for native in mapped if native.startswith("rendoblim{")]
    assert mapped["rendoblim{10J}"].indicator == mapped["rendoblid{10J0}"].indicator == "gov_yield_10y"
    lines = "".join(f'"2099-02";"{native[10:-1]}";"{number}.5"\n' for number, native in enumerate(months))
    head = '"CubeId";"rendoblim"\n"PublishingDate";"2099-03-01 14:30"\n\n"Date";"D0";"Value"\n'
    parsed = parse(head + lines, PORTAL + "rendoblim/data/csv/en", series=mapped)
    assert {block.native for block in parsed.blocks} == set(months)
    assert (parsed.missing, parsed.unmapped) == (set(), {})
