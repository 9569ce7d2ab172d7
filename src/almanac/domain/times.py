"""
Instants and days, as numbers and in the wire's format.

Instants are unix seconds; days are dates or proleptic ordinals (`date.toordinal()`), which are small, sort and hash fast.
"""

from __future__ import annotations

import functools
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta

DAY_SECONDS = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: 1970-01-01 as the ordinal of a day.
EPOCH_ORDINAL = _EPOCH.toordinal()
#: The first second of year 1 and the last one of year 9999: the wire has none before or after.
FIRST_SECOND = (date.min.toordinal() - EPOCH_ORDINAL) * DAY_SECONDS
LAST_SECOND = (date.max.toordinal() + 1 - EPOCH_ORDINAL) * DAY_SECONDS - 1


def midnight(day: int) -> int:
    """Return the first second of a day (an ordinal) in UTC."""
    return (day - EPOCH_ORDINAL) * DAY_SECONDS


def day_at(seconds: int) -> int:
    """Return the UTC day (an ordinal) of an instant. It inverts `midnight` for a day's first second."""
    return EPOCH_ORDINAL + seconds // DAY_SECONDS


def end_of_day(day: date) -> int:
    """Return the last second of a day in UTC, which is when something dated that day counts as known."""
    return midnight(day.toordinal()) + DAY_SECONDS - 1


def instant(moment: datetime) -> int:
    """
    Return unix seconds, rounded up so that a query as of a row's own time returns the row.

    Raises ValueError for a time without a zone, and for a time before year 1 or after 9999 in UTC.
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
    """
    Format an instant as RFC 3339 in UTC with whole seconds. A moment outside the years 1 to 9999, which a zone can lead to,
    becomes the nearest one inside them.
    """
    # Unlike `strftime`, this writes every year with four digits.
    return f"{(_EPOCH + timedelta(seconds=min(max(seconds, FIRST_SECOND), LAST_SECOND))).isoformat()[:19]}Z"


#: `wire_time` for rows of lists: neighbours share their times.
cached_wire_time = functools.lru_cache(maxsize=65_536)(wire_time)


def wire_day(day: date) -> str:
    """Format a day as the wire does, by its first instant."""
    return f"{day.isoformat()}T00:00:00Z"
