"""
What can be checked of a statement from its own lines and its neighbours, after the data-quality rules of XBRL US.

A check passes, fails or does not apply; a value is never changed or dropped for it. Tolerances are the rounding of the
values themselves: half a unit of each operand, the unit being the power of ten that it is a multiple of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from almanac.derived.companies.financials import Amount, AmountOf
from almanac.derived.companies.line_items import BALANCE, CASH_FLOW, INCOME, LONE, is_of_partners
from almanac.derived.companies.misstatements import COARSE
from almanac.derived.companies.precision import footed, granularity, rounding, spelled
from almanac.derived.companies.reading.quarters import BEFORE_RECAST, MIXED
from almanac.derived.companies.reading.quarters import SCALE as SHARES_SCALE
from almanac.derived.companies.ttm import one_basis

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not_applicable"
#: Checks whose failure makes the whole statement doubtful; any other failure is a warning.
GRAVE = frozenset(["balance_identity", "lines_add_up", "two_bases", "scale", "relied_upon"])
#: Checks whose failure makes the lines concerned no values for ratios, scores and screens.
FATAL = GRAVE | {"signs_agree", "parts_within_whole"}
#: A line this many times its neighbour's, or this small a part of it, was filed in another scale.
_SCALE = 1_000
#: A quarter this many times each of its neighbours, or this small a part of each, is far outside them.
_FAR = 3
#: What is wrong with shares that were filed in another scale, and what mends them.
_SCALES = (
    ("a thousand times too few", 1e3),
    ("a million times too few", 1e6),
    ("a thousand times too many", 1e-3),
    ("a million times too many", 1e-6),
)
#: Part of income that earnings per share times shares may miss it by: participating securities, rounding.
_SHARE_OF_INCOME = 0.03
#: Part of the tax that minority interests and the like may make between income before and after it.
_SHARE_OF_TAX = 0.1
#: Part of the income that a tax is at least for its sign to be told from it.
_TAX_OF_INCOME = 0.05
_SHARES = "weighted_average_shares_basic"
_SHARE_COUNTS = (_SHARES, "shares_outstanding")
#: What cash the change of it may be of, the widest first; and cash that is held for sale with a part of the company.
_CASHES = ("cash_of_cash_flow_statement", "cash_with_restricted_cash", "cash_and_equivalents")
_CASH_FOR_SALE = "cash_of_disposal_group"
#: What the derivation remarks on an item: why it is not served, or that a filing gave it otherwise: sign, or basis (`LONE`).
RemarkOf = Callable[[str], str | None]


class QualityCheck(msgspec.Struct, frozen=True):
    """
    One check of one statement. `detail` says what failed, in words with the numbers; or why items are absent. `items` are
    the lines that a failure is about; it has them where it failed.
    """

    name: str
    status: str
    detail: str | None = None
    items: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


def nothing(_: str) -> None: ...


class CheckedPeriod(NamedTuple):
    """One period and what its checks look at beside it."""

    get: AmountOf
    #: The same statement of the period before.
    before: AmountOf
    #: Balances at the end, and on the day before the period began.
    closing: AmountOf
    opening: AmountOf
    #: Quarters that fill a year, in any order; empty where the period is no year or they are not all there.
    quarters: Sequence[AmountOf]
    #: Items that add up and are on the statement.
    additive: Sequence[str]
    keys: Sequence[str]
    #: Lines of which the filing that gave them gives two values.
    contradicted: Sequence[str] = ()
    remark: RemarkOf = nothing
    #: Lines that are of a filing in another scale; None: no filing of this company is.
    in_another_scale: Sequence[str] | None = None
    never_negative: frozenset[str] = frozenset()
    #: The same statement of quarters beside a quarter: the one before, the one after, the one a year before.
    neighbours: Sequence[AmountOf] = ()
    #: The same statement of the year that a quarter is a part of.
    year: AmountOf = nothing
    #: Income statements of this period and of the one before, for the shares that a balance counts.
    incomes: tuple[AmountOf, AmountOf] = (nothing, nothing)
    #: Why the twelve months of an item that end with this period are absent, although their parts are there.
    mixed: RemarkOf = nothing

    @property
    def amounts(self) -> dict[str, Amount]:
        """Return the lines that the statement has."""
        return {key: amount for key in self.keys if (amount := self.get(key)) is not None}


class Outcome(NamedTuple):
    """Outcome of a check, as `QualityCheck` has it."""

    status: str = PASSED
    detail: str | None = None
    items: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


#: What a rule says of a period; None: it does not apply.
Rule = Callable[[CheckedPeriod], Outcome | None]


def checks_of(kind: str, period: CheckedPeriod) -> list[QualityCheck]:
    """Return the checks of a statement (income, balance or cash_flow)."""
    return [
        QualityCheck(name, *(rule(period) or (NOT_APPLICABLE,)))
        for name, rule in _RULES[kind].items()
        # A cash-flow statement has nothing to compare, and tells of a scale where a filing is in another one.
        if name != "scale" or kind != CASH_FLOW or period.in_another_scale is not None
    ]


def verdict(checks: Iterable[QualityCheck]) -> str:
    """ok, warning or failed."""
    failed = [check.name for check in checks if check.status == FAILED]
    if not failed:
        return "ok"
    return "failed" if GRAVE.intersection(failed) else "warning"


def _judged(detail: str, items: Iterable[str], *, right: bool = False) -> Outcome:
    """Fail for some lines, unless there are none or all is right."""
    lines = () if right else tuple(dict.fromkeys(items))
    return Outcome(FAILED, detail, lines) if lines else Outcome()


def _values(get: AmountOf, *keys: str) -> list[float]:
    """Return the values of the lines that are there."""
    return [amount.value for key in keys if (amount := get(key)) is not None]


# -- lines of one statement ---------------------------------------------------------------------------------------------

#: Lines of an income statement: the result, what another leaves that a third is taken from, the line served that it tells
#: of, and what leads to it beside these, in one of several ways.
_LINES: tuple[tuple[str, str, str, str, tuple[tuple[str, ...], ...]], ...] = (
    ("gross_profit", "revenue", "cost_of_revenue", "gross_profit", ((),)),
    ("operating_income", "gross_profit", "operating_expenses", "operating_income", ((),)),
    # Income of associates is before tax with some filers, and after it with others.
    (
        "income_before_minorities",
        "income_before_tax",
        "income_tax",
        "net_income",
        (("discontinued_operations",), ("discontinued_operations", "equity_method_income")),
    ),
)


def _lines_add_up(period: CheckedPeriod) -> Outcome | None:
    """Return whether each line of an income statement is what those above it leave."""
    off: list[str] = []
    items: list[str] = []
    compared = 0
    for key, whole, less, served, ways in _LINES:
        values = _values(period.get, key, whole, less)
        if len(values) < 3:
            continue
        compared += 1
        result, above, taken = values
        left = above - taken
        more = [_values(period.get, *way) for way in ways]
        if any(abs(left + sum(way) - result) <= rounding([above, taken, *way, result]) for way in more):
            continue
        if less in _contradictions(period.get):
            continue  # its sign alone is wrong, which is told of it alone
        off.append(f"{whole} less {less} is {spelled(left)}, {key} {spelled(result)}")
        items += [whole, less, served]
    return _judged("; ".join(off), items) if compared else None


#: Lines between revenue and operating income.
_COSTS = (
    "cost_of_revenue",
    "research_and_development",
    "selling_general_and_administrative",
    "depreciation_and_amortization",
)


def _gross_profit(period: CheckedPeriod) -> Outcome | None:
    """Return whether gross profit is a part of revenue, and leaves out no more costs than it takes."""
    gross, revenue, costs = map(period.get, ("gross_profit", "revenue", "costs_and_expenses"))
    if gross is None or revenue is None or revenue.value < 0:
        return None
    if gross.value > revenue.value:
        detail = f"gross profit {spelled(gross.value)} exceeds revenue {spelled(revenue.value)}"
        return _judged(detail, ["gross_profit", "revenue"])
    return _judged(
        "gross profit leaves out most costs: those that have a line are less than half of all",
        ["gross_profit"],
        right=gross.method is None or costs is None or sum(_values(period.get, *_COSTS)) >= costs.value / 2,
    )


def _cash_flows(period: CheckedPeriod) -> Outcome | None:
    """Return whether the three flows come to the change in cash."""
    keys = [f"net_cash_flow_from_{kind}" for kind in ("operations", "investing", "financing")]
    flows, change = _values(period.get, *keys), period.get("net_change_in_cash")
    if change is None or len(flows) < len(keys):
        return None
    values = [*flows, *_values(period.get, _EXCHANGE)]
    allowed = rounding([*values, change.value])
    # Some filers state the change before the effect of exchange rates, under the same tag.
    return _judged(
        f"the flows give {spelled(sum(values))}, the change in cash is {spelled(change.value)}",
        [*keys, "net_change_in_cash"],
        right=any(abs(sum(way) - change.value) <= allowed for way in (values, flows)),
    )


_EXCHANGE = "effect_of_exchange_rate_on_cash"
#: What a balance sheet comes to.
_SHEET = ("total_assets", "total_liabilities", "shareholders_equity", "minority_interest", "temporary_equity")


def _balance(period: CheckedPeriod) -> Outcome | None:
    """Return whether assets are liabilities and equity."""
    assets, both = period.get("total_assets"), period.get("liabilities_and_equity")
    if assets is None:
        return None
    if both is not None and abs(assets.value - both.value) > rounding([assets.value, both.value]):
        detail = f"assets {spelled(assets.value)}, liabilities and equity {spelled(both.value)}"
        return _judged(detail, _SHEET)
    if period.get("total_liabilities") is None or period.get("shareholders_equity") is None:
        return None if both is None else Outcome()
    values = _values(period.get, *_SHEET[1:])
    return _judged(
        f"assets {spelled(assets.value)}; liabilities, temporary equity and equity {spelled(sum(values))}",
        _SHEET,
        right=abs(assets.value - sum(values)) <= footed([assets.value, *values]),
    )


_WHOLES: Mapping[str, tuple[str, ...]] = {
    "total_assets": ("current_assets", "cash_and_equivalents", "inventory", "goodwill", "property_plant_equipment"),
    "current_assets": ("accounts_receivable", "inventory", "short_term_investments"),
    "total_liabilities": ("current_liabilities",),
    "current_liabilities": ("accounts_payable",),
}


def _parts(period: CheckedPeriod) -> Outcome | None:
    """Return whether parts of a balance sheet are no larger than what they are parts of."""
    off: list[str] = []
    items: list[str] = []
    compared = 0
    for whole_key, key in ((whole, part) for whole, parts in _WHOLES.items() for part in parts):
        values = _values(period.get, whole_key, key)
        compared += len(values) == 2
        if len(values) == 2 and values[1] > values[0] + rounding(values):
            off.append(f"{key} {spelled(values[1])} exceeds {whole_key} {spelled(values[0])}")
            items += [key, whole_key]
    return _judged("; ".join(off), items) if compared else None


def _contradictions(get: AmountOf) -> dict[str, str]:
    """Item → what of the same statement says that its sign is another."""
    contradictions: dict[str, str] = {}
    common = _values(get, "net_income_to_common", "earnings_per_share_basic")
    if len(common) == 2 and common[0] * common[1] < 0:
        contradictions["net_income"] = f"income {spelled(common[0])} with {spelled(common[1])} per share"
    values = _values(get, "income_before_tax", "income_tax", "net_income")
    if len(values) == 3:
        before, tax, income = values
        # Only the tax with the other sign leads to the income, and it is a material part of it.
        leads = abs(before + tax - income) < _SHARE_OF_TAX * abs(tax)
        if leads and abs(before - tax - income) > abs(tax) > _TAX_OF_INCOME * abs(before):
            words = f"tax {spelled(tax)} between {spelled(before)} before and {spelled(income)} after it"
            contradictions["income_tax"] = words
    return contradictions


def _earnings_per_share(period: CheckedPeriod) -> Outcome | None:
    for kind in ("basic", "diluted"):
        per_share, shares, income = map(period.get, _product_of(kind))
        if per_share is None or shares is None or income is None:
            continue
        if (per_share.method or "").startswith("approximate") or is_of_partners(per_share, income):
            return None  # it was made of these, or the general partner's part of the income is not told
        detail = (
            f"{spelled(per_share.value)} a share times {spelled(shares.value)} shares is"
            f" {spelled(per_share.value * shares.value)}, income is {spelled(income.value)}"
        )
        if (off := _scaled(per_share.value, shares.value, income.value)) is not None:
            detail += f": the shares seem to be {off}"
        is_product = _is_product(per_share.value, shares.value, income.value)
        return _judged(detail, [f"earnings_per_share_{kind}"], right=is_product)
    return None


def _product_of(kind: str) -> tuple[str, str, str]:
    return f"earnings_per_share_{kind}", f"weighted_average_shares_{kind}", "net_income_to_common"


def _is_product(per_share: float, shares: float, income: float) -> bool:
    return abs(per_share * shares - income) <= 0.006 * shares + _SHARE_OF_INCOME * abs(income)


def _scaled(per_share: float, shares: float, income: float) -> str | None:
    """In which scale shares fit income that do not as they are, in words; None: in none, or as they are."""
    if _is_product(per_share, shares, income):
        return None
    return next((word for word, times in _SCALES if _is_product(per_share, shares * times, income)), None)


def _bases(period: CheckedPeriod, mark: str, words: str) -> Outcome:
    """Return whether no difference has the mark of operands that are of two bases."""
    off = [key for key, amount in period.amounts.items() if (amount.method or "").endswith(mark)]
    return _judged(f"{words}: {', '.join(off)}", off)


def _signs(period: CheckedPeriod) -> Outcome:
    """Amounts that cannot be negative, a loss with earnings per share, a tax that leads to another income, turned signs."""
    amounts = period.amounts
    off = [
        (key, f"{key} {spelled(amount.value)} is negative")
        for key, amount in amounts.items()
        if key in period.never_negative and amount.value < 0
    ]
    off += [(key, f"{key}: {why}") for key in amounts if (why := period.remark(key)) and not why.startswith(LONE)]
    contradicted = {key: why for key, why in _contradictions(period.get).items() if key in period.keys}
    off += contradicted.items()
    # Another period's figures are not told: its statement may be out of a reader's reach.
    off += [
        (key, f"{key} is a difference from a year that has it with a sign that its other lines contradict")
        for key in _contradictions(period.year)
        if key in amounts and key not in contradicted and (amounts[key].method or "").startswith("fy_minus")
    ]
    return _judged("; ".join(why for _, why in off), [key for key, _ in off])


def _consistent(period: CheckedPeriod) -> Outcome:
    lines = period.contradicted
    return _judged(f"inconsistent: the filing gives two values for {', '.join(lines)}; the first is served", lines)


def _reasons(period: CheckedPeriod) -> Outcome | None:
    """Name the items that are absent although something of them is filed, and why. That is no failure: what is served is right."""
    amounts = period.amounts
    reasons = [f"no {key}: {why}" for key in period.keys if key not in amounts and (why := period.remark(key))]
    reasons += [f"no {key}_ttm: {why}" for key in amounts if (why := period.mixed(key))]
    return Outcome(PASSED, "; ".join(reasons)) if reasons else None


def _lone_lines(period: CheckedPeriod) -> Outcome:
    """Return whether no later report gives a line of the sheet otherwise. One that does not give the sheet replaces nothing of it."""
    remarks = {key: period.remark(key) or "" for key in period.amounts}
    off = {key: why.removeprefix(f"{LONE}: ") for key, why in remarks.items() if why.startswith(LONE)}
    words = "; ".join(f"{key}: {why}" for key, why in off.items())
    return _judged(f"a later report gives a line on another basis, and not the sheet: {words}", off)


# -- beside other periods -----------------------------------------------------------------------------------------------


def _neighbours(period: CheckedPeriod) -> Outcome | None:
    revenue = period.get("revenue")
    beside = [value for get in period.neighbours for value in _values(get, "revenue")]
    if "revenue" not in period.never_negative or revenue is None or len(beside) < 2 or min(beside) <= 0:
        return None
    # Other periods' figures are not told: their statements may be out of a reader's reach.
    return _judged(
        f"revenue {spelled(revenue.value)} is far outside the quarters beside it",
        ["revenue"],
        right=min(beside) / _FAR <= revenue.value <= max(beside) * _FAR,
    )


def _split(period: CheckedPeriod) -> Outcome | None:
    """Return whether the quarters of a year, a quarter and its year, or two neighbours, are counted in the same shares."""
    shares = period.get(_SHARES)
    beside = [value for get in (period.before, period.year, *period.quarters) for value in _values(get, _SHARES)]
    if shares is None or not beside:
        return None
    return _judged(
        f"{spelled(shares.value)} shares are not those that periods beside it count: a split, or another scale",
        [_SHARES],
        right=all(one_basis((other, shares.value)) for other in beside),
    )


def _split_of_balance(period: CheckedPeriod) -> Outcome | None:
    """Return whether the shares outstanding, of a cover dated after the period, are those that the income statement counts."""
    now, then = period.get("shares_outstanding"), period.before("shares_outstanding")
    average, average_before = (get(_SHARES) for get in period.incomes)
    if not (now and then and average and average_before and then.value > 0 and average.value > 0):
        return None
    # Classes that one of both leaves out make the same ratio in the period before.
    before = then.value / average_before.value if average_before.value > 0 else 1.0
    ratio = now.value / average.value
    return _judged(
        f"{spelled(now.value)} shares are counted otherwise than the average of {spelled(average.value)}",
        ["shares_outstanding"],
        right=one_basis((1.0, ratio)) or one_basis((before, ratio)),
    )


def _quarters(period: CheckedPeriod) -> Outcome | None:
    off: dict[str, str] = {}
    compared = 0
    for key in period.additive if period.quarters else ():
        year = period.get(key)
        parts = [value for get in period.quarters for value in _values(get, key)]
        if year is None or len(parts) < len(period.quarters):
            continue
        compared += 1
        if abs(sum(parts) - year.value) > rounding([year.value, *parts]):
            off[key] = f"{key} {spelled(sum(parts))} for {spelled(year.value)}"
    return _judged("the quarters give " + "; ".join(off.values()), off) if compared else None


def _reconciles(period: CheckedPeriod) -> Outcome | None:
    change = period.get("net_change_in_cash")
    failed = ""
    effect = _values(period.get, _EXCHANGE)
    # What went over to a disposal group is in the change, and not in the cash. The tag's sign and its day are often slips.
    after, before = (
        None if amount is None else abs(amount.value)
        for amount in (period.closing(_CASH_FOR_SALE), period.opening(_CASH_FOR_SALE))
    )
    apart = [value for value in (after, before) if value is not None]
    without = (0.0, (before or 0.0) - (after or 0.0), before or 0.0, -(after or 0.0))
    for key in _CASHES:
        closing, opening = period.closing(key), period.opening(key)
        if change is None or closing is None or opening is None or closing.tags != opening.tags:
            continue
        moved = closing.value - opening.value
        # What is computed from a year to date in millions and an earlier one in thousands is no finer than the first.
        coarse = [max(closing.value, opening.value, key=granularity)] if change.method else []
        allowed = rounding([closing.value, opening.value, change.value, *effect, *apart, *coarse])
        off = moved - change.value
        if any(abs(off - more - less) <= allowed for more in (0.0, sum(effect)) for less in without):
            return Outcome()
        if key == _CASHES[0]:
            failed = f"cash moved by {spelled(moved)}, the statement says {spelled(change.value)}"
    # Where one end has cash of a disposal group, and nobody says what the other has, nothing can be said of the change.
    if not failed or (len(apart) == 1 and apart[0] > 0):
        return None
    return _judged(failed, ["net_change_in_cash"])


def _scale(period: CheckedPeriod, keys: Sequence[str]) -> Outcome | None:
    lines = period.in_another_scale or ()
    off = dict.fromkeys(lines, "")
    if lines:
        off[lines[0]] = f"the filing is in another scale than its neighbours and its shares: {', '.join(lines)}"
    compared = len(lines)
    for kind in ("basic", "diluted") if _SHARES in keys and not lines else ():
        per_share, shares, income = (period.get(key) for key in _product_of(kind))
        if per_share is None or per_share.method is not None or shares is None or income is None:
            continue
        if abs(per_share.value) < COARSE or is_of_partners(per_share, income):
            continue
        compared += 1
        if (word := _scaled(per_share.value, shares.value, income.value)) is not None:
            off[f"weighted_average_shares_{kind}"] = f"{spelled(shares.value)} shares, {kind}, seem to be {word}"
    for key in keys:
        now, then = period.get(key), period.before(key)
        if key in off or now is None or then is None or now.value <= 0 or then.value <= 0:
            continue
        compared += 1
        least = SHARES_SCALE if key in _SHARE_COUNTS else _SCALE
        ratio = now.value / then.value
        if not 1 / least < ratio < least:
            # The other figure is not told: its own statement may be out of a reader's reach.
            times = f"more than {least:,} times" if ratio > 1 else f"less than a {least:,}th of"
            off[key] = f"{key} {spelled(now.value)} is {times} the one of the period before"
    return _judged("; ".join(filter(None, off.values())), off) if compared else None


#: Checks of differences of longer periods by their marks, and of quarters, that both statements of flows have.
_OF_FLOWS: dict[str, Rule] = {
    "one_basis": partial(
        _bases,
        mark=BEFORE_RECAST,
        words="the longer period was recast later and the shorter one was not, both are as first known",
    ),
    "two_bases": partial(
        _bases,
        mark=MIXED,
        words="the report of the longer period restated it, or the year before, those of the shorter one did not",
    ),
    "quarters_sum_to_year": _quarters,
}
_RULES: dict[str, dict[str, Rule]] = {
    INCOME: {
        "lines_add_up": _lines_add_up,
        "gross_profit_within_revenue": _gross_profit,
        "earnings_per_share_times_shares": _earnings_per_share,
        **_OF_FLOWS,
        "signs_agree": _signs,
        "quarter_among_neighbours": _neighbours,
        "shares_of_one_basis": _split,
        "scale": partial(_scale, keys=("revenue", _SHARES)),
        "consistent_filing": _consistent,
        "absent_with_reason": _reasons,
    },
    CASH_FLOW: {
        "cash_flows_add_up": _cash_flows,
        "cash_reconciles": _reconciles,
        **_OF_FLOWS,
        "signs_agree": _signs,
        "scale": partial(_scale, keys=()),
        "consistent_filing": _consistent,
        "absent_with_reason": _reasons,
    },
    BALANCE: {
        "balance_identity": _balance,
        "parts_within_whole": _parts,
        "signs_agree": _signs,
        "shares_of_one_basis": _split_of_balance,
        "scale": partial(_scale, keys=("total_assets", "shares_outstanding")),
        "one_basis": _lone_lines,
        "consistent_filing": _consistent,
        "absent_with_reason": _reasons,
    },
}
