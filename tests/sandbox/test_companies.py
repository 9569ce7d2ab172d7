"""The simulated companies as a whole: pages that stay the same, formats, filings and what is promised to be among them."""

import json
from collections import Counter, defaultdict
from datetime import UTC, date, datetime

from almanac.catalog.filing_events import shipped
from almanac.domain.companies import is_periodic
from almanac.sandbox.companies.filers import FIRST_CIK, companies
from almanac.sandbox.companies.responses import company_pages, filing_history
from almanac.sandbox.world import catalog as sandbox_catalog
from almanac.sandbox.world import catalog_part, world
from almanac.sources.base import Payload, connector

from .simulated_companies import DAY, NOW, SAMPLE, Told, World, made, quarters_long, rows_of

TICKERS = "https://www.sec.gov/files/company_tickers.json"


# The same on any day


def test_the_same_bytes_twice(whole: World) -> None:
    filing_history.cache_clear()
    again = made(NOW, SAMPLE)
    assert len(again.bodies) > 50
    for url, body in again.bodies.items():
        assert body == whole.bodies[url], url
        assert again.fetched[url] == whole.fetched[url]


def test_a_page_was_fetched_after_its_newest_filing_could_be_read_and_before_now(whole: World) -> None:
    source = sandbox_catalog().sources["sandbox-sec"]
    reader = connector("sec")
    for url, fetched in whole.fetched.items():
        assert fetched <= NOW
        if "/submissions/" in url:
            parsed = reader.parse(Payload(url, whole.bodies[url], fetched, "application/json"), source, {})
            known = [filing.known_at for _, filing in parsed.filings]
            assert None not in known
            assert max(known) == fetched - 3600, url
            facts = url.replace("/submissions/", "/api/xbrl/companyfacts/")
            assert facts not in whole.fetched or whole.fetched[facts] == fetched + 60


def test_a_later_day_only_adds_filings_and_their_rows() -> None:
    """A page without a new filing stays byte for byte; rows of old filings stay, but for the frame, which moves on."""
    early, late = made(NOW - 250 * DAY, SAMPLE), made(NOW, SAMPLE)
    assert set(early.bodies) <= set(late.bodies)
    same = grown = 0
    for url, body in early.bodies.items():
        if early.fetched[url] == late.fetched[url]:
            assert late.bodies[url] == body
            same += 1
        elif "companyfacts" in url:
            old, new = set(rows_of(body)), set(rows_of(late.bodies[url]))
            assert old <= new, url
            added = {row.accn for row in new} - {row.accn for row in old}
            assert all(row.accn in added for row in new - old)
            grown += len(new) > len(old)
        elif "submissions" in url:
            old, new = json.loads(body)["filings"]["recent"], json.loads(late.bodies[url])["filings"]["recent"]
            assert len(new["form"]) > len(old["form"])
            for name, column in old.items():
                assert new[name][-len(column) :] == column, (url, name)
    assert same >= 6  # two pages of each company that is gone
    assert grown > 25


def test_no_page_is_from_the_future_right_after_a_filing(whole: World) -> None:
    """At and around the instants at which pages of a company and the list of tickers come to be."""
    gone = FIRST_CIK + 160
    page = whole.fetched[f"https://data.sec.gov/submissions/CIK{gone:010d}.json"]
    for now in (page, page + 60, page + 3600):
        fetched = [capture.fetched_at for capture in company_pages(now)]
        assert len(fetched) > 600
        assert max(fetched) <= now


def test_an_early_world_has_fewer_companies_and_fewer_years() -> None:
    early = made(int(datetime(2016, 1, 4, tzinfo=UTC).timestamp()), SAMPLE)
    # Two are not listed yet; those that will be gone are still there.
    assert sum("companyfacts" in url for url in early.bodies) == len(SAMPLE) - 2
    ends = {row.end for url, body in early.bodies.items() if "companyfacts" in url for row in rows_of(body)}
    assert "2014-12-31" in ends
    assert max(ends) < "2016-01-01"


def test_companies_come_after_the_economies_unless_left_out() -> None:
    now = int(datetime(2016, 1, 4, tzinfo=UTC).timestamp())
    whole, plain = list(world(now)), list(world(now, companies=False))
    theirs = [page for page in whole if page.source == "sandbox-sec"]
    assert len(theirs) > 600
    (tickers,) = [page.fetched_at for page in theirs if page.url == TICKERS]
    assert tickers == int(datetime(2015, 12, 31, 13, tzinfo=UTC).timestamp())
    assert whole == [*plain, *theirs]
    assert [page.fetched_at for page in theirs] == sorted(page.fetched_at for page in theirs)
    entry = next(part for part in catalog_part()["source"] if part["id"] == "sandbox-sec")
    assert (entry["connector"], entry["simulated"], entry["provider"]) == ("sec", True, "sandbox-sec")


