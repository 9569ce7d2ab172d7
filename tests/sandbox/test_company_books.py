"""The figures of the simulated companies' filings, added up from the pages alone; and what was first stated otherwise."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from itertools import pairwise

from almanac.sandbox.companies.calendar import last_day
from almanac.sandbox.companies.cast import YearEnd

from .simulated_companies import Row, Told, World, quarters_long

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


def test_calendars() -> None:
    assert last_day(YearEnd("last", 9), 2024) == date(2024, 9, 28)
    assert last_day(YearEnd("near", 1), 2026) == date(2026, 1, 31)
    assert last_day(YearEnd("near", 12), 2026) == date(2027, 1, 2)
    assert last_day(YearEnd("near", 12), 2024) == date(2024, 12, 28)
    assert last_day(YearEnd("month", 2), 2024) == date(2024, 2, 29)


# What was first stated otherwise


def _first_and_last(told: Told, tag: str, unit: str = "USD") -> dict[tuple[str | None, str], tuple[Row, Row]]:
    found: dict[tuple[str | None, str], list[Row]] = defaultdict(list)
    for row in told.rows:
        if row.tag == tag and row.unit == unit:
            found[row.start, row.end].append(row)
    ordered = {span: sorted(rows, key=lambda row: (row.filed, row.accn)) for span, rows in found.items()}
    return {span: (rows[0], rows[-1]) for span, rows in ordered.items()}


def test_restated_years_are_filed_anew_after_a_warning(everyone: list[Told]) -> None:
    amended = 0
    for told in everyone:
        year = told.company.error
        if year is None:
            continue
        forms = [(one["form"], one["items"]) for one in told.filings]
        assert ("8-K", "4.02,9.01") in forms
        warned, anew = forms.index(("8-K", "4.02,9.01")), forms.index(("10-K/A", ""))
        assert warned < anew
        changed = {
            span: rows
            for span, rows in _first_and_last(told, "us-gaap:NetIncomeLoss").items()
            if rows[0].val != rows[1].val and quarters_long(rows[0]) == 4
        }
        ((first, last),) = changed.values()
        assert first.val > last.val
        assert (first.form, first.fy) == ("10-K", year)
        assets = _first_and_last(told, "us-gaap:Assets")[None, first.end]
        assert assets[0].val > assets[1].val
        amended += 1
    assert amended == 8


def test_recast_years_look_otherwise_in_the_next_annual_report(everyone: list[Told]) -> None:
    found = {"regrouped": 0, "discontinued": 0}
    for told in everyone:
        label, how = told.company.recast or (0, "")
        if how not in found:
            continue
        spans = [
            rows for rows in _first_and_last(told, "us-gaap:OperatingIncomeLoss").values() if rows[0].fy == label
            and rows[0].form == "10-K" and quarters_long(rows[0]) == 4
        ]  # fmt: skip
        (operating,) = [rows for rows in spans if rows[0].end == max(one[0].end for one in spans)]
        span = operating[0].start, operating[0].end
        costs = [
            _first_and_last(told, tag)[span]
            for tag in ("us-gaap:CostOfRevenue", "us-gaap:CostOfGoodsAndServicesSold", "us-gaap:CostOfGoodsSold")
            if span in _first_and_last(told, tag)
        ]
        cost = costs[0][0].val, costs[-1][1].val
        income = _first_and_last(told, "us-gaap:NetIncomeLoss")[span]
        assert income[0].val == income[1].val
        if how == "regrouped":
            assert operating[0].val == operating[1].val
            assert cost[1] > cost[0]
        else:
            assert operating[0].val != operating[1].val
            assert cost[1] < cost[0]
        found[how] += 1
    assert found == {"regrouped": 9, "discontinued": 5}


def test_after_a_spin_off_every_line_of_the_year_is_without_the_part(everyone: list[Told]) -> None:
    """Two filings of one year, each a whole that adds up; the part keeps three fifths of what is left of each line."""
    (told,) = [one for one in everyone if one.company.recast and one.company.recast[1] == "spun_off"]
    label, _ = told.company.recast or (0, "")
    old, new = ({"us-gaap:Revenues"}, {REVENUE})
    shown = []
    for fiscal_year, tags in ((label, old), (label + 1, new)):
        rows = [row for row in told.rows if (row.fy, row.form) == (fiscal_year, "10-K") and row.start]
        own = [row for row in rows if row.start[:4] == str(label) and quarters_long(row) == 4]
        assert {row.tag for row in own if row.tag in old | new} == tags
        shown.append({"revenue" if row.tag in old | new else row.tag: row.val for row in own})
    first, again = shown
    assert first.keys() == again.keys()
    for tag in ("revenue", "us-gaap:SellingGeneralAndAdministrativeExpense"):
        assert 1.59 < first[tag] / again[tag] < 1.61
    income = "us-gaap:NetIncomeLoss"
    assert first[income] > again[income] > 0
    said = [one for one in told.filings if one["items"] == "2.01,9.01" and one["filingDate"][:4] == str(label + 1)]
    quarter = next(one for one in told.filings if one["form"] == "10-Q" and one["filingDate"][:4] == str(label + 1))
    annual = next(one for one in told.filings if one["form"] == "10-K" and one["filingDate"][:4] == str(label + 1))
    assert annual["filingDate"] < said[0]["filingDate"] < quarter["filingDate"]


def test_a_line_is_filed_with_the_other_sign_once(everyone: list[Told]) -> None:
    found = {}
    for told in everyone:
        if told.company.turned is None:
            continue
        label, column, where = told.company.turned
        tag = {"tax": "us-gaap:IncomeTaxExpenseBenefit", "income": "us-gaap:NetIncomeLoss"}[column]
        turned = [rows for rows in _first_and_last(told, tag).values() if rows[0].val * rows[1].val < 0]
        ((first, last),) = turned
        assert (first.fy, last.fy, first.val) == (label, label + 1, -last.val)
        assert (first.form, last.form, quarters_long(first)) == ("10-K", "10-K", 4)
        found[where] = (column, first.val < 0)
    assert found == {"first": ("tax", True), "again": ("income", True)}


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


def test_some_are_gone_some_came_late_some_changed_their_name(ordinary: list[Told]) -> None:
    gone = [told for told in ordinary if told.company.gone]
    assert len(gone) == 10
    for told in gone:
        day, how = told.company.gone or (date.min, "")
        assert told.submissions["tickers"] == []
        assert [one["form"] for one in told.filings[-2:]] == ["25-NSE", "15-12G"]
        assert max(row.filed for row in told.rows) <= str(day)
        said = {item for one in told.filings for item in one["items"].split(",")}
        assert {"bought": "5.01", "bankrupt": "1.03"}[how] in said
    young = [told for told in ordinary if told.company.first_year > 2013]
    assert len(young) == 9
    for told in young:
        assert [one["form"] for one in told.filings[:4]] == ["S-1", "UPLOAD", "CORRESP", "S-1/A"]
    renamed = [told for told in ordinary if told.submissions["formerNames"]]
    assert len(renamed) == 22
    names = [told.company.name for told in ordinary]
    assert len(set(names)) < len(names)  # two that only their numbers tell apart
    listed = [told for told in ordinary if len(told.submissions["tickers"]) == 2 and not told.company.seat]
    assert len(listed) == 6
    tickers = [ticker for told in ordinary for ticker in told.submissions["tickers"]]
    assert len(tickers) == len(set(tickers)) > 300
    assert sum(told.submissions["lei"] is not None for told in ordinary) == len(ordinary) // 3


def test_identifiers_have_true_check_digits(everyone: list[Told]) -> None:
    for told in everyone:
        lei = told.submissions["lei"]
        if lei:
            assert len(lei) == 20
            assert int("".join(str(int(letter, 36)) for letter in lei)) % 97 == 1


def test_stamps_are_new_yorks_clock_for_some(everyone: list[Told]) -> None:
    """Before 2023, as in the real index: hours of the evening or early morning tell the two clocks apart."""
    hours: dict[bool, set[int]] = {True: set(), False: set()}
    for told in everyone:
        for one in told.filings:
            if one["filingDate"] < "2023" and one["form"] in {"10-K", "10-Q"}:
                hours[told.company.has("new_york_clock")].add(int(one["acceptanceDateTime"][11:13]))
    assert min(hours[True]) == 6
    assert 22 not in hours[True]
    assert min(hours[False] - {0, 1}) >= 10
    assert 22 in hours[False]
