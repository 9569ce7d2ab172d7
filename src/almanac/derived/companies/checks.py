"""
What can be checked of a statement from its own lines and its neighbours, after the data-quality rules of XBRL US.

A check passes, fails or does not apply; a value is never changed or dropped for it. Tolerances are the rounding of the
values themselves: half a unit of each operand, the unit being the power of ten that it is a multiple of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from almanac.derived.companies import identities
from almanac.derived.companies.financials import Amount, AmountOf
from almanac.derived.companies.precision import granularity, rounding, spelled
from almanac.derived.companies.quality_check import FAILED, NOT_APPLICABLE, PASSED, QualityCheck, judge
from almanac.derived.companies.reading.item_reader import LONE, is_of_partners
from almanac.derived.companies.reading.quarters import BEFORE_RECAST, MIXED
from almanac.derived.companies.reading.quarters import SCALE as SHARES_SCALE
from almanac.derived.companies.reading.share_counts import COARSE
from almanac.derived.companies.ttm import one_basis

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


#: What cash the change of it may be of, the widest first; and cash that is held for sale with a part of the company.
_CASHES = ("cash_of_cash_flow_statement", "cash_with_restricted_cash", "cash_and_equivalents")
_CASH_FOR_SALE = "cash_of_disposal_group"
#: What the derivation remarks on an item: why it is not served, or that a filing gave it otherwise: sign, or basis (`LONE`).
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
    #: Whether an amount is of a filing in another scale; None: no filing of this company is.
    in_another_scale: Callable[[Amount], bool] | None = None
    never_negative: frozenset[str] = frozenset()
    #: The same statement of quarters beside a quarter: the one before, the one after, the one a year before.
    neighbours: Sequence[AmountOf] = ()
    #: The same statement of the year that a quarter is a part of.
    year: AmountOf = nothing
    #: Income statements of this period and of the one before, for the shares that a balance counts.
    incomes: tuple[AmountOf, AmountOf] = (nothing, nothing)
    #: Why the twelve months of an item that end with this period are absent, although their parts are there.
    mixed: RemarkOf = nothing


def verdict(checks: Iterable[QualityCheck]) -> str:
    """ok, warning or failed."""
    failed = [check.name for check in checks if check.status == FAILED]
    if not failed:
        return "ok"
    return "failed" if GRAVE.intersection(failed) else "warning"


def of_income(period: CheckedPeriod) -> list[QualityCheck]:
    return [
        identities.lines_add_up(period.get),
        identities.gross_profit(period.get),
        _earnings_per_share(period.get),
        *_of_flows(period),
        _signs(period),
        _neighbours(period),
        _split(period),
        _scale(period, ("revenue", "weighted_average_shares_basic")),
        _consistent(period),
        _reasons(period),
    ]


def of_cash_flow(period: CheckedPeriod) -> list[QualityCheck]:
    return [
        identities.cash_flows(period.get),
        _reconciles(period),
        *_of_flows(period),
        _signs(period),
        *([] if period.in_another_scale is None else [_scale(period, ())]),
        _consistent(period),
        _reasons(period),
    ]


def of_balance(period: CheckedPeriod) -> list[QualityCheck]:
    return [
        identities.balance(period.get),
        identities.parts(period.get),
        _signs(period),
        _split_of_balance(period),
        _scale(period, ("total_assets", "shares_outstanding")),
        _lone_lines(period),
        _consistent(period),
        _reasons(period),
    ]


def _times(ratio: float, least: int) -> str:
    return f"more than {least:,} times" if ratio > 1 else f"less than a {least:,}th of"


def _earnings_per_share(get: AmountOf) -> QualityCheck:
    name = "earnings_per_share_times_shares"
    for kind in ("basic", "diluted"):
        per_share, shares, income = map(get, _product_of(kind))
        if per_share is None or shares is None or income is None:
            continue
        if per_share.method is not None and per_share.method.startswith("approximate"):
            return QualityCheck(name, NOT_APPLICABLE)  # it was made of these
        if is_of_partners(per_share, income):
            return QualityCheck(name, NOT_APPLICABLE)  # the general partner's part of the income is not told
        detail = (
            f"{spelled(per_share.value)} a share times {spelled(shares.value)} shares is"
            f" {spelled(per_share.value * shares.value)}, income is {spelled(income.value)}"
        )
        if (off := _scaled(per_share.value, shares.value, income.value)) is not None:
            detail += f": the shares seem to be {off}"
        return judge(
            name,
            right=_is_product(per_share.value, shares.value, income.value),
            detail=detail,
            items=[f"earnings_per_share_{kind}"],
        )
    return QualityCheck(name, NOT_APPLICABLE)


def _product_of(kind: str) -> tuple[str, str, str]:
    return f"earnings_per_share_{kind}", f"weighted_average_shares_{kind}", "net_income_to_common"


def _is_product(per_share: float, shares: float, income: float) -> bool:
    return abs(per_share * shares - income) <= 0.006 * shares + _SHARE_OF_INCOME * abs(income)


def _scaled(per_share: float, shares: float, income: float) -> str | None:
    """In which scale shares fit income that do not as they are, in words; None: in none, or as they are."""
    if _is_product(per_share, shares, income):
        return None
    return next((word for word, times in _SCALES if _is_product(per_share, shares * times, income)), None)


def _of_flows(period: CheckedPeriod) -> list[QualityCheck]:
    return [*(_basis(period, *told) for told in _BASES), _quarters(period)]


#: Checks of bases: the mark of a method that fails them, and what it says.
_BASES = (
    (
        "one_basis",
        BEFORE_RECAST,
        "the longer period was recast later and the shorter one was not, both are as first known",
    ),
    (
        "two_bases",
        MIXED,
        "the report of the longer period restated it, or the year before, those of the shorter one did not",
    ),
)


def _basis(period: CheckedPeriod, name: str, mark: str, words: str) -> QualityCheck:
    methods = {key: amount.method for key in period.keys if (amount := period.get(key)) is not None and amount.method}
    off = [key for key, method in methods.items() if method.endswith(mark)]
    return judge(name, right=not off, detail=f"{words}: {', '.join(off)}", items=off)


def _reasons(period: CheckedPeriod) -> QualityCheck:
    """Which items are absent although something of them is filed, and why. That is no failure: what is served is right."""
    found = [f"no {key}: {why}" for key in period.keys if period.get(key) is None and (why := period.remark(key))]
    found += [
        f"no {key}_ttm: {why}" for key in period.keys if period.get(key) is not None and (why := period.mixed(key))
    ]
    return QualityCheck("absent_with_reason", PASSED if found else NOT_APPLICABLE, "; ".join(found) or None)


def _lone_lines(period: CheckedPeriod) -> QualityCheck:
    """Whether no later report gives a line of the sheet otherwise. One that does not give the sheet replaces nothing of it."""
    found = {key: period.remark(key) or "" for key in period.keys if period.get(key) is not None}
    off = {key: why.removeprefix(f"{LONE}: ") for key, why in found.items() if why.startswith(LONE)}
    return judge(
        "one_basis",
        right=not off,
        detail="a later report gives a line on another basis, and not the sheet: "
        + "; ".join(f"{key}: {why}" for key, why in off.items()),
        items=off,
    )


def _signs(period: CheckedPeriod) -> QualityCheck:
    """Amounts that cannot be negative, a loss with earnings per share, a tax that leads to another income, turned signs."""
    get = period.get
    found = {key: amount.value for key in period.keys if (amount := get(key)) is not None}
    off = [
        (key, f"{key} {spelled(found[key])} is negative")
        for key in found
        if key in period.never_negative and found[key] < 0
    ]
    off += [(key, f"{key}: {why}") for key in found if (why := period.remark(key)) and not why.startswith(LONE)]
    mine = {key: why for key, why in identities.contradictions(get).items() if key in period.keys}
    off += mine.items()
    # Another period's figures are not told: its statement may be out of a reader's reach.
    off += [
        (key, f"{key} is a difference from a year that has it with a sign that its other lines contradict")
        for key in identities.contradictions(period.year)
        if key in period.keys and key not in mine and (amount := get(key)) is not None and _is_difference(amount)
    ]
    return judge("signs_agree", right=not off, detail="; ".join(why for _, why in off), items=[key for key, _ in off])


def _is_difference(amount: Amount) -> bool:
    return amount.method is not None and amount.method.startswith("fy_minus")


def _neighbours(period: CheckedPeriod) -> QualityCheck:
    name = "quarter_among_neighbours"
    revenue = period.get("revenue")
    beside = [amount.value for get in period.neighbours if (amount := get("revenue")) is not None]
    if "revenue" not in period.never_negative or revenue is None or len(beside) < 2 or min(beside) <= 0:
        return QualityCheck(name, NOT_APPLICABLE)
    # Other periods' figures are not told: their statements may be out of a reader's reach.
    return judge(
        name,
        right=min(beside) / _FAR <= revenue.value <= max(beside) * _FAR,
        detail=f"revenue {spelled(revenue.value)} is far outside the quarters beside it",
        items=["revenue"],
    )


_SHARES = "weighted_average_shares_basic"
_SHARE_COUNTS = (_SHARES, "shares_outstanding")


def _split(period: CheckedPeriod) -> QualityCheck:
    """Whether the quarters of a year, a quarter and its year, or two neighbours, are counted in the same shares."""
    name = "shares_of_one_basis"
    own = period.get(_SHARES)
    beside = [amount for get in (period.before, period.year, *period.quarters) if (amount := get(_SHARES)) is not None]
    if own is None or not beside:
        return QualityCheck(name, NOT_APPLICABLE)
    right = all(one_basis((other.value, own.value)) for other in beside)
    return judge(
        name,
        right=right,
        detail=f"{spelled(own.value)} shares are not those that periods beside it count: a split, or another scale",
        items=[_SHARES],
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
    return judge(
        name,
        right=one_basis((1.0, ratio)) or one_basis((before, ratio)),
        detail=f"{spelled(now.value)} shares are counted otherwise than the average of {spelled(average.value)}",
        items=["shares_outstanding"],
    )


def _quarters(period: CheckedPeriod) -> QualityCheck:
    name = "quarters_sum_to_year"
    if not period.quarters:
        return QualityCheck(name, NOT_APPLICABLE)
    off: dict[str, str] = {}
    compared = 0
    for key in period.additive:
        year = period.get(key)
        parts = [amount for get in period.quarters if (amount := get(key)) is not None]
        if year is None or len(parts) < len(period.quarters):
            continue
        compared += 1
        total = sum(part.value for part in parts)
        if abs(total - year.value) > rounding([year.value, *(part.value for part in parts)]):
            off[key] = f"{key} {spelled(total)} for {spelled(year.value)}"
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return judge(name, right=not off, detail="the quarters give " + "; ".join(off.values()), items=off)


def _reconciles(period: CheckedPeriod) -> QualityCheck:
    name = "cash_reconciles"
    change = period.get("net_change_in_cash")
    failed = ""
    effect = identities.exchange(period.get)
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
            return QualityCheck(name, PASSED)
        if key == _CASHES[0]:
            failed = f"cash moved by {spelled(moved)}, the statement says {spelled(change.value)}"
    # Where one end has cash of a disposal group, and nobody says what the other has, nothing can be said of the change.
    if not failed or (len(apart) == 1 and apart[0] > 0):
        return QualityCheck(name, NOT_APPLICABLE)
    return QualityCheck(name, FAILED, failed, ("net_change_in_cash",))


def _scale(period: CheckedPeriod, keys: Sequence[str]) -> QualityCheck:
    name = "scale"
    slipped = period.in_another_scale
    lines = [] if slipped is None else [k for k in period.keys if (of := period.get(k)) is not None and slipped(of)]
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
        if not 1 / least < now.value / then.value < least:
            # The other figure is not told: its own statement may be out of a reader's reach.
            off[key] = (
                f"{key} {spelled(now.value)} is {_times(now.value / then.value, least)} the one of the period before"
            )
    if not compared:
        return QualityCheck(name, NOT_APPLICABLE)
    return judge(name, right=not off, detail="; ".join(filter(None, off.values())), items=off)


def _consistent(period: CheckedPeriod) -> QualityCheck:
    contradicted = period.contradicted
    if contradicted is None:
        return QualityCheck("consistent_filing", PASSED)
    off = [key for key in period.keys if (amount := period.get(key)) is not None and contradicted(amount)]
    return judge(
        "consistent_filing",
        right=not off,
        detail=f"inconsistent: the filing gives two values for {', '.join(off)}; the first is served",
        items=off,
    )
