"""Small numbers of long texts, by which a table finds them: an index of the texts themselves would be as large as the table."""

from __future__ import annotations

import hashlib


def digest_of(text: str) -> int:
    """Return 48 bits of SHA-256. Two texts may have one number, though rarely, so a look-up compares the text too."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
