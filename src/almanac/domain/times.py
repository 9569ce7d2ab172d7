"""
Instants and days: as numbers, and as the wire writes them.

Instants are unix seconds; days are dates or proleptic ordinals (`date.toordinal()`), which are small, sort and hash fast.
"""

from __future__ import annotations

import functools
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta

DAY_SECONDS = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: 1970-01-01 as the ordinal of a day.
EPOCH_ORDINAL = _EPOCH.toordinal()
_FIRST = (date.min.toordinal() - EPOCH_ORDINAL) * DAY_SECONDS


def midnight(day: int) -> int:
    """The first second of a day (an ordinal), UTC."""
    return (day - EPOCH_ORDINAL) * DAY_SECONDS


def day_at(seconds: int) -> int:
    """The day (an ordinal) that an instant falls on, UTC: inverse of `midnight`."""
    return EPOCH_ORDINAL + seconds // DAY_SECONDS


def end_of_day(day: date) -> int:
    """The last second of a day, UTC: when something dated that day is known."""
    return midnight(day.toordinal()) + DAY_SECONDS - 1


def instant(moment: datetime) -> int:
    """
    Unix seconds, rounded up: asking as of a row's own time must return the row.

    Raises ValueError without a zone, and for a time that its zone puts before the year 1 or after 9999.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    if not MINYEAR < moment.year < MAXYEAR:
        try:
            moment.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"{moment} is not a time between the years 1 and 9999 in UTC") from None
    since = moment - _EPOCH
    return since.days * DAY_SECONDS + since.seconds + (since.microseconds > 0)


def wire_time(seconds: int) -> str:
    """RFC 3339, UTC, whole seconds; a moment before the year 1 (a zone may lead there) is told as the first of that year."""
    # Unlike `strftime`, this writes every year with four digits.
    return f"{(_EPOCH + timedelta(seconds=max(seconds, _FIRST))).isoformat()[:19]}Z"


#: `wire_time` for rows of lists: neighbours share their times.
cached_wire_time = functools.lru_cache(maxsize=65_536)(wire_time)


def wire_day(day: date) -> str:
    """A day as the wire writes it: its first instant."""
    return f"{day.isoformat()}T00:00:00Z"
