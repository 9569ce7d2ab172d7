"""Submissions: companies and what they filed. Every payload is invented; the shape is the publisher's."""

from datetime import UTC, date, datetime

import pytest

from almanac.domain.companies import CompanyRecord, Filing, FormerName, Listing
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.sec import submissions
from tests.support.sec_invented import CIK, NAME, address, columns, encoded, submissions_body


def day(text):
    return date.fromisoformat(text).toordinal()


def utc(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def read(body):
    return submissions.read(encoded(body), CIK)


FILINGS = [
    # In summer New York is four hours behind: 20:15:30 of its clock is the later reading.
    Filing("0009900001-24-000031", "10-Q", day("2024-05-02"), utc("2024-05-03T00:15:30"), day("2024-03-31"),
           document="q1.htm", description="10-Q"),
    # Accepted after hours, dated the next day: known at six in the morning of that day.
    Filing("0009900001-24-000020", "8-K/A", day("2024-04-11"), utc("2024-04-11T10:00:00"), day("2024-04-10"),
           items=("2.02", "9.01"), document="results.htm"),
    # Midnight in New York is a day, not a time.
    Filing("0009900001-02-000003", "NO ACT", day("2002-03-01"), utc("2002-03-02T04:59:59")),
]  # fmt: skip


def test_the_company():
    (company,) = read(submissions_body()).companies
    assert company == CompanyRecord(
        cik=CIK,
        part="submissions",
        name=NAME,
        sic="3571",
        sic_description="Electronic Computers",
        fiscal_year_end="0926",
        listings=(Listing("WDGT", "Nasdaq"), Listing("WDGT-B")),
        former_names=(
            FormerName("OLD WIDGETS INC", "2007-01-10", "2019-08-05"),
            FormerName("FIRST WIDGETS", None, "2007-01-04"),
        ),
        state_of_incorporation="Taiwan",
        country="TW",
        entity_type="operating",
    )


def test_its_filings_with_their_times():
    assert read(submissions_body()).filings == [(CIK, filing) for filing in FILINGS]


def test_a_page_of_older_filings_has_no_company():
    parsed = submissions.read_page(encoded(columns()), CIK, "CIK0009900001-submissions-001.json")
    assert parsed.companies == []
    assert parsed.filings == [(CIK, filing) for filing in FILINGS]


def test_pages_are_named():
    assert submissions.pages(encoded(submissions_body()), CIK) == ["CIK0009900001-submissions-001.json"]


def test_a_page_of_another_company_is_refused():
    body = submissions_body()
    body["filings"]["files"][0]["name"] = "../CIK0009900002-submissions-001.json"
    with pytest.raises(SourceChanged, match="is not a page of its filings"):
        submissions.pages(encoded(body), CIK)


@pytest.mark.parametrize(
    ("form", "items", "told"),
    [
        ("8-K", "2.02,9.01", ("2.02", "9.01")),
        ("8-K12B", " 5.03 ", ("5.03",)),
        ("8-K", "5,7", ("5", "7")),  # before August 2004
        ("8-K", "", ()),
        ("8-K", None, ()),
        ("ABS-15G", "06,06b", ()),
        ("EFFECT", "2011-12-16", ()),
    ],
)
def test_items_are_those_of_current_reports(form, items, told):
    body = columns()
    body["form"][0], body["items"][0] = form, items
    parsed = submissions.read_page(encoded(body), CIK, "1")
    assert parsed.filings[0][1].items == told


def test_columns_that_came_later_may_be_absent():
    body = columns()
    del body["isXBRLNumeric"], body["core_type"]
    assert len(submissions.read_page(encoded(body), CIK, "1").filings) == 3


def test_columns_of_different_lengths_are_refused():
    body = columns()
    body["items"].pop()
    with pytest.raises(SourceChanged, match=r"columns of different lengths: accessionNumber 3, .*items 2"):
        submissions.read_page(encoded(body), CIK, "1")


def changed(path, value):
    body = submissions_body()
    *inner, last = path
    held = body
    for step in inner:
        held = held[step]
    held[last] = value
    return body


WRONG = [
    (["filings", "recent", "acceptanceDateTime", 1], "2024-04-10 18:01:00", "acceptanceDateTime of 0009900001-24-000020: '2024-04-10 18:01:00' is not a time"),
    (["filings", "recent", "filingDate", 0], "05/02/2024", "'05/02/2024' is not a day"),
    (["filings", "recent", "size", 0], "big", "Expected `int`, got `str` - at `$.filings.recent.size[0]`"),
    (["cik"], "0000000007", "the response is of CIK 0000000007"),
    (["formerNames", 0, "from"], "long ago", "formerNames: 'long ago' is not a day"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value"), [(["filings", "recent", "verdict"], ["a", "b", "c"]), (["mood"], "good")])
def test_a_field_nobody_knows_is_reported_and_the_company_read(path, value):
    whole, parsed = read(submissions_body()), read(changed(path, value))
    assert (parsed.companies, parsed.filings) == (whole.companies, whole.filings)
    assert parsed.unknown == {f"field {'.'.join(path)}": 1}
    assert submissions.pages(encoded(changed(path, value)), CIK) != []


@pytest.mark.parametrize(
    ("code", "iso"),
    [
        ("CA", "US"), ("DC", "US"), ("PR", "PR"), ("A8", "CA"), ("Z4", "CA"), ("F5", "TW"), ("X0", "GB"), ("E9", "KY"),
        ("1T", "MH"), ("2M", "DE"), ("XX", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_countries_by_the_codes_of_the_sec(code, iso):
    body = submissions_body()
    body["addresses"]["business"] = address(code)
    assert read(body).companies[0].country == iso


def test_a_company_without_a_business_address_has_no_country():
    body = submissions_body()
    body["addresses"] = {"mailing": address("CA"), "business": None}
    assert read(body).companies[0].country is None
