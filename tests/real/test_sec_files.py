"""The SEC's own files: every one read or named, counted again with the json module, and values looked up by eye."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections import Counter
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

import pytest

from almanac.catalog.companies import wanted_tags
from almanac.catalog.filing_events import shipped as filing_events
from almanac.catalog.sectors import classify
from almanac.domain.companies import Fact, Listing, raw_slug
from almanac.sources.base import Payload
from almanac.sources.feeds.sec.connector import CONNECTOR
from almanac.sources.feeds.sec.facts import odd_days
from tests.support.central_banks import source

from . import files
from .company_files import swept, whole_companies
from .files import FOLDER, REAL
from .test_statements import of

SOURCE = source("sec")

pytestmark = REAL


def mirror():
    return [row for row in files.mirror() if row["file"].startswith("sec/")]


def of_kind(kind):
    return [pytest.param(row["file"], id=Path(row["file"]).name) for row in mirror() if f"sec/{kind}/" in row["file"]]


@cache
def body(file):
    content = (FOLDER / file).read_bytes()
    return gzip.decompress(content) if file.endswith(".gz") else content


@cache
def parsed(file):
    (row,) = [row for row in mirror() if row["file"] == file]
    return CONNECTOR.parse(Payload(row["url"], body(file), 0, row["media_type"]), SOURCE, {})


def day(text):
    return date.fromisoformat(text).toordinal()


def utc(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def test_every_file_of_the_mirror_is_read_or_named():
    assert len(mirror()) == 50
    ignored = {row["file"]: parsed(row["file"]).ignored for row in mirror() if parsed(row["file"]).ignored}
    assert list(ignored) == ["sec/reference/sic_codes.csv"]
    assert "list of industry codes" in ignored["sec/reference/sic_codes.csv"]
    assert all(CONNECTOR.owns(row["url"]) for row in mirror())


# Company facts


@pytest.mark.parametrize("file", of_kind("companyfacts"))
def test_every_row_of_a_wanted_tag_is_taken_and_every_other_counted(file):
    again = json.loads(body(file))
    expected, passed, accessions = [], Counter(), {}
    for taxonomy, tags in again["facts"].items():
        for name, tag in tags.items():
            for unit, rows in tag["units"].items():
                for row in rows:
                    accessions.setdefault(row["accn"], (row["form"], row["filed"], row["fy"], row["fp"]))
                    if f"{taxonomy}:{name}" in wanted_tags():
                        start = None if "start" not in row else day(row["start"])
                        values = (
                            start,
                            day(row["end"]),
                            float(row["val"]),
                            row["accn"],
                            row["form"],
                            day(row["filed"]),
                        )
                        # Days that were typed wrongly are passed over, and counted.
                        odd = odd_days(start, day(row["end"]), day(row["filed"]))
                        if odd is not None:
                            passed[f"{taxonomy} ({odd})"] += 1
                            continue
                        expected.append((f"{taxonomy}:{name}", unit, *values, row["fy"], row["fp"]))
                    else:
                        passed[f"{taxonomy} (other tags)"] += 1
    read = parsed(file)
    (company,) = read.facts
    assert company.cik == int(again["cik"])
    assert company.facts == tuple(Fact(*row) for row in expected)
    assert len(expected) > 100
    assert read.unmapped == passed
    assert {f.accession: (f.form, f.filed, f.fiscal_year, f.fiscal_period) for _, f in read.filings} == {
        number: (form, day(filed), fy, fp) for number, (form, filed, fy, fp) in accessions.items()
    }
    assert [record.name for record in read.companies] == [again["entityName"].strip()]


def test_main_currencies():
    found = {parsed(p.values[0]).companies[0].name: parsed(p.values[0]).companies[0].currency for p in of_kind("companyfacts")}  # fmt: skip
    taiwan = "Taiwan Semiconductor Manufacturing Company Limited"
    assert found.pop(taiwan) == "TWD"
    assert set(found.values()) == {"USD"}


def test_one_fact_checked_by_hand():
    """Apple's net income of fiscal 2024: 93,736 million, 2023-10-01 to 2024-09-28, in 10-K 0000320193-24-000123."""
    (company,) = parsed("sec/companyfacts/CIK0000320193.json.gz").facts
    assert Fact(
        "us-gaap:NetIncomeLoss", "USD", day("2023-10-01"), day("2024-09-28"), 93_736_000_000.0,
        "0000320193-24-000123", "10-K", day("2024-11-01"), 2024, "FY",
    ) in company.facts  # fmt: skip


