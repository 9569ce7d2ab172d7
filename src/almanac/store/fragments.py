"""
The wire form of one row, cut where masking, freshness and rights come in between.

A row is written as the bytes of these parts, in this order:

    head    {"id":"obs_…"                                        frag[:38]
    series  ,"entityId":…,"indicatorId":…,"sourceId":…,"providerId":…[,"derivedFrom":[…]]
    value   ,"valueNumeric":…,"valueText":…                       val
    unit    ,"unit":…,"frequency":…
    row     ,"periodStart":… … ,"revisionStatus":…                frag[38:]
    series  ,"sourceUrl":…,"attribution":…,"freshnessStatus":…,"metadata":{…
    row     further metadata                                      extra
    series  },"rights":{…}}

What varies with the row is rendered once, when it is written; what is the same for a whole series lives in memory.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from almanac.domain.observations import DAY, FORECAST, status, wire_time
from almanac.domain.periods import Period

#: Characters of the head, the same for every row: `{"id":"obs_` and 26 more and a quote.
HEAD = len('{"id":"') + 30 + 1

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
    start = f'"{period.start.isoformat()}T00:00:00Z"' if period.start else "null"
    return f',"periodStart":{start},"periodEnd":"{period.end.isoformat()}T00:00:00Z"'


def row_part(identifier: str, period: int, known: int, flags: int, released: int | None, ingested: int) -> str:
    """`frag`: the head and everything of the row that is neither value nor metadata."""
    release = f'"{cached_time(released)}"' if released is not None else "null"
    return (
        f'{{"id":"{identifier}"{_period_part(period)},"observedAt":"{cached_time(known)}","releasedAt":{release}'
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


def dumps(value: Any) -> str:
    """Compact JSON, UTF-8 as it stands."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
