"""What the frame asks of the store and the accounts, as far as it needs to know them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Protocol

from almanac.store import reading
from almanac.store.accounts import KeyRecord, Refused


class View(Protocol):
    """One consistent read of the store: the newest data version in it, and the epoch its row keys belong to."""

    @property
    def version(self) -> int: ...
    @property
    def epoch(self) -> str: ...


class Accounts(Protocol):
    """Keys and secrets, as `store.accounts.Accounts` has them."""

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        """The key behind a text, or the reason there is none. `now` is real time, unix seconds: keys expire by it."""
        ...

    def secret(self, name: str) -> bytes:
        """32 bytes under a name, the same for all workers."""
        ...


class ScoreExplainer(Protocol):
    """What explains a company's scores to the interface, which knows no formulas."""

    def __call__(
        self, view: reading.View, entity: str, at: int, ends_from: date | None, /
    ) -> Mapping[str, Mapping[str, Any]]:
        """
        Score → its detail (the fields of `company_records.ScoreDetail`), as known at a moment (unix seconds).

        Names of scores: `piotroskiF`, `altmanZ2`, `beneishM`. Of periods that end before `ends_from` no input has a value.
        Empty where nothing can be computed, and where the scores are of such a period themselves.
        """
        ...


def unexplained(
    _view: reading.View, _entity: str, _at: int, _ends_from: date | None
) -> Mapping[str, Mapping[str, Any]]:
    """For a service without formulas: no score has a detail."""
    return {}