def test_every_independently_checked_value_is_among_the_facts():
    with (FOLDER / "sec/expected/checked-values.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["derived_from"]]
    held = {
        (company.cik, fact.tag, fact.unit, fact.start, fact.end, fact.value)
        for parameter in of_kind("companyfacts")
        for company in parsed(parameter.values[0]).facts
        for fact in company.facts
    }
    wanted = [row for row in rows if f"{row['taxonomy']}:{row['tag']}" in wanted_tags()]
    missing = [
        row
        for row in wanted
        if (
            int(row["cik"]), f"{row['taxonomy']}:{row['tag']}", row["unit"],
            day(row["start"]) if row["start"] else None, day(row["end"]), float(row["value"]),
        ) not in held
    ]  # fmt: skip
    assert missing == []
    assert len(wanted) > 30


def test_slugs_of_all_tags_are_told_apart():
    tags = set()
    for parameter in of_kind("companyfacts"):
        for taxonomy, names in json.loads(body(parameter.values[0]))["facts"].items():
            tags |= {f"{taxonomy}:{name}" for name in names}
    assert len(tags) == 2857
    for line in member("tag.txt").splitlines()[1:]:
        name, version, custom = line.split("\t")[:3]
        if custom == "0":
            tags.add(f"{version.partition('/')[0]}:{name}")
    slugs = {raw_slug(tag) for tag in tags}
    assert len(slugs) == len(tags) == 3990
    assert [slug for slug in slugs if not re.fullmatch("[a-z0-9_]+", slug)] == []


# Submissions


@pytest.mark.parametrize("file", of_kind("submissions"))
def test_every_filing_is_taken_and_never_known_before_its_stamp(file):
    again = json.loads(body(file))
    columns = again["filings"]["recent"] if "filings" in again else again
    read = parsed(file)
    assert [
        (f.accession, f.form, f.filed, f.report_date, f.document, f.description) for _, f in read.filings
    ] == [
        (number, form, day(filed), day(report) if report else None, document or None, told or None)
        for number, form, filed, report, document, told in zip(
            columns["accessionNumber"], columns["form"], columns["filingDate"], columns["reportDate"],
            columns["primaryDocument"], columns["primaryDocDescription"], strict=True,
        )
    ]  # fmt: skip
    for (_, filing), text in zip(read.filings, columns["acceptanceDateTime"], strict=True):
        stated = datetime.fromisoformat(text).timestamp()
        # New York's clock is four or five hours behind; a day without a time counts to its end.
        assert filing.known_at is not None
        assert filing.known_at >= stated + 4 * 3600
        if filing.filed <= datetime.fromisoformat(text).date().toordinal():
            assert filing.known_at <= stated + 30 * 3600
    for _, filing in read.filings:
        assert filing_events().knows(filing.form), filing.form
        assert all(re.fullmatch(r"\d\.\d\d|\d{1,2}", item) for item in filing.items)
    assert len(read.companies) == (1 if "filings" in again else 0)
    for company in read.companies:
        assert (company.cik, company.name, company.sic) == (int(again["cik"]), again["name"], again["sic"])
        assert [listing.ticker for listing in company.listings] == again["tickers"]
        assert company.sic_description == classify(company.sic).industry
        assert company.country is not None


def test_one_company_checked_by_hand():
    (company,) = parsed("sec/submissions/CIK0000320193.json").companies
    assert (company.name, company.sic, company.fiscal_year_end, company.state_of_incorporation, company.country) == (
        "Apple Inc.", "3571", "0926", "CA", "US",
    )  # fmt: skip
    assert company.listings == (Listing("AAPL", "Nasdaq"),)
    assert [(former.name, former.from_, former.to) for former in company.former_names][:2] == [
        ("APPLE INC", "2007-01-10", "2019-08-05"),
        ("APPLE COMPUTER INC", "1994-01-26", "2007-01-04"),
    ]
    countries = {c.name: c.country for p in of_kind("submissions") for c in parsed(p.values[0]).companies}
    abroad = {name: country for name, country in countries.items() if country != "US"}
    assert abroad == {"Bausch Health Companies Inc.": "CA", "TAIWAN SEMICONDUCTOR MANUFACTURING CO LTD": "TW"}


@pytest.mark.parametrize(
    ("company", "accession", "known"),
    [
        # Intel, 2009-08-03T17:08:44.000Z: New York's clock, as the data set of that quarter (17:09) shows.
        ("CIK0000050863.json", "0000950123-09-028975", "2009-08-03T21:08:44"),
        # Coca-Cola, 2009-07-30T14:33:15.000Z: UTC in truth (10:33 New York); the later reading still counts.
        ("CIK0000021344.json", "0001047469-09-007013", "2009-07-30T18:33:15"),
    ],
)
def test_knowledge_times_checked_by_hand(company, accession, known):
    (filing,) = [f for _, f in parsed(f"sec/submissions/{company}").filings if f.accession == accession]
    assert utc(filing.known_at) == known


# Lists of tickers


def test_tickers():
    file = "sec/reference/company_tickers.json"
    again = list(json.loads(body(file)).values())
    companies = {company.cik: company for company in parsed(file).companies}
    assert len(again) == 10_433
    assert set(companies) == {entry["cik_str"] for entry in again}
    assert Counter({cik: len(c.listings) for cik, c in companies.items()}) == Counter(e["cik_str"] for e in again)
    berkshire = [listing.ticker for listing in companies[1067983].listings]
    assert berkshire == [entry["ticker"] for entry in again if entry["cik_str"] == 1067983]
    assert {"BRK-A", "BRK-B"} <= set(berkshire)


def test_tickers_with_exchanges():
    companies = parsed("sec/reference/company_tickers_exchange.trimmed.json").companies
    assert {company.cik: company.listings for company in companies} == {
        104169: (Listing("WMT", "NYSE"),),
        354950: (Listing("HD", "NYSE"),),
        320187: (Listing("NKE", "NYSE"),),
        320193: (Listing("AAPL", "Nasdaq"),),
    }


def test_our_industries_are_those_of_the_secs_list():
    with (FOLDER / "sec/reference/sic_codes.csv").open(newline="") as file:
        listed = {row["SIC Code"].zfill(4): row["Industry Title"] for row in csv.DictReader(file)}
    ours = {code: classify(code).industry for code in listed}
    assert {code: " ".join(title.split()).upper() for code, title in listed.items()} == {
        code: title.upper() for code, title in ours.items()
    }


# The data set of a quarter

QUARTER = "sec/financial-statement-data-sets/2009q3.zip"


def member(name):
    with zipfile.ZipFile(io.BytesIO(body(QUARTER))) as opened:
        return opened.read(name).decode()


def rows(name):
    header, *lines = member(name).split("\n")
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines if line]


