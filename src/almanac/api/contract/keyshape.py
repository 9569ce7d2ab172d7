"""Texts of the shape of a key: what no answer, and no line of the log, repeats."""

from __future__ import annotations

import re

#: What every key begins with; a text without it needs no closer look.
MARK = "alm_"
_SHAPE = re.compile(r"alm_[0-9A-Za-z]{40}")
_REDACTED = "[redacted]"


def has_key(text: str) -> bool:
    """Whether something of the shape of a key stands in the text."""
    return MARK in text and _SHAPE.search(text) is not None


def redact(text: str) -> str:
    """Blot out everything in a text that looks like a key. Do it before cutting the text: half a key has no shape."""
    return _SHAPE.sub(_REDACTED, text) if MARK in text else text
