"""Why something is not shown, for whoever reads it: what an operator has to set is told to operators alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: How the names of settings begin.
_SETTING: Final = "ALMANAC_"
#: Letters of the code of a scope.
_CODE: Final = 3


def reason_for(text: str, *, operator: bool) -> str:
    """
    A reason without its sentences that name settings, unless an operator reads it.

    >>> reason_for("It may not be passed on. Once it may, set ALMANAC_X and ALMANAC_Y.", operator=False)
    'It may not be passed on.'
    """
    if operator or _SETTING not in text:
        return text
    # Names of settings have no full stop in them.
    left = ".".join(part for part in text.split(".") if _SETTING not in part).strip()
    left = left if left.endswith(".") or not left else f"{left}."
    # A reason in brackets loses its end with its last sentence.
    return f"{left})." if left.count("(") > left.count(")") else left


def notes_for(notes: Iterable[str], *, operator: bool) -> list[str]:
    """Notes on comparing yields; those that differ by the tenor alone (`GBR 2y: …`, `GBR 5y: …`) as one."""
    found: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        text = reason_for(note, operator=operator)
        head, colon, rest = text.partition(": ")
        scope, _, tenor = head.partition(" ")
        alike = colon and tenor and len(scope) == _CODE and scope.isupper()
        found.setdefault((scope, rest) if alike else (text, ""), []).append(tenor)
    return [f"{scope} {', '.join(tenors)}: {rest}" if rest else scope for (scope, rest), tenors in found.items()]
