"""The one rule that gives a filing its knowledge time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from almanac.domain.times import instant

#: The time zone of the regulator's office hours and filing dates.
NEW_YORK = ZoneInfo("America/New_York")
#: The regulator's archive, with one folder for each company and filing.
ARCHIVE = "https://www.sec.gov/Archives/edgar/data"
#: A filing accepted after closing time carries the next business day, and is disseminated that morning.
_OPENS = time(6)
_LAST_SECOND = time(23, 59, 59)


def known_at(filed: int, accepted: datetime | None = None) -> int:
    """
    Return the unix second from which a filing was public. It may be some hours late, but never early.

    Some filers' acceptance stamps are labelled UTC but show New York time, so both readings are tried and the LATER one
    counts. If the filing day is later than the New York day of acceptance, the filing was disseminated at 06:00 New
    York time of the filing day. Without a stamp, or with a stamp of exactly midnight in New York (a day without a
    time), the filing is known from 23:59:59 New York time of the later of the two days.

    `filed` is an ordinal day, `accepted` the stamp with its zone as stated. Raises ValueError for a stamp without a
    zone.
    """
    if accepted is None:
        return _clock(date.fromordinal(filed), _LAST_SECOND)
    if accepted.tzinfo is None:
        raise ValueError("an acceptance time without a zone")
    # An hour that New York's clock shows twice, or skips, is read both ways (`fold`).
    plain = accepted.replace(tzinfo=NEW_YORK, fold=0)
    readings = [accepted.astimezone(NEW_YORK), plain]
    other = plain.replace(fold=1)
    if other.utcoffset() != plain.utcoffset():
        readings.append(other)
    return max([_disseminated(filed, reading) for reading in readings])


def _disseminated(filed: int, accepted: datetime) -> int:
    day = accepted.toordinal()
    if accepted.time() == time.min:
        return _clock(date.fromordinal(max(filed, day)), _LAST_SECOND)
    known = instant(accepted)
    return known if filed <= day else max(known, _clock(date.fromordinal(filed), _OPENS))


@lru_cache(maxsize=16_384)
def _clock(day: date, at: time) -> int:
    """Return the unix second of a New York date and time."""
    return instant(datetime.combine(day, at, NEW_YORK))


def page_of(cik: int, accession: str, document: str | None) -> str:
    """Return the address of a filing in the regulator's archive: its main document, or else the index page of the filing."""
    return f"{ARCHIVE}/{cik}/{accession.replace('-', '')}/{document or f'{accession}-index.htm'}"


def minute_rounded(stated: datetime) -> datetime:
    """Return the latest moment that a stamp rounded to the minute can stand for."""
    return stated + timedelta(seconds=30)
