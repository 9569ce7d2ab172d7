"""Ranges of numeric codes (`2833-2836`, `8731`) that mean something; the narrowest range that holds a code decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_RANGE = re.compile(r"([0-9]{4})(?:-([0-9]{4}))?")


class Ranges:
    """What each code from 0000 to 9999 means; `problems` says what is wrong with the ranges, one line each."""

    def __init__(self, meanings: Mapping[str, Sequence[str]]) -> None:
        self.problems: list[str] = []
        self._held: dict[int, tuple[int, str]] = {}
        for meaning, written in meanings.items():
            for text in written:
                self._enter(meaning, text)

    def get(self, code: str) -> str | None:
        """The meaning of a code of four digits."""
        found = self._held.get(int(code))
        return None if found is None else found[1]

    def missing(self, codes: Iterable[str]) -> Iterator[str]:
        """Codes that no range holds."""
        return (code for code in codes if int(code) not in self._held)

    def _enter(self, meaning: str, text: str) -> None:
        found = _RANGE.fullmatch(text)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            self.problems.append(f"{meaning}: {text!r} is not a code or a range of codes, like 8731 or 2833-2836")
        width = last - first
        for code in range(first, last + 1):
            held = self._held.get(code)
            if held is not None and held[0] == width:
                self.problems.append(f"{meaning}: {code:04d} is in two ranges of one width, the other is of {held[1]}")
            if held is None or width < held[0]:
                self._held[code] = (width, meaning)
