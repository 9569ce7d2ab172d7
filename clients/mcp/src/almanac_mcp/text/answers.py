"""Answers: a head, tables of comma-separated values, notes and citations, cut to a limit of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from . import words
from .citations import Citations

#: Characters of an answer. Above SOFT rows are left out; HARD is never exceeded.
SOFT = 6_000
HARD = 24_000


@dataclass
class Table:
    """A part of an answer: title, columns and rows. If not all rows fit, the newest or the first are kept."""

    title: str
    columns: Sequence[str] = ()
    rows: list[Sequence[object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    keep: Literal["last", "first"] = "last"

    def lines(self, most: int) -> list[str]:
        """Return the lines of the table with at most `most` rows."""
        head = [self.title] if self.title else []
        if self.rows and self.columns:
            head.append(",".join(self.columns))
        return [*head, *(words.csv_line(row) for row in self.kept(most)), *self.notes]

    def kept(self, most: int) -> list[Sequence[object]]:
        """Return the rows that are kept."""
        if len(self.rows) <= most:
            return self.rows
        return self.rows[-most:] if self.keep == "last" else self.rows[:most]

    def left_out(self, most: int) -> list[Sequence[object]]:
        """Return the rows that are left out."""
        if len(self.rows) <= most:
            return []
        return self.rows[:-most] if self.keep == "last" else self.rows[most:]


@dataclass
class Answer:
    """A tool's answer. `hint` takes the rows left out and says how to ask for them."""

    head: list[str]
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    citations: Citations = field(default_factory=Citations)
    hint: Callable[[list[Sequence[object]]], str] | None = None

    def text(self, soft: int = SOFT, hard: int = HARD) -> str:
        """
        Return the answer as text, with as many rows of each table as fit, at least one. The last line says what was
        left out.
        """
        longest = max((len(table.rows) for table in self.tables), default=0)
        text = self._rendered(longest)
        if len(text) > soft and longest > 1:
            fits, over = 1, longest
            while over - fits > 1:
                middle = (fits + over) // 2
                if len(self._rendered(middle)) <= soft:
                    fits = middle
                else:
                    over = middle
            text = self._rendered(fits)
        return cut(text, hard)

    def _rendered(self, most: int) -> str:
        lines = list(self.head)
        for table in self.tables:
            lines += ["", *table.lines(most)] if lines else table.lines(most)
        lines += self.notes
        sources = self.citations.lines()
        if sources:
            lines += ["", *sources]
        gone = [row for table in self.tables for row in table.left_out(most)]
        if gone:
            hint = self.hint(gone) if self.hint else "ask for fewer at a time"
            lines += ["", f"left out {words.counted(len(gone), 'row')}: {hint}"]
        return "\n".join(lines)


def cut(text: str, most: int = HARD) -> str:
    """Cut a text that exceeds the limit after its last whole line that fits, and say so."""
    if len(text) <= most:
        return text
    said = "\nleft out the rest: the answer is too long; ask for less at a time"
    kept = text[: most - len(said)]
    return kept[: kept.rfind("\n")] + said if "\n" in kept else kept + said
