"""What a later filing gives with fewer digits: it restates nothing, and what it gives otherwise is a restatement still."""

import pytest

from tests.support.filer import Filer, day, value, ytd

REVENUE, TAX, COST = "Revenues", "IncomeTaxExpenseBenefit", "CostOfRevenue"
CASH = "NetCashProvidedByUsedInOperatingActivities"
END = "2020-12-31"
#: Lines of later years, each a multiple of their filing's unit and of no coarser one.
OTHERS = ("NetIncomeLoss", CASH, "OperatingIncomeLoss", "ResearchAndDevelopmentExpense", "InterestExpense")


def report(filer, year, lines, unit):
    """An annual report with lines of its own in that unit, and others of an earlier year."""
    own = {tag: {ytd(year, 4): (7_000 + 123 * place) * unit} for place, tag in enumerate(OTHERS)}
    for tag, values in lines.items():
        own.setdefault(tag, {}).update(values)
    return filer.file("10-K", f"{year + 1}-02-20", f"{year}-12-31", own, fy=year, fp="FY")


def stated_then_given(first, later, *, unit=1e5, year=2023):
    """Lines of 2020 as the report of 2020 gives them to a hundred thousand, and as a later one does."""
    filer = Filer()
    report(filer, 2020, {tag: {ytd(2020, 4): amount} for tag, amount in first.items()}, 1e5)
    report(filer, year, {tag: {ytd(2020, 4): amount} for tag, amount in later.items()}, unit)
    return filer


def year_of(filer, *items):
    years = filer.financials().years
    return [value(years, item, END) for item in items]


def annual_income(filer):
    return next(
        versions[-1].body
        for key, versions in filer.swept().statements.items()
        if (key.kind, key.frequency, key.period >> 14) == ("income", "A", day(END))
    )


def test_a_number_of_the_text_takes_no_exact_numbers_place_and_revises_nothing():
    filer = stated_then_given({REVENUE: 8_765.4e6, TAX: 543.2e6}, {REVENUE: 8_800e6, TAX: 500e6})
    assert year_of(filer, "revenue", "income_tax") == [8_765.4e6, 543.2e6]
    assert annual_income(filer).revision_status == "initial"
    assert annual_income(filer).quality.status == "ok"


@pytest.mark.parametrize(
    ("revenue", "tax"),
    [
        (8_700e6, 543.2e6),  # not 8,765.4 rounded
        (8_765.5e6, 543.2e6),  # as exact as before
        (8_800e6, 600.3e6),  # the tax of the year is another: the year is given anew
    ],
)
def test_what_is_no_rounding_restates(revenue, tax):
    filer = stated_then_given({REVENUE: 8_765.4e6, TAX: 543.2e6}, {REVENUE: revenue, TAX: tax})
    assert year_of(filer, "revenue", "income_tax") == [revenue, tax]
    assert annual_income(filer).revision_status == "revised"


def test_a_round_number_of_a_filing_in_coarse_units_restates():
    filer = stated_then_given({REVENUE: 8_765.4e6}, {REVENUE: 8_770e6}, unit=1e6)
    assert year_of(filer, "revenue") == [8_770e6]


@pytest.mark.parametrize(("off", "restated"), [(0.748e6, False), (1.748e6, False), (2.748e6, True)])
def test_a_column_in_millions_adds_up_with_numbers_a_unit_or_two_off(off, restated):
    exact = 5_300.748e6
    filer = Filer()
    report(filer, 2020, {COST: {ytd(2020, 4): exact}, REVENUE: {ytd(2020, 4): 6_824.413e6}}, 1e3)
    report(filer, 2021, {COST: {ytd(2020, 4): exact - off}, REVENUE: {ytd(2020, 4): 6_824e6}}, 1e6)
    assert year_of(filer, "cost_of_revenue", "revenue") == [exact - off if restated else exact, 6_824.413e6]


def test_assets_of_the_text_are_no_other_basis_and_their_sheet_is_not_given_anew():
    filer = Filer()
    sheet = {"Assets": 71_797e6, "Liabilities": 51_432e6, "StockholdersEquity": 20_365e6, "Goodwill": 5_432e6}
    report(filer, 2020, {tag: {END: amount} for tag, amount in sheet.items()}, 1e6)
    report(filer, 2021, {"Assets": {END: 72_000e6}, "StockholdersEquity": {END: 20_400e6}}, 1e6)
    balances = filer.financials().balances
    items = ("total_assets", "total_liabilities", "shareholders_equity", "goodwill")
    assert [value(balances, item, END) for item in items] == list(sheet.values())
    (body,) = [
        versions[-1].body
        for key, versions in filer.swept().statements.items()
        if (key.kind, key.frequency, key.period >> 14) == ("balance", "A", day(END))
    ]
    assert (body.quality.status, body.revision_status) == ("ok", "initial")
