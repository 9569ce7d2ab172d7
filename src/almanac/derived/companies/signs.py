"""What the lines of one statement say of each other's signs."""

from __future__ import annotations

from almanac.derived.companies.financials import AmountOf
from almanac.derived.companies.precision import spelled

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
    """Whether only the tax with the other sign leads to the income, and is no trifle beside it."""
    told = abs(tax) > _TAX_OF_INCOME * abs(before)
    return told and abs(before - tax - income) > abs(tax) and abs(before + tax - income) < _SHARE_OF_TAX * abs(tax)
