"""What a computed vintage takes over from its inputs: its flags, its times of release and ingestion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from almanac.domain.observations import DAY, FINAL, PROJECTION, UNKNOWN, Vintage, is_unknown, number


def result(
    moment: int, value: float | None, text: str | None, used: Sequence[Vintage], looked: Iterable[Vintage], note: str | None
) -> Vintage:  # fmt: skip
    """
    A result as known from a moment: unknown or a projection if one of the inputs `used` is, final if all are, released
    with the last.

    `looked`: all vintages looked at, of which the last ingested counts. Raises ValueError for a value that is no number.
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
    return Vintage(moment, number(value), text, flags, when, max(v.ingested for v in looked), 0, note)


def withdrawal(moment: int, looked: Sequence[Vintage]) -> Vintage:
    """That nothing can be computed any more from a moment on. `looked`: all vintages looked at, at least one."""
    flags = UNKNOWN if any(v.flags & UNKNOWN for v in looked) else 0
    return Vintage(moment, None, None, flags, None, max(v.ingested for v in looked), 0)
