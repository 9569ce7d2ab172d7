"""Releases: the indicators that a publication covers, and when each period was published, judged from vintages alone."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Annotated, NamedTuple

import msgspec

from almanac.domain.observations import AHEAD, DAY
from almanac.domain.periods import Frequency, Period, end_of, ordinal
from almanac.domain.times import DAY_SECONDS, day_at, instant, midnight

_NO_MESSAGES: Mapping[int, str] = {}
#: Ten consecutive days always include a business day.
NEAR_DAYS = 10


class ReleaseCalendar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A publisher's own calendar of a release."""

    #: Source of the dates, and the release's name there.
    source: str
    native: str
    country: str
    frequency: Frequency
    #: A bare date is about the newest period that ended at least this many days before. None: don't count back.
    after_days: int | None = None
    #: IANA name of the time zone of the publisher's days.
    zone: str
    #: Publications of one period in the calendar (advance, second, third). With several, a further date is not a move.
    estimates: int = 1
    #: The publisher's schedule: names of periods by publication day (an ordinal).
    schedule: dict[int, str] = {}


class ReleaseCalendarEntry(msgspec.Struct, frozen=True, kw_only=True):
    """
    One payload's statement about one calendar entry. `day` is an ordinal; `start` is in unix seconds, or None if no
    hour is stated.
    """

    uid: str
    start: int | None
    day: int
    zone: str
    status: str
    period: str | None = None
    url: str | None = None


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """Indicators (slugs) that are published together."""

    type: str
    name: str
    #: The release's main measure: a growth rate or a change, never a trending level.
    headline: str
    #: All measures, the headline first.
    indicators: tuple[str, ...]
    #: Frequencies of the headline by preference. For each place and source the first existing one counts.
    frequencies: Annotated[tuple[Frequency, ...], msgspec.Meta(min_length=1)]
    #: The only places with this release; empty: all except those where another release covers these indicators.
    only_countries: tuple[str, ...] = ()
    except_countries: tuple[str, ...] = ()
    #: Calendars by preference. The first that mentions a period of a country names its event.
    calendars: tuple[ReleaseCalendar, ...] = ()

    def exists_in(self, country: str) -> bool:
        """Return whether a country can have this release. It still needs the numbers."""
        return country in self.only_countries if self.only_countries else country not in self.except_countries


class HeadlineVintage(NamedTuple):
    """One vintage of one cell of a headline indicator. `value` None means withdrawn. Times are unix seconds."""

    period: int
    known: int
    released: int | None
    flags: int
    value: float | None


class Published(NamedTuple):
    """
    A period's first publication. `stated` is true if the publisher stated its time. `revised` is the time of the first
    different number, if any.
    """

    period: int
    known: int
    stated: bool
    #: The stated time, or else the time in its message, or else `known`; and whether only its day is known.
    occurred: int
    by_day: bool
    revised: int | None
    #: True for the newest period that became known at that instant, if newer than all before: the release is about it.
    newest: bool
    #: True if it is also news: its time was stated, or it was seen fresh after the first load of older periods.
    news: bool


