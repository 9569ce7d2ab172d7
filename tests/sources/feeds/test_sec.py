"""The SEC's connector: which response is read how, and what is asked for. Every payload is invented."""

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.config import SourceSettings
from almanac.sources.base import Payload, SourceChanged, connector
from almanac.sources.feeds.sec.connector import CONNECTOR, Sec
from tests.support.central_banks import source
from tests.support.sec_invented import (
    CIK,
    amount,
    archive,
    columns,
    dataset,
    encoded,
    facts_body,
    submission,
    submissions_body,
)

DATA, FILES = "https://data.sec.gov", "https://www.sec.gov"
FACTS = f"{DATA}/api/xbrl/companyfacts/CIK0009900001.json"
SUBMISSIONS = f"{DATA}/submissions/CIK0009900001.json"
PAGE = f"{DATA}/submissions/CIK0009900001-submissions-001.json"
LISTINGS = f"{FILES}/files/company_tickers_exchange.json"
BULK = [
    f"{FILES}/Archives/edgar/daily-index/bulkdata/submissions.zip",
    f"{FILES}/Archives/edgar/daily-index/xbrl/companyfacts.zip",
]
CONTACT = "Jane Doe jane@example.org"
SOURCE = source("sec", key_setting="ALMANAC_SOURCES__SEC__CONTACT")
LISTED = {
    "fields": ["cik", "name", "ticker", "exchange"],
    "data": [[9900002, "INVENTED BANK CORP", "BNK", None], [CIK, "Widgets", "WDGT", "Nasdaq"], [CIK, "Widgets", "WDGT-B", None]],
}  # fmt: skip


def payload(url, body=b"{}"):
    return Payload(url, body if isinstance(body, bytes) else encoded(body), 7, "application/json")


def parse(url, body=b"{}"):
    return CONNECTOR.parse(payload(url, body), SOURCE, {})


def planned(*companies, bulk=False, key=CONTACT):
    reader = CONNECTOR.chosen(SourceSettings(companies=companies, bulk=bulk))
    return reader.plan(SOURCE, {}, None, date(2026, 11, 20), key)


def urls(requests):
    return [request.url for request in requests]


def test_it_is_found_by_the_name_in_the_catalogue():
    shown = shipped().sources["sec"]
    assert connector(shown.connector) is CONNECTOR
    assert shown.key_setting == SOURCE.key_setting
    assert [frequency.value for frequency in shown.frequencies] == ["Q", "S", "N", "A"]
    assert shown.stores_vintages
    assert shipped().providers[shown.provider].kind == "regulator"


@pytest.mark.parametrize("host", ["data.sec.gov", "www.sec.gov"])
def test_it_owns_the_hosts_of_the_sec(host):
    assert CONNECTOR.owns(f"https://{host}/anything")
    assert not CONNECTOR.owns(f"https://{host}.example.org/anything")


# What is read how


def test_facts_of_tags_that_lines_of_statements_are_read_from():
    parsed = parse(FACTS, facts_body())
    assert {fact.tag for fact in parsed.facts[0].facts} == {
        "us-gaap:NetIncomeLoss", "us-gaap:Assets", "us-gaap:EarningsPerShareDiluted",
    }  # fmt: skip
    assert [one.part for one in parsed.companies] == ["facts"]


def test_submissions_and_their_pages():
    assert [one.part for one in parse(SUBMISSIONS, submissions_body()).companies] == ["submissions"]
    assert len(parse(PAGE, columns()).filings) == 3


@pytest.mark.parametrize("url", [LISTINGS, f"{FILES}/files/company_tickers.json"])
def test_lists_of_tickers(url):
    body = LISTED if url == LISTINGS else {"0": {"cik_str": 1, "ticker": "A", "title": "B"}}
    assert {one.part for one in parse(url, body).companies} == {"tickers"}


@pytest.mark.parametrize("folder", ["files/dera/financial-statement-data-sets", "files/node/add/data_distribution"])
def test_data_sets(folder):
    parsed = parse(f"{FILES}/{folder}/2024q3.zip", dataset([submission()], [amount()]))
    assert [fact.value for one in parsed.facts for fact in one.facts] == [120.5]


def test_the_cik_of_a_response_is_that_of_its_address():
    with pytest.raises(SourceChanged, match="companyfacts of CIK 9900002: the response is of CIK 9900001"):
        parse(FACTS.replace("9900001", "9900002"), facts_body())


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"{DATA}/api/xbrl/companyconcept/CIK0009900001/us-gaap/Assets.json", "company facts have them all"),
        (f"{DATA}/api/xbrl/frames/us-gaap/Assets/USD/CY2023Q4I.json", "it does not say what was known when"),
        (f"{FILES}/search-filings/standard-industrial-classification-sic-code-list", "which the catalogue has"),
        (f"{FILES}/files/company_tickers_mf.json", "tickers of funds"),
        (f"{FILES}/files/dera/financial-statement-data-sets/2009q3_notes.zip", "a kind of response nobody reads"),
        (f"{DATA}/api/xbrl/companyfacts/CIK99.json", "a kind of response nobody reads"),
        (BULK[0], "each of which is read in its place"),
    ],
)
def test_other_kinds_are_set_aside_by_name(url, told):
    ignored = parse(url).ignored
    assert ignored is not None
    assert told in ignored
    assert url.partition(".gov")[2] in ignored


