"""The figures of the simulated companies' filings, added up from the pages alone; and what was first stated otherwise."""

from collections import defaultdict
from datetime import date
from itertools import pairwise

from .simulated_companies import Row, Told, World

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
