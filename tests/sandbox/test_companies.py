"""The simulated companies as a whole: pages that stay the same, formats, filings and what is promised to be among them."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from typing import Any

import pytest

from almanac.catalog.companies import Item, items
from almanac.catalog.filing_events import shipped
from almanac.catalog.sectors import classify
from almanac.domain.companies import is_periodic
from almanac.sandbox.companies.cast import FIRST_CIK, cast
from almanac.sandbox.companies.responses import companies, filed
from almanac.sandbox.world import catalog as sandbox_catalog
from almanac.sandbox.world import catalog_part, world
from almanac.sources.base import Payload, connector
from tests.support.paths import REAL_DATA

from .simulated_companies import DAY, NOW, SAMPLE, Told, World, made, quarters_long, rows_of

REAL = REAL_DATA / "sec"
TICKERS = "https://www.sec.gov/files/company_tickers.json"


# The same on any day


def test_the_same_bytes_twice(whole: World) -> None:
    filed.cache_clear()
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
        fetched = [capture.fetched_at for capture in companies(now)]
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


@pytest.mark.slow
def test_the_connector_reads_every_page_whole(whole: World) -> None:
    source = sandbox_catalog().sources["sandbox-sec"]
    reader = connector(source.connector)
    unmapped: Counter[str] = Counter()
    facts = 0
    for url, body in whole.bodies.items():
        assert reader.owns(url)
        parsed = reader.parse(Payload(url, body, whole.fetched[url], "application/json"), source, {})
        assert parsed.ignored is None, url
        unmapped.update(parsed.unmapped)
        facts += sum(len(one.facts) for one in parsed.facts)
    assert set(unmapped) == {"dei (other tags)"}
    stated = sum(len(list(rows_of(body))) for url, body in whole.bodies.items() if "companyfacts" in url)
    assert facts + sum(unmapped.values()) == stated


def _keys(record: dict[str, Any], found: dict[str, set[str]], place: str = "") -> None:
    """Kinds of every field of a record and of records in it: `place.field` → names of types."""
    for name, value in record.items():
        here = f"{place}.{name}"
        if isinstance(value, dict):
            found[here].add("record")
            _keys(value, found, here)
        elif isinstance(value, list):
            kinds = {type(one).__name__ for one in value}
            found[here].add("list")
            found[f"{here}[]"] |= kinds
            for one in value:
                if isinstance(one, dict):
                    _keys(one, found, f"{here}[]")
        else:
            found[here].add(type(value).__name__)


def _real(folder: str) -> list[dict[str, Any]]:
    if not (REAL / folder).is_dir():
        pytest.skip("needs the regulator's own files in ../shared/real-data/sec")
    bodies = (
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in sorted((REAL / folder).iterdir())
        if "submissions-0" not in path.name and "trimmed" not in path.name
    )
    return [json.loads(body) for body in bodies]


@pytest.mark.slow
@pytest.mark.real
def test_submissions_have_the_fields_of_the_real_ones(everyone: list[Told]) -> None:
    real: dict[str, set[str]] = defaultdict(set)
    for body in _real("submissions"):
        _keys(body, real)
    ours: dict[str, set[str]] = defaultdict(set)
    for told in everyone:
        _keys(told.submissions, ours)
    nested = {name for name in real if name.startswith(".filings.files[].")}  # we name no older pages
    assert set(ours) == set(real) - nested
    for name, kinds in ours.items():
        # Real identifiers are never there; ours are, so that they can be looked up.
        assert kinds <= real[name] | ({"str"} if name == ".lei" else set()), name


@pytest.mark.slow
@pytest.mark.real
def test_facts_have_the_fields_of_the_real_ones(everyone: list[Told]) -> None:
    def kinds(body: dict[str, Any]) -> set[tuple[str, ...]]:
        found = {("top", *body)}
        for taxonomy in body["facts"].values():
            for tag in taxonomy.values():
                found.add(("tag", *tag))
                for rows in tag["units"].values():
                    for row in rows:
                        names = tuple(
                            f"{name}:{'number' if name == 'val' else type(value).__name__}"
                            for name, value in row.items()
                        )
                        found.add(("row", *names))
        return found

    real = set().union(*(kinds(body) for body in _real("companyfacts")))
    ours = set().union(*(kinds(json.loads(told.body)) for told in everyone[::5] if told.body))
    assert ours <= real
    assert len(ours) >= 6  # with start and without, with a frame and without


@pytest.mark.slow
@pytest.mark.real
def test_the_tags_of_banks_and_shops_are_among_those_of_real_filers(everyone: list[Told]) -> None:
    real = {
        f"{taxonomy}:{tag}"
        for body in _real("companyfacts")
        for taxonomy, tags in body["facts"].items()
        for tag in tags
    }
    used = {row.tag for told in everyone if told.company.trade.name in {"hardware", "shops"} for row in told.rows}
    assert len(used & real) / len(used) > 0.8


@pytest.mark.real
def test_the_list_of_tickers_has_the_shape_of_the_real_one(whole: World) -> None:
    if not (REAL / "reference").is_dir():
        pytest.skip("needs the regulator's own files in ../shared/real-data/sec")
    real = json.loads((REAL / "reference/company_tickers.json").read_bytes())
    ours = json.loads(whole.bodies[TICKERS])
    assert list(ours) == [str(place) for place in range(len(ours))]
    assert {tuple((name, type(value)) for name, value in row.items()) for row in ours.values()} == {
        tuple((name, type(value)) for name, value in row.items()) for row in real.values()
    }


# What is among them


def test_there_are_three_hundred_companies_with_ten_years_of_filings(everyone: list[Told]) -> None:
    assert len(everyone) == len(cast()) == 340
    ten_years = dollars = 0
    for told in everyone:
        reports = [date.fromisoformat(one["filingDate"]) for one in told.filings if is_periodic(one["form"])]
        ten_years += (reports[-1] - reports[0]).days > 3650 and reports[-1] > date(2026, 5, 1)
        dollars += any(row.unit == "USD" for row in told.rows)
    assert ten_years >= 300
    assert dollars >= 250
    assert len({told.company.cik for told in everyone}) == 340
    assert min(told.company.cik for told in everyone) == FIRST_CIK


def _has(item: Item, all_items: dict[str, Item], tags: set[str], template: str) -> bool:
    for group in item.candidates_for(template):
        needed = [term.name in tags for term in group if not term.optional]
        if all(needed) and any(term.name in tags for term in group):
            return True
    for formula in item.formulas:
        found = {term.name: _has(all_items[term.name], all_items, tags, template) for term in formula}
        if any(found.values()) and all(found[term.name] for term in formula if not term.optional):
            return True
    return False


@pytest.mark.slow
def test_every_money_item_can_be_had_of_a_hundred_companies_in_dollars(everyone: list[Told]) -> None:
    """In the newest annual report, for companies that still report, of the kinds the item is for."""
    every = dict(items())
    counts: Counter[str] = Counter()
    for told in everyone:
        template = classify(told.company.sic).template
        newest = max((row.filed for row in told.rows if row.form in {"10-K", "10-KT"}), default="")
        if newest < "2025-08-01":
            continue
        tags = {row.tag for row in told.rows if row.filed == newest and row.unit == "USD"}
        for key, item in every.items():
            if item.served and item.unit == "money" and template in item.templates:
                counts[key] += _has(item, every, tags, template)
    wanted = {key for key, item in every.items() if item.served and item.unit == "money"}
    assert len(wanted) > 40
    assert {key: counts[key] for key in wanted if counts[key] < 105} == {}


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
