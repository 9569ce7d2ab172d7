"""Statements of a company as tables, with what was restated and where shares were split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import msgspec

from almanac.dashboard.formatting.dates import moment_of
from almanac.dashboard.formatting.numbers import MINUS, full, in_scale, places, scale, unit
from almanac.dashboard.formatting.values import FormattedValue, look, look_field
from almanac.domain.times import wire_time

#: New shares for old ones, the usual first; each may be the other way round too (a reverse split).
_RATIOS: Final = tuple(
    sorted({Fraction(new, old) for old in (1, 2, 3, 4) for new in range(old + 1, 101 if old == 1 else 8)}, key=lambda one: one.denominator)
)  # fmt: skip
#: Half of the last digit that figures per share are stated to.
_HALF_CENT: Final = 0.005
#: How far shares that were rounded may be off, as a part of them.
_ROUNDED: Final = 0.002


def split(changed: Mapping[str, tuple[float, float]]) -> Fraction | None:
    """
    Return the split that explains how the lines of one statement changed: new shares for each old one, 4 for `4-for-1`.

    `changed`: what lines that count shares, or are per share, were and are. None where no one ratio explains them all, or
    where a single figure per share is all that there is: that may be any change.
    """
    if len(changed) < 2 and not any(_counts_shares(key) for key in changed):
        return None

    def explains(times: float, key: str, was: float, now: float) -> bool:
        if "per_share" in key:
            return abs(was - now * times) <= _HALF_CENT * (1 + times) * 1.01
        return abs(now - was * times) <= _ROUNDED * abs(now)

    ratios = (one for usual in _RATIOS for one in (usual, 1 / usual))
    return next(
        (ratio for ratio in ratios if all(explains(float(ratio), key, *pair) for key, pair in changed.items())), None
    )


def of_shares(keys: Iterable[str]) -> set[str]:
    """Those of the lines that a split changes."""
    return {key for key in keys if "per_share" in key or _counts_shares(key)}


def words(ratio: Fraction) -> str:
    """`4-for-1 split`, `1-for-10 reverse split`."""
    return f"{ratio.numerator}-for-{ratio.denominator} {'' if ratio > 1 else 'reverse '}split"


def _counts_shares(key: str) -> bool:
    return "shares" in key and "repurchase" not in key


Row = dict[str, Any]
#: Moments that are asked about for one page; each is one request.
MOST = 6


def before(statements: Sequence[Row], ask: Callable[[str], Sequence[Row]]) -> tuple[dict[tuple[int, str], Was], bool]:
    """
    Return what restated cells were, by the place of the statement and the line; and whether there was more than was looked for.

    `ask` gives the statements of the same kind as of a moment. A statement says which filing changed it last only; what
    an earlier one changed is found by asking about the state that this one replaced, and so on.
    """
    found: dict[tuple[int, str], Was] = {}
    waiting = {number: one for number, one in enumerate(statements) if one["revisionStatus"] == "revised"}
    for _ in range(MOST):
        if not waiting:
            break
        newest = max(one["observedAt"] for one in waiting.values())
        older = {_period(one): one for one in ask(wire_time(int(moment_of(newest).timestamp()) - 1))}
        for number, after in list(waiting.items()):
            if after["observedAt"] != newest:
                continue
            was = older.get(_period(after))
            del waiting[number]
            if was is None:
                continue
            changed = {
                key: (was["items"][key], value)
                for key, value in after["items"].items()
                if key in was["items"] and was["items"][key] != value
            }
            shares = of_shares(changed)
            ratio = split({key: changed[key] for key in shares})
            told = "" if ratio is None else words(ratio)
            for key, (old, _) in changed.items():
                found.setdefault((number, key), Was(old, was, after, told if key in shares else ""))
            if was["revisionStatus"] == "revised":
                waiting[number] = was
    return found, bool(waiting)


def _period(statement: Row) -> tuple[str, str]:
    return statement["frequency"], statement["periodEnd"]


#: Name in an address, title, and where the interface has them.
KINDS = {
    "income": ("Income", "incomeStatements"),
    "balance": ("Balance", "balanceSheets"),
    "cash": ("Cash flow", "cashFlowStatements"),
}
#: What amounts are told in, by the name in an address.
SCALES = {"millions": 6, "thousands": 3, "units": 0}
#: How a line that no filing states was computed.
METHODS = {
    "ytd_difference": "The year to date, less the year to date of the quarter before",
    "fy_minus_9m": "The year, less its first nine months",
    "formula": "From other lines of the same period",
    "sum_of_tags": "Sum of several lines of the filing",
    "day_weighted": "From the averages of longer spans, weighted by their days",
    "approximate_income_over_shares": "Income divided by average shares: an approximation",
}
#: What a check that failed found, by its name.
FINDINGS = {
    "balance_identity": "Assets are not what liabilities and equity come to",
    "lines_add_up": "Lines of the income statement do not add up",
    "gross_profit_within_revenue": "Gross profit does not fit revenue",
    "cash_flows_add_up": "The cash flows do not come to the change in cash",
    "cash_reconciles": "The change in cash is not that between the balance sheets",
    "parts_within_whole": "A part is larger than its whole",
    "earnings_per_share_times_shares": "Earnings per share times shares are not income",
    "quarters_sum_to_year": "The quarters do not come to the year",
    "quarter_among_neighbours": "Revenue is far from that of the quarters beside it",
    "shares_of_one_basis": "Shares are counted otherwise than beside it",
    "scale": "A number is of another scale than in the period before",
    "signs_agree": "A sign does not fit the other lines",
    "one_basis": "A difference of two filings, of which one was recast",
    "two_bases": "A difference of two filings on different bases",
    "consistent_filing": "A filing gives two values for one line",
    "relied_upon": "The company says that this is not to be relied upon",
}


class StatementLine(NamedTuple):
    """A line of a statement. `level`: 0 a sum (strong), 1 a line, 2 a part of the one above."""

    key: str
    title: str
    level: int = 1


LINES: dict[str, tuple[StatementLine, ...]] = {
    "income": (
        StatementLine("revenue", "Revenue", 0),
        StatementLine("net_interest_income", "Net interest income", 2),
        StatementLine("premiums_earned", "Premiums earned", 2),
        StatementLine("cost_of_revenue", "Cost of revenue"),
        StatementLine("gross_profit", "Gross profit", 0),
        StatementLine("operating_expenses", "Operating expenses"),
        StatementLine("research_and_development", "Research and development", 2),
        StatementLine("selling_general_and_administrative", "Selling, general and administrative", 2),
        StatementLine("provision_for_credit_losses", "Provision for credit losses"),
        StatementLine("operating_income", "Operating income", 0),
        StatementLine("interest_expense", "Interest expense"),
        StatementLine("income_before_tax", "Income before tax", 0),
        StatementLine("income_tax", "Income tax"),
        StatementLine("net_income", "Net income", 0),
        StatementLine("earnings_per_share_basic", "Earnings per share, basic"),
        StatementLine("earnings_per_share_diluted", "Earnings per share, diluted"),
        StatementLine("weighted_average_shares_basic", "Average shares, basic"),
        StatementLine("weighted_average_shares_diluted", "Average shares, diluted"),
        StatementLine("dividends_per_share", "Dividends per share"),
        StatementLine("depreciation_and_amortization", "Depreciation and amortization"),
        StatementLine("ebitda", "EBITDA"),
    ),
    "balance": (
        StatementLine("cash_and_equivalents", "Cash and equivalents"),
        StatementLine("restricted_cash", "Restricted cash", 2),
        StatementLine("short_term_investments", "Short-term investments"),
        StatementLine("accounts_receivable", "Accounts receivable"),
        StatementLine("inventory", "Inventory"),
        StatementLine("current_assets", "Current assets", 0),
        StatementLine("property_plant_equipment", "Property, plant and equipment"),
        StatementLine("goodwill", "Goodwill"),
        StatementLine("intangible_assets", "Intangible assets"),
        StatementLine("total_assets", "Total assets", 0),
        StatementLine("accounts_payable", "Accounts payable"),
        StatementLine("deposits", "Deposits"),
        StatementLine("short_term_debt", "Short-term debt"),
        StatementLine("current_liabilities", "Current liabilities", 0),
        StatementLine("long_term_debt", "Long-term debt"),
        StatementLine("total_debt", "Total debt"),
        StatementLine("total_liabilities", "Total liabilities", 0),
        StatementLine("temporary_equity", "Temporary equity"),
        StatementLine("retained_earnings", "Retained earnings"),
        StatementLine("minority_interest", "Minority interest"),
        StatementLine("shareholders_equity", "Shareholders’ equity", 0),
        StatementLine("shares_outstanding", "Shares outstanding"),
    ),
    "cash": (
        StatementLine("stock_based_compensation", "Stock-based compensation"),
        StatementLine("net_cash_flow_from_operations", "From operations", 0),
        StatementLine("capital_expenditure", "Capital expenditure"),
        StatementLine("free_cash_flow", "Free cash flow", 0),
        StatementLine("net_cash_flow_from_investing", "From investing", 0),
        StatementLine("dividends_paid", "Dividends paid"),
        StatementLine("share_repurchases", "Share repurchases"),
        StatementLine("debt_issued", "Debt issued"),
        StatementLine("debt_repaid", "Debt repaid"),
        StatementLine("net_cash_flow_from_financing", "From financing", 0),
        StatementLine("effect_of_exchange_rate_on_cash", "Effect of exchange rates"),
        StatementLine("net_change_in_cash", "Net change in cash", 0),
    ),
}


#: Decimals of what is per share, at least and at most, and of amounts that are not whole in their scale.
_PER_SHARE_DIGITS, _PER_SHARE_MOST, _AMOUNT_DIGITS = 2, 4, 1
#: A number whose unit stands at the head of the table, or beside its line.
_NUMBER = unit("index")
_NOTHING = look({})


class Was(msgspec.Struct, frozen=True):
    """The value of a cell before the filing that changed it, with both filings (statements of the interface)."""

    value: float
    before: Row
    after: Row
    #: The split of shares that made the difference, in words.
    split: str = ""


class StatementCell(msgspec.Struct, frozen=True):
    """One number of one period. `derived` names its place below; `was`: before it was restated."""

    look: FormattedValue
    derived: str = ""
    was: Was | None = None
    was_look: FormattedValue | None = None


class TableLine(msgspec.Struct, frozen=True):
    """One line over all periods. `note`: its unit, where it is not the table's."""

    key: str
    title: str
    level: int
    note: str
    cells: list[StatementCell]


