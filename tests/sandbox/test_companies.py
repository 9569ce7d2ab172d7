"""The simulated companies as a whole: pages that stay the same, formats, filings and what is promised to be among them."""

import json
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest

from almanac.catalog.filing_events import shipped
from almanac.domain.companies import is_periodic
from almanac.sandbox.companies.filers import FIRST_CIK, companies
from almanac.sandbox.companies.responses import company_pages, filing_history
from almanac.sandbox.world import catalog as sandbox_catalog
from almanac.sandbox.world import catalog_part, world
from almanac.sources.base import Payload, connector
from tests.sandbox.simulated_statements import Truth, swept, versions

from .simulated_companies import DAY, NOW, SAMPLE, Row, Told, World, made, quarters_long, rows_of

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


# The figures of the simulated companies' filings, added up from the pages alone; and what was first stated otherwise.


CHANGE = "us-gaap:CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseIncludingExchangeRateEffect"
OLD_CHANGE = "us-gaap:CashAndCashEquivalentsPeriodIncreaseDecrease"
FX = "us-gaap:EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
OLD_FX = "us-gaap:EffectOfExchangeRateOnCashAndCashEquivalents"
TOTAL_CASH = "us-gaap:CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
CASH = "us-gaap:CashAndCashEquivalentsAtCarryingValue"
REVENUE = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"


