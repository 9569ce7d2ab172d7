"""
Checks that either engine can store the content of a payload, made when it has been read; each names the culprit.

PostgreSQL takes no NUL in a text, no half of a surrogate pair and no long text in an index; SQLite takes the first and the
last. What one of them refuses is refused here for both, so that the same payload ends alike on either.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

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
    _check("", [parsed])
    return parsed


def _check(where: str, values: Iterable[Any]) -> None:
    """Check the values of one field, kind by kind: of hundreds of thousands of records, most say the same in a field."""
    by_kind: dict[type, list[Any]] = defaultdict(list)
    for value in values:
        by_kind[type(value)].append(value)
    for kind, group in by_kind.items():
        names = getattr(kind, "_fields", ()) or getattr(kind, "__struct_fields__", ())
        for name in names or getattr(kind, "__dataclass_fields__", ()):
            _check(f"{where}.{name}".lstrip("."), map(attrgetter(name), group))
        if issubclass(kind, str):
            for text in set(group):
                _text(where, text)
        elif issubclass(kind, int):
            for number in (min(group), max(group)):
                if not _LEAST <= number <= _MOST:
                    bits = f"{number.bit_length()} bits, more than the 63 that are kept"
                    raise SourceChanged(f"{where}: a whole number of {bits}")
        elif issubclass(kind, float):
            for number in set(group):
                if not math.isfinite(number):
                    raise SourceChanged(f"{where}: {number} is not a number")
        elif issubclass(kind, Mapping):
            _check(where, chain.from_iterable(group))
            _check(where, chain.from_iterable(mapping.values() for mapping in group))
        elif issubclass(kind, Collection) and not names:
            _check(where, chain.from_iterable(group))


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
