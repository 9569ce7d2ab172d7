"""What the interface asks of those who compose it: keys, and explanations of what it cannot compute itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


#: Explains the scores of a company to the interface, which knows no formulas: of (view, entity, moment in unix seconds, `ends_from`)
#: it gives score (`piotroskiF`, `altmanZ2`, `beneishM`) → its detail (the fields of `ScoreDetailSchema`) as known at the moment. Of
#: periods that end before `ends_from` no input has a value. Empty where nothing can be computed, and where the scores are of such
#: a period themselves.
ScoreExplainer = Callable[[View, str, int, date | None], Mapping[str, Mapping[str, Any]]]
