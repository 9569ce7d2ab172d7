"""An answer that is not what its publisher sends is refused, whoever reads it: the message says of which answer, and what is wrong in it."""

from datetime import date

import pytest

from almanac.domain.companies import CompanyFacts, CompanyRecord, Fact, Filing
from almanac.domain.observations import ReportedValue
from almanac.domain.plain_text import kept
from almanac.sources.base import Block, CalendarEntry, NamedRelease, Parsed, ReleaseDate, SourceChanged
from almanac.sources.feeds.sec import datasets, reference
from almanac.sources.formats import icalendars
from almanac.sources.storable import check
from tests.sources.feeds import (
    test_bls,
    test_bls_calendar,
    test_boc,
    test_boe_glc,
    test_boe_iadb,
    test_boj,
    test_fred_realtime,
    test_mof_japan,
    test_rba,
    test_sdmx,
    test_sec_datasets,
    test_sec_facts,
    test_sec_reference,
    test_sec_submissions,
    test_snb,
    test_us_treasury,
    test_world_bank,
)
from tests.sources.formats import test_jsonstat, test_sdmx_forms, test_tables
from tests.support import sdmx_invented
from tests.support.invented_fred import KEY
from tests.support.sec_invented import CIK, encoded

QUARTERS = f"series/observations?series_id=QRT&api_key={KEY}"
SERVICE = {"service": test_sdmx.OFFICE}
#: Where the wrong answers are, how one is read, and what a message says of every one.
READERS = [
    (test_bls.WRONG, test_bls.parse, ""),
    (test_bls_calendar.WRONG, lambda body: icalendars.entries(body, "bls.ics", Parsed()), ""),
    (test_boc.WRONG, test_boc.parse, f"valet {test_boc.NAMES}"),
    (test_boe_glc.WRONG, test_boe_glc.parse, "latest-yield-curve-data.zip"),
    (test_boe_iadb.WRONG_CSV, test_boe_iadb.parse, "iadb IUDBEDR,IUDSNZC,XUD"),
    (test_boe_iadb.WRONG_XML, lambda text: test_boe_iadb.parse(text, test_boe_iadb.XML), "iadb LPM"),
    (test_boj.WRONG, test_boj.parse, ""),
    (test_fred_realtime.WRONG, lambda body: test_fred_realtime.parse(body, QUARTERS), "series/observations QRT"),
    (test_mof_japan.WRONG, test_mof_japan.parse, "jgbcme.csv"),
    (test_rba.WRONG, test_rba.parse, "f1-data.csv"),
    (test_rba.WRONG_BOOKS, test_rba.parse, "hist.xls"),
    (test_sdmx.WRONG, lambda old, new: sdmx_invented.parse(test_sdmx.SERVICE_CSV.replace(old, new), **SERVICE), ""),
    (test_sec_datasets.WRONG, lambda make: datasets.read(make(), "2009q3.zip", test_sec_datasets.WANTED), "2009q3.zip"),
    (test_sec_facts.WRONG, test_sec_facts.read, f"CIK {CIK}"),
    (test_sec_facts.WRONG_ROWS, lambda fields: test_sec_facts.read(test_sec_facts.damage(**fields)), f"CIK {CIK}"),
    (test_sec_reference.WRONG, lambda body: reference.tickers(encoded(body), Parsed()), ""),
    (test_sec_reference.WRONG_LISTINGS, lambda change: reference.tickers_with_exchanges(encoded(test_sec_reference.LISTINGS | change), Parsed()), ""),
    (test_sec_submissions.WRONG, lambda path, value: test_sec_submissions.read(test_sec_submissions.changed(path, value)), f"CIK {CIK}"),
    (test_snb.WRONG, test_snb.parse, "rendoblid"),
    (test_us_treasury.WRONG, test_us_treasury.parse, "daily_treasury_yield_curve 2099"),
    (test_world_bank.WRONG, test_world_bank.parse, ""),
    (test_jsonstat.WRONG, lambda change: test_jsonstat.read(**change), ""),
    (test_sdmx_forms.WRONG, sdmx_invented.parse, ""),
    (test_sdmx_forms.WRONG_CSV, sdmx_invented.parse, ""),
    (test_sdmx_forms.WRONG_JSON, sdmx_invented.parse, ""),
    (test_sdmx_forms.WRONG_XML, sdmx_invented.parse, ""),
    (test_tables.WRONG, test_tables.workbook_rows, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "answer", "culprit", "of"),
    [(read, answer, culprit, of) for wrong, read, of in READERS for *answer, culprit in wrong],
)
def test_an_answer_of_another_kind_is_refused_by_name(read, answer, culprit, of):
    with pytest.raises(SourceChanged) as caught:
        read(*answer)
    assert culprit in str(caught.value)
    assert of in str(caught.value)
    assert KEY not in str(caught.value)


# What a payload says is looked at once, by name, before anything is written: what one engine would refuse, both do.


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
    ("parsed", "field"),
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
def test_what_cannot_is_refused_and_the_field_is_named(parsed, field):
    with pytest.raises(SourceChanged) as caught:
        check(parsed)
    assert field in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_reason_can_always_be_kept():
    assert kept("a\0b\ud800c", 10) == "a\\x00b\\ud800c"
    assert kept("x" * 11, 10) == "x" * 10 + "…"
    assert kept("schön\n", 10) == "schön\n"
