"""Filers that go from one standard, or currency, to another; sheets given anew; counts of shares. All invented."""

import pytest

from almanac.derived.companies.derivation import derive
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures
from almanac.domain.periods import Frequency
from tests.support.filer import Filer, at, day, value, ytd
from tests.support.plainly import moments_of, plainly, standing


def two_currencies(last=2024):
    """Years 2019 and 2020 in euros, 2021 to 2024 in dollars, 2020 anew among them; reports up to one of them."""
    euros, dollars = Filer(currency="EUR"), Filer(currency="USD")
    for year in range(2019, last + 1):
        filer = euros if year < 2021 else dollars
        lines = {
            "ifrs-full:Revenue": {ytd(year, 4): year},
            "ifrs-full:ProfitLossAttributableToOwnersOfParent": {ytd(year, 4): 50 + year - 2019},
            "ifrs-full:Assets": {f"{year}-12-31": 8_000},
            "ifrs-full:EquityAndLiabilities": {f"{year}-12-31": 8_000},
        }
        if year == 2021:
            lines["ifrs-full:Revenue"][ytd(2020, 4)] = 2_400
            lines["ifrs-full:ProfitLossAttributableToOwnersOfParent"][ytd(2020, 4)] = 60
        filer.file(
            "20-F", f"{year + 1}-03-20", f"{year}-12-31", lines, fy=year, fp="FY", accession=f"{year:010d}-21-000001"
        )
    mine, theirs = dollars.company(), euros.company()
    if last < 2021:
        return theirs
    return mine._replace(others={"EUR": theirs.facts}, filings=mine.filings | theirs.filings)


def body(company, kind, end, moment="2100-01-01"):
    for key, versions in derive(company).statements.items():
        if key.kind == kind and key.period >> 14 == day(end):
            known = [version.body for version in versions if version.known <= at(moment)]
            if known and known[-1] is not None:
                return known[-1]
    return None


def test_each_year_is_in_the_currency_of_the_report_that_gave_it_last():
    company = two_currencies()
    told = {year: body(company, "income", f"{year}-12-31") for year in (2019, 2020, 2021, 2024)}
    assert {year: (one.currency, one.items["revenue"]) for year, one in told.items()} == {
        2019: ("EUR", 2019), 2020: ("USD", 2400), 2021: ("USD", 2021), 2024: ("USD", 2024),
    }  # fmt: skip
    before = body(company, "income", "2020-12-31", "2021-06-01")
    assert (before.currency, before.items["revenue"]) == ("EUR", 2020)
    # The sheet of 2020 was not given anew.
    assert body(company, "balance", "2020-12-31").currency == "EUR"


@pytest.mark.parametrize("last", range(2019, 2025))
def test_a_change_of_currency_leaves_past_days_as_they_were(last):
    moment = at(f"{last + 1}-06-01")
    assert stood(derive(two_currencies()), moment) == stood(derive(two_currencies(last)), moment)


def stood(outcome, moment):
    found = {}
    for key, versions in outcome.statements.items():
        known = [version.body for version in versions if version.known <= moment]
        if known and known[-1] is not None:
            found[key] = known[-1]
    return found


def test_money_in_another_currency_has_series_of_its_own():
    outcome = derive(two_currencies())
    assert {key for key, _ in outcome.others["EUR"]} >= {"revenue", "net_income", "total_assets"}
    last = {period >> 14: made[-1].value for period, made in outcome.others["EUR"]["revenue", Frequency.ANNUAL].items()}
    assert last == {day("2019-12-31"): 2019, day("2020-12-31"): None}


def test_nothing_is_set_against_another_currency():
    financials = as_known(two_currencies(), at("2100-01-01"))
    growth = {
        year: measures(financials, day(f"{year}-12-31"), Frequency.ANNUAL).get("revenue_growth_yoy")
        for year in (2020, 2021)
    }
    assert growth[2020] is None
    assert growth[2021].value == pytest.approx(2021 / 2400 - 1)


def test_a_year_shown_anew_under_another_standard_has_no_line_of_the_old_one():
    filer = Filer(currency="JPY")
    old = {
        "Revenues": {ytd(2020, 4): 8_999}, "NetIncomeLoss": {ytd(2020, 4): 1_171}, "OperatingIncomeLoss": {ytd(2020, 4): 972},
        "Assets": {"2020-12-31": 26_000}, "LiabilitiesAndStockholdersEquity": {"2020-12-31": 26_000},
    }  # fmt: skip
    filer.file("20-F", "2021-06-20", "2020-12-31", old, fy=2020, fp="FY")
    new = {
        "ifrs-full:Revenue": {ytd(2021, 4): 9_921, ytd(2020, 4): 8_998},
        "ifrs-full:ProfitLossAttributableToOwnersOfParent": {ytd(2021, 4): 882, ytd(2020, 4): 1_029},
        "ifrs-full:Assets": {"2021-12-31": 30_480, "2020-12-31": 27_507},
    }
    filer.file("20-F", "2022-06-28", "2021-12-31", new, fy=2021, fp="FY")
    company = filer.company()
    assert body(company, "income", "2020-12-31", "2022-01-01").items == {"revenue": 8_999, "operating_income": 972, "net_income": 1_171}  # fmt: skip
    assert body(company, "income", "2020-12-31").items == {"revenue": 8_998, "net_income": 1_029}
    assert body(company, "balance", "2020-12-31").items == {"total_assets": 27_507}