class How(msgspec.Struct, frozen=True):
    """The method by which cells of a line were computed, its series, and the statements it applies to."""

    id: str
    title: str
    method: str
    inputs: tuple[str, ...]
    of: list[Row]


#: What a cell was, by the place of its statement and the line's key.
Restated = Mapping[tuple[int, str], Was]


def table(kind: str, statements: Sequence[Row], restated: Restated, scale_name: str) -> dict[str, Any]:
    """Return the table of statements, the newest first. Amounts are in the scale; full numbers are in each look."""
    withheld = next((reason for one in statements if (reason := withheld_for(one)) is not None), None)
    if withheld is not None:
        return {"statements": list(statements), "lines": [], "how": [], "missing": [], "withheld": withheld}
    known = LINES[kind]
    there = {key for one in statements for key in one["items"]}
    extra = sorted(there - {line.key for line in known})
    lines = [*known, *(StatementLine(key, _plain(key)) for key in extra)]
    how = _how(lines, statements)
    place = {(id(one), found.title): found.id for found in how for one in found.of}
    power = SCALES[scale_name]
    shown = [_line(line, statements, restated, place, power) for line in lines if line.key in there]
    return {
        "statements": list(statements),
        "lines": shown,
        "how": how,
        "missing": [line.title for line in lines if line.key not in there],
        "withheld": None,
    }