def _cells(rows: list[Row]) -> dict[tuple[str | None, str], dict[str, float]]:
    """Values by tag, for each period of some rows."""
    found: dict[tuple[str | None, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        assert found[row.start, row.end].setdefault(row.tag, row.val) == row.val, row
    return found


def test_assets_are_liabilities_and_all_equity_in_every_filing(ordinary: list[Told]) -> None:
    """At each date of each balance sheet; temporary equity and minorities included, error or not."""
    held = with_temporary = 0
    for told in ordinary:
        for rows in told.by_filing().values():
            for (start, _), cell in _cells(rows).items():
                if start is not None or "us-gaap:Liabilities" not in cell:
                    continue
                equity = cell.get(
                    "us-gaap:StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
                    cell["us-gaap:StockholdersEquity"],
                )
                temporary = cell.get("us-gaap:TemporaryEquityCarryingAmountAttributableToParent", 0) or cell.get(
                    "us-gaap:RedeemableNoncontrollingInterestEquityCarryingAmount", 0
                )
                assert cell["us-gaap:Assets"] == cell["us-gaap:Liabilities"] + equity + temporary
                assert (
                    cell.get("us-gaap:LiabilitiesAndStockholdersEquity", cell["us-gaap:Assets"])
                    == cell["us-gaap:Assets"]
                )
                held += 1
                with_temporary += temporary > 0
    assert held > 8_000
    assert with_temporary > 2_000


def test_cash_flows_explain_the_change_in_cash(everyone: list[Told]) -> None:
    flows = ("Operating", "Investing", "Financing")
    held = moved = 0
    for told in everyone:
        if told.company.seat or told.company.trade.books == "fund":
            continue
        for rows in told.by_filing().values():
            cells = _cells(rows)
            for (start, end), cell in cells.items():
                change = cell.get(CHANGE, cell.get(OLD_CHANGE))
                if change is None:
                    continue
                exchange = cell.get(FX, cell.get(OLD_FX, 0))
                assert change == exchange + sum(
                    cell[f"us-gaap:NetCashProvidedByUsedIn{one}Activities"] for one in flows
                )
                held += 1
                moved += exchange != 0
                before = str(date.fromordinal(date.fromisoformat(start or "").toordinal() - 1))
                now, then = cells.get((None, end), {}), cells.get((None, before), {})
                kind = TOTAL_CASH if TOTAL_CASH in now else CASH
                if kind in now and kind in then:
                    assert change == now[kind] - then[kind], (told.company.number, end)
    assert held > 10_000
    assert moved > 4_000


def test_income_and_dividends_are_what_retained_earnings_change_by(everyone: list[Told]) -> None:
    held = 0
    for told in everyone:
        if told.company.trade.books not in {"goods", "finance"} or told.company.seat:
            continue
        for rows in told.by_filing().values():
            cells = _cells([row for row in rows if row.form in {"10-K", "10-K/A"}])
            for (start, end), cell in cells.items():
                before = str(date.fromordinal(date.fromisoformat(start).toordinal() - 1)) if start else ""
                retained = "us-gaap:RetainedEarningsAccumulatedDeficit"
                if start and (None, before) in cells and retained in cells[None, before] and CASH in cells[None, end]:
                    paid = cell.get(
                        "us-gaap:PaymentsOfDividends", cell.get("us-gaap:PaymentsOfDividendsCommonStock", 0)
                    )
                    grown = cells[None, end][retained] - cells[None, before][retained]
                    assert grown == cell["us-gaap:NetIncomeLoss"] - paid, (told.company.number, end)
                    held += 1
    assert held > 3_000


def test_quarters_sum_to_the_year_so_far_and_to_the_year(ordinary: list[Told]) -> None:
    """Income as three months and as the year so far; cash flows as the year so far only, the fourth quarter nowhere."""
    income = {"us-gaap:NetIncomeLoss", "us-gaap:IncomeTaxExpenseBenefit", REVENUE, "us-gaap:PremiumsEarnedNet"}
    held = years = 0
    for told in ordinary:
        if told.company.error or told.company.recast or told.company.seat:
            continue
        spans: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        for row in told.rows:
            if row.start:
                spans[row.tag][row.start, row.end] = row.val
        for tag in income & set(spans):
            cells = spans[tag]
            quarters = {span: val for span, val in cells.items() if _length(span) == 1}
            for (start, end), val in cells.items():
                if _length((start, end)) in {2, 3}:
                    within = [part for span, part in quarters.items() if start <= span[0] and span[1] <= end]
                    if len(within) == _length((start, end)):
                        assert sum(within) == val
                        held += 1
            ended = {end for (_, end) in quarters}
            years += sum(1 for span in cells if _length(span) == 4 and span[1] not in ended)
            assert not any(_length(span) == 4 and span[1] in ended for span in cells)
        operating = spans["us-gaap:NetCashProvidedByUsedInOperatingActivities"]
        begun = {start for start, end in operating if _length((start, end)) > 1}
        newest = max(operating, default=("", ""), key=lambda span: span[1])
        assert all(span[0] in begun or span == newest for span in operating if _length(span) == 1)
    assert held > 5_000
    assert years > 5_000


def _length(span: tuple[str, str]) -> int:
    return round(((date.fromisoformat(span[1]) - date.fromisoformat(span[0])).days + 1) / 91.3)


def test_earnings_per_share_are_income_over_average_shares(everyone: list[Told]) -> None:
    held = 0
    for told in everyone[::4]:
        for rows in told.by_filing().values():
            for (start, _), cell in _cells(rows).items():
                earned, shares = (
                    "us-gaap:EarningsPerShareBasic",
                    "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",
                )
                if start and earned in cell:
                    assert abs(cell[earned] - cell["us-gaap:NetIncomeLoss"] / cell[shares]) <= 0.005 + 1e-9
                    held += 1
    assert held > 3_000


def test_a_quarterly_report_shows_the_year_so_far_and_the_year_before(whole: World) -> None:
    told = whole.told(13)
    filing = next(one for one in told.filings if one["form"] == "10-Q" and one["reportDate"] == "2026-06-30")
    rows = [row for row in told.rows if row.accn == filing["accessionNumber"]]
    spans = {row.tag: set() for row in rows}
    for row in rows:
        spans[row.tag].add((row.start, row.end))
    assert spans["us-gaap:NetIncomeLoss"] == {
        ("2026-04-01", "2026-06-30"), ("2025-04-01", "2025-06-30"), ("2026-01-01", "2026-06-30"),
        ("2025-01-01", "2025-06-30"),
    }  # fmt: skip
    assert spans["us-gaap:NetCashProvidedByUsedInOperatingActivities"] == {
        ("2026-01-01", "2026-06-30"), ("2025-01-01", "2025-06-30"),
    }  # fmt: skip
    assert spans["us-gaap:Assets"] == {(None, "2026-06-30"), (None, "2025-12-31")}
    assert {(row.fy, row.fp) for row in rows} == {(2026, "Q2")}


# What was first stated otherwise


def _first_and_last(told: Told, tag: str, unit: str = "USD") -> dict[tuple[str | None, str], tuple[Row, Row]]:
    found: dict[tuple[str | None, str], list[Row]] = defaultdict(list)
    for row in told.rows:
        if row.tag == tag and row.unit == unit:
            found[row.start, row.end].append(row)
    ordered = {span: sorted(rows, key=lambda row: (row.filed, row.accn)) for span, rows in found.items()}
    return {span: (rows[0], rows[-1]) for span, rows in ordered.items()}


def test_splits_change_shares_and_amounts_per_share_of_older_periods_from_their_day_on(everyone: list[Told]) -> None:
    split = [told for told in everyone if told.company.split]
    assert len(split) == 6
    for told in split:
        day, factor = told.company.split or (date.min, 0)
        shares = _first_and_last(told, "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic", "shares")
        across = [(a, b) for a, b in shares.values() if a.filed < str(day) <= b.filed]
        assert across
        assert all(b.val == a.val * factor for a, b in across)
        earned = _first_and_last(told, "us-gaap:EarningsPerShareDiluted", "USD/shares")
        for a, b in earned.values():
            if a.filed < str(day) <= b.filed:
                assert abs(b.val * factor - a.val) <= 0.005 * (factor + 1) + 1e-9


def test_a_changed_year_end_has_a_report_of_the_transition(whole: World) -> None:
    told = whole.told(72)
    rows = [row for row in told.rows if row.form == "10-KT" and row.tag == "us-gaap:NetIncomeLoss"]
    assert {(row.start, row.end) for row in rows} == {("2021-01-01", "2021-06-30"), ("2020-01-01", "2020-12-31")}
    years = {(row.start, row.end) for row in told.rows if row.tag == "us-gaap:Assets" and row.form == "10-K"}
    assert (None, "2022-06-30") in years
    assert (None, "2021-12-31") not in years
    annual = sorted(
        {
            (row.start or "", row.end)
            for row in told.rows
            if row.form in {"10-K", "10-KT"} and row.tag == "us-gaap:NetIncomeLoss"
        }
    )
    assert all((date.fromisoformat(b[0]) - date.fromisoformat(a[1])).days == 1 for a, b in pairwise(annual))
    assert told.submissions["fiscalYearEnd"] == "0630"


def test_identifiers_have_true_check_digits(everyone: list[Told]) -> None:
    for told in everyone:
        lei = told.submissions["lei"]
        if lei:
            assert len(lei) == 20
            assert int("".join(str(int(letter, 36)) for letter in lei)) % 97 == 1


# Statements of simulated companies whose later reports show a year otherwise: other tags, another group, shares, a sign.


QUARTERS = ("Q1", "Q2", "Q3", "Q4")
PERIODS = (*QUARTERS, "FY")
NARROWED = [one.number for one in companies() if one.recast and one.recast[1] == "narrowed"]
(SPUN_OFF,) = [one.number for one in companies() if one.recast and one.recast[1] == "spun_off"]
SPLIT = [one.number for one in companies() if one.split]
(TURNED_FIRST,) = [one.number for one in companies() if one.turned and one.turned[2] == "first"]
(TURNED_AGAIN,) = [one.number for one in companies() if one.turned and one.turned[2] == "again"]


def of(number, label, period, kind="income"):
    """The statement as it stands."""
    return versions(number, kind, label, period)[-1]


def add_up(number, label, *items, kind="income"):
    """Whether the quarters give the year."""
    return all(
        sum(of(number, label, quarter, kind).items[item] for quarter in QUARTERS)
        == of(number, label, "FY", kind).items[item]
        for item in items
    )


# -- a narrowed tag -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", NARROWED)
def test_revenue_is_the_total_in_every_version_whatever_its_tag_came_to_hold(number):
    truth = Truth(number)
    for label in (2022, 2023, 2024, 2025):
        for period in PERIODS:
            told = versions(number, "income", label, period)
            assert told, (label, period)
            for body in told:
                assert body.items["revenue"] == truth.flow("revenue", label, period), (label, period, body.filed_at)
                assert (body.quality.status, body.revision_status) == ("ok", "initial")
        assert add_up(number, label, "revenue", "gross_profit", "net_income")


# -- a spin-off ---------------------------------------------------------------------------------------------------------

#: Item → column of the books.
INCOME = {
    "revenue": "revenue", "cost_of_revenue": "cost", "operating_income": "operating", "income_tax": "tax",
    "net_income": "income",
}  # fmt: skip


def test_no_version_of_a_statement_mixes_the_group_with_what_is_left():
    truth, label = Truth(SPUN_OFF), companies()[SPUN_OFF].recast[0]
    for period in PERIODS:
        told = versions(SPUN_OFF, "income", label, period)
        left = {item: truth.flow(column, label, period) for item, column in INCOME.items()}
        whole = {item: told[0].items[item] for item in INCOME}
        # The part sells three fifths of what is left of the group.
        assert whole["revenue"] == pytest.approx(1.6 * left["revenue"], rel=1e-3)
        for body in told:
            assert {item: body.items[item] for item in INCOME} in (whole, left), (period, body.filed_at)
            assert body.items["gross_profit"] == body.items["revenue"] - body.items["cost_of_revenue"]


# -- regrouped costs, a business held for sale --------------------------------------------------------------------------


# -- a split ------------------------------------------------------------------------------------------------------------

SHARES, PER_SHARE = "weighted_average_shares_basic", "earnings_per_share_basic"


def basis(number, truth, body):
    """How many of today's shares one of a statement's is counted as, 1 before the split; averages are near true ones."""
    first, last = truth.spans(body.fiscal_year)[body.fiscal_period]
    basic = truth.books.basic[first : last + 1]
    times = body.items[SHARES] / (sum(basic) / len(basic) * 1_000)
    (found,) = [one for one in (1, truth.company.split[1]) if abs(times / one - 1) < 0.01]
    return found


@pytest.mark.parametrize("number", SPLIT)
def test_shares_and_earnings_per_share_of_a_period_are_of_one_side_of_a_split(number):
    truth = Truth(number)
    counted = set()
    for key, found in swept(number).items():
        for body in (version.body for version in found):
            if key.kind == "income" and body is not None and SHARES in body.items and PER_SHARE in body.items:
                counted.add(basis(number, truth, body))
                earned = body.items[PER_SHARE] * body.items[SHARES]
                assert abs(earned - body.items["net_income"]) <= 0.006 * body.items[SHARES], body.period_end
    assert counted == {1, truth.company.split[1]}


# -- a sign -------------------------------------------------------------------------------------------------------------
