"""
The JSON of one row, cut into parts where masking, freshness and rights come in.

A row is written as the bytes of these parts, in this order:

    head    {"id":"obs_ and the beginning that all ids of a series share
    row     the rest of the id, which encodes period and knowledge time
    series  ","entityId":…,"indicatorId":…,"sourceId":…,"providerId":…[,"derivedFrom":[…]],"valueNumeric":
    row     the number, or null[,"valueText":…]
    series  [,"valueText":null],"unit":…,"frequency":…,"periodStart":
    row     the day … ,"revisionStatus":…
    series  ,"sourceUrl":…,"attribution":…,"freshnessStatus":…,"metadata":{…[,"releasePrecision":"day"]
    row     further metadata
    series  },"rights":{…}}

The row's own parts are rendered when it is read, as a *marked* text with a mark wherever a part of the series belongs.
The parts of a series stay in memory, together with what nearly all rows have in common (no text, a release known by its
day). Consecutive rows of one series are then filled in at once.
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

import msgspec

from almanac.domain.observations import DAY, FORECAST, PROJECTION, QUALITY, quality, status
from almanac.domain.periods import Period
from almanac.domain.times import wire_day, wire_time

#: Marks for the parts of the series. JSON escapes these characters, so the row's own parts never contain them.
NAMES, UNIT, TAIL, END = b"\1", b"\2", b"\3", b"\4"
#: Replace `UNIT` after a text, and `TAIL` for a release known by its day.
UNIT_OF_TEXT, TAIL_OF_DAY = b"\5", b"\6"

#: Contained in the marked text of every withheld row, and in no other.
MASKED = NAMES + b"null" + UNIT

_HEAD = b'{"id":"obs_'
_NUMBER, _NO_TEXT, _START, _BY_DAY = (
    b',"valueNumeric":',
    b',"valueText":null',
    b',"periodStart":',
    b',"releasePrecision":"day"',
)


def shortest(value: float) -> str:
    """Return the shortest JSON number that reads back as the same float: no `.0`, `+`, padded exponent or negative zero."""
    text = repr(value + 0.0)
    if text.endswith(".0"):
        return text[:-2]
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return text


def _value_part(value: float | None, text: str | None) -> str:
    """Render a number or text, followed by the mark of the unit."""
    if text is None:
        return f"{'null' if value is None else shortest(value)}\2"
    return f'null,"valueText":{dumps(text)}\5'


cached_time = functools.lru_cache(maxsize=65_536)(wire_time)


@functools.lru_cache(maxsize=65_536)
def _period_part(key: int) -> str:
    period = Period.from_key(key)
    start = f'"{wire_day(period.start)}"' if period.start else "null"
    return f'{start},"periodEnd":"{wire_day(period.end)}"'


def _ending(flags: int, note: str | None, released: bool, withdrawn: bool) -> str:
    """
    Render the revision status, a mark, and the row's own metadata. The metadata continue the object of the series'
    metadata: `"k":v` pairs, each after a comma.
    """
    parts = [f',"revisionStatus":"{status(flags)}"']
    parts.append("\3" if not released else "\6" if flags & DAY else '\3,"releasePrecision":"instant"')
    if flags & FORECAST:
        parts.append(',"forecast":true')
    if flags & PROJECTION:
        parts.append(',"projection":true')
    if withdrawn:
        parts.append(',"withdrawn":true')
    elif flags & QUALITY:
        parts.append(f',"quality":"{quality(flags)}"')
    if note is not None:
        parts.append("," + note[1:-1])
    return "".join(parts)


def rendered(
    own: str, period: int, known: int, value: float | None, text: str | None, flags: int, released: int | None,
    ingested: int, note: str | None,
) -> bytes:  # fmt: skip
    """
    Render a vintage as marked text. Without a value and a text it is a withdrawal. `own` is the part of the id that
    identifies the row within its series.
    """
    observed = cached_time(known)
    release = "null" if released is None else f'"{observed if released == known else cached_time(released)}"'
    ending = _ending(flags, note, released is not None, value is None and text is None)
    return (
        f'{own}\1{_value_part(value, text)}{_period_part(period)},"observedAt":"{observed}"'
        f',"releasedAt":{release},"ingestedAt":"{cached_time(ingested)}"{ending}'
    ).encode()


def own_id(text: bytes) -> str:
    """Return the part of a marked text's id that identifies the row within its series."""
    return text[: text.index(NAMES)].decode()


def value_of(text: bytes) -> tuple[float | None, str | None]:
    """Return the number and the text of a marked text."""
    begin = text.index(NAMES) + 1
    end = text.find(UNIT, begin)
    if end < 0:
        return None, msgspec.json.decode(text[begin + len(b'null,"valueText":') : text.index(UNIT_OF_TEXT)], type=str)
    part = text[begin:end]
    return None if part == b"null" else float(part), None


def masked(text: bytes) -> bytes:
    """Return the marked text with its value replaced by null."""
    place = text.find(UNIT)
    rest = text[(text.index(UNIT_OF_TEXT) if place < 0 else place) + 1 :]
    return b"".join((text[: text.index(NAMES)], MASKED, rest))


class SeriesParts(NamedTuple):
    """The bytes shared by all rows of a series: what opens a row, fills its marks and closes it."""

    head: bytes
    names: bytes
    unit: bytes
    unit_of_text: bytes
    tail: bytes
    tail_of_day: bytes
    between: bytes
    end: bytes

    @classmethod
    def of(cls, begin: bytes, names: bytes, unit: bytes, tail: bytes, end: bytes) -> SeriesParts:
        """
        Build the parts from a series' id prefix (after `obs_`), names, unit, and the bytes before and after a row's
        metadata.

        All but `begin` continue a JSON object, so they start with a comma; `end` closes the object.
        """
        head = _HEAD + begin
        return cls(
            head,
            b'"' + names + _NUMBER,
            _NO_TEXT + unit + _START,
            unit + _START,
            tail,
            tail + _BY_DAY,
            end + b"," + head,
            end,
        )


def filled(text: bytes, rows: int, parts: SeriesParts) -> bytes:
    """
    Fill the marks of rows that are separated by `END`, and return their JSON.

    Raises ValueError if the marks are not those of `rows` rows, because the result would not be JSON.
    """
    head, names, unit, unit_of_text, tail, tail_of_day, between, end = parts
    whole = b"".join((head, text, end)).replace(UNIT, unit).replace(NAMES, names)
    lengths = rows * (len(names) - 1 + len(unit) - 1 + len(tail_of_day) - 1) + (rows - 1) * (len(between) - 1)
    # Rare: most runs have no texts.
    if UNIT_OF_TEXT in text:
        whole = whole.replace(UNIT_OF_TEXT, unit_of_text)
        lengths -= text.count(UNIT_OF_TEXT) * (len(unit) - len(unit_of_text))
    whole = whole.replace(END, between)
    if TAIL in text:
        whole = whole.replace(TAIL, tail)
        lengths -= text.count(TAIL) * (len(tail_of_day) - len(tail))
    whole = whole.replace(TAIL_OF_DAY, tail_of_day)
    # Each row has three marks, and one before the next row. Any other number would break the JSON.
    if len(whole) - len(head) - len(text) - len(end) != lengths:
        raise ValueError("a row holds a character that no JSON text may hold")
    return whole


def dumps(value: Any) -> str:
    """Encode as compact JSON. Characters outside ASCII are not escaped."""
    return _encode(value)


#: Created once, because `json.dumps` creates one for each text, which took half of its time.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
