"""Statements of real companies against values read from the regulator's files by other means and by hand."""

import csv
import gzip
from collections import defaultdict
from functools import lru_cache

import msgspec
import pytest

from almanac.derived.companies.facts import disclosures
from almanac.derived.companies.fiscal_calendar import SLACK, FiscalCalendar
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.reading.tag_mapping import mapping_for
from almanac.domain.companies import is_periodic
from almanac.domain.periods import start_of
from tests.support.plainly import moments_of, plainly, standing

from .company_files import FOLDER, company, day, end_of, swept, whole_companies
from .files import REAL

pytestmark = REAL

#: Tags of which the item is the very value, and the item.
ITEMS = {
    "NetIncomeLoss": "net_income",
    "ProfitLossAttributableToOwnersOfParent": "net_income",
    "OperatingIncomeLoss": "operating_income",
    "ProfitLossFromOperatingActivities": "operating_income",
    "GrossProfit": "gross_profit",
    "EarningsPerShareDiluted": "earnings_per_share_diluted",
    "DilutedEarningsLossPerShare": "earnings_per_share_diluted",
    "Assets": "total_assets",
    "Liabilities": "total_liabilities",
    "StockholdersEquity": "shareholders_equity",
    "EquityAttributableToOwnersOfParent": "shareholders_equity",
    "CashAndCashEquivalentsAtCarryingValue": "cash_and_equivalents",
    "CashAndCashEquivalents": "cash_and_equivalents",
    "NetCashProvidedByUsedInOperatingActivities": "net_cash_flow_from_operations",
    "CashFlowsFromUsedInOperatingActivities": "net_cash_flow_from_operations",
    "PaymentsToAcquirePropertyPlantAndEquipment": "capital_expenditure",
}
REVENUE = {
    "Revenues": "revenue",
    "RevenueFromContractWithCustomerExcludingAssessedTax": "revenue",
}
NOW = 1 << 40


def rows(cik):
    with gzip.open(FOLDER / "expected/vintages.csv.gz", "rt", newline="") as file:
        return [row for row in csv.DictReader(file) if int(row["cik"]) == cik]


@lru_cache(maxsize=2)
def by_end(cik):
    """(item, frequency letter, end) → vintages with their starts, and the kinds of own period that end on a day."""
    found = defaultdict(list)
    for (item, frequency), cells in swept(cik).items.items():
        for key, made in cells.items():
            found[item, frequency.value, key >> 14].extend((start_of(key), one) for one in made)
    for made in found.values():
        made.sort(key=lambda pair: (pair[1].known, pair[1].value is not None))
    mine = company(cik)
    owns = defaultdict(set)
    for own in FiscalCalendar(mine, disclosures(mine.facts), mapping_for(mine.template).core).own_reports:
        owns[own.end].add(own.kind)
    return found, owns


def served(cik, item, frequency, row, moment=NOW):
    """The value of an item for the period of a row as of a moment."""
    value = None
    for start, made in by_end(cik)[0].get((item, frequency, day(row["end"])), ()):
        near = start is None or abs(start.toordinal() - day(row["start"])) <= SLACK
        if made.known <= moment and near:
            value = made.value
    return value


def compared(cik):
    """Each expected row of a filing's own period: (row, which, expected, served)."""
    mine = company(cik)
    owns = by_end(cik)[1]
    for row in rows(cik):
        item = ITEMS.get(row["tag"])
        frequency = {"annual": "A", "quarter": "Q", "instant": "A"}.get(row["kind"])
        kinds = owns.get(day(row["end"]), set())
        if item is None or frequency is None or not kinds or (frequency == "A" and "year" not in kinds):
            continue
        if row["unit"].removesuffix("/shares") != mine.currency:
            continue  # dollars that a filer in another currency gives for convenience
        if is_periodic(row["first_form"]):
            moment = end_of(day(row["first_filed"]))
            yield row, "first", float(row["first_value"]), served(cik, item, frequency, row, moment)
        yield row, "latest", float(row["latest_value"]), served(cik, item, frequency, row)


def same(value, expected):
    """Whether a value is the expected one, or one that this is the rounding of, to millions at the coarsest."""
    if value is None or value == expected:
        return value == expected
    unit = next((unit for unit in (10**6, 10**5, 10**4, 10**3) if expected % unit == 0), 0)
    return abs(value - expected) <= unit / 2 and value % unit != 0 if unit else False


@pytest.mark.slow
def test_first_and_latest_values_of_own_periods_are_those_in_the_files():
    right, all_of, off = defaultdict(int), defaultdict(int), []
    for cik in whole_companies():
        for row, which, expected, value in compared(cik):
            all_of[which] += 1
            right[which] += same(value, expected)
            if not same(value, expected):
                off.append((cik, row["tag"], row["start"], row["end"], which, expected, value))
    assert all_of["first"] > 2_500
    assert all_of["latest"] > 2_500
    # Single balances of a later report replace none of a sheet, so not each value filed last is the one served.
    assert right["latest"] / all_of["latest"] >= 0.99, off
    assert right["first"] / all_of["first"] >= 0.995, off