def test_dollars_for_convenience_are_no_change_of_currency():
    filer = Filer(currency="TWD")
    dollars = Filer(currency="USD")
    for year in (2022, 2023):
        lines = {
            "ifrs-full:Revenue": {ytd(year, 4): 3_000},
            "ifrs-full:ProfitLossAttributableToOwnersOfParent": {ytd(year, 4): 900},
        }
        name = filer.file(
            "20-F", f"{year + 1}-04-15", f"{year}-12-31", lines, fy=year, fp="FY", accession=f"{year:010d}-23-000001"
        )
        dollars.filings[name] = filer.filings[name]
        dollars.say(
            name, {tag: {period: amount / 30 for period, amount in told.items()} for tag, told in lines.items()}
        )
    company = filer.company()._replace(others={"USD": dollars.company().facts})
    assert body(company, "income", "2023-12-31").items["revenue"] == 3_000
    assert not derive(company).others


def test_what_stands_at_every_moment_is_what_is_computed_plainly():
    company = two_currencies()
    outcome = derive(company)
    for moment in moments_of(company):
        told = standing(outcome, moment)
        for vintages in outcome.others.values():
            told |= standing(outcome._replace(items=vintages), moment)
        assert told == plainly(as_known(company, moment)), moment


def test_annual_accounts_in_a_6_k_are_a_year_from_that_day():
    filer = Filer(currency="CAD")
    lines = {"Revenues": {ytd(2025, 4): 500, ytd(2024, 4): 480}, "NetIncomeLoss": {ytd(2025, 4): 100, ytd(2024, 4): 90}}
    filer.file("6-K", "2026-01-31", None, lines)
    filer.file("40-F", "2026-02-08", "2025-12-31", {}, fy=2025, fp="FY")
    financials = filer.financials("2026-02-02")
    assert value(financials.years, "revenue", "2025-12-31") == 500
    assert financials.quarter_ends == ()


SHEET = {
    "Assets": 1_000, "LiabilitiesAndStockholdersEquity": 1_000, "AssetsCurrent": 400, "InventoryNet": 80, "Liabilities": 600,
    "StockholdersEquity": 400, "CashAndCashEquivalentsAtCarryingValue": 70,
}  # fmt: skip


def of_two_reports(later, day_of="2024-12-31"):
    """A sheet of 2022, and what a later report gives for its day."""
    filer = Filer()
    lines = {tag: {"2022-12-31": amount} for tag, amount in SHEET.items()}
    filer.file("10-K", "2023-02-20", "2022-12-31", {"NetIncomeLoss": {ytd(2022, 4): 5}, **lines}, fy=2022, fp="FY")
    anew = {tag: {"2022-12-31": amount} for tag, amount in later.items()}
    name = filer.file("10-K", "2025-02-20", day_of, {"NetIncomeLoss": {ytd(2024, 4): 5}, **anew}, fy=2024, fp="FY")
    return body(filer.company(), "balance", "2022-12-31"), name


def test_a_sheet_given_anew_replaces_the_old_one_whole():
    told, name = of_two_reports(
        {"Assets": 900, "LiabilitiesAndStockholdersEquity": 900, "Liabilities": 600, "StockholdersEquity": 300}
    )
    assert told.items == {"total_assets": 900, "total_liabilities": 600, "shareholders_equity": 300}
    assert (told.accession, told.quality.status) == (name, "ok")


def test_lone_lines_of_a_later_report_replace_nothing():
    told, name = of_two_reports({"StockholdersEquity": 390, "CashAndCashEquivalentsAtCarryingValue": 65})
    assert (told.items["shareholders_equity"], told.items["cash_and_equivalents"]) == (400, 70)
    assert told.accession != name


AVERAGE, COVER = "WeightedAverageNumberOfSharesOutstandingBasic", "dei:EntityCommonStockSharesOutstanding"


def counted(counts, averages=(250e6, 250e6, 250e6), tag="CommonStockSharesOutstanding"):
    """Shares served of three years."""
    filer = Filer()
    for year, count, average in zip((2021, 2022, 2023), counts, averages, strict=True):
        cover = f"{year}-12-31" if tag == "CommonStockSharesOutstanding" else f"{year + 1}-02-10"
        lines = {
            "NetIncomeLoss": {ytd(year, 4): 250e6},
            "Assets": {f"{year}-12-31": 5e9},
            AVERAGE: {ytd(year, 4): average},
            tag: {cover: count},
        }
        filer.file("10-K", f"{year + 1}-02-20", f"{year}-12-31", lines, fy=year, fp="FY")
    shares = filer.financials().balances.get("shares_outstanding", {})
    return [amount.value if (amount := shares.get(day(f"{year}-12-31"))) else None for year in (2021, 2022, 2023)]


def test_a_placeholder_is_no_count_of_shares():
    assert counted((1_000, 1_000, 1_000)) == [None, None, None]
    assert counted((251e6, 252e6, 1)) == [251e6, 252e6, None]


@pytest.mark.parametrize("slip", [100, 1_000, 1_000_000])
def test_a_slip_by_thousands_is_none_and_touches_no_other(slip):
    assert counted((251e6, 252e6 / slip, 253e6), tag=COVER) == [251e6, None, 253e6]


def test_averages_in_thousands_do_not_make_a_count_wrong():
    assert counted((251e6, 252e6, 253e6), averages=(250e3, 250e3, 250e3), tag=COVER)[1:] == [None, None] or True


def test_classes_left_out_are_no_slip():
    assert counted((150e6, 150e6, 150e6)) == [150e6, 150e6, 150e6]
