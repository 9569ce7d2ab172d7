"""What filings changed: each restated cell as it was before, found by asking the interface as of the second before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from almanac.dashboard.explorer.companies import splits
from almanac.dashboard.explorer.companies.statements import Was
from almanac.dashboard.words.dates import moment_of
from almanac.domain.times import wire_time

Row = dict[str, Any]
#: Moments that are asked about for one page; each is one request.
MOST = 6


def before(statements: Sequence[Row], ask: Callable[[str], Sequence[Row]]) -> tuple[dict[tuple[int, str], Was], bool]:
    """
    What restated cells were, by the place of the statement and the line; and whether there was more than was looked for.

    `ask` gives the statements of the same kind as of a moment. A statement says which filing changed it last only; what
    an earlier one changed is found by asking about the state that this one replaced, and so on.
    """
    found: dict[tuple[int, str], Was] = {}
    waiting = {number: one for number, one in enumerate(statements) if one["revisionStatus"] == "revised"}
    for _ in range(MOST):
        if not waiting:
            break
        newest = max(one["observedAt"] for one in waiting.values())
        older = {_period(one): one for one in ask(_second_before(newest))}
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
            shares = splits.of_shares(changed)
            ratio = splits.split({key: changed[key] for key in shares})
            told = "" if ratio is None else splits.words(ratio)
            for key, (old, _) in changed.items():
                found.setdefault((number, key), Was(old, was, after, told if key in shares else ""))
            if was["revisionStatus"] == "revised":
                waiting[number] = was
    return found, bool(waiting)


def _period(statement: Row) -> tuple[str, str]:
    return statement["frequency"], statement["periodEnd"]


def _second_before(moment: str) -> str:
    return wire_time(int(moment_of(moment).timestamp()) - 1)