#: Tags of the hand-checked list that are an item's value, and the item.
CHECKED = {**ITEMS, **REVENUE}


def test_hand_checked_values_are_served():
    with (FOLDER / "expected/checked-values.csv").open(newline="") as file:
        listed = list(csv.DictReader(file))
    compared_rows = 0
    for row in listed:
        cik = int(row["cik"])
        if cik not in whole_companies():
            continue  # Microsoft's file here is a selection without its filings' own numbers
        if cik == 104169 and row["tag"] == "RevenueFromContractWithCustomerExcludingAssessedTax":
            continue  # net sales, of which total revenue is more: the note of that row says so
        frequency = "A" if row["fiscal_period"].startswith("FY") else "Q"
        value = served(cik, CHECKED[row["tag"]], frequency, row)
        assert value == float(row["value"]), row
        compared_rows += 1
    assert compared_rows == 35


def of(cik, item, frequency, start, end, moment=None):
    row = {"start": start, "end": end}
    return served(cik, item, frequency, row, NOW if moment is None else end_of(day(moment)))


def body(cik, kind, frequency, end):
    """The last version of a statement."""
    (found,) = [
        msgspec.to_builtins(versions[-1].body)
        for key, versions in swept(cik).statements.items()
        if (key.kind, key.frequency.value, key.period >> 14) == (kind, frequency, day(end)) and versions[-1].body
    ]
    return found


def spans(cik):
    mine = company(cik)
    return FiscalCalendar(mine, disclosures(mine.facts), mapping_for(mine.template).core).at(NOW)


def test_apple():
    apple = 320193
    # 10-K/A 0001193125-10-012091 of January 2010 restates the year for new accounting of the iPhone's revenue;
    # 10-K 0001193125-09-214859 had 36,537 million.
    year = ("2008-09-28", "2009-09-26")
    assert of(apple, "revenue", "A", *year, moment="2009-10-27") == 36_537e6
    assert of(apple, "revenue", "A", *year, moment="2010-01-25") == 42_905e6
    # Years of 52 and 53 weeks: the latter ends on 2023-09-30 (10-K 0000320193-23-000106).
    years = spans(apple).years
    assert [years[day(end)].end - years[day(end)].start + 1 for end in ("2022-09-24", "2023-09-30")] == [364, 371]
    # Split of four for one in August 2020: 11.89 in 0000320193-19-000119, 2.97 in 0000320193-20-000096.
    year = ("2018-09-30", "2019-09-28")
    assert of(apple, "earnings_per_share_diluted", "A", *year, moment="2019-10-31") == 11.89
    assert of(apple, "earnings_per_share_diluted", "A", *year) == 2.97
    # 4 · 15,408,095 − 3 · 15,463,175 thousand (0000320193-24-000123 and -24-000081); 14,736 million of income over it.
    last = ("2024-06-30", "2024-09-28")
    assert of(apple, "weighted_average_shares_diluted", "Q", *last) == 15_242_855_000
    assert of(apple, "earnings_per_share_diluted", "Q", *last) == pytest.approx(14_736e6 / 15_242_855_000)


def test_walmart():
    walmart = 104169
    # Total revenue with membership income, not net sales of 642,637 million (0000104169-24-000056).
    assert of(walmart, "revenue", "A", "2023-02-01", "2024-01-31") == 648_125e6
    # Split of three for one in February 2024, before that report: 1.91 in it already.
    assert of(walmart, "earnings_per_share_diluted", "A", "2023-02-01", "2024-01-31") == 1.91
    statement = body(walmart, "income", "A", "2024-01-31")
    # The filer's own name of the year that ends in January 2024 (cover of 0000104169-24-000056).
    assert (statement["fiscalYear"], statement["calendarYear"]) == (2024, 2023)
    assert statement["items"]["revenue"] == 648_125_000_000


def test_home_depot():
    home_depot = 354950
    # 53 weeks to 2025-02-02 (0000354950-25-000085): 14,806 less 11,809 million of nine months (0000354950-24-000240).
    assert of(home_depot, "net_income", "Q", "2024-10-28", "2025-02-02") == 2_997e6
    assert spans(home_depot).quarters[day("2025-02-02")].start == day("2024-10-28")
    # The proxy statement 0000354950-26-000090 rounds the year to 14,810 million and never replaces it.
    assert of(home_depot, "net_income", "A", "2024-01-29", "2025-02-02") == 14_806e6


