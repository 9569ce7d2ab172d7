"""The outcome of one check of one statement."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not_applicable"


class QualityCheck(msgspec.Struct, frozen=True):
    """
    One check of one statement. `detail` says what failed, in words with the numbers; or why items are absent. `items` are
    the lines that a failure is about; it has them where it failed.
    """

    name: str
    status: str
    detail: str | None = None
    items: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


def judge(name: str, *, right: bool, detail: str, items: Iterable[str]) -> QualityCheck:
    """Return a check that passed or failed; `detail` and `items` are of a failure only."""
    return QualityCheck(name, PASSED) if right else QualityCheck(name, FAILED, detail, tuple(dict.fromkeys(items)))
