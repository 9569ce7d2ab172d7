"""The text of an API key: `alm_`, 34 random base62 characters, and their CRC-32 in 6 more.

The checksum lets a malformed key be refused without a look-up and lets secret scanners tell a leaked key from noise.
"""

from __future__ import annotations

import re
import secrets
import string
import zlib

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM = 34
_CHECKSUM = 6
#: Two digits at a time: a key is checked at every request.
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
#: What looks like a key wherever it turns up (a query string, a log line), checksum right or not.
KEY_SHAPE = re.compile(r"alm_[0-9A-Za-z]{40}")
#: Characters of a key.
LENGTH = 4 + _RANDOM + _CHECKSUM
#: A token of people, which a cookie or a link carries. Only its digest is kept.
TOKEN_SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")
#: Length of the part of a key that may be shown: `alm_` and eight characters.
PREFIX = 12


def new_key() -> str:
    """A fresh key, about 202 random bits."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(_RANDOM))
    return f"alm_{body}{checksum(body)}"


def checksum(body: str) -> str:
    """CRC-32 of ASCII text as six base62 digits (0-9, A-Z, a-z), the highest first."""
    rest, low = divmod(zlib.crc32(body.encode("ascii")), len(_PAIRS))
    high, middle = divmod(rest, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]


def well_formed(text: str) -> bool:
    """Whether a text is a key by its form, the checksum included. Says nothing about whether anyone holds it."""
    return KEY_SHAPE.fullmatch(text) is not None and checksum(text[4:-_CHECKSUM]) == text[-_CHECKSUM:]


def new_token() -> str:
    """256 random bits for a cookie or an address: 43 characters of `A-Za-z0-9_-`."""
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Whether a text can be one. What cannot is never looked up."""
    return TOKEN_SHAPE.fullmatch(text) is not None
