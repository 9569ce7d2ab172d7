"""Sectors, industries and templates by industry code."""

import pytest

from almanac.catalog.ranges import Ranges
from almanac.catalog.records import CatalogError
from almanac.catalog.sectors import Classified, Sectors, classify, shipped


@pytest.mark.parametrize(
    ("sic", "sector", "template"),
    [
        ("7370", "Technology", "industrial"),  # Alphabet, Meta
        ("7389", "Business services", "industrial"),  # Visa, Mastercard, PayPal, beside call centres
        ("5961", "Retail and consumer services", "industrial"),  # Amazon
        ("3571", "Technology", "industrial"),  # Apple
        ("7841", "Communications and media", "industrial"),  # Netflix
        ("6331", "Financials", "insurer"),  # Berkshire Hathaway
        ("3711", "Consumer goods", "industrial"),  # Tesla
        ("6221", "Funds and trusts", "fund"),  # commodity trusts
        ("6189", "Funds and trusts", "fund"),  # asset-backed issuers
        ("6770", "Unclassified", "fund"),  # blank cheques: money in trust, no business
        ("2833", "Health", "industrial"),
        ("2834", "Health", "industrial"),
        ("2835", "Health", "industrial"),
        ("2836", "Health", "industrial"),
        ("8731", "Health", "industrial"),  # young biotechnology
        ("3841", "Health", "industrial"),
        ("3845", "Health", "industrial"),
        ("3851", "Health", "industrial"),
        ("3861", "Technology", "industrial"),
        ("8071", "Health", "industrial"),
        ("6324", "Health", "insurer"),
        ("4812", "Communications and media", "industrial"),
        ("4899", "Communications and media", "industrial"),
        ("4911", "Utilities", "industrial"),
        ("4922", "Energy", "industrial"),
        ("4953", "Industrials", "industrial"),
        ("1531", "Industrials", "industrial"),  # homebuilders are under construction
        ("2840", "Consumer goods", "industrial"),
        ("2860", "Materials", "industrial"),
        ("6021", "Financials", "bank"),
        ("6111", "Financials", "bank"),
        ("6211", "Financials", "bank"),  # brokers that lend
        ("6200", "Financials", "industrial"),  # exchanges
        ("6282", "Financials", "industrial"),  # asset managers
        ("6311", "Financials", "insurer"),
        ("6411", "Financials", "industrial"),  # agents carry no risk
        ("6500", "Real estate", "industrial"),
        ("6798", "Real estate", "reit"),
        ("8880", "Unclassified", "industrial"),
        ("8888", "Unclassified", "industrial"),
        ("9995", "Unclassified", "industrial"),
        (None, "Unclassified", "industrial"),
        ("", "Unclassified", "industrial"),
        ("0000", "Unclassified", "industrial"),
        ("9876", "Unclassified", "industrial"),
        ("35712", "Unclassified", "industrial"),
        ("n/a", "Unclassified", "industrial"),
    ],
)
def test_what_a_code_means(sic, sector, template):
    assert classify(sic)[::2] == (sector, template)


def test_industries_have_the_words_of_the_list():
    assert classify("6331") == Classified("Financials", "Fire, Marine & Casualty Insurance", "insurer")
    assert classify("3674").industry == "Semiconductors & Related Devices"
    assert classify("100") == classify("0100") == Classified("Consumer goods", "Agricultural Production-Crops", "industrial")  # fmt: skip
    assert classify("2837") == Classified("Materials", None, "industrial")  # in a range, not on the list


def test_the_list_is_whole_and_every_code_of_it_has_a_sector():
    tables = shipped()
    assert len(tables._industries) == 444
    assert {classify(code).sector for code in tables._industries} == set(tables.names)
    assert [code for code in tables._industries if classify(code).sector == "Unclassified"] == [
        "6770", "8880", "8888", "9721", "9995",
    ]  # fmt: skip


def test_no_label_is_of_a_licensed_classification():
    licensed = {
        "Information Technology", "Health Care", "Consumer Discretionary", "Consumer Staples", "Communication Services",
    }  # fmt: skip
    assert licensed & set(shipped().names) == set()


def test_the_narrowest_range_decides():
    ranges = Ranges({"wide": ["2800-2899"], "narrow": ["2833-2836"], "one": ["2834"]})
    assert [ranges.get(code) for code in ("2832", "2833", "2834", "2900")] == ["wide", "narrow", "one", None]
    assert ranges.problems == []
    assert list(ranges.missing(["2834", "9999"])) == ["9999"]


GOOD = {
    "unclassified": "None",
    "sector": [{"name": "None", "codes": ["9999"]}, {"name": "Some", "codes": ["0100-0199"]}],
    "template": [{"name": "bank", "codes": ["0150"]}],
}


@pytest.mark.parametrize(
    ("change", "industries", "told"),
    [
        ({"unclassified": "Nothing"}, {}, "unclassified: Nothing is no sector"),
        ({"sector": [{"name": "None", "codes": ["1-2"]}]}, {}, "sector None: '1-2' is not a code or a range"),
        ({"sector": [{"name": "None", "codes": ["0200-0100"]}]}, {}, "sector None: '0200-0100' is not a code or a range"),
        ({"sector": [{"name": "None", "codes": ["0100", "0100"]}]}, {}, "sector None: 0100 is in two ranges of one width"),
        ({"template": [{"name": "broker", "codes": ["0100"]}]}, {}, "template broker is none"),
        ({"sector": [*GOOD["sector"], GOOD["sector"][1] | {"codes": []}]}, {}, "two groups named Some"),
        ({"mood": 1}, {}, "unknown field `mood`"),
        ({}, {"0200": "Sheep"}, "industry 0200 has no sector"),
        ({}, {"200": "Sheep"}, "industry '200' is not a code of four digits"),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(change, industries, told):
    with pytest.raises(CatalogError) as caught:
        Sectors(GOOD | change, industries)
    assert told in str(caught.value)
    assert Sectors(GOOD, {"0150": "Sheep"}).classify("150") == Classified("Some", "Sheep", "bank")
