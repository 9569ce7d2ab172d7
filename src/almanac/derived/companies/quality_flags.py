"""
What checks say of amounts: a flag on each line that a failed check is about, and on what is computed from it.

So quality travels: sums of twelve months, ratios and scores have the flags of all that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from almanac.derived.companies.checks import FATAL
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.line_items import BALANCE, CASH_FLOW, HALF, INCOME, INSTANT, QUARTER, YEAR, LineItems
from almanac.derived.companies.quality_check import FAILED as CHECK_FAILED
from almanac.derived.companies.quality_check import QualityCheck
from almanac.domain.observations import FAILED, WARNED

#: Statement (income, balance or cash_flow), letter of its length and last day → its checks, none where there is none.
ChecksOf = Callable[[tuple[str, str, int]], Sequence[QualityCheck]]
#: How an amount is come by that is computed from others of its period.
_FORMULA = "formula"


def quality_flags(line_items: LineItems, kind: str, end: int, checks_of: ChecksOf) -> dict[str, int]:
    """
    Return the flags of the items of one period (Q, S or A), or of the balances at its end (I): WARNED or FAILED by item.

    `checks_of` are those of statements; a fourth quarter that is computed from its year has the
    failures of the year.
    """
    amounts, dependents = line_items.of(kind, end).amounts, line_items.history.mapping.dependents
    statements = (
        [(BALANCE, letter) for letter in (QUARTER, YEAR, HALF)]
        if kind == INSTANT
        else [(statement, kind) for statement in (INCOME, CASH_FLOW)]
    )
    flags: dict[str, int] = {}
    for statement, letter in statements:
        for check in checks_of((statement, letter, end)):
            if check.status == CHECK_FAILED:
                flag = FAILED if check.name in FATAL else WARNED
                for key in _with_dependents(amounts, check.items or (), dependents):
                    flags[key] = max(flags.get(key, 0), flag)
    if kind == QUARTER:
        of_year = [key for key, amount in amounts.items() if any(tag.endswith(f":{YEAR}") for tag in amount.tags)]
        failed = quality_flags(line_items, YEAR, end, checks_of) if of_year else {}
        for key in _with_dependents(amounts, [key for key in of_year if failed.get(key) == FAILED], dependents):
            flags[key] = FAILED
    return flags


def _with_dependents(
    amounts: Mapping[str, Amount], keys: Iterable[str], dependents: Mapping[str, Iterable[str]]
) -> set[str]:
    """Return items, and those of the period that are computed from them."""
    items: set[str] = set()
    left = [key for key in keys if key in dependents]
    while left:
        key = left.pop()
        if key not in items:
            items.add(key)
            left += [name for name in dependents[key] if name in amounts and amounts[name].method == _FORMULA]
    return items
