"""When the public could read a filing: the one rule by which everything a company files gets its knowledge time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from almanac.domain.times import instant

#: The regulator keeps office hours, and dates filings, by this zone's clock.
NEW_YORK = ZoneInfo("America/New_York")
#: Where the regulator keeps what was filed, one folder for each company and filing.
ARCHIVE = "https://www.sec.gov/Archives/edgar/data"
#: A filing accepted after the office's last hour carries the next business day and is disseminated in its morning.
_OPENS = time(6)
_LAST_SECOND = time(23, 59, 59)


def known_at(filed: int, accepted: datetime | None = None) -> int:
    """
    Unix seconds from when a filing can have been read: never before it was, sometimes some hours after.

    An acceptance stamp that says UTC is New York's clock for some filers, so both readings are taken and the LATER
    one counts (they are one where the stamp says New York). Where the filing day comes after the day of acceptance in
    New York, the filing was disseminated at 06:00 New York of the filing day. Without a stamp, or where the stamp is
    exactly midnight in New York (it tells a day and no time), the filing is known from 23:59:59 New York of the later
    of the filing day and that day.

    `filed` is an ordinal day, `accepted` the stamp with its zone as stated. Raises ValueError for one without.
    """
    if accepted is None:
        return _clock(date.fromordinal(filed), _LAST_SECOND)
    if accepted.tzinfo is None:
        raise ValueError("an acceptance time without a zone")
    # An hour that New York's clock shows twice, or not at all, is read both ways (`fold`).
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
    """Unix seconds at which New York's clock shows this."""
    return instant(datetime.combine(day, at, NEW_YORK))


def page_of(cik: int, accession: str, document: str | None) -> str:
    """Address of a filing in the regulator's archive: its main document, else the page that lists what was filed."""
    return f"{ARCHIVE}/{cik}/{accession.replace('-', '')}/{document or f'{accession}-index.htm'}"


def minute_rounded(stated: datetime) -> datetime:
    """The latest moment that a stamp rounded to the nearest minute can stand for."""
    return stated + timedelta(seconds=30)
