"""
What can be checked of a statement from its own lines and its neighbours, after the data-quality rules of XBRL US.

A check passes, fails or does not apply; a value is never changed or dropped for it. Tolerances are the rounding of the
values themselves: half a unit of each operand, the unit being the power of ten that it is a multiple of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from almanac.derived.companies.financials import Amount, AmountOf
from almanac.derived.companies.precision import granularity, spelled
from almanac.derived.companies.quarters import BEFORE_RECAST, MIXED
from almanac.derived.companies.signs import contradictions
from almanac.derived.companies.ttm import one_basis

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not_applicable"
#: Checks whose failure makes the whole statement doubtful; any other failure is a warning.
GRAVE = frozenset(["balance_identity", "scale", "relied_upon"])
#: A line this many times its neighbour's, or this small a part of it, was filed in another scale.
_SCALE = 1_000
#: A quarter this many times each of its neighbours, or this small a part of each, is far outside them.
_FAR = 3
#: Part of income that earnings per share times shares may miss it by: participating securities, rounding.
_SHARE_OF_INCOME = 0.03


class QualityCheck(msgspec.Struct, frozen=True):
    """One check of one statement. `detail` says what failed, in words with the numbers."""

    name: str
    status: str
    detail: str | None = None


#: What the derivation remarks on an item: why it is not served, or that a filing gave it with the other sign.
RemarkOf = Callable[[str], str | None]


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
    #: Whether the filing that gave an amount contradicts itself there; None: no filing of this company does anywhere.
    contradicted: Callable[[Amount], bool] | None
    remark: RemarkOf = nothing
    never_negative: frozenset[str] = frozenset()
    #: The same statement of quarters beside a quarter: the one before, the one after, the one a year before.
    neighbours: Sequence[AmountOf] = ()
    #: The same statement of the year that a quarter is a part of.
    year: AmountOf = nothing
    #: Income statements of this period and of the one before, for the shares that a balance counts.
    incomes: tuple[AmountOf, AmountOf] = (nothing, nothing)


def verdict(checks: Iterable[QualityCheck]) -> str:
    """ok, warning or failed."""
    failed = [check.name for check in checks if check.status == FAILED]
    if not failed:
        return "ok"
    return "failed" if GRAVE.intersection(failed) else "warning"


def of_income(period: CheckedPeriod) -> list[QualityCheck]:
    return [
        _gross_profit(period.get),
        _earnings_per_share(period.get),
        *_of_flows(period),
        _signs(period),
        _neighbours(period),
        _split(period),
        _scale(period, ("revenue", "weighted_average_shares_basic")),
        _consistent(period),
    ]


def of_cash_flow(period: CheckedPeriod) -> list[QualityCheck]:
    return [_adds_up(period.get), _reconciles(period), *_of_flows(period), _signs(period), _consistent(period)]


def of_balance(period: CheckedPeriod) -> list[QualityCheck]:
    return [
        _identity(period.get),
        _parts(period.get),
        _signs(period),
        _split_of_balance(period),
        _scale(period, ("total_assets", "shares_outstanding")),
        _consistent(period),
    ]


def rounding(values: Iterable[float]) -> float:
    """How far a sum of these may be off: half a unit for each, a unit being at most a million."""
    return 0.5 * sum(min(granularity(value), 1_000_000.0) for value in values if value) + 1e-6


def _judge(name: str, *, right: bool, detail: str) -> QualityCheck:
    return QualityCheck(name, PASSED) if right else QualityCheck(name, FAILED, detail)


def _times(ratio: float) -> str:
    return f"more than {_SCALE:,} times" if ratio > 1 else f"less than a {_SCALE:,}th of"


def _gross_profit(get: AmountOf) -> QualityCheck:
    name = "gross_profit_within_revenue"
    gross, revenue = get("gross_profit"), get("revenue")
    if gross is None or revenue is None or revenue.value < 0:
        return QualityCheck(name, NOT_APPLICABLE)
    if gross.value > revenue.value:
        detail = f"gross profit {spelled(gross.value)} exceeds revenue {spelled(revenue.value)}"
        return QualityCheck(name, FAILED, detail)
    costs = get("costs_and_expenses")
    told = sum(amount.value for key in _COSTS if (amount := get(key)) is not None)
    return _judge(
        name,
        right=gross.method is None or costs is None or told >= costs.value / 2,
        detail="gross profit leaves out most costs: those that have a line are less than half of all",
    )


#: Lines between revenue and operating income.
_COSTS = (
    "cost_of_revenue",
    "research_and_development",
    "selling_general_and_administrative",
    "depreciation_and_amortization",
)


def _earnings_per_share(get: AmountOf) -> QualityCheck:
    name = "earnings_per_share_times_shares"
    income = get("net_income_to_common")
    for kind in ("basic", "diluted"):
        per_share, shares = get(f"earnings_per_share_{kind}"), get(f"weighted_average_shares_{kind}")
        if per_share is None or shares is None or income is None:
            continue
        if per_share.method is not None and per_share.method.startswith("approximate"):
            return QualityCheck(name, NOT_APPLICABLE)  # it was made of these
        product = per_share.value * shares.value
        allowed = 0.006 * shares.value + _SHARE_OF_INCOME * abs(income.value)
        return _judge(
            name,
            right=abs(product - income.value) <= allowed,
            detail=f"{spelled(per_share.value)} times {spelled(shares.value)} shares is {spelled(product)},"
            f" income is {spelled(income.value)}",
        )
    return QualityCheck(name, NOT_APPLICABLE)


def _of_flows(period: CheckedPeriod) -> list[QualityCheck]:
    return [_one_basis(period), _quarters(period)]


_BASES = {
    MIXED: "the report of the longer period restated it, or the year before, those of the shorter one did not",
    BEFORE_RECAST: "the longer period was recast later and the shorter one was not, both are as first known",
}


def _one_basis(period: CheckedPeriod) -> QualityCheck:
    methods = {key: amount.method for key in period.keys if (amount := period.get(key)) is not None and amount.method}
    off = [
        f"{words}: {', '.join(found)}"
        for mark, words in _BASES.items()
        if (found := [key for key, method in methods.items() if method.endswith(mark)])
    ]
    off += [f"no {key}: {why}" for key in period.keys if period.get(key) is None and (why := period.remark(key))]
    return _judge("one_basis", right=not off, detail="; ".join(off))


def _signs(period: CheckedPeriod) -> QualityCheck:
    """Amounts that cannot be negative, a loss with earnings per share, a tax that leads to another income, turned signs."""
    get = period.get
    found = {key: amount.value for key in period.keys if (amount := get(key)) is not None}
    off = [
        f"{key} {spelled(found[key])} is negative" for key in found if key in period.never_negative and found[key] < 0
    ]
    off += [f"{key}: {why}" for key in found if (why := period.remark(key))]
    mine = {key: why for key, why in contradictions(get).items() if key in period.keys}
    off += mine.values()
    # Another period's figures are not told: its statement may be out of a reader's reach.
    off += [
        f"{key} is a difference from a year that has it with a sign that its other lines contradict"
        for key in contradictions(period.year)
        if key in period.keys and key not in mine and (amount := get(key)) is not None and _is_difference(amount)
    ]
    return _judge("signs_agree", right=not off, detail="; ".join(off))


def _is_difference(amount: Amount) -> bool:
    return amount.method is not None and amount.method.startswith("fy_minus")


def _neighbours(period: CheckedPeriod) -> QualityCheck:
    name = "quarter_among_neighbours"
    revenue = period.get("revenue")
    beside = [amount.value for get in period.neighbours if (amount := get("revenue")) is not None]
    if revenue is None or len(beside) < 2 or min(beside) <= 0:
        return QualityCheck(name, NOT_APPLICABLE)
    # Other periods' figures are not told: their statements may be out of a reader's reach.
    return _judge(
        name,
        right=min(beside) / _FAR <= revenue.value <= max(beside) * _FAR,
        detail=f"revenue {spelled(revenue.value)} is far outside the quarters beside it",
    )


_SHARES = "weighted_average_shares_basic"


def _split(period: CheckedPeriod) -> QualityCheck:
    """Whether the quarters of a year, a quarter and its year, or two neighbours, are counted in the same shares."""
    name = "shares_of_one_basis"
    own = period.get(_SHARES)
    beside = [amount for get in (period.before, period.year, *period.quarters) if (amount := get(_SHARES)) is not None]
    if own is None or not beside:
        return QualityCheck(name, NOT_APPLICABLE)
    right = all(one_basis((other.value, own.value)) for other in beside)
    return _judge(
        name,
        right=right,
        detail=f"{spelled(own.value)} shares are not those that periods beside it count: a split, or another scale",
    )


def _split_of_balance(period: CheckedPeriod) -> QualityCheck:
    """Whether the shares outstanding, of a cover dated after the period, are those that the income statement counts."""
    name = "shares_of_one_basis"
    now, then = period.get("shares_outstanding"), period.before("shares_outstanding")
    average, average_before = (get(_SHARES) for get in period.incomes)
    if not (now and then and average and average_before and then.value > 0 and average.value > 0):
        return QualityCheck(name, NOT_APPLICABLE)
    # Classes that one of both leaves out make the same ratio in the period before.
    before = then.value / average_before.value if average_before.value > 0 else 1.0
    ratio = now.value / average.value
    return _judge(
        name,
        right=one_basis((1.0, ratio)) or one_basis((before, ratio)),
        detail=f"{spelled(now.value)} shares are counted otherwise than the average of {spelled(average.value)}",
    )


def _quarters(period: CheckedPeriod) -> QualityCheck:
    name = "quarters_sum_to_year"
    if not period.quarters:
        return QualityCheck(name, NOT_APPLICABLE)
    off: list[str] = []
    compared = 0
    for key in period.additive:
        year = period.get(key)
        parts = [amount for get in period.quarters if (amount := get(key)) is not None]
        if year is None or len(parts) < len(period.quarters):
            continue
        compared += 1
        total = sum(part.value for part in parts)
        if abs(total - year.value) > rounding([year.value, *(part.value for part in parts)]):
            off.append(f"{key} {spelled(total)} for {spelled(year.value)}")
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return _judge(name, right=not off, detail="the quarters give " + "; ".join(off))


def _adds_up(get: AmountOf) -> QualityCheck:
    name = "cash_flows_add_up"
    parts = [get(f"net_cash_flow_from_{kind}") for kind in ("operations", "investing", "financing")]
    change = get("net_change_in_cash")
    there = [part.value for part in parts if part is not None]
    if change is None or len(there) < len(parts):
        return QualityCheck(name, NOT_APPLICABLE)
    values = [*there, *_exchange(get)]
    total = sum(values)
    allowed = rounding([*values, change.value])
    # Some filers state the change before the effect of exchange rates, under the same tag.
    return _judge(
        name,
        right=abs(total - change.value) <= allowed or abs(sum(there) - change.value) <= allowed,
        detail=f"the flows give {spelled(total)}, the change in cash is {spelled(change.value)}",
    )


def _exchange(get: AmountOf) -> list[float]:
    effect = get("effect_of_exchange_rate_on_cash")
    return [] if effect is None else [effect.value]


def _reconciles(period: CheckedPeriod) -> QualityCheck:
    name = "cash_reconciles"
    change = period.get("net_change_in_cash")
    failed = ""
    effect = _exchange(period.get)
    for key in ("cash_of_cash_flow_statement", "cash_and_equivalents"):
        closing, opening = period.closing(key), period.opening(key)
        if change is None or closing is None or opening is None or closing.tags != opening.tags:
            continue
        moved = closing.value - opening.value
        allowed = rounding([closing.value, opening.value, change.value, *effect])
        if abs(moved - change.value) <= allowed or abs(moved - change.value - sum(effect)) <= allowed:
            return QualityCheck(name, PASSED)
        if key == "cash_of_cash_flow_statement":
            failed = f"cash moved by {spelled(moved)}, the statement says {spelled(change.value)}"
    return QualityCheck(name, FAILED, failed) if failed else QualityCheck(name, NOT_APPLICABLE)


def _identity(get: AmountOf) -> QualityCheck:
    name = "balance_identity"
    assets, both = get("total_assets"), get("liabilities_and_equity")
    if assets is None:
        return QualityCheck(name, NOT_APPLICABLE)
    if both is not None and abs(assets.value - both.value) > rounding([assets.value, both.value]):
        return QualityCheck(
            name, FAILED, f"assets {spelled(assets.value)}, liabilities and equity {spelled(both.value)}"
        )
    liabilities, equity = get("total_liabilities"), get("equity_with_minority")
    if liabilities is None or equity is None or liabilities.method == "formula":
        return QualityCheck(name, NOT_APPLICABLE if both is None else PASSED)
    between = get("temporary_equity")
    values = [liabilities.value, equity.value, *([] if between is None else [between.value])]
    return _judge(
        name,
        right=abs(assets.value - sum(values)) <= rounding([assets.value, *values]),
        detail=f"assets {spelled(assets.value)}; liabilities, temporary equity and equity {spelled(sum(values))}",
    )


_WHOLES: Mapping[str, tuple[str, ...]] = {
    "total_assets": ("current_assets", "cash_and_equivalents", "inventory", "goodwill", "property_plant_equipment"),
    "current_assets": ("accounts_receivable", "inventory", "short_term_investments"),
    "total_liabilities": ("current_liabilities",),
    "current_liabilities": ("accounts_payable",),
}


def _parts(get: AmountOf) -> QualityCheck:
    name = "parts_within_whole"
    off: list[str] = []
    compared = 0
    for whole_key, part_keys in _WHOLES.items():
        whole = get(whole_key)
        for key in part_keys:
            part = get(key)
            if whole is None or part is None:
                continue
            compared += 1
            if part.value > whole.value + rounding([part.value, whole.value]):
                off.append(f"{key} {spelled(part.value)} exceeds {whole_key} {spelled(whole.value)}")
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return _judge(name, right=not off, detail="; ".join(off))


def _scale(period: CheckedPeriod, keys: Sequence[str]) -> QualityCheck:
    name = "scale"
    off: list[str] = []
    compared = 0
    for key in keys:
        now, then = period.get(key), period.before(key)
        if now is None or then is None or now.value <= 0 or then.value <= 0:
            continue
        compared += 1
        if not 1 / _SCALE < now.value / then.value < _SCALE:
            # The other figure is not told: its own statement may be out of a reader's reach.
            off.append(f"{key} {spelled(now.value)} is {_times(now.value / then.value)} the one of the period before")
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return _judge(name, right=not off, detail="; ".join(off))


def _consistent(period: CheckedPeriod) -> QualityCheck:
    contradicted = period.contradicted
    if contradicted is None:
        return QualityCheck("consistent_filing", PASSED)
    off = [key for key in period.keys if (amount := period.get(key)) is not None and contradicted(amount)]
    return _judge(
        "consistent_filing",
        right=not off,
        detail=f"inconsistent: the filing gives two values for {', '.join(off)}; the first is served",
    )
