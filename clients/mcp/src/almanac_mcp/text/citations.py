"""Citations: the numbered footer that names providers and licences, and the ids for further questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import words

#: Observation ids in one citation; `almanac_explain` accepts any of them.
_MOST_REFERENCES = 4


class Citations:
    """The sources of one answer, numbered in the order of their first citation."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, ...], list[str]] = {}

    def row(self, row: Mapping[str, Any], *, refer: bool = True) -> int:
        """Return the number of an observation's source. With `refer`, its id is added to the footer."""
        rights = row.get("rights") or {}
        reference = str(row["id"]) if refer and row.get("id") else ""
        attribution = row.get("attribution") or rights.get("attribution") or ""
        return self.source(
            str(row.get("providerId") or ""),
            str(row.get("sourceId") or ""),
            str(rights.get("license") or ""),
            str(attribution),
            reference,
        )

    def source(self, provider: str, source: str, licence: str, attribution: str, reference: str = "") -> int:
        """Return the number of a source. It stays the same throughout an answer."""
        key = tuple(words.plain(part) for part in (provider, source, licence, attribution))
        references = self._lines.setdefault(key, [])
        if reference and reference not in references:
            references.append(reference)
        return list(self._lines).index(key) + 1

    def lines(self) -> list[str]:
        """Return the footer, with lines like `[1] provider, source, licence: …, cite as: …, ref obs_…`."""
        return [
            f"[{index}] " + ", ".join([*_said(key), *_references(references)])
            for index, (key, references) in enumerate(self._lines.items(), 1)
        ]


def _said(key: tuple[str, ...]) -> list[str]:
    provider, source, licence, attribution = key
    named = [provider, source if source != provider else ""]
    said = [f"licence: {licence}" if licence else "", f"cite as: {attribution}" if attribution else ""]
    return [part for part in (*named, *said) if part]


def _references(found: list[str]) -> list[str]:
    if not found:
        return []
    more = "" if len(found) <= _MOST_REFERENCES else f" and {len(found) - _MOST_REFERENCES} more"
    return ["ref " + " ".join(found[:_MOST_REFERENCES]) + more]
