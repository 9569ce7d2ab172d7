"""Notes under an answer: the service's warnings, and the limits of a plan."""

from __future__ import annotations

from collections.abc import Iterable

from .asking import Item, Page
from .text import words


def warnings(pages: Iterable[Page]) -> list[str]:
    """Return one line for each warning of the service."""
    return sorted({words.plain(f"warning: {one}") for page in pages for one in page.warnings})


def history(answers: Iterable[Page | Item], start: str | None = None) -> list[str]:
    """Return a note that the key's plan begins on a day, if the question may reach further back."""
    reach = max((one.history_from for one in answers if one.history_from), default=None)
    if reach is None or (start is not None and words.first_day(start) >= reach):
        return []
    return [
        f"this key's plan reaches back to {reach}: nothing older is shown, and that says nothing of whether it exists"
    ]
