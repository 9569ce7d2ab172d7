"""What a run over one source did, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class RunOutcome:
    """What a run did: counts of responses, and the reasons by address, of which one may have sent many."""

    source: str
    folded: int = 0
    known: int = 0
    vintages: int = 0
    ignored: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    unmapped: dict[str, int] = field(default_factory=dict)
    #: Names that were not read of responses that were: unknown ones, and mapped series that were missing.
    unread: set[str] = field(default_factory=set)
    ignored_responses: int = 0
    quarantined_responses: int = 0
    #: Seconds for which the publisher asked to be left alone.
    retry_after: float = 0.0

    def set_aside(self, url: str, reason: str, *, quarantined: bool) -> None:
        """Count a response that was not read, and why."""
        if quarantined:
            self.quarantined[url] = reason
            self.quarantined_responses += 1
        else:
            self.ignored[url] = reason
            self.ignored_responses += 1

    @property
    def exit_code(self) -> int:
        """0 all good, 3 some quarantined or failed, 1 nothing ingested."""
        if not self.folded and not self.known:
            return 1
        return 3 if self.quarantined or self.failed else 0


def exit_code(outcomes: Sequence[RunOutcome]) -> int:
    """The exit code of a command over several sources."""
    if not any(o.folded or o.known for o in outcomes):
        return 1
    return 3 if any(o.quarantined or o.failed for o in outcomes) else 0


Say = Callable[[str], None]
#: Passes parts of long work on one by one, under a name, and may show how far it has come.
Track = Callable[[Sequence[Any], str], Iterable[Any]]


def untracked(parts: Sequence[Any], name: str) -> Iterable[Any]:
    """Shows nothing."""
    return parts
