"""Releases: which indicators a publication is about, and what was published when, read from vintages alone."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from almanac.domain.observations import AHEAD, DAY
from almanac.domain.periods import Frequency, Period, end_of, ordinal
from almanac.domain.times import DAY_SECONDS, day_at, instant, midnight

_NO_MESSAGES: Mapping[int, str] = {}
#: The last ten days have a business day.
NEAR_DAYS = 10


class ReleaseCalendar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A publisher's own calendar of a release."""

    #: Source that holds the dates, and the release's name there.
    source: str
    native: str
    country: str
    frequency: Frequency
    #: A bare date is about the newest period that ended at least so many days before it. None: days are not counted back.
    after_days: int | None = None
    #: IANA name of the zone in which the publisher's days are days.
    zone: str
    #: Publications of one period that the calendar lists (advance, second, third): with more than one, a further date is no move.
    estimates: int = 1
    #: What the publisher's own schedule says a day's publication is about: names of periods by ordinals of days.
    schedule: dict[int, str] = {}


class ReleaseCalendarEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one payload of a calendar says of one entry. `day` is an ordinal, `start` unix seconds where the hour is stated."""

    uid: str
    start: int | None
    day: int
    zone: str
    status: str
    period: str | None = None
    url: str | None = None


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """What is published together. Indicators are slugs."""

    type: str
    name: str
    #: The measure that a release is known by: a growth rate or a change, never a trending level.
    headline: str
    #: All measures, the headline first.
    indicators: tuple[str, ...]
    #: Frequencies of the headline, the preferred first: of one place and source the first that exists counts.
    frequencies: tuple[Frequency, ...]
    #: The only places that have this release; empty: all but those where another one is about these indicators.
    only_countries: tuple[str, ...] = ()
    except_countries: tuple[str, ...] = ()
    #: In order of preference: the first that tells of a period of a country names its event.
    calendars: tuple[ReleaseCalendar, ...] = ()

    def exists_in(self, country: str) -> bool:
        """Whether a place has this release, if it has the numbers."""
        return country in self.only_countries if self.only_countries else country not in self.except_countries


class HeadlineVintage(NamedTuple):
    """One vintage of one cell of a headline. `value` None: withdrawn. Times are unix seconds."""

    period: int
    known: int
    released: int | None
    flags: int
    value: float | None


class Published(NamedTuple):
    """A period's first publication. `stated`: the publisher says when it was; `revised` when another number followed, if one did."""

    period: int
    known: int
    stated: bool
    #: The time stated, else that by which its message says it was out, else `known`; and whether only its day is.
    occurred: int
    by_day: bool
    revised: int | None
    #: Of what became known at that instant the newest period, and newer than all before: what the release was about.
    newest: bool
    #: And it was published then: stated so, or seen where older periods were before, while it was fresh.
    news: bool


def published(
    vintages: Iterable[HeadlineVintage], frequency: Frequency, messages: Mapping[int, str] = _NO_MESSAGES
) -> list[Published]:
    """
    First publications behind the vintages of a headline, which come by (period, known); oldest first.

    At each instant at which values became known the newest period is what the release is about, if it is newer than
    all that were known before: the rest is history that came along. Projections are no publications.

    `messages`: by knowledge time what the message read then says of its own publication, a day or an instant. It bounds
    what was in it: a number without a time of its own was out by then, however late it was read.

    Where no time is stated, what is known of the first day on which anything was is a first load, and what was stale when
    it came to be known is old: both were published at some time before, which nobody knows, and are no news.
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
    """When a number whose time is not stated was out at the latest, and whether no more than the day is known of that."""
    # Known at the last second of a day: of that day no more is known than which it was.
    read = one.known, one.known % DAY_SECONDS == DAY_SECONDS - 1
    if message is None:
        return read
    of_day = len(message) == len("2026-10-31")
    told = midnight(date.fromisoformat(message).toordinal()) if of_day else instant(datetime.fromisoformat(message))
    # A message of before the period's end dates something else; one of the day it was read says nothing new.
    if day_at(told) < end_of(one.period).toordinal() or told + (DAY_SECONDS if of_day else 0) > one.known:
        return read
    return told, of_day


def is_before(earlier: int, later: int, frequency: Frequency) -> bool:
    """
    Whether a period, by its key, is the one before another: what `previous` is of, wherever it is told.

    Of daily data a day within the ten days before; anything further back is another time, of which no change is told.
    """
    if frequency is Frequency.DAILY:
        return 0 < (end_of(later) - end_of(earlier)).days <= NEAR_DAYS
    return earlier == period_before(later, frequency)


@functools.lru_cache(maxsize=16_384)
def period_before(key: int, frequency: Frequency) -> int:
    """Key of the period of that frequency just before one."""
    period = Period.from_key(key)
    start = period.start or period.end
    return Period.ending(start - timedelta(days=1), frequency).key


def period_due(day: date, calendar: ReleaseCalendar) -> int:
    """Key of the period that a date of a calendar is about, by the days counted back."""
    last = day - timedelta(days=calendar.after_days or 0)
    if calendar.frequency is Frequency.WEEKLY:
        # Weeks end on Saturdays, as those of the weekly claims do.
        return Period.ending(last - timedelta(days=(last.weekday() - 5) % 7), Frequency.WEEKLY).key
    months = calendar.frequency.months
    after = ordinal(Period(last, last + timedelta(days=1)).key, Frequency.MONTHLY)  # the month of the next day
    ended = after // months * months  # months of whole periods, counted from year 0
    return Period.ending(date(ended // 12, ended % 12 + 1, 1) - timedelta(days=1), calendar.frequency).key


def period_name(key: int, frequency: Frequency) -> str:
    """Return a period as people write it in a filter: `2026-10`, `2026-Q3`, `2026`, a week by its last day."""
    end = end_of(key)
    if frequency is Frequency.ANNUAL:
        return f"{end.year}"
    if frequency is Frequency.SEMIANNUAL:
        return f"{end.year}-S{end.month // 6}"
    if frequency is Frequency.QUARTERLY:
        return f"{end.year}-Q{end.month // 3}"
    return f"{end:%Y-%m}" if frequency is Frequency.MONTHLY else end.isoformat()
