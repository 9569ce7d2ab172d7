"""Flags, release and ingestion times that a computed vintage takes over from its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from almanac.domain.observations import DAY, FINAL, PROJECTION, UNKNOWN, Marks, Vintage, is_unknown, marks_of, number

#: Note of a withdrawal because the inputs are on different bases.
TWO_BASES = '{"reason":"two_bases"}'


def on_two_bases(marks: Iterable[tuple[int, Marks | None]]) -> bool:
    """
    Return whether the values are on different bases. `marks` holds each value's input index and marks.

    Values of one input must agree in base and prices. Values of several inputs must agree in the prices they count in,
    if they state them.
    """
    stated: dict[int, tuple[str | None, str | None]] = {}
    for place, found in marks:
        base = (None, None) if found is None else found.base
        if stated.setdefault(place, base) != base:
            return True
    return len({prices for _, prices in stated.values() if prices is not None}) > 1


def passed_on(note: str | None, marks: Iterable[Marks | None]) -> str | None:
    """Add the flags of the inputs' publishers to a result's own note."""
    flags = sorted({flag for found in marks if found is not None for flag in found.flags})
    if not flags:
        return note
    own = {} if note is None else msgspec.json.decode(note)
    return msgspec.json.encode(dict(sorted({**own, "flags": flags}.items()))).decode()


def result(
    moment: int, value: float | None, text: str | None, used: Sequence[Vintage], looked: Iterable[Vintage], note: str | None
) -> Vintage:  # fmt: skip
    """
    Build a result as known from a moment on, with the flags and times that follow from its inputs.

    It is unknown or a projection if one of the inputs `used` is, and final if all are. It is released with the last of
    them, and takes over their flags. `looked` holds all vintages looked at; the last ingested counts. Raises ValueError
    for NaN and infinities.
    """
    flags = 0
    if any(is_unknown(v.flags) for v in used):
        flags |= UNKNOWN
    elif all(v.flags & FINAL for v in used):
        flags |= FINAL
    if any(v.flags & PROJECTION for v in used):
        flags |= PROJECTION
    released = [v.released for v in used]
    when = None if None in released else max(r for r in released if r is not None)
    if when is not None and any(v.flags & DAY for v in used):
        flags |= DAY
    return Vintage(
        moment, number(value), text, flags, when, max(v.ingested for v in looked), 0,
        passed_on(note, (marks_of(v.note) for v in used)),
    )  # fmt: skip


def withdrawal(moment: int, looked: Sequence[Vintage], note: str | None = None) -> Vintage:
    """
    Build a withdrawal: from this moment on nothing can be computed. `looked` holds all vintages looked at, at least
    one.
    """
    flags = UNKNOWN if any(v.flags & UNKNOWN for v in looked) else 0
    return Vintage(moment, None, None, flags, None, max(v.ingested for v in looked), 0, note)


def as_known(history: Sequence[Vintage], moment: int) -> Vintage | None:
    """Return the last vintage known at a moment. Histories are short, so a walk from the end is the fastest search."""
    for vintage in reversed(history):
        if vintage.known <= moment:
            return vintage
    return None
