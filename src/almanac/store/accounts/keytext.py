"""
The text of an API key: `alm_`, 34 random base62 characters, and 6 more with their CRC-32.

The checksum lets malformed keys be refused without a look-up, and lets secret scanners tell leaked keys from noise.
"""

from __future__ import annotations

import re
import secrets
import string
import zlib

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM = 34
_CHECKSUM = 6
#: Two digits at a time, because a key is checked at every request.
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
#: The pattern of a key anywhere (a query string, a log line), with a right or wrong checksum.
KEY_SHAPE = re.compile(r"alm_[0-9A-Za-z]{40}")
#: Characters of a key.
LENGTH = 4 + _RANDOM + _CHECKSUM
#: A person's token in a cookie or link. Only its digest is stored.
TOKEN_SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")
#: Length of the part of a key that may be shown: `alm_` and eight characters.
PREFIX = 12


def new_key() -> str:
    """Return a new random key of about 202 bits."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(_RANDOM))
    return f"alm_{body}{checksum(body)}"


def checksum(body: str) -> str:
    """Return the CRC-32 of ASCII text as six base62 digits (0-9, A-Z, a-z), the highest first."""
    rest, low = divmod(zlib.crc32(body.encode("ascii")), len(_PAIRS))
    high, middle = divmod(rest, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]


def well_formed(text: str) -> bool:
    """Return whether a text has the form of a key, including the checksum. It doesn't tell whether the key exists."""
    return KEY_SHAPE.fullmatch(text) is not None and checksum(text[4:-_CHECKSUM]) == text[-_CHECKSUM:]


def new_token() -> str:
    """Return 256 random bits for a cookie or a link, as 43 characters of `A-Za-z0-9_-`."""
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token. Others are never looked up."""
    return TOKEN_SHAPE.fullmatch(text) is not None
