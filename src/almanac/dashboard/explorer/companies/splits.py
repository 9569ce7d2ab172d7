"""Splits of shares, told from what a later filing made of the shares and the figures per share of an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

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
    The split that explains how the lines of one statement changed: new shares for each old one, 4 for `4-for-1`.

    `changed`: what lines that count shares, or are per share, were and are. None where no one ratio explains them all, or
    where a single figure per share is all that there is: that may be any change.
    """
    if len(changed) < 2 and not any(_counts_shares(key) for key in changed):
        return None
    for ratio in (one for usual in _RATIOS for one in (usual, 1 / usual)):
        if changed and all(_explains(ratio, key, *pair) for key, pair in changed.items()):
            return ratio
    return None


def of_shares(keys: Iterable[str]) -> set[str]:
    """Those of the lines that a split changes."""
    return {key for key in keys if "per_share" in key or _counts_shares(key)}


def words(ratio: Fraction) -> str:
    """`4-for-1 split`, `1-for-10 reverse split`."""
    return f"{ratio.numerator}-for-{ratio.denominator} {'' if ratio > 1 else 'reverse '}split"


def _counts_shares(key: str) -> bool:
    return "shares" in key and "repurchase" not in key


def _explains(ratio: Fraction, key: str, was: float, now: float) -> bool:
    times = float(ratio)
    if "per_share" in key:
        return abs(was - now * times) <= _HALF_CENT * (1 + times) * 1.01
    return abs(now - was * times) <= _ROUNDED * abs(now)