# What is asked for


def test_companies_named_by_cik_are_asked_for_at_once():
    requests = planned("9900001", "CIK0009900002", "WDGT")
    assert urls(requests) == [
        LISTINGS,
        SUBMISSIONS,
        FACTS,
        SUBMISSIONS.replace("9900001", "9900002"),
        FACTS.replace("9900001", "9900002"),
    ]


def test_every_request_says_who_asks():
    requests = planned("9900001")
    assert {request.headers["user-agent"] for request in requests} == {
        f"Almanac (self-hosted financial data service; {CONTACT})"
    }


@pytest.mark.parametrize("key", [None, ""])
def test_without_a_contact_nothing_is_asked_and_the_setting_is_named(key):
    with pytest.raises(ValueError, match="source sec needs in setting ALMANAC_SOURCES__SEC__CONTACT a contact"):
        planned(key=key)


@pytest.mark.parametrize("key", ["jane@exämple.org", "jane\r\nx-more: 1", "Jane (jane@example.org)", " jane"])
def test_a_contact_that_is_no_part_of_a_header_is_refused(key):
    with pytest.raises(ValueError, match="ALMANAC_SOURCES__SEC__CONTACT must be words in ASCII"):
        planned(key=key)


def test_in_bulk_two_archives_are_asked_for():
    assert urls(planned(bulk=True)) == [LISTINGS, *BULK]


def test_in_bulk_a_ticker_is_refused():
    with pytest.raises(ValueError, match="companies are named by CIK, not 'WDGT'"):
        planned("9900001", "WDGT", bulk=True)


def followed_by(*companies, bulk=False, body=LISTED, url=LISTINGS):
    reader = CONNECTOR.chosen(SourceSettings(companies=companies, bulk=bulk))
    return urls(reader.follow(payload(url, body), SOURCE, CONTACT))


def test_the_list_of_tickers_leads_to_all_companies_each_once():
    second = [SUBMISSIONS, FACTS]
    first = [url.replace("9900001", "9900002") for url in second]
    assert followed_by() == [*first, *second]


def test_or_to_those_named_by_ticker_and_not_asked_for_yet():
    assert followed_by("wdgt-b", "9900002") == [SUBMISSIONS, FACTS]
    assert followed_by("WDGT", "9900001") == []
    assert followed_by("9900001") == []


def test_a_ticker_that_is_not_listed_is_named():
    with pytest.raises(ValueError, match=r"sources\.sec\.companies: the SEC lists no ticker GONE"):
        followed_by("WDGT", "gone")


def test_in_bulk_the_list_leads_nowhere():
    assert followed_by(bulk=True) == []


def test_submissions_lead_to_their_pages():
    assert followed_by(url=SUBMISSIONS, body=submissions_body()) == [PAGE]
    assert followed_by(url=FACTS, body=facts_body()) == []


def test_a_nightly_archive_is_read_as_the_responses_in_it():
    members = {"CIK0009900001.json": "1", "CIK0009900001-submissions-001.json": "2", "placeholder.txt": "x", "CIK0009900002.json": "3"}  # fmt: skip
    body = archive(members)

    def inside(url, *companies):
        parts = CONNECTOR.chosen(SourceSettings(companies=companies)).unpack(payload(url, body))
        return [(part.url, part.body, part.fetched_at, part.media_type) for part in parts]

    first, second = SUBMISSIONS, SUBMISSIONS.replace("9900001", "9900002")
    assert inside(BULK[0]) == [
        (first, b"1", 7, "application/json"),
        (PAGE, b"2", 7, "application/json"),
        (second, b"3", 7, "application/json"),
    ]
    assert [url for url, *_ in inside(BULK[1], "9900002")] == [FACTS.replace("9900001", "9900002")]
    assert inside(FACTS) == [(FACTS, body, 7, "application/json")]


def test_a_broken_archive_is_refused():
    with pytest.raises(SourceChanged, match=r"companyfacts\.zip is not a zip archive"):
        list(CONNECTOR.unpack(payload(BULK[1], b"<html>")))


def test_lists_go_first_then_each_company_before_its_facts_and_data_sets_go_last():
    dataset = f"{FILES}/files/dera/financial-statement-data-sets/2009q3.zip"
    of_next = [url.replace("9900001", "9900002") for url in (SUBMISSIONS, FACTS)]
    turns = [CONNECTOR.turn(url) for url in (*BULK, SUBMISSIONS, FACTS, *of_next, dataset)]
    assert turns == sorted(set(turns))
    assert CONNECTOR.turn(LISTINGS) == turns[0]
    assert CONNECTOR.turn(PAGE) == CONNECTOR.turn(SUBMISSIONS)
    assert connector("fred").turn(FACTS) == 0


def test_connectors_without_options_or_archives_stay_as_they_are():
    plain = connector("fred")
    assert plain.chosen(SourceSettings(companies=("1",))) is plain
    assert list(plain.unpack(payload("https://example.org"))) == [payload("https://example.org")]
    assert plain.follow(payload("https://example.org"), SOURCE, None) == []


def test_options_make_a_new_connector_and_leave_the_shared_one_alone():
    made = CONNECTOR.chosen(SourceSettings(companies=("1",), bulk=True))
    assert made == Sec(("1",), bulk=True)
    assert Sec() == CONNECTOR
