"""EDGAR's daily indexes: what they name as new, and what they look like. Every line is invented."""

import json
from datetime import date, datetime

import pytest

from almanac.config import SourceSettings
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.sec import indexes
from almanac.sources.feeds.sec.connector import CONNECTOR
from tests.sources.feeds.test_sec import CONTACT, DATA, FILES, SOURCE, payload, planned, urls
from tests.support.sec_invented import CIK

FOLDER = f"{FILES}/Archives/edgar/daily-index/2026"
HEAD = (
    "Description:           Daily Index of EDGAR Dissemination Feed\nLast Data Received:    Nov 19, 2026\n"
    "Comments:              webmaster@sec.gov\nAnonymous FTP:         ftp://ftp.sec.gov/edgar/\n \n"
    "CIK|Company Name|Form Type|Date Filed|File Name\n" + "-" * 80 + "\n"
)
MASTER = f"{FOLDER}/QTR4/master.20261119.idx"


def line(cik, form, name="Invented Widgets Inc."):
    return f"{cik}|{name}|{form}|20261119|edgar/data/{cik}/0009900001-26-000001.txt\n"


def index(*lines, head=HEAD):
    return payload(MASTER, (head + "".join(lines)).encode("latin-1"))


def at(text):
    return int(datetime.fromisoformat(text).timestamp())


def test_each_that_filed_is_named_for_its_list_of_filings_and_for_facts_where_there_may_be_some():
    told = CONNECTOR.announced(index(line(1, "4"), line(2, "8-K"), line(2, "4"), line(3, "10-Q"), line(3, "8-K")))
    morning, later = at("2026-11-20T06:00:00Z"), at("2026-11-22T06:00:00Z")
    assert told == {
        f"{DATA}/submissions/CIK0000000001.json": morning,
        f"{DATA}/submissions/CIK0000000002.json": morning,
        f"{DATA}/api/xbrl/companyfacts/CIK0000000002.json": morning,
        f"{DATA}/submissions/CIK0000000003.json": morning,
        # Facts of a report may be there some days late.
        f"{DATA}/api/xbrl/companyfacts/CIK0000000003.json": later,
    }


@pytest.mark.parametrize("form", ["3", "5/A", "144", "SC 13G/A", "SCHEDULE 13D"])
def test_what_others_file_about_a_company_has_no_facts(form):
    assert len(CONNECTOR.announced(index(line(7, form)))) == 1


@pytest.mark.parametrize("form", ["10-K", "10-K/A", "10-KT", "10-KT/A", "20-F", "40-F/A"])
def test_reports_are_looked_for_again(form):
    assert max(CONNECTOR.announced(index(line(7, form))).values()) == at("2026-11-22T06:00:00Z")


@pytest.mark.parametrize("form", ["10-K405", "6-K", "S-1", "N-CSR", "10-12B", "a form of tomorrow"])
def test_of_any_other_form_facts_are_asked_for_once(form):
    assert list(CONNECTOR.announced(index(line(7, form))).values()) == [at("2026-11-20T06:00:00Z")] * 2


def test_names_may_have_any_character_and_the_head_may_be_written_in_one_word():
    odd = line(5, "8-K", "NESTL\u00c9 | S\u00d6HNE\x85 /FI/")
    told = CONNECTOR.announced(index(odd, "\n", head=HEAD.replace("File Name", "Filename")))
    assert {url[-8:] for url in told} == {"005.json"}
    assert CONNECTOR.announced(index()) == {}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>Your Request Originates from an Undeclared Automated Tool</html>", "no line with the names of its columns"),
        (HEAD.replace("-" * 80, "").encode(), "no line of dashes"),
        ((HEAD + line("x1", "4")).encode(), "'x1|Invented Widgets Inc.|4|20261119|edgar"),
        ((HEAD + "12|A company|4").encode(), "'12|A company|4' is not a CIK, a name, a form, a day and a file"),
    ],
)  # fmt: skip
def test_another_shape_is_refused_by_name(body, told):
    for read in (
        lambda: CONNECTOR.announced(payload(MASTER, body)),
        lambda: CONNECTOR.parse(payload(MASTER, body), SOURCE, {}),
    ):
        with pytest.raises(SourceChanged, match=r"master\.20261119\.idx") as refused:
            read()
        assert told in str(refused.value)


