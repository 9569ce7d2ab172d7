"""
Texts of others as any engine can keep them, and as they leave to a terminal, a log or anybody who reads line by line: one line, and nothing that is obeyed.

A publisher, a client or a file may put into a name what moves a cursor, turns the direction of reading round, is not seen at
all, or begins a line that looks like one of ours. What has a blank's meaning becomes a blank, all else of the kind a mark that
can be seen.
"""

from __future__ import annotations

import re

#: Stands for what is not shown.
MARK = "\N{REPLACEMENT CHARACTER}"
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


def kept(text: str, most: int) -> str:
    """A text for people to read, at most so many characters: what cannot be kept of it is written as Python would escape it."""
    if len(text) > most:
        text = text[:most] + "…"
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def one_line(text: str) -> str:
    """A text without a character that a terminal obeys, that breaks a line, or that cannot be seen. As long as before."""
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() else " " if c.isspace() else MARK for c in text])


def escaped(json: str) -> str:
    """JSON with the same meaning, in which such characters are escaped; those below 32 are so already."""
    if json.isascii() and "\x7f" not in json:
        return json
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else _escape(ord(found[0])), json)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
