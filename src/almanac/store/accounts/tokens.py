"""Tokens of people: what a cookie or a link carries. Only a digest is kept, so who reads the file can use none of them."""

from __future__ import annotations

import re
import secrets

_BYTES = 32
_SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """256 random bits for a cookie or an address: 43 characters of `A-Za-z0-9_-`."""
    return secrets.token_urlsafe(_BYTES)


def is_token(text: str) -> bool:
    """Whether a text can be one. What cannot is never looked up."""
    return _SHAPE.fullmatch(text) is not None
