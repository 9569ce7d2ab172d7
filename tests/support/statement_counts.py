"""How good statements are: how many have each item, are without it for which reason, and what checks say, by kind of company."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

#: Item that a statement of each type is nothing without.
_ANCHORS = {"income": "net_income", "balance": "total_assets", "cash_flow": "net_cash_flow_from_operations"}
#: The check that names absent items and why (`derived.companies.checks`).
_REASONS = "absent_with_reason"
#: Why an item is absent of which no check says more: nothing of it is filed under a tag that is known here.
NOT_REPORTED = "not_reported"


class ItemCount(msgspec.Struct, frozen=True, rename="camel"):
    """
    One item of the statements of one kind of company: `statements` there are, `served` have it, of these a check that
    does not hold names it in `warned` and `failed`; the others are `absent`, by reason.
    """

    style: str
    statement: str
    item: str
    statements: int
    served: int
    warned: int
    failed: int
    absent: dict[str, int]


class StatementCounts:
    """
    Counts of statements as they are served, one kind of company beside another.

    `grave`: checks whose failure makes an item named by them failed; one that any other names is warned. Counted are, by
    kind and item, the statements that have it (`served`), by reason those that have not (`absent`); by kind and verdict all
    (`status`); by kind and type all (`types`), and those of which a report of the filer's own is about (`own`).
    """

    def __init__(self, grave: frozenset[str] = frozenset()) -> None:
        self._grave = grave
        self.served: Counter[tuple[str, str]] = Counter()
        self.absent: Counter[tuple[str, str, str]] = Counter()
        self.warned: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[tuple[str, str]] = Counter()
        self.status: Counter[tuple[str, str]] = Counter()
        self.types: Counter[tuple[str, str]] = Counter()
        self.own: Counter[tuple[str, str]] = Counter()
        self.own_served: Counter[tuple[str, str]] = Counter()
        self._type_of: dict[str, str] = {}

    def add(self, kind: str, type_: str, body: Mapping[str, Any], *, own: bool = False) -> None:
        """Count one statement, income, balance or cash_flow, as it goes over the wire."""
        items, quality = body["items"], body["quality"]
        self.types[kind, type_] += 1
        self.own[kind, type_] += own
        self.status[kind, quality["status"]] += 1
        for item in items:
            self.served[kind, item] += 1
            self.own_served[kind, item] += own
            self._type_of[item] = type_
        warned: set[str] = set()
        failed: set[str] = set()
        for check in quality["checks"]:
            if check["status"] == "failed":
                (failed if check["name"] in self._grave else warned).update(items.keys() & check["items"])
            if check["name"] == _REASONS:
                for item, reason in absences(check["detail"] or ""):
                    self.absent[kind, item, reason] += 1
                    self._type_of[item] = type_
        self.failed.update((kind, item) for item in failed)
        self.warned.update((kind, item) for item in warned - failed)

    def kinds(self) -> list[str]:
        """Kinds of which there is any statement."""
        return sorted({kind for kind, _ in self.types})

    def share(self, item: str, type_: str) -> float:
        """The part of all statements of a type that have an item; 1 where there is no such statement."""
        every = sum(count for (_, one), count in self.types.items() if one == type_)
        return sum(count for (_, one), count in self.served.items() if one == item) / every if every else 1.0

    def ok(self) -> float:
        """The part of all statements of which every check holds."""
        every = sum(self.status.values())
        return sum(count for (_, verdict), count in self.status.items() if verdict == "ok") / every if every else 1.0

    def anchored(self) -> bool:
        """Whether every statement has what it is nothing without."""
        return all(self.share(item, type_) == 1.0 for type_, item in _ANCHORS.items())

    def rows(self) -> Iterator[ItemCount]:
        """Each kind of company and item that any of its statements has, or says why not; in that order."""
        reasons: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for (kind, item, reason), count in sorted(self.absent.items()):
            reasons[kind, item][reason] = count
        met = {*self.served, *reasons}
        for kind, type_, item in sorted((kind, self._type_of[item], item) for kind, item in met):
            every, served = self.types[kind, type_], self.served[kind, item]
            absent = dict(reasons[kind, item])
            if rest := every - served - sum(absent.values()):
                absent[NOT_REPORTED] = rest
            warned, failed = self.warned[kind, item], self.failed[kind, item]
            yield ItemCount(kind, type_, item, every, served, warned, failed, absent)


def absences(detail: str) -> list[tuple[str, str]]:
    """Items and the codes of why they are absent, from the words of the check."""
    found = []
    for part in detail.split("; "):
        if part.startswith("no ") and ": " in part:
            item, why = part.removeprefix("no ").split(": ", 1)
            if not item.endswith("_ttm"):  # twelve months are no line of a statement
                found.append((item, why.partition(":")[0]))
    return found
