"""Runs the Python blocks of a page in order, and compares what they print with the `text` block after each."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
#: Stands for whatever was left out.
ANYTHING = "…"


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Python blocks of a page: the line each begins on, its code, and what is shown after it."""
    text = page.read_text("utf-8")
    found = list(_FENCE.finditer(text))
    shown: list[tuple[int, str, str | None]] = []
    for index, match in enumerate(found):
        if match[1] != "python":
            continue
        after = found[index + 1] if index + 1 < len(found) and found[index + 1][1] == "text" else None
        adjacent = after is not None and not text[match.end() : after.start()].strip()
        shown.append((text.count("\n", 0, match.start()) + 2, match[2], after[2] if after and adjacent else None))
    return shown


def run(page: Path, names: dict[str, Any] | None = None) -> list[tuple[int, str, str]]:
    """Run them all; those that print something else than is shown, as (line, shown, printed)."""
    names = {"__name__": "__main__"} if names is None else names
    different = []
    for line, code, expected in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        if expected is not None and not same(expected, printed.getvalue()):
            different.append((line, expected, printed.getvalue()))
    return different


def same(expected: str, printed: str) -> bool:
    """Whether a text is what is shown, where `…` stands for anything. Spaces at the ends of lines do not count."""
    tidy = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split(ANYTHING))
    return re.fullmatch(pattern, tidy, re.DOTALL) is not None
