"""The sweep: at every instant what stands is what the plain computation gives, and nothing looks ahead."""

import json
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from almanac.catalog.companies import items
from almanac.derived.companies import derivation
from almanac.derived.companies.derivation import derive
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures
from almanac.derived.companies.ttm import REACH_DAYS
from almanac.domain.observations import DAY, INITIAL, QUALITY, UNKNOWN
from almanac.domain.periods import Frequency, days_of, key_of
from almanac.pipeline.derive.companies import derived
from tests.support.filer import NOW, Filer, at, day, plain_year, quarter, ytd
from tests.support.plainly import moments_of, plainly, standing


def check(company, measured=None):
    outcome = derive(company, measure=measured, reach=REACH_DAYS)
    for moment in moments_of(company):
        assert standing(outcome, moment) == plainly(as_known(company, moment), measured), moment
    for cells in outcome.items.values():
        for made in cells.values():
            assert made[0].value is not None
            assert [one.known for one in made] == sorted({one.known for one in made})
            # What checks say of a value may move without it, and what its period is called.
            told = [(one.value, one.flags & QUALITY, one.fiscal) for one in made]
            assert all(a != b for a, b in pairwise(told))
    return outcome


# -- companies at random ----------------------------------------------------------------------------------------------

#: Every kind of tag: flows stated to date only, two candidates of one item, averages, instants, covers.
FLOWS = (
    "NetIncomeLoss",
    "Revenues",
    "SalesRevenueNet",
    "GrossProfit",
    "CostOfRevenue",
    "NetCashProvidedByUsedInOperatingActivities",
    "PaymentsToAcquirePropertyPlantAndEquipment",
    "WeightedAverageNumberOfSharesOutstandingBasic",
    "EarningsPerShareBasic",
    "CommonStockDividendsPerShareDeclared",
)
INSTANTS = ("Assets", "Liabilities", "LiabilitiesAndStockholdersEquity", "StockholdersEquity", "LongTermDebtNoncurrent")


@st.composite
def companies(draw):
    """
    Two to three years of reports, some missing, some late, with amendments and recasts, of a filer whose year may
    change; which lines a report gives, and for which of the periods it could, is drawn.
    """
    filer = Filer(draw(st.sampled_from(["industrial", "bank"])))
    first = 2015
    years = draw(st.integers(2, 3))
    base = {name: draw(st.integers(1, 9)) * 100 for name in (*FLOWS, *INSTANTS)}
    changed_end = draw(st.booleans())
    reports = [(year, number) for year in range(first, first + years) for number in (1, 2, 3, 4)]
    for year, number in reports:
        if draw(st.integers(0, 7)) == 0:
            continue
        ends_year = number == 4
        form = "10-K" if ends_year else "10-Q"
        if changed_end and (year, number) == (first + 1, 1):
            form = draw(st.sampled_from(["10-QT", "10-KT"]))
        delay = draw(st.sampled_from([30, 45, 45, 45, 200]))
        for amendment in range(draw(st.sampled_from([1, 1, 1, 2]))):
            filed = day(quarter(year, number)[1]) + delay + 20 * amendment
            lines = {}
            for name in FLOWS:
                periods = {}
                for back in (0, 1):
                    for span in (quarter(year - back, number), ytd(year - back, number)):
                        if draw(st.integers(0, 3)):
                            recast = draw(st.sampled_from([0, 0, 0, 0, 10])) if back or amendment else 0
                            months = int(span[1][5:7]) - int(span[0][5:7]) + 1
                            scale = months if "Average" not in name else 12
                            periods[span] = base[name] * scale + year - back + recast
                lines[name] = periods
            for name in INSTANTS:
                lines[name] = {
                    quarter(year - back, number)[1]: base[name] + year - back + number
                    for back in (0, 1)
                    if draw(st.integers(0, 3))
                }
            if draw(st.booleans()):
                lines["dei:EntityCommonStockSharesOutstanding"] = {_text(filed - 5): 1_000 + number}
            filer.file(
                form + ("/A" if amendment else ""),
                _text(filed),
                draw(st.sampled_from([quarter(year, number)[1], quarter(year, number)[1], None])),
                lines,
                fy=year,
                fp="FY" if ends_year else f"Q{number}",
            )
    if draw(st.booleans()):
        filer.file(
            draw(st.sampled_from(["8-K", "S-1", "DEF 14A"])),
            f"{first + 1}-0{draw(st.integers(1, 9))}-15",
            None,
            {"NetIncomeLoss": {ytd(first, 4): 7, quarter(first, 2): 8}, "Revenues": {ytd(first, 4): 9}},
        )
    return filer


def _text(ordinal):
    return date.fromordinal(ordinal).isoformat()


@given(companies())
def test_what_stands_at_every_instant_is_what_is_computed_plainly(filer):
    assume(filer.facts)
    check(filer.company(), measures)


@given(companies())
def test_what_a_moment_does_not_touch_would_come_out_as_it_stands(filer):
    assume(filer.facts)
    company = filer.company()
    made = derive(company, measure=measures, reach=REACH_DAYS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivation, "_is_within", lambda end, days: True)
        assert derive(company, measure=measures, reach=REACH_DAYS) == made


