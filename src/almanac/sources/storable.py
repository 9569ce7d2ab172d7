"""
What can be kept of what a payload says, whichever engine keeps it: checked when a payload has been read, by name.

PostgreSQL takes no NUL in a text, no half of a surrogate pair and no long text in an index; SQLite takes the first and the
last. What one of them refuses is refused here for both, so that the same payload ends alike on either.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats.strict import shown

#: Bytes of a text, also where a look-up takes its letters apart: names and codes stand in indexes. The longest that a feed
#: of ours has is half as long. Of texts that stand in none, more.
_LONGEST = 500
_LONGER = {"note": 2_000, "url": 2_000, "website": 2_000, "description": 2_000}
#: Whole numbers are kept in 64 bits.
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def check(parsed: Parsed) -> Parsed:
    """Check that all of a parsed payload can be kept, and give it back. Raises SourceChanged naming the field and what is wrong with it."""
    for one in fields(parsed):
        _walk(one.name, getattr(parsed, one.name))
    return parsed


def _walk(where: str, value: Any) -> None:
    if isinstance(value, str):
        _text(where, value)
    elif isinstance(value, int):
        if not _LEAST <= value <= _MOST:
            raise SourceChanged(f"{where}: a whole number of {value.bit_length()} bits, more than the 63 that are kept")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise SourceChanged(f"{where}: {value} is not a number")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _walk(where, key)
            _walk(where, inner)
    elif isinstance(value, msgspec.Struct) or is_dataclass(value):
        names = value.__struct_fields__ if isinstance(value, msgspec.Struct) else [f.name for f in fields(value)]
        for name in names:
            _walk(f"{where}.{name}", getattr(value, name))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        _columns(where, [value])
    elif isinstance(value, Collection):
        if hasattr(next(iter(value), None), "_fields"):
            _columns(where, list(value))
        else:
            for inner in value:
                _walk(where, inner)


def _columns(where: str, rows: list[Any]) -> None:
    """
    Named tuples of one kind, column by column and each value once: there may be hundreds of thousands, of which most say
    the same.
    """
    for place, name in enumerate(rows[0]._fields):
        column = [row[place] for row in rows]
        for inner in column if isinstance(column[0], tuple | list) else set(column):
            _walk(f"{where}.{name}", inner)


def _text(where: str, text: str) -> None:
    if text.isascii():
        size = len(text)
    else:
        try:
            size = max(len(text.encode()), len(unicodedata.normalize("NFKD", text[: 4 * _LONGEST]).encode()))
        except UnicodeEncodeError as error:
            raise SourceChanged(
                f"{where}: {shown(text)} has half of a surrogate pair at character {error.start}"
            ) from None
    most = _LONGER.get(where.rpartition(".")[2], _LONGEST)
    if size > most:
        raise SourceChanged(f"{where}: {shown(text)} has {size} bytes, more than the {most} that are kept")
    if "\0" in text:
        raise SourceChanged(f"{where}: {shown(text)} has a character NUL")
