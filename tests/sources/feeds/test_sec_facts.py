"""Company facts. Every payload is invented; the shape is the publisher's."""

from datetime import date

import pytest

from almanac.domain.companies import CompanyRecord, Fact, Filing
from almanac.sources.feeds.sec import facts
from tests.support.sec_invented import CIK, FIRST, NAME, SECOND, WANTED, encoded, facts_body, row, tag


def day(text):
    return date.fromisoformat(text).toordinal()


def read(body, wanted=WANTED):
    return facts.read(body if isinstance(body, bytes) else encoded(body), CIK, wanted)


def test_every_row_of_a_wanted_tag_is_there_in_any_currency():
    (company,) = read(facts_body()).facts
    year = day("2023-01-01"), day("2023-12-31")
    annual = (FIRST, "10-K", day("2024-02-20"), 2023, "FY")
    quarterly = (SECOND, "10-Q", day("2024-05-02"), 2024, "Q1")
    assert company.cik == CIK
    assert company.facts == (
        Fact("us-gaap:NetIncomeLoss", "USD", *year, 120.0, *annual),
        Fact("us-gaap:NetIncomeLoss", "USD", *year, 118.0, *quarterly),
        Fact("us-gaap:NetIncomeLoss", "USD", day("2024-01-01"), day("2024-03-31"), -7.5, *quarterly),
        Fact("us-gaap:Assets", "USD", None, year[1], 1000.0, *annual),
        Fact("us-gaap:Assets", "EUR", None, year[1], 900.0, *annual),
        Fact(
            "us-gaap:EarningsPerShareDiluted", "USD/shares", *year, 1.25,
            "0009900001-24-000050", "424B5", day("2024-06-01"), None, None,
        ),
    )  # fmt: skip


def test_other_tags_are_counted_by_taxonomy_not_by_the_thousand():
    assert read(facts_body()).unmapped == {"dei (other tags)": 1, "us-gaap (other tags)": 3}


def test_the_company_and_its_filings():
    parsed = read(facts_body())
    assert parsed.companies == [CompanyRecord(cik=CIK, part="facts", name=NAME, currency="USD")]
    assert parsed.filings == [
        (CIK, Filing(FIRST, "10-K", day("2024-02-20"), fiscal_year=2023, fiscal_period="FY")),
        (CIK, Filing(SECOND, "10-Q", day("2024-05-02"), fiscal_year=2024, fiscal_period="Q1")),
        (CIK, Filing("0009900001-24-000050", "424B5", day("2024-06-01"))),
    ]


def test_filings_that_state_nothing_wanted_are_known_all_the_same():
    assert [filing.accession for _, filing in read(facts_body(), frozenset()).filings][:2] == [FIRST, SECOND]


@pytest.mark.parametrize(("units", "currency"), [
    ({"TWD": 3, "USD": 2}, "TWD"),
    ({"USD": 2, "EUR": 2}, "EUR"),  # a tie goes by name
    ({"shares": 5, "USD/shares": 4, "pure": 3}, None),
])  # fmt: skip
def test_the_main_currency_has_most_rows(units, currency):
    body = facts_body()
    body["facts"] = {
        "ifrs-full": {"Revenue": tag({unit: [row(1, "2023-12-31")] * n for unit, n in units.items()})},
        "srt": {"Other": tag({"JPY": [row(1, "2023-12-31")] * 9})},
    }
    assert read(body).companies[0].currency == currency


def test_a_cik_may_be_text_and_padded():
    body = facts_body() | {"cik": f"{CIK:010d}"}
    assert read(body).facts[0].cik == CIK


def test_a_company_without_facts_or_name():
    parsed = read({"cik": CIK, "entityName": "", "facts": {}})
    assert (parsed.facts[0].facts, parsed.filings) == ((), [])
    assert parsed.companies == [CompanyRecord(cik=CIK, part="facts", name=f"CIK {CIK}")]


def test_a_negative_zero_is_a_zero():
    body = facts_body()
    body["facts"]["us-gaap"]["Assets"]["units"] = {"USD": [row(-0.0, "2023-12-31")]}
    value = next(fact.value for fact in read(body).facts[0].facts if fact.tag == "us-gaap:Assets")
    assert str(value) == "0.0"


def test_a_period_that_ends_before_it_begins_is_counted_not_taken():
    body = facts_body()
    body["facts"]["us-gaap"]["NetIncomeLoss"]["units"] = {"USD": [row(1, "2023-01-01", "2023-12-31")]}
    parsed = read(body)
    assert parsed.unmapped["us-gaap (periods that end before they begin)"] == 1
    assert "us-gaap:NetIncomeLoss" not in {fact.tag for fact in parsed.facts[0].facts}


def damage(**fields):
    body = facts_body()
    held = body["facts"]["us-gaap"]["NetIncomeLoss"]["units"]["USD"][1]
    for name, value in fields.items():
        if value is ...:
            del held[name]
        else:
            held[name] = value
    return body


PLACE = f"us-gaap:NetIncomeLoss in USD, filing {SECOND}"


WRONG_ROWS = [
    ({"val": "118"}, f"{PLACE}: Expected `float`, got `str`"),
    ({"val": float("nan")}, f"{PLACE}: val is nan"),
    ({"val": ...}, f"{PLACE}: Object missing required field `val`"),
    ({"end": "2023-13-31"}, f"us-gaap:NetIncomeLoss in {SECOND}: '2023-13-31' is not a day like 2026-10-31"),
]


WRONG = [
    (facts_body() | {"cik": 1}, "the response is of CIK 1"),
    (facts_body() | {"cik": "x1"}, "'x1' is not a CIK"),
    ({"cik": CIK, "entityName": NAME}, "missing required field `facts`"),
    ([], "Expected `object`, got `array`"),
    (b"<html></html>", "is not JSON"),
    (encoded(facts_body())[:-40], "is not JSON"),
]


def test_new_fields_are_reported_and_all_rows_read():
    body = damage(decimals=-6) | {"news": 1}
    body["facts"]["us-gaap"]["Assets"]["deprecated"] = True
    parsed = read(body)
    assert parsed.facts == read(facts_body()).facts
    assert parsed.unknown == {"field news": 1, "field facts.deprecated": 1, "field facts.units.decimals": 1}


@pytest.mark.parametrize("unit", ["USD/shares", "USD/Shares", "usd/share", "USD/Unit"])
def test_a_unit_is_the_same_in_whatever_letters_it_is_written(unit):
    units = {unit: [row(1.2, "2024-03-31")], "Shares": [row(5, "2024-03-31")]}
    body = encoded(facts_body() | {"facts": {"us-gaap": {"NetIncomeLoss": tag(units)}}})
    assert {fact.unit for fact in read(body).facts[0].facts} == {"USD/shares", "shares"}