def test_nike():
    nike = 320187
    # Years end in May. 5,841 (0000320187-23-000039) − 3,588 (-23-000013) million; cash flow is never given by quarter.
    assert of(nike, "net_cash_flow_from_operations", "Q", "2023-03-01", "2023-05-31") == 2_253e6
    statement = body(nike, "cash_flow", "Q", "2023-05-31")
    assert (statement["fiscalYear"], statement["fiscalPeriod"], statement["basis"]) == (2023, "Q4", "derived")
    assert (statement["calendarYear"], statement["calendarQuarter"]) == (2023, 2)
    assert statement["derivedItems"]["net_cash_flow_from_operations"] == {
        "method": "fy_minus_9m",
        "derivedFrom": [
            "sec:company_0000320187:us_gaap_net_cash_provided_by_used_in_operating_activities:A",
            "sec:company_0000320187:us_gaap_net_cash_provided_by_used_in_operating_activities:N",
        ],
    }
    # 5,070 − 4,039 million of income.
    assert of(nike, "net_income", "Q", "2023-03-01", "2023-05-31") == 1_031e6


def test_under_armour():
    under_armour = 1336917
    years = spans(under_armour).years
    assert [(day("2021-12-31") in years, day("2022-03-31") in years, day("2023-03-31") in years)] == [
        (True, False, True)
    ]
    assert years[day("2023-03-31")].start == day("2022-04-01")
    # The three months of transition: 10-QT 0001336917-22-000017, restated in 0001336917-24-000073.
    transition = ("2022-01-01", "2022-03-31")
    assert of(under_armour, "net_income", "Q", *transition, moment="2022-05-09") == -59_610e3
    assert of(under_armour, "net_income", "Q", *transition) == -63_146e3
    # 386,769 (0001336917-23-000021) − 216,224 (-23-000009) thousand, until 0001336917-24-000073 gives the quarter itself.
    last = ("2023-01-01", "2023-03-31")
    assert of(under_armour, "net_income", "Q", *last, moment="2023-05-24") == 170_545e3
    assert of(under_armour, "net_income", "Q", *last) == 174_360e3
    # Three tags of revenue in 0001336917-14-000008; gross profit 712,836 and cost 759,848 thousand tell which is all.
    assert of(under_armour, "revenue", "A", "2011-01-01", "2011-12-31") == 1_472_684e3


def test_kraft_heinz():
    kraft_heinz = 1637459
    # 10-K 0001637459-18-000015, restated in June 2019 by 10-K 0001637459-19-000049: the year and all its quarters.
    year = ("2017-01-01", "2017-12-30")
    assert of(kraft_heinz, "operating_income", "A", *year, moment="2018-02-16") == 6_773e6
    assert of(kraft_heinz, "operating_income", "A", *year, moment="2019-06-06") == 6_773e6
    assert of(kraft_heinz, "operating_income", "A", *year, moment="2019-06-07") == 6_057e6
    ends = [("2017-01-01", "2017-04-01"), ("2017-04-02", "2017-07-01"), ("2017-07-02", "2017-09-30"), ("2017-10-01", "2017-12-30")]  # fmt: skip
    before = [of(kraft_heinz, "net_income", "Q", *span, moment="2018-02-16") for span in ends]
    after = [of(kraft_heinz, "net_income", "Q", *span) for span in ends]
    assert before == [893e6, 1_159e6, 944e6, 8_003e6]
    assert after == [883e6, 1_156e6, 913e6, 7_989e6]
    assert (sum(before), sum(after)) == (10_999e6, 10_941e6)
    versions = swept(kraft_heinz).statements
    (mine,) = [
        v for k, v in versions.items() if (k.kind, k.frequency.value, k.period >> 14) == ("income", "A", day(year[1]))
    ]
    restated = next(msgspec.to_builtins(v.body) for v in mine if v.body.accession == "0001637459-19-000049")
    assert (restated["revisionStatus"], restated["form"]) == ("revised", "10-K")


def test_hertz():
    hertz = 1657853
    grid = spans(hertz)
    # Registered in 2016 as the successor; its first report is of June 2016, its annual reports reach back to 2014.
    assert min(grid.years) <= day("2015-12-31")
    assert day("2016-06-30") in grid.quarters
    # The year of bankruptcy: 0001657853-21-000006.
    assert of(hertz, "net_income", "A", "2020-01-01", "2020-12-31") == -1_714e6
    assert of(hertz, "total_assets", "A", None, "2020-12-31") == 16_908e6
    # Its balance sheet is not divided into current and not; 6,267 million of debt from 0001657853-22-000012.
    balance = body(hertz, "balance", "A", "2020-12-31")["items"]
    assert {"current_assets", "current_liabilities", "short_term_debt"}.isdisjoint(balance)
    assert balance["long_term_debt"] == 6_267_000_000