@given(companies(), st.data())
def test_facts_filed_later_never_change_what_was_known(filer, data):
    assume(filer.facts)
    company = filer.company()
    moment = data.draw(st.sampled_from(moments_of(company)))
    early = Filer(filer.template)
    early.filings = {name: filing for name, filing in filer.filings.items() if filing.known_at <= moment}
    early.facts = [fact for fact in filer.facts if fact.accession in early.filings]
    assert as_known(early.company(), moment) == as_known(company, moment)


@given(companies(), st.data())
def test_what_one_value_is_made_of_needs_no_other_years(filer, data):
    assume(filer.facts)
    company = filer.company()
    moment = data.draw(st.sampled_from(moments_of(company)))
    whole = as_known(company, moment)
    ends = sorted(
        {end for of in (*whole.quarters.values(), *whole.years.values(), *whole.balances.values()) for end in of}
    )
    assume(ends)
    end = data.draw(st.sampled_from(ends))
    for of, part in zip(whole[:4], as_known(company, moment, range(end, end + 1))[:4], strict=True):
        assert {key: amounts[end] for key, amounts in of.items() if end in amounts} == {
            key: amounts[end] for key, amounts in part.items() if end in amounts
        }
    near = as_known(company, moment, range(end - REACH_DAYS, end + 1))
    for frequency in (Frequency.QUARTERLY, Frequency.ANNUAL):
        assert measures(near, end, frequency) == measures(whole, end, frequency)


@given(companies())
def test_quarters_sum_to_the_year_or_the_year_is_flagged(filer):
    assume(filer.facts)
    company = filer.company()
    outcome = derive(company)
    financials = as_known(company, NOW)
    additive = {key for key, item in items().items() if item.additive and item.served and item.kind == "flow"}
    for (kind, frequency, period), versions in outcome.statements.items():
        body = versions[-1].body
        if frequency is not Frequency.ANNUAL or kind == "balance" or body is None:
            continue
        end = period >> 14
        off = False
        for key in additive & set(body.items):
            quarters = []
            last = end
            while len(quarters) < 4 and last in financials.quarters.get(key, {}):
                quarters.append(financials.quarters[key][last])
                last = quarters[-1].start - 1
            year = financials.years[key][end]
            if len(quarters) == 4 and quarters[-1].start == year.start:
                off = off or abs(sum(q.value for q in quarters) - year.value) > 2.5
        if off:
            checks = {check.name: check.status for check in body.quality.checks}
            assert checks["quarters_sum_to_year"] == "failed"
            assert body.quality.status != "ok"


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_a_restated_year_makes_one_vintage_more_with_the_time_of_the_filing_that_restated_it():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file(
        "10-K", "2022-02-20", "2021-12-31", {"NetIncomeLoss": {ytd(2020, 4): 90, ytd(2021, 4): 120}}, fy=2021, fp="FY"
    )
    made = filer.swept().items["net_income", Frequency.ANNUAL][key_of(day("2020-01-01"), day("2020-12-31"))]
    assert [(one.known, one.value, one.released) for one in made] == [
        (at("2021-02-20"), 100.0, at("2021-02-20")),
        (at("2022-02-20"), 90.0, at("2022-02-20")),
    ]
    assert made[0].tags == ("us-gaap:NetIncomeLoss:A",)
    assert made[0].note is None


def test_a_value_repeated_unchanged_makes_no_vintage():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file("10-K", "2022-02-20", "2021-12-31", {"NetIncomeLoss": {ytd(2020, 4): 100, ytd(2021, 4): 5}}, fy=2021)
    made = filer.swept().items["net_income", Frequency.ANNUAL][key_of(day("2020-01-01"), day("2020-12-31"))]
    assert len(made) == 1


def test_a_derived_quarter_is_known_when_its_last_operand_is_and_names_both():
    filer = Filer()
    plain_year(filer, 2020)
    cells = filer.swept().items["net_cash_flow_from_operations", Frequency.QUARTERLY]
    (made,) = cells[key_of(day("2020-10-01"), day("2020-12-31"))]
    assert (made.known, made.value, made.note) == (at("2021-02-20"), 4.0, "fy_minus_9m")
    assert made.released == at("2021-02-20")
    assert made.ingested == at("2021-02-20") + 60
    assert made.tags == (
        "us-gaap:NetCashProvidedByUsedInOperatingActivities:A",
        "us-gaap:NetCashProvidedByUsedInOperatingActivities:N",
    )


