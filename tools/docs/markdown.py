"""Small pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a cell's line breaks become spaces, its pipes are escaped."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def code(words: Iterable[object]) -> str:
    """Words in code type, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