def test_tsmc():
    tsmc = 1046179
    assert company(tsmc).currency == "TWD"
    # 20-F 0001193125-25-083423: 2,894,307.7 million Taiwan dollars, not the 88,268 million dollars beside them.
    assert of(tsmc, "revenue", "A", "2024-01-01", "2024-12-31") == 2_894_307.7e6
    grid = spans(tsmc)
    assert grid.quarters == {}
    assert sorted(grid.halves) == [day("2021-06-30"), day("2021-12-31")]
    # 6-K 0001193125-21-301021; 1,587,415.0 (0001193125-22-104891) − 734,555.4 million.
    assert of(tsmc, "revenue", "S", "2021-01-01", "2021-06-30") == 734_555.4e6
    assert of(tsmc, "revenue", "S", "2021-07-01", "2021-12-31") == 852_859.6e6
    first = body(tsmc, "income", "S", "2021-06-30")
    assert (first["fiscalPeriod"], first["form"], first["currency"]) == ("H1", "6-K", "TWD")
    assert of(tsmc, "total_assets", "S", None, "2021-06-30") == 3_092_688.8e6


def test_alphabet():
    alphabet = 1652044
    # Split of twenty for one in July 2022: 112.20 in 0001652044-22-000019, 5.61 in 0001652044-23-000016.
    year = ("2021-01-01", "2021-12-31")
    assert of(alphabet, "earnings_per_share_diluted", "A", *year, moment="2022-02-02") == 112.2
    assert of(alphabet, "earnings_per_share_diluted", "A", *year, moment="2023-02-02") == 112.2
    assert of(alphabet, "earnings_per_share_diluted", "A", *year, moment="2023-02-03") == 5.61
    # The first quarter was filed before it and restated a year later: 24.62 (-22-000029), 1.23 (-23-000045).
    first = ("2022-01-01", "2022-03-31")
    assert of(alphabet, "earnings_per_share_diluted", "Q", *first, moment="2022-10-26") == 24.62
    assert of(alphabet, "earnings_per_share_diluted", "Q", *first) == 1.23
    # 59,972 − 46,348 million. Shares of the quarter are not in the file (they are given by class), so no figure per share.
    last = ("2022-10-01", "2022-12-31")
    assert of(alphabet, "net_income", "Q", *last) == 13_624e6
    assert of(alphabet, "earnings_per_share_diluted", "Q", *last) is None
    # The successor of October 2015 has Google's accounts of the years before.
    assert day("2014-12-31") in spans(alphabet).years


def test_nvidia():
    nvidia = 1045810
    # Split of ten for one in June 2024: 0001045810-24-000029, 0001045810-25-000023.
    year = ("2023-01-30", "2024-01-28")
    assert of(nvidia, "earnings_per_share_diluted", "A", *year, moment="2024-02-21") == 11.93
    assert of(nvidia, "earnings_per_share_diluted", "A", *year) == 1.19
    assert of(nvidia, "weighted_average_shares_diluted", "A", *year, moment="2024-02-21") == 2_494e6
    assert of(nvidia, "weighted_average_shares_diluted", "A", *year) == 24_940e6
    # Capital expenditure moved to the tag of productive assets: 3,236 − 2,159 million.
    assert of(nvidia, "capital_expenditure", "A", "2024-01-29", "2025-01-26") == 3_236e6
    assert of(nvidia, "capital_expenditure", "Q", "2024-10-28", "2025-01-26") == 1_077e6
    statement = body(nvidia, "income", "A", "2024-01-28")
    assert (statement["fiscalYear"], statement["calendarYear"]) == (2024, 2023)


def test_jpmorgan():
    bank = 19617
    # 10-K 0001628280-26-008131; nine months 136,649 million in 0001628280-25-048859.
    year = ("2025-01-01", "2025-12-31")
    assert of(bank, "revenue", "A", *year) == 182_447e6
    assert of(bank, "revenue", "Q", "2025-10-01", "2025-12-31") == 45_798e6
    assert of(bank, "net_interest_income", "A", *year) == 95_443e6
    assert of(bank, "provision_for_credit_losses", "A", *year) == 14_212e6
    assert of(bank, "net_income", "A", *year) == 57_048e6
    assert of(bank, "deposits", "A", None, "2025-12-31") == 2_559_320e6
    income = body(bank, "income", "A", "2025-12-31")["items"]
    assert {"gross_profit", "ebitda", "cost_of_revenue"}.isdisjoint(income)
    assert {"current_assets", "inventory"}.isdisjoint(body(bank, "balance", "A", "2025-12-31")["items"])


@pytest.mark.parametrize("cik", [320193, 1336917, 1046179, 1637459])
def test_what_stands_at_every_filing_is_what_is_computed_plainly(cik):
    mine = company(cik)
    outcome = swept(cik)
    moments = moments_of(mine)
    for moment in moments[:: max(1, len(moments) // 12)]:
        assert standing(outcome, moment) == plainly(as_known(mine, moment)), moment
