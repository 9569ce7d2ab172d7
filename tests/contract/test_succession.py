"""A new holding company takes the ticker of the company it now owns. Both are invented, and so is every number."""

from datetime import datetime

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from tests.support.sec_invented import columns, encoded, row, submissions_body, tag
from tests.support.service import Service, make_accounts, settings

OLD, NEW = 9_900_031, 9_900_032
OLD_ID, NEW_ID = (f"company_{cik:010d}" for cik in (OLD, NEW))
NOW = "2026-11-20T12:00:00Z"
LISTS = "https://www.sec.gov/files/company_tickers_exchange.json"


def seconds(text):
    return int(datetime.fromisoformat(text).timestamp())


def listed(*rows):
    return encoded({"fields": ["cik", "name", "ticker", "exchange"], "data": list(rows)})


def index(cik, name, tickers, filings):
    """Submissions: filings as (form, filed, report date), the newest first."""
    body = submissions_body()
    told = {name_: [column[0]] * len(filings) for name_, column in columns().items()}
    told["accessionNumber"] = [accession(cik, filed) for _, filed, _ in filings]
    told["form"] = told["core_type"] = [form for form, _, _ in filings]
    told["filingDate"] = [filed for _, filed, _ in filings]
    told["acceptanceDateTime"] = [f"{filed}T21:00:00.000Z" for _, filed, _ in filings]
    told["reportDate"] = [report for _, _, report in filings]
    told["items"] = [""] * len(filings)
    body |= {"cik": f"{cik:010d}", "name": name, "tickers": tickers, "exchanges": ["NYSE"] * len(tickers)}
    body |= {"formerNames": [], "fiscalYearEnd": "1231", "filings": {"recent": told, "files": []}}
    return encoded(body)


def accession(cik, filed):
    return f"{cik:010d}-{filed[2:4]}-{filed[5:7]}{filed[8:10]}00"


def facts(cik, name, told):
    """Company facts: (tag, start or None, end, value, form, filed)."""
    tags = {}
    for line, start, end, value, form, filed in told:
        period = "FY" if form == "10-K" else f"Q{int(end[5:7]) // 3}"
        one = row(value, end, start, accession(cik, filed), form, filed, int(end[:4]), period)
        tags.setdefault(line, tag({"USD": []}))["units"]["USD"].append(one)
    return encoded({"cik": cik, "entityName": name, "facts": {"us-gaap": tags}})


def year(filed, of, revenue, income):
    return [
        ("Revenues", f"{of}-01-01", f"{of}-12-31", revenue, "10-K", filed),
        ("NetIncomeLoss", f"{of}-01-01", f"{of}-12-31", income, "10-K", filed),
        ("Assets", None, f"{of}-12-31", 4 * revenue, "10-K", filed),
        ("LiabilitiesAndStockholdersEquity", None, f"{of}-12-31", 4 * revenue, "10-K", filed),
    ]


BEFORE = [
    *year("2025-02-20", 2024, 400_000, 40_000),
    *year("2026-02-20", 2025, 420_000, 44_000),
    ("Revenues", "2026-01-01", "2026-03-31", 110_000, "10-Q", "2026-05-04"),
    ("NetIncomeLoss", "2026-01-01", "2026-03-31", 12_000, "10-Q", "2026-05-04"),
    ("Assets", None, "2026-03-31", 1_700_000, "10-Q", "2026-05-04"),
]


def after(first_quarter):
    """The new registrant's one report: its half-year holds a first quarter of the old one, or of somebody else."""
    revenue, income = first_quarter
    return [
        ("Revenues", "2026-01-01", "2026-06-30", revenue + 120_000, "10-Q", "2026-08-03"),
        ("Revenues", "2026-04-01", "2026-06-30", 120_000, "10-Q", "2026-08-03"),
        ("NetIncomeLoss", "2026-01-01", "2026-06-30", income + 13_000, "10-Q", "2026-08-03"),
        ("NetIncomeLoss", "2026-04-01", "2026-06-30", 13_000, "10-Q", "2026-08-03"),
        ("Assets", None, "2026-06-30", 1_750_000, "10-Q", "2026-08-03"),
    ]