def listing(*names, fetched_at="2026-11-20T07:30:00Z"):
    told = {
        "directory": {"item": [{"name": name, "type": "file", "size": "865 KB"} for name in names], "name": "QTR4/"}
    }
    made = payload(f"{FOLDER}/QTR4/index.json", json.dumps(told).encode())
    return made.__class__(made.url, made.body, at(fetched_at), made.media_type)


def test_a_listing_leads_to_the_indexes_of_the_days_before_today_that_there_are():
    days = ("20261001", "20261016", "20261118", "20261119", "20261120")
    found = CONNECTOR.follow(
        listing(*(f"{kind}.{day}.idx" for day in days for kind in ("form", "master"))), SOURCE, CONTACT
    )
    # Those of the last five weeks; that of today is not finished.
    assert urls(found) == [f"{FOLDER}/QTR4/master.{day}.idx" for day in ("20261016", "20261118", "20261119")]
    assert found[-1].settled_at == at("2026-11-22T06:00:00Z")
    with pytest.raises(SourceChanged, match=r"QTR4/index\.json"):
        CONNECTOR.follow(payload(f"{FOLDER}/QTR4/index.json", b"<html></html>"), SOURCE, CONTACT)


def test_they_are_kept_and_say_what_they_are_for_in_a_mirror_too():
    assert (
        "3 of the last 35"
        in CONNECTOR.parse(
            listing("master.20261117.idx", "master.20261118.idx", "master.20261119.idx"), SOURCE, {}
        ).ignored
    )
    assert "who filed on a day, 2 in all" in CONNECTOR.parse(index(line(1, "4"), line(2, "8-K")), SOURCE, {}).ignored
    assert CONNECTOR.announced(payload(f"{DATA}/submissions/CIK{CIK:010d}.json")) == {}


def test_only_a_plan_of_all_companies_has_them_and_never_by_hand():
    every = planned()
    assert urls(every)[0] == f"{FOLDER}/QTR4/index.json"
    assert every[0].newest  # not asked where everything is
    assert every[0].news_since == at("2026-10-17T00:00:00Z")
    for named in (planned("AAPL"), planned("320193"), planned(bulk=True)):
        assert not [url for url in urls(named) if "daily-index/2026" in url]
    assert urls(CONNECTOR.chosen(SourceSettings()).plan(SOURCE, {}, date(2026, 1, 1), date(2026, 11, 20), CONTACT)) == [
        every[-1].url
    ]


@pytest.mark.parametrize(
    ("today", "folders"),
    [
        (date(2026, 11, 20), ["2026/QTR4"]),
        (date(2026, 10, 2), ["2026/QTR4", "2026/QTR3"]),
        (date(2026, 10, 1), ["2026/QTR3"]),
        (date(2027, 1, 2), ["2026/QTR4"]),  # nobody works on the first day of a year
        (date(2027, 1, 5), ["2027/QTR1", "2026/QTR4"]),
        (date(2023, 10, 2), ["2023/QTR3"]),  # a Monday
    ],
)
def test_a_folder_is_asked_for_from_its_first_index_on(today, folders):
    assert indexes.quarters(today) == [f"/Archives/edgar/daily-index/{folder}/index.json" for folder in folders]


def test_a_company_without_facts_is_no_failure():
    found = {request.url: request.empty for request in planned("320193")}
    assert found[f"{DATA}/api/xbrl/companyfacts/CIK0000320193.json"] == {404}
    assert found[f"{DATA}/submissions/CIK0000320193.json"] == set()