def test_the_data_set_is_taken_and_counted_whole():
    read = parsed(QUARTER)
    filed = {row["adsh"]: row for row in rows("sub.txt")}
    expected, passed = Counter(), Counter()
    for row in rows("num.txt"):
        tag = f"{row['version'].partition('/')[0]}:{row['tag']}"
        if row["version"] == row["adsh"]:
            passed["custom tags"] += 1
        elif row["coreg"]:
            passed["rows of a co-registrant"] += 1
        elif row["segments"]:
            passed["rows of a segment"] += 1
        elif tag not in wanted_tags():
            passed[f"{tag.partition(':')[0]} (other tags)"] += 1
        elif not row["value"]:
            passed["rows without a value"] += 1
        else:
            key = (int(filed[row["adsh"]]["cik"]), tag, row["uom"], row["ddate"], int(row["qtrs"]))
            expected[(*key, float(row["value"]), row["adsh"])] += 1
    months = {None: 0, 3: 1, 6: 2, 9: 3, 12: 4}
    ours = Counter(
        (
            company.cik, fact.tag, fact.unit, date.fromordinal(fact.end).strftime("%Y%m%d"),
            months[None if fact.start is None else round((fact.end - fact.start + 1) / 30.44)], fact.value, fact.accession,
        )
        for company in read.facts
        for fact in company.facts
        if not fact.tag.startswith("pre:")  # read of how statements are set, `pre.txt`
    )  # fmt: skip
    assert ours == expected
    # A total that a filer has in a tag of its own is taken from there.
    told = sum(fact.tag == "pre:TotalRevenue" for company in read.facts for fact in company.facts)
    passed["custom tags"] -= told
    assert told == 20
    assert read.unmapped == passed
    assert told + sum(ours.values()) + sum(passed.values()) == 126_650
    assert len(read.filings) == len(filed) == 435
    assert {company.cik for company in read.companies} == {int(row["cik"]) for row in filed.values()}


