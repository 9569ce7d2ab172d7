"""
Untrusted text made safe for databases, terminals, logs and line-based readers.

Publishers, clients and files may send names with characters that move a cursor, reverse the reading direction, are
invisible, or start a forged log line. Those with the meaning of a space become a space, the others a visible mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

#: Shown in place of an unprintable character.
MARK = "\N{REPLACEMENT CHARACTER}"
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


def kept(text: str, most: int) -> str:
    """
    Cut a text for people after `most` characters. Characters that the database can't keep are written as Python
    escapes.
    """
    if len(text) > most:
        text = text[:most] + "…"
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def one_line(text: str) -> str:
    """Replace every character that controls a terminal, breaks a line or is invisible. The length stays the same."""
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() else " " if c.isspace() else MARK for c in text])


def escaped(json: str) -> str:
    """Escape unprintable characters in JSON without changing its meaning. Those below 32 must already be escaped."""
    if json.isascii() and "\x7f" not in json:
        return json
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else _escape(ord(found[0])), json)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6, spell: Callable[[str], str] = str) -> str:
    """Return `; the nearest is …` to end a message about a name that is none of `names`; empty where none is close."""
    near = get_close_matches(name, [*names], n=1, cutoff=cutoff)
    return f"; the nearest is {spell(near[0])}" if near else ""
