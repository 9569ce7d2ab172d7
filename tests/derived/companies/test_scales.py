"""Filings that give money in thousands by mistake: what tells them, what is said of them, and nothing from the future."""

import pytest

from almanac.derived.companies import ratios, ttm
from almanac.derived.companies.derivation import derive
from almanac.derived.companies.misstatements import slips
from almanac.domain.observations import FAILED
from tests.support.filer import Filer, at, day, quarter, value, ytd

SHARES = 50_100_000
PER_SHARE = ("EarningsPerShareBasic", "EarningsPerShareDiluted")
AVERAGE = "WeightedAverageNumberOfSharesOutstandingBasic"


def flows(span, sales, *, money=1.0, averages=1.0, told=True):
    """An income statement with a margin of 8 percent, in units or times something."""
    lines = {"Revenues": sales, "CostOfRevenue": 0.6 * sales, "GrossProfit": 0.4 * sales, "NetIncomeLoss": 0.08 * sales}
    lines = {tag: {span: round(amount * money)} for tag, amount in lines.items()}
    if told:
        lines |= {tag: {span: round(0.08 * sales / 50e6, 2)} for tag in PER_SHARE}
        lines[AVERAGE] = {span: round(50e6 * averages)}
    return lines


def sheet(end, assets, *, money=1.0):
    lines = {"Assets": 1.0, "LiabilitiesAndStockholdersEquity": 1.0, "StockholdersEquity": 0.6, "Liabilities": 0.4}
    return {tag: {end: round(assets * part * money)} for tag, part in lines.items()}


def annual(filer, year, *reports, cover=SHARES, told=True, money=1.0, averages=1.0, sheets=None):
    """A 10-K of a year and, after it, of the years before: `reports` are their sales, the last year first."""
    lines = {"dei:EntityCommonStockSharesOutstanding": {f"{year + 1}-02-28": cover}} if cover else {}
    for place, sales in enumerate(reports):
        mine = flows(ytd(year - place, 4), sales, money=money, averages=averages, told=told)
        mine |= sheet(f"{year - place}-12-31", 1.1 * sales, money=money if sheets is None else sheets)
        for tag, values in mine.items():
            lines.setdefault(tag, {}).update(values)
    return filer.file("10-K", f"{year + 1}-03-10", f"{year}-12-31", lines, fy=year, fp="FY")


def three_years(**last):
    """Two right reports, and one of 2023 of which `last` says how it is filed."""
    filer = Filer()
    annual(filer, 2021, 800e6)
    annual(filer, 2022, 896e6, 800e6)
    return filer, annual(filer, 2023, *last.pop("sales", (1_003e6, 896e6)), **last)


def statements(filer, moment="2100-01-01"):
    """Type and last year → the body as known."""
    found = {}
    for key, versions in derive(filer.company()).statements.items():
        known = [one.body for one in versions if one.known <= at(moment)]
        if known and known[-1] is not None and key.frequency == "A":
            found[key.kind, known[-1].fiscal_year] = known[-1]
    return found


def failed(body):
    return {check.name for check in body.quality.checks if check.status == "failed"}


@pytest.mark.parametrize(
    "last",
    [
        {"money": 1e-3, "averages": 1e-3},
        {"money": 1e-3},
        {"money": 1e3},
        {"money": 1e-6},
        {"money": 1e-3, "told": False},
        {"money": 1e-3, "sales": (1_003e6,)},
        {"money": 1e-3, "sales": (2_700e6,)},
        {"money": 1e-3, "sales": (300e6,)},
        {"money": 1e-3, "sales": (8_000e6,)},
        {"money": 1e-3, "sales": (110e6,)},
        {"money": 1e3, "sales": (8_000e6,)},
    ],
)
def test_a_report_in_another_scale_fails_with_all_its_money(last):
    filer, mistaken = three_years(**last)
    assert list(slips(filer.company())) == [mistaken]
    bodies = statements(filer)
    for kind in ("income", "balance"):
        assert "scale" in failed(bodies[kind, 2023])
        assert bodies[kind, 2023].quality.status == "failed"
        # What it gives anew of the year before replaces nothing.
        assert "scale" not in failed(bodies[kind, 2022])
    assert bodies["income", 2022].items["revenue"] == 896e6
    assert bodies["balance", 2023].items["shares_outstanding"] == SHARES
    outcome = derive(filer.company(), measure=ratios.measures, reach=ttm.REACH_DAYS)
    for item in ("revenue", "net_income", "total_assets"):
        assert outcome.items[item, "A"][max(outcome.items[item, "A"])][-1].flags & FAILED