def test_what_can_no_longer_be_computed_is_withdrawn():
    filer = Filer()
    # The year end is the SPAC's; the company that merged into it has another first day and other accounts.
    filer.file("10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {("2020-01-25", "2020-12-31"): 3}}, fy=2020)
    filer.file("10-K/A", "2021-06-20", "2020-12-31", {"NetIncomeLoss": {("2020-01-01", "2020-12-31"): 50}}, fy=2020)
    cells = filer.swept().items["net_income", Frequency.ANNUAL]
    old, new = key_of(day("2020-01-25"), day("2020-12-31")), key_of(day("2020-01-01"), day("2020-12-31"))
    assert [(one.known, one.value) for one in cells[old]] == [(at("2021-02-20"), 3.0), (at("2021-06-20"), None)]
    assert [(one.known, one.value) for one in cells[new]] == [(at("2021-06-20"), 50.0)]


def test_unknown_and_day_of_an_input_are_those_of_the_result():
    filer = Filer()
    plain_year(filer, 2020)
    company = filer.company()
    tag = "us-gaap:NetCashProvidedByUsedInOperatingActivities"
    periods = {
        period: [v._replace(flags=v.flags | (UNKNOWN if period[1] == day("2020-09-30") else DAY)) for v in history]
        for period, history in company.facts[tag].items()
    }
    company = company._replace(facts={**company.facts, tag: periods})
    cells = derive(company).items["net_cash_flow_from_operations", Frequency.QUARTERLY]
    (made,) = cells[key_of(day("2020-10-01"), day("2020-12-31"))]
    assert made.flags == UNKNOWN | DAY


def test_balances_are_given_by_quarter_and_by_year():
    filer = Filer()
    plain_year(filer, 2020)
    outcome = filer.swept()
    quarterly = outcome.items["total_assets", Frequency.QUARTERLY]
    annual = outcome.items["total_assets", Frequency.ANNUAL]
    assert [made[-1].value for _, made in sorted(quarterly.items())] == [1001.0, 1002.0, 1003.0, 1004.0]
    assert [made[-1].value for made in annual.values()] == [1004.0]


def test_measures_are_those_of_the_ledger_at_each_instant():
    filer = Filer()
    for year in (2018, 2019, 2020):
        plain_year(filer, year, income=(10 + year - 2018, 20, 30, 40))
    outcome = check(filer.company(), measures)
    made = outcome.items["net_income_ttm", Frequency.QUARTERLY][key_of(day("2019-04-01"), day("2020-03-31"))]
    # 20 + 30 + 40 of 2019 and 12 of 2020
    assert [(one.known, one.value) for one in made] == [(at("2020-05-01"), 102.0)]


def test_a_filing_that_facts_name_and_nobody_has_is_an_error():
    filer = Filer()
    plain_year(filer, 2020)
    company = filer.company()
    name = next(iter(company.filings))
    with pytest.raises(ValueError, match=name):
        derive(company._replace(filings={k: f for k, f in company.filings.items() if k != name}))


def test_a_filing_without_a_time_is_an_error():
    filer = Filer()
    plain_year(filer, 2020)
    company = filer.company()
    name = next(iter(company.filings))
    filings = {**company.filings, name: company.filings[name]._replace(known_at=None)}
    with pytest.raises(ValueError, match=f"{name} has no time"):
        derive(company._replace(filings=filings))


def test_each_vintage_says_what_the_company_calls_its_period_even_where_it_is_withdrawn():
    filer = Filer()
    plain_year(filer, 2020)
    outcome = derive(filer.company(), measure=measures, reach=REACH_DAYS)
    for (_, frequency), cells in outcome.items.items():
        for period, made in cells.items():
            end = date.fromordinal(days_of(period)[1])
            part = "FY" if frequency is Frequency.ANNUAL else f"Q{end.month // 3}"
            assert {one.fiscal for one in made} == {(end.year, part)}
    assert ("net_income_ttm", Frequency.QUARTERLY) in outcome.items

    changed = Filer()
    changed.file("10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {("2020-01-25", "2020-12-31"): 3}}, fy=2020)
    changed.file("10-K/A", "2021-06-20", "2020-12-31", {"NetIncomeLoss": {("2020-01-01", "2020-12-31"): 50}}, fy=2020)
    cells = changed.swept().items["net_income", Frequency.ANNUAL]
    assert [one.fiscal for one in cells[key_of(day("2020-01-25"), day("2020-12-31"))]] == [(2020, "FY")] * 2


def test_a_period_that_comes_to_be_called_otherwise_is_one_vintage_more_of_the_same_status():
    filer = Filer()
    start, end = quarter(2020, 1)
    # Its word names the year by its first day; the annual report, by its last.
    filer.file("10-Q", "2020-05-01", end, {"NetIncomeLoss": {(start, end): 10}}, fy=2019, fp="Q1")
    filer.file("10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 100}}, fy=2020, fp="FY")
    (made,) = [
        one
        for one in derived(filer.company()).series
        if (one.slug, one.frequency) == ("net_income", Frequency.QUARTERLY)
    ]
    first, renamed = made.cells[key_of(day(start), day(end))]
    assert (first[:2], renamed[:2]) == ((at("2020-05-01"), 10.0), (at("2021-02-20"), 10.0))
    assert first.flags == renamed.flags == INITIAL
    assert [json.loads(vintage.note)["fiscalYear"] for vintage in (first, renamed)] == [2019, 2020]