def serve(home, first_quarter):
    chosen = settings(home, NOW=NOW)
    old = [("25-NSE", "2026-07-02", ""), ("10-Q", "2026-05-04", "2026-03-31")]
    old += [("10-K", f"{of + 1}-02-20", f"{of}-12-31") for of in (2025, 2024)]
    bodies = [
        (LISTS, listed([OLD, "Invented Oil Corp", "OILX", "NYSE"]), "2026-06-01T00:00:00Z"),
        (LISTS, listed([NEW, "Invented Oil Holdings", "OILX", "NYSE"]), "2026-11-19T00:00:00Z"),
    ]
    for cik, name, tickers, filed, told in (
        (OLD, "Invented Oil Corp", [], old, BEFORE),
        (NEW, "Invented Oil Holdings", ["OILX"], [("10-Q", "2026-08-03", "2026-06-30")], after(first_quarter)),
    ):
        submissions = f"https://data.sec.gov/submissions/CIK{cik:010d}.json"
        bodies.append((submissions, index(cik, name, tickers, filed), "2026-11-19T00:00:00Z"))
        companyfacts = f"https://data.sec.gov/api/xbrl/companyfacts/CIK{cik:010d}.json"
        bodies.append((companyfacts, facts(cik, name, told), "2026-11-19T00:00:00Z"))
    with PipelineContext(chosen) as world:
        outcome = Ingest(world, world.catalog.sources["sec"], lambda _: None).run(
            [Arrival(url, body, "application/json", seconds(at)) for url, body, at in bodies]
        )
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (len(bodies), {}, {})
    make_accounts(chosen)
    return Service(chosen.home, {"NOW": NOW})


@pytest.fixture(scope="module")
def succeeded(tmp_path_factory):
    one = serve(tmp_path_factory.mktemp("succession") / "home", (110_000, 12_000))
    yield one
    one.close()


def test_the_ticker_leads_to_who_had_it_on_the_day(succeeded):
    assert succeeded.ok("/entities/resolve", alias="OILX", as_of="2026-05-15")["entityId"] == OLD_ID
    assert succeeded.ok("/entities/resolve", alias="OILX")["entityId"] == NEW_ID


def test_each_of_both_names_the_other(succeeded):
    """Profile and financials of the new one name the predecessor, those of the old one what goes on."""
    new, old = (succeeded.ok(f"/companies/{name}/profile") for name in ("OILX", OLD_ID))
    assert (new["successorOf"]["entityId"], new["successorOf"]["name"]) == (OLD_ID, "Invented Oil Corp")
    assert new["successorOf"]["since"][:10] in {"2026-08-03", "2026-08-04"}
    assert new["predecessorOf"] is old["successorOf"] is None
    assert old["predecessorOf"] == {**new["successorOf"], "entityId": NEW_ID, "name": "Invented Oil Holdings"}
    assert [one["name"] for one in new["formerNames"]] == ["Invented Oil Corp"]
    assert succeeded.ok("/companies/OILX/financials")["successorOf"] == new["successorOf"]
    earlier = succeeded.ok("/companies/OILX/financials", as_of="2026-07-15")
    assert (earlier["successorOf"], earlier["incomeStatements"]) == (None, [])


def test_a_screen_has_the_enterprise_once_with_the_history_of_both(succeeded):
    def screened(field, **params):
        rows = succeeded.walk("/equity-screener", filter=f"{field}:gt:0", **params)
        return [(row["entityId"], row["values"][field], row["periodEnd"][:10]) for row in rows]

    assert screened("total_assets") == [(NEW_ID, 1_750_000, "2026-06-30")]
    assert screened("revenue_ttm") == [(NEW_ID, 420_000, "2025-12-31")]
    assert screened("total_assets", as_of="2026-06-15") == [(OLD_ID, 1_700_000, "2026-03-31")]
    assert screened("revenue_ttm", as_of="2026-06-15") == [(OLD_ID, 420_000, "2025-12-31")]


def test_who_takes_over_a_ticker_alone_continues_nothing(tmp_path):
    stranger = serve(tmp_path / "home", (90_000, 3_000))
    assert stranger.ok("/companies/OILX/profile")["successorOf"] is None
    rows = stranger.walk("/equity-screener", filter="total_assets:gt:0")
    assert sorted(row["entityId"] for row in rows) == [OLD_ID, NEW_ID]
    stranger.close()
