"""The regulator's own files, taken in whole and asked for over HTTP: what the publisher's file says is what is served."""

import csv
import gzip
import re

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.operate.rebuild import recompute
from almanac.pipeline.operate.verify import Checked, verify
from tests.support.service import Service, make_accounts, settings

from .company_files import FOLDER
from .files import REAL
from .test_statements import CHECKED

pytestmark = REAL
NOW = "2026-11-20T12:00:00Z"
APPLE, WALMART, NIKE, NVIDIA, TSMC = 320193, 104169, 320187, 1045810, 1046179
NAMES = {APPLE: "AAPL", WALMART: "WMT", NIKE: "NKE", NVIDIA: "NVDA", TSMC: "TSM"}


def bodies(cik):
    for folder, address in (("submissions", "submissions"), ("companyfacts", "api/xbrl/companyfacts")):
        path = next(p for p in sorted((FOLDER / folder).glob(f"CIK{cik:010d}.json*")))
        data = path.read_bytes()
        yield (
            f"https://data.sec.gov/{address}/CIK{cik:010d}.json",
            gzip.decompress(data) if path.suffix == ".gz" else data,
        )


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("sec") / "home", NOW=NOW)
    with PipelineContext(chosen) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        arrivals = [Arrival(url, body, "application/json", None) for cik in NAMES for url, body in bodies(cik)]
        outcome = run.run(arrivals)
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (10, {}, {})
    make_accounts(chosen)
    opened = Service(chosen.home, {"NOW": NOW})
    yield opened
    opened.close()


def of(service, cik, item, frequency, start, end, **params):
    found = service.ok(f"/companies/{NAMES[cik]}/financials", "enterprise", limit=100, frequency=frequency, **params)
    for kind in ("incomeStatements", "balanceSheets", "cashFlowStatements"):
        for one in found[kind]:
            if ((one["periodStart"] or "")[:10], one["periodEnd"][:10]) == (start, end) and item in one["items"]:
                return one["items"][item]
    return None


def test_hand_checked_values_are_served(service):
    """Values that others wrote down by hand, with the accession number of the filing each is in."""
    with (FOLDER / "expected/checked-values.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["cik"]) in NAMES]
    compared = 0
    for row in rows:
        cik = int(row["cik"])
        if cik == WALMART and row["tag"] == "RevenueFromContractWithCustomerExcludingAssessedTax":
            continue  # net sales, of which total revenue is more
        frequency = "annual" if row["fiscal_period"].startswith("FY") else "quarterly"
        assert of(service, cik, CHECKED[row["tag"]], frequency, row["start"], row["end"]) == float(row["value"]), row
        compared += 1
    assert compared == 35


def test_a_year_as_it_was_known_before_its_restatement(service):
    """Apple's fiscal 2009: 36,537 million in 10-K 0001193125-09-214859, 42,905 in 10-K/A 0001193125-10-012091."""
    year = ("annual", "2008-09-28", "2009-09-26")
    assert of(service, APPLE, "revenue", *year, as_of="2009-11-01") == 36_537_000_000
    assert of(service, APPLE, "revenue", *year) == 42_905_000_000


def test_a_foreign_filer_is_served_in_its_own_currency(service):
    """TSMC's 2023 in 20-F 0001193125-24-099105: revenue of 2,161,736 million New Taiwan dollars."""
    found = service.ok("/companies/TSM/financials", "enterprise", frequency="annual", limit=3)
    year = next(one for one in found["incomeStatements"] if one["periodEnd"].startswith("2023"))
    assert (found["currency"], year["currency"], year["form"]) == ("TWD", "TWD", "20-F")
    assert round(year["items"]["revenue"] / 1e6) == 2_161_736


def test_a_value_leads_to_the_filing_and_the_facts_it_was_computed_from(service):
    """Apple's fourth quarter of fiscal 2024 is the year of 10-K 0000320193-24-000123 less the nine months of the 10-Q."""
    (row,) = service.ok(
        "/derived-observations", "enterprise", entity="apple-inc", indicator="revenue", frequency="Q",
        period_start="2024-06-30", period_end="2024-09-28",
    )  # fmt: skip
    found = service.ok(f"/observations/{row['id']}/provenance", "enterprise")
    assert (row["valueNumeric"], row["metadata"]["method"]) == (94_930_000_000, "fy_minus_9m")
    assert [(one["periodStart"][:10], one["periodEnd"][:10], one["valueNumeric"]) for one in found["inputs"]] == [
        ("2023-10-01", "2024-09-28", 391_035_000_000),
        ("2023-10-01", "2024-06-29", 296_105_000_000),
    ]
    assert found["verified"] is True
    raw = service.ok(f"/observations/{found['inputs'][0]['observationId']}/provenance", "enterprise")
    assert raw["observation"]["metadata"]["accession"] == "0000320193-24-000123"
    assert re.fullmatch(r"[0-9a-f]{64}", raw["payload"]["sha256"])
    assert raw["payload"]["url"] == "https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json"


def test_everything_can_be_computed_again(service):
    with service.world() as world:
        assert recompute(world) == 0
        assert list(verify(world, Checked())) == []


def test_scores_and_their_detail_are_of_the_same_twelve_months(service):
    told = 0
    for ticker in NAMES.values():
        profile = service.ok(f"/companies/{ticker}/profile", "enterprise")
        detail = profile["scoreDetail"]
        assert len({score["periodEnd"] for score in detail.values()}) == 1
        for name in ("piotroskiF", "altmanZ2"):
            assert profile[name] == detail[name]["value"]
            told += profile[name] is not None
    assert told > 5
