"""What the frame asks of the store and the accounts, as far as it needs to know them."""

from __future__ import annotations

from typing import Protocol

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
