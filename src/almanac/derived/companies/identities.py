"""What the lines of one statement must come to: sums, and parts that are no larger than their wholes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from almanac.derived.companies.financials import AmountOf
from almanac.derived.companies.precision import footed, rounding, spelled
from almanac.derived.companies.quality_check import FAILED, NOT_APPLICABLE, PASSED, QualityCheck, judge


class _Line(NamedTuple):
    """A line of an income statement: what another leaves that a third is taken from. `of`: the line served that it tells of."""

    key: str
    whole: str
    less: str
    of: str
    #: What leads to it beside these, in one of several ways.
    beside: tuple[tuple[str, ...], ...] = ((),)


_LINES = (
    _Line("gross_profit", "revenue", "cost_of_revenue", "gross_profit"),
    _Line("operating_income", "gross_profit", "operating_expenses", "operating_income"),
    _Line(
        "income_before_minorities",
        "income_before_tax",
        "income_tax",
        "net_income",
        # Income of associates is before tax with some filers, and after it with others.
        (("discontinued_operations",), ("discontinued_operations", "equity_method_income")),
    ),
)


def lines_add_up(get: AmountOf) -> QualityCheck:
    """Whether each line of an income statement is what those above it leave."""
    name, off, compared, items = "lines_add_up", [], 0, list[str]()
    for line in _LINES:
        result, above, taken = get(line.key), get(line.whole), get(line.less)
        if result is None or above is None or taken is None:
            continue
        compared += 1
        left = above.value - taken.value
        if any(_leads(get, left, [above.value, taken.value], way, result.value) for way in line.beside):
            continue
        if line.less in contradictions(get):
            continue  # its sign alone is wrong, which is told of it alone
        off.append(f"{line.whole} less {line.less} is {spelled(left)}, {line.key} {spelled(result.value)}")
        items += [line.whole, line.less, line.of]
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return judge(name, right=not off, detail="; ".join(off), items=items)


def _leads(get: AmountOf, left: float, made_of: list[float], beside: Iterable[str], result: float) -> bool:
    more = [amount.value for key in beside if (amount := get(key)) is not None]
    return abs(left + sum(more) - result) <= rounding([*made_of, *more, result])


def gross_profit(get: AmountOf) -> QualityCheck:
    """Whether gross profit is a part of revenue, and leaves out no more costs than it takes."""
    name = "gross_profit_within_revenue"
    gross, revenue = get("gross_profit"), get("revenue")
    if gross is None or revenue is None or revenue.value < 0:
        return QualityCheck(name, NOT_APPLICABLE)
    if gross.value > revenue.value:
        detail = f"gross profit {spelled(gross.value)} exceeds revenue {spelled(revenue.value)}"
        return QualityCheck(name, FAILED, detail, ("gross_profit", "revenue"))
    costs = get("costs_and_expenses")
    told = sum(amount.value for key in _COSTS if (amount := get(key)) is not None)
    return judge(
        name,
        right=gross.method is None or costs is None or told >= costs.value / 2,
        detail="gross profit leaves out most costs: those that have a line are less than half of all",
        items=["gross_profit"],
    )


#: Lines between revenue and operating income.
_COSTS = (
    "cost_of_revenue",
    "research_and_development",
    "selling_general_and_administrative",
    "depreciation_and_amortization",
)


def cash_flows(get: AmountOf) -> QualityCheck:
    """Whether the three flows come to the change in cash."""
    name = "cash_flows_add_up"
    keys = [f"net_cash_flow_from_{kind}" for kind in ("operations", "investing", "financing")]
    parts = [get(key) for key in keys]
    change = get("net_change_in_cash")
    there = [part.value for part in parts if part is not None]
    if change is None or len(there) < len(parts):
        return QualityCheck(name, NOT_APPLICABLE)
    values = [*there, *exchange(get)]
    total = sum(values)
    allowed = rounding([*values, change.value])
    # Some filers state the change before the effect of exchange rates, under the same tag.
    return judge(
        name,
        right=abs(total - change.value) <= allowed or abs(sum(there) - change.value) <= allowed,
        detail=f"the flows give {spelled(total)}, the change in cash is {spelled(change.value)}",
        items=[*keys, "net_change_in_cash"],
    )


def exchange(get: AmountOf) -> list[float]:
    """Return the effect of exchange rates, none where no line gives it."""
    effect = get("effect_of_exchange_rate_on_cash")
    return [] if effect is None else [effect.value]


#: What a balance sheet comes to.
_SHEET = ("total_assets", "total_liabilities", "shareholders_equity", "minority_interest", "temporary_equity")


def balance(get: AmountOf) -> QualityCheck:
    """Whether assets are liabilities and equity."""
    name = "balance_identity"
    assets, both = get("total_assets"), get("liabilities_and_equity")
    if assets is None:
        return QualityCheck(name, NOT_APPLICABLE)
    if both is not None and abs(assets.value - both.value) > rounding([assets.value, both.value]):
        detail = f"assets {spelled(assets.value)}, liabilities and equity {spelled(both.value)}"
        return QualityCheck(name, FAILED, detail, _SHEET)
    liabilities, equity = get("total_liabilities"), get("shareholders_equity")
    if liabilities is None or equity is None:
        return QualityCheck(name, NOT_APPLICABLE if both is None else PASSED)
    between = [amount.value for key in ("minority_interest", "temporary_equity") if (amount := get(key)) is not None]
    values = [liabilities.value, equity.value, *between]
    return judge(
        name,
        right=abs(assets.value - sum(values)) <= footed([assets.value, *values]),
        detail=f"assets {spelled(assets.value)}; liabilities, temporary equity and equity {spelled(sum(values))}",
        items=_SHEET,
    )


_WHOLES: Mapping[str, tuple[str, ...]] = {
    "total_assets": ("current_assets", "cash_and_equivalents", "inventory", "goodwill", "property_plant_equipment"),
    "current_assets": ("accounts_receivable", "inventory", "short_term_investments"),
    "total_liabilities": ("current_liabilities",),
    "current_liabilities": ("accounts_payable",),
}


def parts(get: AmountOf) -> QualityCheck:
    """Whether parts of a balance sheet are no larger than what they are parts of."""
    name = "parts_within_whole"
    off: list[str] = []
    items: list[str] = []
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
                items += [key, whole_key]
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return judge(name, right=not off, detail="; ".join(off), items=items)


#: Part of the tax that minority interests and the like may make between income before and after it.
_SHARE_OF_TAX = 0.1
#: Part of the income that a tax is at least for its sign to be told from it.
_TAX_OF_INCOME = 0.05


def contradictions(get: AmountOf) -> dict[str, str]:
    """Item → what of the same statement says that its sign is another."""
    found: dict[str, str] = {}
    common, per_share = get("net_income_to_common"), get("earnings_per_share_basic")
    if common is not None and per_share is not None and common.value * per_share.value < 0:
        found["net_income"] = f"income {spelled(common.value)} with {spelled(per_share.value)} per share"
    before, tax, income = (get(key) for key in ("income_before_tax", "income_tax", "net_income"))
    if before is not None and tax is not None and income is not None and _turned(before.value, tax.value, income.value):
        found["income_tax"] = (
            f"tax {spelled(tax.value)} between {spelled(before.value)} before and {spelled(income.value)} after it"
        )
    return found


def _turned(before: float, tax: float, income: float) -> bool:
    """Return whether only the tax with the other sign leads to the income, and is a material part of it."""
    told = abs(tax) > _TAX_OF_INCOME * abs(before)
    return told and abs(before - tax - income) > abs(tax) and abs(before + tax - income) < _SHARE_OF_TAX * abs(tax)