def test_a_former_name_of_the_data_set_begins_on_the_day_of_its_change():
    """
    `changed` against what the regulator states of the same names elsewhere: where both have a day, it is the first one; and
    against a name that everybody knows: SBC took its name in 1995, and became AT&T ten years later.
    """
    stated = {
        (company.cik, former.name): (former.from_, former.to)
        for payload in of_kind("submissions")
        for company in parsed(payload.values[0]).companies
        for former in company.former_names
    }
    told = {
        (company.cik, former.name): (former.from_, former.to)
        for company in parsed(QUARTER).companies
        for former in company.former_names
    }
    assert len(told) == 231
    both = {key: (told[key][0], *stated[key]) for key in told.keys() & stated.keys()}
    assert len(both) >= 4
    began = [changed for changed, first, _ in both.values() if changed == first]
    assert len(began) >= 2
    assert all(changed < last for changed, _, last in both.values())
    assert {last for _, last in told.values()} == {None}
    assert told[732717, "SBC COMMUNICATIONS INC"] == ("1995-05-01", None)


def test_one_value_of_the_data_set_checked_by_hand():
    """Exxon Mobil's net income of the second quarter of 2009, 3,950 million (num.txt, 0001193125-09-165196)."""
    (company,) = [company for company in parsed(QUARTER).facts if company.cik == 34088]
    assert Fact(
        "us-gaap:NetIncomeLoss", "USD", day("2009-04-01"), day("2009-06-30"), 3_950_000_000.0,
        "0001193125-09-165196", "10-Q", day("2009-08-05"), 2009, "Q2",
    ) in company.facts  # fmt: skip
    (record,) = [company for company in parsed(QUARTER).companies if company.cik == 34088]
    assert (record.name, record.sic, record.currency, record.country) == ("EXXON MOBIL CORP", "2911", "USD", "US")


def test_a_bank_that_marked_its_whole_statement_as_the_parents_has_no_facts():
    """Citigroup's first filing puts every value under the member ParentCompany: by rule those are not the whole's."""
    assert 831001 in {company.cik for company in parsed(QUARTER).companies}
    assert 831001 not in {company.cik for company in parsed(QUARTER).facts}


