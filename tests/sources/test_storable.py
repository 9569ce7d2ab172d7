"""What a payload says is looked at once, by name, before anything is written: what one engine would refuse, both do."""

from datetime import date

import pytest

from almanac.domain.companies import CompanyFacts, CompanyRecord, Fact, Filing
from almanac.domain.observations import ReportedValue
from almanac.domain.plain_text import kept
from almanac.sources.base import Block, CalendarEntry, NamedRelease, Parsed, ReleaseDate, SourceChanged
from almanac.sources.storable import check

FACT = Fact("us-gaap:Assets", "USD", None, 738_000, 1.0, "0009900001-24-000007", "10-K", 738_100)
ENTRY = CalendarEntry("a", "Prices", None, date(2099, 1, 5), "America/New_York", "day", "scheduled")


def company(**fields):
    return Parsed(companies=[CompanyRecord(**{"cik": 1, "part": "facts", "name": "Invented"} | fields)])


GOOD = Parsed(
    [Block("code", [ReportedValue(1, 1.5, note='{"a":"b"}'), ReportedValue(2, None)], (1, 2))],
    unmapped={"other": 3},
    companies=company().companies,
    filings=[(1, Filing("0009900001-24-000007", "8-K", 738_100, items=("2.02", "9.01")))],
    facts=[CompanyFacts(1, (FACT, FACT))],
    calendar=[ENTRY],
    release_dates=[ReleaseDate("10", date(2099, 1, 5))],
)


def test_what_can_be_kept_is_given_back_as_it_is():
    assert check(GOOD) is GOOD
    assert check(company(name="Société Générale 株式会社 😀\n"))
    assert check(company(website="https://example.org/" + "x" * 1_900))


@pytest.mark.parametrize(
    ("parsed", "told"),
    [
        (company(name="A\0B"), r"companies.name: 'A\x00B' has a character NUL"),
        (company(name="A" * 501), "has 501 bytes, more than the 500 that are kept"),
        (company(website="x" * 2_001), "companies.website: "),
        (Parsed([Block("a\0", [])]), "blocks.native: "),
        (Parsed([Block("a", [ReportedValue(1, None, note="\ud800")])]), "blocks.statements.note: "),
        (Parsed(unmapped={"a\0": 1}), "unmapped: "),
        (Parsed(releases=[NamedRelease("1", "x" * 501)]), "releases.name: "),
        (Parsed(facts=[CompanyFacts(1, (FACT._replace(fiscal_year=1 << 70),))]), "a whole number of 71 bits"),
        (Parsed(filings=[(1, GOOD.filings[0][1]._replace(items=("2\0",)))]), "filings.items: "),
    ],
)
def test_what_cannot_is_refused_and_the_field_is_named(parsed, told):
    with pytest.raises(SourceChanged) as caught:
        check(parsed)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_reason_can_always_be_kept():
    assert kept("a\0b\ud800c", 10) == "a\\x00b\\ud800c"
    assert kept("x" * 11, 10) == "x" * 10 + "…"
    assert kept("schön\n", 10) == "schön\n"