def published(
    vintages: Iterable[HeadlineVintage], frequency: Frequency, messages: Mapping[int, str] = _NO_MESSAGES
) -> list[Published]:
    """
    Return the first publication of each period of a headline, oldest first. `vintages` must be sorted by period and
    knowledge time.

    At each instant at which values became known, the release is about the newest period, provided it is newer than all
    known before. The other periods are history that came along. Projections are not publications.

    `messages` maps a knowledge time to the publication day or instant that the message read then states of itself. A
    number without a time of its own was out by then, however late it was read.

    Where no time is stated, two kinds of values are not news, because they came out at an unknown earlier time: those
    first known within a day of the first of all (the first load), and those that were stale when they became known.
    """
    firsts: dict[int, tuple[HeadlineVintage, int | None]] = {}
    for period, group in groupby(vintages, key=itemgetter(0)):
        first: HeadlineVintage | None = None
        revised: int | None = None
        for one in group:
            if first is None:
                if one.value is not None and not one.flags & AHEAD:
                    first = one
            elif revised is None and one.value is not None and one.value != first.value:
                revised = one.known
        if first is not None:
            firsts[period] = (first, revised)
    found: list[Published] = []
    newest = -1
    ordered = sorted(firsts.values(), key=lambda one: (one[0].known, one[0].period))
    loaded = ordered[0][0].known + DAY_SECONDS if ordered else 0
    for known, at_once in groupby(ordered, key=lambda one: one[0].known):
        together = list(at_once)
        lead = together[-1][0].period
        for one, later in together:
            if one.released is None:
                occurred, by_day = _out_by(one, messages.get(known))
            else:
                occurred, by_day = one.released, bool(one.flags & DAY)
            leads = one.period == lead > newest
            fresh = day_at(occurred) - end_of(one.period).toordinal() <= frequency.allowance_days
            found.append(
                Published(
                    period=one.period,
                    known=known,
                    stated=one.released is not None,
                    occurred=occurred - occurred % DAY_SECONDS if by_day else occurred,
                    by_day=by_day,
                    revised=later,
                    newest=leads,
                    news=leads and (one.released is not None or (known >= loaded and fresh)),
                )
            )
        newest = max(newest, lead)
    return found


def _out_by(one: HeadlineVintage, message: str | None) -> tuple[int, bool]:
    """Return the latest time at which a number without a stated time was out, and whether only the day of it is known."""
    # A value known at the last second of a day is known only by its day.
    read = one.known, one.known % DAY_SECONDS == DAY_SECONDS - 1
    if message is None:
        return read
    of_day = len(message) == len("2026-10-31")
    told = midnight(date.fromisoformat(message).toordinal()) if of_day else instant(datetime.fromisoformat(message))
    # A message dated before the period's end is about something else; one of the day it was read adds nothing.
    if day_at(told) < end_of(one.period).toordinal() or told + (DAY_SECONDS if of_day else 0) > one.known:
        return read
    return told, of_day


def is_before(earlier: int, later: int, frequency: Frequency) -> bool:
    """
    Return whether `earlier` is the period just before `later`, whose value is reported as `previous`. Both are keys.

    For daily data it may be any day within the ten days before. After a longer gap no change is reported.
    """
    if frequency is Frequency.DAILY:
        return 0 < (end_of(later) - end_of(earlier)).days <= NEAR_DAYS
    return earlier == period_before(later, frequency)


@functools.lru_cache(maxsize=16_384)
def period_before(key: int, frequency: Frequency) -> int:
    """Return the key of the period just before `key` at this frequency."""
    period = Period.from_key(key)
    start = period.start or period.end
    return Period.ending(start - timedelta(days=1), frequency).key


def period_due(day: date, calendar: ReleaseCalendar) -> int:
    """Return the key of the period that a calendar date is about, found by counting `after_days` back."""
    last = day - timedelta(days=calendar.after_days or 0)
    if calendar.frequency is Frequency.WEEKLY:
        # Weeks end on Saturdays, as for the weekly claims.
        return Period.ending(last - timedelta(days=(last.weekday() - 5) % 7), Frequency.WEEKLY).key
    months = calendar.frequency.months
    after = ordinal(Period(last, last + timedelta(days=1)).key, Frequency.MONTHLY)  # the month of the next day
    ended = after // months * months  # months of whole periods, counted from year 0
    return Period.ending(date(ended // 12, ended % 12 + 1, 1) - timedelta(days=1), calendar.frequency).key


def period_name(key: int, frequency: Frequency) -> str:
    """Return a period as people write it in a filter: `2026-10`, `2026-Q3`, `2026`. A week is named by its last day."""
    end = end_of(key)
    if frequency is Frequency.ANNUAL:
        return f"{end.year}"
    if frequency is Frequency.SEMIANNUAL:
        return f"{end.year}-S{end.month // 6}"
    if frequency is Frequency.QUARTERLY:
        return f"{end.year}-Q{end.month // 3}"
    return f"{end:%Y-%m}" if frequency is Frequency.MONTHLY else end.isoformat()
