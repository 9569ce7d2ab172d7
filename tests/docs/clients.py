"""How an operation is asked for through the clients that are here, for its page of the reference."""

from __future__ import annotations


def blocks(operation: str, target: str) -> list[str]:
    """A block for each client that is in the repository."""
    return []