def test_both_feeds_tell_the_same_times():
    """The data set's stamp is New York's clock to the minute: one of the two readings of the other feed's stamp."""
    minutes = {filing.accession: filing.known_at for _, filing in parsed(QUARTER).filings}
    compared = Counter()
    for parameter in of_kind("submissions"):
        again = json.loads(body(parameter.values[0]))
        columns = again["filings"]["recent"] if "filings" in again else again
        stamps = dict(zip(columns["accessionNumber"], columns["acceptanceDateTime"], strict=True))
        for _, filing in parsed(parameter.values[0]).filings:
            if filing.accession in minutes:
                as_utc = datetime.fromisoformat(stamps[filing.accession]).timestamp()
                readings = {"utc": as_utc, "new york": as_utc + 4 * 3600}
                known = minutes[filing.accession]
                # Never before the true time, and less than a minute after it.
                fits = [name for name, reading in readings.items() if 0 <= known - reading < 61]
                assert len(fits) == 1, filing
                compared[fits[0]] += 1
                assert filing.known_at >= known - 60
    assert compared == {"utc": 11, "new york": 1}


# Real companies' figures that filings gave twice: restated, rounded, with the other sign, before and after a split.


MCDONALDS, TEXAS, WALMART, NIKE, HOME_DEPOT, NVIDIA, TESLA, HERTZ, NIKOLA, DISNEY = (
    63908, 97476, 104169, 320187, 354950, 1045810, 1318605, 1657853, 1731289, 1744489,
)  # fmt: skip


def failed(statement):
    """Name → detail of the checks that a statement fails."""
    return {check["name"]: check["detail"] for check in statement["quality"]["checks"] if check["status"] == "failed"}


def test_exact_figures_outlive_their_repetition_in_millions():
    # 8,468.8 million in 0000063908-24-000072, "8469" in the two reports after it.
    assert of(MCDONALDS, "net_income", "A", "2023-01-01", "2023-12-31") == 8_468_800_000
    # 4,681,507 thousand in 0001045810-15-000036, 4,682 million in the report two years later.
    assert of(NVIDIA, "revenue", "A", "2014-01-27", "2015-01-25") == 4_681_507_000
    assert of(TESLA, "revenue", "A", "2018-01-01", "2018-12-31") == 21_461_268_000
    # 19,014.0 million less 10,213.6 in 0001193125-10-161874, 8,800 two years later.
    assert of(NIKE, "gross_profit", "A", "2009-06-01", "2010-05-31") == 8_800_400_000


def test_a_last_quarter_takes_the_nine_months_that_were_restated_with_the_year():
    # The report of 2016 shows taxes on share-based pay otherwise, and 2015 anew: 4,614 (0001564590-17-002142) less the
    # 3,227 that the report of September 2017 gives for nine months of 2016, where that of 2016 gave 3,029.
    last = ("2016-10-01", "2016-12-31")
    assert of(TEXAS, "net_cash_flow_from_operations", "Q", *last) == 1_387e6
    # Half a year of 1,615 less 785 of the first quarter as restated in May 2025, where it had been 837.
    assert of(HOME_DEPOT, "depreciation_and_amortization", "Q", "2024-04-29", "2024-07-28") == 830e6
    # The first quarter of 2020 was a shell's, −536,222; the company restated it in May 2021: −45,561 + 21,897 thousand.
    second = ("2020-04-01", "2020-06-30")
    assert of(NIKOLA, "net_cash_flow_from_operations", "Q", *second) == -23_664e3


@pytest.mark.slow
def test_what_cannot_be_negative_is_never_served_so_as_if_nothing_were():
    """Of all own periods of all companies. Nikola took back trucks in 2023: revenue of one quarter was below zero."""
    below = Counter()
    for cik in whole_companies():
        for versions in swept(cik).statements.values():
            for version in versions:
                for key in ("revenue", "cost_of_revenue", "research_and_development"):
                    if version.body and version.body.items.get(key, 0) < 0:
                        below[key, version.body.quality.status, key in version.body.derived_items] += 1
    assert {status for _, status, _ in below} <= {"warning", "failed"}