def withheld_for(statement: Row) -> str | None:
    """Return the reason why a statement's values may not be shown; None if they may."""
    quality = statement["quality"]
    if quality["status"] != "withheld":
        return None
    return next((check["detail"] for check in quality["checks"] if check["detail"]), "The licence forbids it.")


def failed_checks(statements: Iterable[Row]) -> list[tuple[str, list[tuple[str, list[Row]]]]]:
    """Return what the checks of the statements found wrong: a sentence for each check, with its findings and the statements of each."""
    found: dict[str, dict[str, list[Row]]] = {}
    for one in statements:
        for check in one["quality"]["checks"]:
            if check["status"] == "failed":
                found.setdefault(check["name"], {}).setdefault(in_words(check["detail"] or ""), []).append(one)
    return [(FINDINGS.get(name, f"{_plain(name)} failed"), list(details.items())) for name, details in found.items()]


def absent_lines(statements: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Return the lines left out although the filing has part of them, in words, each once with its statements."""
    found: dict[str, list[Row]] = {}
    for one in statements:
        for check in one["quality"]["checks"]:
            if check["name"] == "absent_with_reason" and check["detail"]:
                found.setdefault(in_words(check["detail"]), []).append(one)
    return list(found.items())


def _line(
    line: StatementLine, statements: Sequence[Row], restated: Restated, place: Mapping[Any, str], power: int
) -> TableLine:
    shares, per_share = _counts_shares(line.key), "per_share" in line.key
    power = 0 if per_share else power
    # What we computed has more digits than anybody stated: the column is as precise as what was filed.
    filed = [
        float(one["items"][line.key])
        for one in statements
        if line.key in one["items"] and not (per_share and line.key in one["derivedItems"])
    ]
    most = max((places(in_scale(value, scale(power))) for value in filed), default=0)
    digits = min(max(most, _PER_SHARE_DIGITS), _PER_SHARE_MOST) if per_share else min(most, _AMOUNT_DIGITS)
    cells = [
        _cell(line, one, restated.get((number, line.key)), place.get((id(one), line.title), ""), power, digits)
        for number, one in enumerate(statements)
    ]
    note = "per share" if per_share else "shares" + (f", {scale(power).plural}" if power else "") if shares else ""
    return TableLine(line.key, line.title, line.level, note, cells)


def _cell(line: StatementLine, statement: Row, was: Was | None, derived: str, power: int, digits: int) -> StatementCell:
    if line.key not in statement["items"]:
        return StatementCell(_NOTHING)
    value = float(statement["items"][line.key])
    if was is None:
        return StatementCell(_look(value, power, digits), derived)
    found = _look(value, power, digits, was.value)
    if was.split:
        # More shares for the same money are no revision, neither up nor down.
        found = found._replace(
            change=None, direction=None, note=was.split, spoken=f"{found.text}, restated for a {was.split}"
        )
    return StatementCell(found, derived, was, _look(was.value, power, digits))


def _look(value: float, power: int, digits: int, was: float | None = None) -> FormattedValue:
    """Return a number in a scale, whose whole one stays beside it."""
    told = scale(power)
    if was is None:
        found = look_field(in_scale(value, told), _NUMBER, digits=digits)
    else:
        row = {"valueNumeric": in_scale(value, told), "unit": "index", "revisionStatus": "revised"}
        found = look(row, was=in_scale(was, told), digits=digits, history=True)
    return found._replace(full=full(value))


def _how(lines: Iterable[StatementLine], statements: Sequence[Row]) -> list[How]:
    found: list[How] = []
    for line in lines:
        groups: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        for one in statements:
            if line.key in one["items"] and (item := one["derivedItems"].get(line.key)) is not None:
                groups.setdefault((item["method"], tuple(item["derivedFrom"])), []).append(one)
        for number, ((method, inputs), of) in enumerate(groups.items(), 1):
            found.append(How(f"how-{line.key}-{number}", line.title, METHODS.get(method, _plain(method)), inputs, of))
    return found


#: Keys of lines as they stand in running text: `net income`, `EBITDA`.
_IN_TEXT = {
    line.key: line.title if line.title.isupper() else line.title[0].lower() + line.title[1:]
    for lines in LINES.values()
    for line in lines
}


def in_words(detail: str) -> str:
    """Return a finding of a check with its lines called as the table calls them."""
    told = []
    for word in detail.split(" "):
        key = word.rstrip(",;:")
        said = _IN_TEXT.get(key, key)
        # A check writes numbers as programs do; people read a minus.
        told.append((MINUS + said[1:] if said[:1] == "-" and said[1:2].isdigit() else said) + word[len(key) :])
    return " ".join(told)


def _plain(key: str) -> str:
    return key.replace("_", " ").capitalize()


def money_head(currency: str | None, scale_name: str) -> str:
    """Return what the amounts of a table are in: `USD millions`."""
    return unit("local_currency", currency=currency, power=0).head + (f" {scale_name}" if SCALES[scale_name] else "")