# The formats


# What is among them


def test_there_are_three_hundred_companies_with_ten_years_of_filings(everyone: list[Told]) -> None:
    assert len(everyone) == len(companies()) == 340
    ten_years = dollars = 0
    for told in everyone:
        reports = [date.fromisoformat(one["filingDate"]) for one in told.filings if is_periodic(one["form"])]
        ten_years += (reports[-1] - reports[0]).days > 3650 and reports[-1] > date(2026, 5, 1)
        dollars += any(row.unit == "USD" for row in told.rows)
    assert ten_years >= 300
    assert dollars >= 250
    assert len({told.company.cik for told in everyone}) == 340
    assert min(told.company.cik for told in everyone) == FIRST_CIK


def test_filings_are_events_of_every_category_that_filings_can_be(everyone: list[Told]) -> None:
    table = shipped()
    found: Counter[str] = Counter()
    nobody: Counter[str] = Counter()
    for told in everyone:
        for one in told.filings:
            assert table.knows(one["form"]), one["form"]
            kinds = table.of(one["form"], one["items"].split(",") if one["items"] else ())
            found.update(kind.category for kind in kinds)
            nobody[one["form"]] += not kinds
    assert set(found) == {"issuer_filing", "issuer_disclosure", "corporate_action", "regulator_notice"}
    assert min(found.values()) > 100
    assert +nobody == {"4": nobody["4"]}
    items_filed = {item for told in everyone for one in told.filings for item in one["items"].split(",")}
    assert {"1.01", "1.03", "2.01", "2.02", "3.01", "4.02", "5.02", "5.03", "5.07", "7.01", "8.01"} <= items_filed


def test_accessions_are_unique_over_all_companies(everyone: list[Told]) -> None:
    every = [one["accessionNumber"] for told in everyone for one in told.filings]
    assert len(set(every)) == len(every) > 30_000


def test_rows_name_filings_that_the_index_has(everyone: list[Told]) -> None:
    for told in everyone[::7]:
        listed = {one["accessionNumber"]: (one["form"], one["filingDate"]) for one in told.filings}
        for row in told.rows:
            assert listed[row.accn] == (row.form, row.filed)
            assert row.tag == "dei:EntityCommonStockSharesOutstanding" or row.end < row.filed


def test_years_end_when_they_should(everyone: list[Told]) -> None:
    ends: dict[tuple[str, int], set[str]] = defaultdict(set)
    lengths: Counter[int] = Counter()
    for told in everyone:
        rule = told.company.year_end
        for row in told.rows:
            if row.tag == "us-gaap:NetIncomeLoss" and row.form == "10-K" and quarters_long(row) == 4:
                ends[rule.rule, rule.month].add(row.end)
                lengths[(date.fromisoformat(row.end) - date.fromisoformat(row.start or "")).days + 1] += 1
    assert {end[5:] for end in ends["month", 9]} == {"09-30"}
    assert {"2023-09-30", "2024-09-28", "2025-09-27"} <= ends["last", 9]  # 53 weeks to 2023
    assert {"2023-12-30", "2024-12-28", "2026-01-03"} <= ends["near", 12]  # 53 weeks to 2026
    assert {"2024-02-03", "2025-02-01"} <= ends["near", 1]
    assert set(lengths) == {364, 365, 366, 371}


def test_companies_abroad_report_in_their_own_money_and_rhythm(ordinary: list[Told]) -> None:
    abroad = [told for told in ordinary if told.company.seat]
    assert len(abroad) == 16
    for told in abroad:
        money = {row.unit for row in told.rows if row.unit != "shares" and "/" not in row.unit}
        assert money == {told.company.currency} != {"USD"}
        assert told.company.currency != "USD"
        assert {row.tag.split(":")[0] for row in told.rows} == {"ifrs-full", "dei"}
        lengths = {quarters_long(row) for row in told.rows if row.tag == "ifrs-full:Revenue"}
        assert lengths == {"annual": {4}, "half": {2, 4}, "quarter": {1, 2, 3, 4}}[told.company.cadence]
        assert {(row.fy, row.fp) for row in told.rows if row.form == "6-K"} <= {(None, None)}
    assert {told.company.currency for told in abroad} >= {"EUR", "JPY", "GBP", "CAD", "CHF"}
    assert {row.form for told in abroad for row in told.rows} == {"20-F", "40-F", "6-K"}