def test_a_cover_in_thousands_is_no_witness_for_money_in_thousands():
    filer, mistaken = three_years(money=1e-3, averages=1e-3, cover=SHARES // 1_000)
    assert list(slips(filer.company())) == [mistaken]
    sheet_ = statements(filer)["balance", 2023]
    (scale,) = [check for check in sheet_.quality.checks if check.name == "scale"]
    assert {"shares_outstanding", "total_assets"} <= {*scale.items}


def test_a_sheet_alone_in_another_scale_fails_alone():
    filer, mistaken = three_years(sheets=1e-3)
    assert list(slips(filer.company())) == [mistaken]
    bodies = statements(filer)
    assert "scale" in failed(bodies["balance", 2023])
    assert "scale" not in failed(bodies["income", 2023])


def test_average_shares_in_another_scale_leave_the_count_and_the_money():
    filer, _ = three_years(averages=1e-3)
    assert not slips(filer.company())
    bodies = statements(filer)
    assert "scale" in failed(bodies["income", 2023])
    assert bodies["balance", 2023].items["shares_outstanding"] == SHARES
    outcome = filer.swept()
    revenue = outcome.items["revenue", "A"]
    assert not revenue[max(revenue)][-1].flags & FAILED


@pytest.mark.parametrize("growth", [400, 1_000, 2_500])
def test_a_shell_that_becomes_a_company_is_of_one_scale(growth):
    filer = Filer()
    annual(filer, 2021, 1e6, cover=SHARES // 8)
    annual(filer, 2022, 1e6 * growth, 1e6)
    assert not slips(filer.company())


def test_another_currency_is_no_other_scale():
    filer = Filer()
    annual(filer, 2021, 800e6)
    annual(filer, 2022, 896e6, 800e6)
    company = filer.company()
    won = {
        tag: {
            span: [state._replace(value=state.value * 1_300) for state in history] for span, history in periods.items()
        }
        for tag, periods in company.facts.items()
    }
    last = {tag: {s: h for s, h in of.items() if s[1] == day("2022-12-31")} for tag, of in company.facts.items()}
    first = {tag: {s: h for s, h in of.items() if s[1] != day("2022-12-31")} for tag, of in won.items()}
    assert not slips(company._replace(facts=last, others={"KRW": first}))


def test_the_report_after_a_mistaken_one_is_right():
    filer, mistaken = three_years(money=1e-3, averages=1e-3)
    annual(filer, 2024, 1_200e6, 1_003e6)
    assert list(slips(filer.company())) == [mistaken]
    bodies = statements(filer)
    assert bodies["income", 2024].quality.status == bodies["income", 2023].quality.status == "ok"
    assert bodies["income", 2023].items["revenue"] == 1_003e6
    assert "scale" in failed(statements(filer, "2024-12-31")["income", 2023])


def test_a_first_report_is_known_to_be_mistaken_from_the_one_that_shows_it():
    filer = Filer()
    first = annual(filer, 2021, 800e6, 700e6, money=1e-3, averages=1e-3)
    annual(filer, 2022, 896e6, 800e6)
    slip = slips(filer.company())[first]
    assert slip.since == at("2023-03-10")
    assert "scale" not in failed(statements(filer, "2022-12-31")["income", 2020])
    assert "scale" in failed(statements(filer)["income", 2020])
    assert statements(filer)["income", 2021].items["revenue"] == 800e6


def test_a_quarter_in_another_scale_spoils_what_is_made_of_it():
    filer = Filer()
    for number, form in ((1, "10-Q"), (2, "10-Q"), (3, "10-Q"), (4, "10-K")):
        money = 1e-3 if number == 3 else 1.0
        end = ytd(2024, number)[1]
        lines = flows(ytd(2024, number), number * 200e6 * 1.05**number, money=money, averages=money)
        if number < 4:
            for tag, values in flows(quarter(2024, number), 200e6 * 1.05**number, money=money, averages=money).items():
                lines[tag] = lines[tag] | values
        lines |= sheet(end, 900e6, money=money)
        lines["dei:EntityCommonStockSharesOutstanding"] = {
            f"{2024 + number // 4}-{(3 * number + 1) % 12:02d}-20": SHARES
        }
        filer.file(form, f"{2024 + number // 4}-{(3 * number + 2) % 12:02d}-05", end, lines, fy=2024, fp=f"Q{number}")
    found = {}
    for key, versions in derive(filer.company()).statements.items():
        found[key.kind, key.frequency.value, versions[-1].body.period_end[:10]] = failed(versions[-1].body)
    assert "scale" in found["income", "Q", "2024-09-30"]
    assert "scale" in found["balance", "Q", "2024-09-30"]
    assert "scale" in found["income", "Q", "2024-12-31"]
    assert "scale" not in found["income", "Q", "2024-06-30"] | found["income", "A", "2024-12-31"]
    assert value(filer.financials().years, "revenue", "2024-12-31") is not None
    assert day("2024-12-31") in filer.financials().quarters["revenue"]
