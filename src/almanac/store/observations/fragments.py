"""
The wire form of one row, cut where masking, freshness and rights come in between.

A row is written as the bytes of these parts, in this order:

    head    {"id":"obs_…"
    series  ,"entityId":…,"indicatorId":…,"sourceId":…,"providerId":…[,"derivedFrom":[…]]
    value   ,"valueNumeric":…,"valueText":…
    unit    ,"unit":…,"frequency":…
    row     ,"periodStart":… … ,"revisionStatus":…
    series  ,"sourceUrl":…,"attribution":…,"freshnessStatus":…,"metadata":{…
    row     further metadata
    series  },"rights":{…}}

What varies with the row is rendered once, when it is written, as a *marked* text: the row's own parts, with a mark at
each place where a part of the series goes. What is the same for a whole series lives in memory.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import msgspec

from almanac.domain.observations import DAY, FORECAST, observation_id, status
from almanac.domain.periods import Period
from almanac.domain.times import wire_day, wire_time

#: Marks of the places where the parts of the series go. JSON escapes these characters, so no part of a row has them.
NAMES, UNIT, TAIL, END = b"\1", b"\2", b"\3", b"\4"

#: The value part of a row whose value may not be sent.
MASKED = ',"valueNumeric":null,"valueText":null'


def shortest(value: float) -> str:
    """The shortest JSON number that reads back as the same float: no `.0`, no `+`, no padded exponent, no negative zero."""
    text = repr(value + 0.0)
    if text.endswith(".0"):
        return text[:-2]
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return text


def value_part(value: float | None, text: str | None) -> str:
    if text is None:
        return MASKED if value is None else f',"valueNumeric":{shortest(value)},"valueText":null'
    return f',"valueNumeric":null,"valueText":{dumps(text)}'


cached_time = functools.lru_cache(maxsize=65_536)(wire_time)


@functools.lru_cache(maxsize=65_536)
def _period_part(key: int) -> str:
    period = Period.from_key(key)
    start = f'"{wire_day(period.start)}"' if period.start else "null"
    return f',"periodStart":{start},"periodEnd":"{wire_day(period.end)}"'


def _rest(period: int, known: int, flags: int, released: int | None, ingested: int) -> str:
    """Everything of the row behind the unit and before the metadata."""
    release = f'"{cached_time(released)}"' if released is not None else "null"
    return (
        f'{_period_part(period)},"observedAt":"{cached_time(known)}","releasedAt":{release}'
        f',"ingestedAt":"{cached_time(ingested)}","revisionStatus":"{status(flags)}"'
    )


def extra_part(flags: int, released: int | None, note: str | None, *, withdrawn: bool = False) -> str:
    """Row-level metadata, as it continues an object that already has the series' own (`"k":v` pairs, comma first)."""
    parts: list[str] = []
    if released is not None:
        parts.append(',"releasePrecision":"day"' if flags & DAY else ',"releasePrecision":"instant"')
    if flags & FORECAST:
        parts.append(',"forecast":true')
    if withdrawn:
        parts.append(',"withdrawn":true')
    if note is not None:
        parts.append("," + note[1:-1])
    return "".join(parts)


def rendered(
    series: str, period: int, known: int, value: float | None, text: str | None, flags: int, released: int | None,
    ingested: int, note: str | None,
) -> bytes:  # fmt: skip
    """A vintage as marked text; without value and text, a withdrawal."""
    identifier = observation_id(series, period, known, value, text)
    return marked(identifier, period, known, value, text, flags, released, ingested, note)


def marked(
    identifier: str, period: int, known: int, value: float | None, text: str | None, flags: int, released: int | None,
    ingested: int, note: str | None,
) -> bytes:  # fmt: skip
    """The same, where the id is known."""
    extra = extra_part(flags, released, note, withdrawn=value is None and text is None)
    return (
        f'{{"id":"{identifier}"\1{value_part(value, text)}\2{_rest(period, known, flags, released, ingested)}\3{extra}'
    ).encode()


def value_of(text: bytes) -> tuple[float | None, str | None]:
    """Number and text of a marked text."""
    part = text[text.index(NAMES) + 1 + len(',"valueNumeric":') : text.index(UNIT)]
    number, _, words = part.partition(b',"valueText":')
    return (
        None if number == b"null" else float(number),
        None if words == b"null" else msgspec.json.decode(words, type=str),
    )


def masked(text: bytes, head: bytes, val: bytes) -> bytes:
    """A marked text with another head and another value."""
    return b"".join((head, NAMES, val, text[text.index(UNIT) :]))


def filled(text: bytes, rows: int, names: bytes, unit: bytes, tail: bytes, end: bytes) -> bytes:
    """
    Marked rows with `END` between them, as they go out: what goes at each mark put there, and `end` after the last row.

    `end` closes a row; a comma is added where another follows. Raises ValueError where the marks are not those of so
    many rows.
    """
    whole = (text + end).replace(UNIT, unit).replace(NAMES, names).replace(END, end + b",").replace(TAIL, tail)
    # Each row has three marks, and one before the next. One more or less, and the bytes would not be JSON any more.
    if len(whole) - len(text) != rows * (len(names) + len(unit) + len(tail) + len(end) - 3):
        raise ValueError("a row holds a character that no JSON text may hold")
    return whole


def dumps(value: Any) -> str:
    """Compact JSON, UTF-8 as it stands."""
    return _encode(value)


#: Made once: `json.dumps` makes one for each text, which was half of its time.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
