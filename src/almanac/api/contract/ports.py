"""What the interface asks of those who compose it: keys, and explanations of what it cannot compute itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Protocol

from almanac.store.accounts.accounts import KeyRecord, Refused
from almanac.store.observations.reading.reader import View


class KeyStore(Protocol):
    """Keys and secrets, as `store.accounts.Accounts` has them."""

    def known(self, text: str, now: int) -> KeyRecord | Refused | None:
        """Say whose key this is, without waiting for a server; None where that has to be asked."""
        ...

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        """Return the key behind a text, or the reason why there is none. `now` is real time (unix seconds), by which keys expire."""
        ...

    def secret(self, name: str) -> bytes:
        """32 bytes under a name, the same for all workers."""
        ...


class ScoreExplainer(Protocol):
    """What explains a company's scores to the interface, which knows no formulas."""

    def __call__(self, view: View, entity: str, at: int, ends_from: date | None, /) -> Mapping[str, Mapping[str, Any]]:
        """
        Score → its detail (the fields of `ScoreDetailSchema` of the endpoint), as known at a moment (unix seconds).

        Names of scores: `piotroskiF`, `altmanZ2`, `beneishM`. Of periods that end before `ends_from` no input has a value.
        Empty where nothing can be computed, and where the scores are of such a period themselves.
        """
        ...


def unexplained(_view: View, _entity: str, _at: int, _ends_from: date | None) -> Mapping[str, Mapping[str, Any]]:
    """For a service without formulas: no score has a detail."""
    return {}
