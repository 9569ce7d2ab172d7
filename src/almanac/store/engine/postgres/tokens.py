"""Statements in SQL cut into their tokens: strings, names, numbers, places of values, everything else sign by sign."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<blob>[xX]'[0-9a-fA-F]*')
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<value>\?\d*)
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><>|<=|>=|<<|->>|->|>>|::|\|\||!=|==|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def cut(sql: str) -> list[str]:
    """The tokens of a statement, comments and spaces left out."""
    return [found.group() for found in _TOKEN.finditer(sql) if found.lastgroup != "space"]


def joined(tokens: Sequence[str]) -> str:
    """Tokens as a statement again."""
    # A point joins what stands beside it; nothing else minds a space.
    return " ".join(tokens).replace(" . ", ".")


def is_name(piece: str) -> bool:
    """Whether a piece is a name or a word of the language."""
    return piece[0] == "_" or piece[0].isalpha()


def closing(tokens: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] == "(") - (tokens[place] == ")")
        if not depth:
            return place
    raise ValueError(f"a bracket is not closed: {joined(tokens)}")


def parts(tokens: Sequence[str]) -> list[list[str]]:
    """What stands between the commas that are in no bracket."""
    found: list[list[str]] = [[]]
    depth = 0
    for piece in tokens:
        depth += (piece == "(") - (piece == ")")
        if piece == "," and not depth:
            found.append([])
        else:
            found[-1].append(piece)
    return found
