"""Refusals: a tool's answer if it cannot do what was asked, in words that a language model can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import words
from .answers import SOFT, cut

#: Most allowed values that a refusal lists.
_MOST_ALLOWED = 40


class RefusalError(Exception):
    """A tool's error: the message, the allowed values, and what may have been meant."""

    def __init__(self, message: str, *, allowed: object = None, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = allowed
        self.suggestion = suggestion

    def text(self) -> str:
        """Return the text of the error."""
        lines = [f"error: {words.plain(self.message)}"]
        if self.allowed not in (None, [], {}):
            lines.append(f"allowed: {said(self.allowed)}")
        if self.suggestion:
            lines.append(f"suggestion: {words.plain(self.suggestion)}")
        return cut("\n".join(lines), SOFT)


def said(allowed: object) -> str:
    """Format the allowed values on one line: `1 to 500`, or a list."""
    if isinstance(allowed, Mapping):
        if set(allowed) == {"minimum", "maximum"}:
            return f"{allowed['minimum']} to {allowed['maximum']}"
        return ", ".join(f"{name} {said(one)}" for name, one in allowed.items())
    if isinstance(allowed, Sequence) and not isinstance(allowed, str):
        shown = ", ".join(words.plain(one) for one in allowed[:_MOST_ALLOWED])
        more = len(allowed) - _MOST_ALLOWED
        return f"{shown} and {more} more" if more > 0 else shown
    return words.plain(allowed)


def unknown(what: str, name: str, candidates: Sequence[Mapping[str, Any]], how: str = "") -> RefusalError:
    """
    Build the refusal of a name that isn't exact, with at most three candidates and what to call for more.

    If nothing is near, it says with `how` such things are named.
    """
    near = "; ".join(f"{one['id']} ({words.plain(one['name'])})" for one in candidates[:3])
    found = f"candidates: {near}" if near else "nothing is close to it"
    message = f"{words.plain(name)!r} is not the exact id of {what}; {found}"
    return RefusalError(
        message,
        suggestion="use one of these ids, or call almanac_find"
        if near
        else "; ".join(filter(None, ("call almanac_find", how))),
    )
