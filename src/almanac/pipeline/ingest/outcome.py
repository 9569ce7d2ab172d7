"""The outcome of a run over one source, and the reporting of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from almanac.sources.base import DOUBT


@dataclass(slots=True)
class RunOutcome:
    """The outcome of a run: counts of responses, and reasons by address. One address may send several responses."""

    source: str
    folded: int = 0
    known: int = 0
    vintages: int = 0
    ignored: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    unmapped: dict[str, int] = field(default_factory=dict)
    #: Unknown names, and mapped series that were missing, in responses that were read.
    unread: set[str] = field(default_factory=set)
    #: Requests answered with the publisher's word for "there is nothing".
    empty: list[str] = field(default_factory=list)
    #: Requests that wait without a fault, for the publisher's limit or for data in preparation, with the reason.
    later: dict[str, str] = field(default_factory=dict)
    ignored_responses: int = 0
    quarantined_responses: int = 0
    #: Seconds that the publisher asked us to wait.
    retry_after: float = 0.0

    def set_aside(self, url: str, reason: str, *, quarantined: bool) -> None:
        """Count a response that was not read, with the reason."""
        if quarantined:
            self.quarantined[url] = reason
            self.quarantined_responses += 1
        else:
            self.ignored[url] = reason
            self.ignored_responses += 1

    def join(self, later: RunOutcome) -> None:
        """Add the outcome of a later run over the same source."""
        for name in ("folded", "known", "vintages", "ignored_responses", "quarantined_responses"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in ("ignored", "quarantined", "failed", "later", "unmapped"):
            getattr(self, name).update(getattr(later, name))
        self.unread |= later.unread
        self.empty += later.empty
        self.retry_after = max(self.retry_after, later.retry_after)

    @property
    def error(self) -> tuple[str, str] | None:
        """Address and reason of the first failure, or of the first waiting request if nothing at all was answered."""
        if self.failed:
            return next(iter(self.failed.items()))
        return next(iter(self.later.items())) if self.waits else None

    @property
    def waits(self) -> bool:
        """True if nothing was answered and nothing failed, because everything asked has to wait."""
        answered = self.folded or self.known or self.empty or self.ignored_responses or self.quarantined_responses
        return bool(self.later) and not answered and not self.failed

    @property
    def incomplete(self) -> bool:
        """True if something was quarantined, in doubt, failed, or is yet to come."""
        doubtful = any(name.startswith(f"unknown {DOUBT} ") for name in self.unread)
        return bool(self.quarantined or self.failed or self.later or doubtful)


def exit_code(outcomes: Sequence[RunOutcome]) -> int:
    """Return the exit code of a command over several sources."""
    if not any(o.folded or o.known for o in outcomes):
        return 1
    return 3 if any(o.incomplete for o in outcomes) else 0


Say = Callable[[str], None]
#: Yields the parts of long work under a name, and may show progress.
Track = Callable[[Sequence[Any], str], Iterable[Any]]


def untracked(parts: Sequence[Any], name: str) -> Iterable[Any]:
    """Return the parts without reporting progress."""
    return parts
