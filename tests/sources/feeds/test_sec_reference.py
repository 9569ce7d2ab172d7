"""Lists of tickers. Companies are invented; the shapes are the publisher's."""

from almanac.domain.companies import CompanyRecord, Listing
from almanac.sources.base import Parsed
from almanac.sources.feeds.sec import reference
from tests.support.sec_invented import encoded

TICKERS = {
    "0": {"cik_str": 9900001, "ticker": "WDGT", "title": "Invented Widgets Inc."},
    "1": {"cik_str": "0009900002", "ticker": "BNK", "title": "INVENTED BANK CORP"},
    "2": {"cik_str": 9900001, "ticker": "WDGT-B", "title": "Invented Widgets Inc."},
    "3": {"cik_str": 9900001, "ticker": "WDGT", "title": "Invented Widgets Inc."},
}
LISTINGS = {
    "fields": ["cik", "name", "ticker", "exchange"],
    "data": [[9900001, "Invented Widgets Inc.", "WDGT", "Nasdaq"], [9900002, "INVENTED BANK CORP", "BNK", None]],
}


def test_one_record_for_each_company_its_tickers_in_the_order_of_the_list():
    assert reference.companies(reference.tickers(encoded(TICKERS), Parsed())) == [
        CompanyRecord(
            cik=9900001, part="tickers", name="Invented Widgets Inc.", listings=(Listing("WDGT"), Listing("WDGT-B"))
        ),
        CompanyRecord(cik=9900002, part="tickers", name="INVENTED BANK CORP", listings=(Listing("BNK"),)),
    ]


def test_exchanges_come_with_the_other_list_in_any_order_of_fields():
    turned = {"fields": LISTINGS["fields"][::-1], "data": [line[::-1] for line in LISTINGS["data"]]}
    for body in (LISTINGS, turned):
        assert reference.companies(reference.tickers_with_exchanges(encoded(body), Parsed())) == [
            CompanyRecord(
                cik=9900001, part="tickers", name="Invented Widgets Inc.", listings=(Listing("WDGT", "Nasdaq"),)
            ),
            CompanyRecord(cik=9900002, part="tickers", name="INVENTED BANK CORP", listings=(Listing("BNK"),)),
        ]


def test_a_field_nobody_knows_is_reported_and_its_entry_read():
    parsed = Parsed()
    body = {"0": {"cik_str": 1, "ticker": "A", "title": "B", "lei": "C"}}
    assert reference.tickers(encoded(body), parsed) == [reference.Ticker(1, "B", "A", None)]
    assert parsed.unknown == {"field lei": 1}


WRONG = [
    ({"0": {"cik_str": "x", "ticker": "A", "title": "B"}}, "entry 0: 'x' is not a CIK"),
    ({"0": {"cik_str": 1, "ticker": " ", "title": "B"}}, "entry 0: cik 1, name 'B', ticker ' '"),
    ([], "Expected `object`"),
]


WRONG_LISTINGS = [
    ({"fields": ["cik", "name", "symbol", "exchange"]}, "fields are cik, name, symbol, exchange, expected"),
    ({"data": [[9900001, "Invented", "WDGT"]]}, "row 1 has 3 fields, expected 4"),
    ({"data": [[9900001, "Invented", "WDGT", 7]]}, "row 1: exchange 7 is a number"),
    ({"data": [[9900001, None, "WDGT", None]]}, "row 1: cik 9900001, name None"),
]
