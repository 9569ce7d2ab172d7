"""U.S. Bureau of Labor Statistics: version 2 of its public data API, JSON. Native codes are its series ids.

Months are M01 to M12; M13 is the average of the year, which is no month: it is counted as not mapped, like Q05 and S03.
`-` stands where nothing was published (October 2025), with a footnote that says why. Answers state no time of release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import unquote, urlsplit

import msgspec

from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import Source
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs, is_closed
from almanac.sources.formats import notes, strict, tables

_HOST = "api.bls.gov"
_DATA = re.compile(r"/publicAPI/v[12]/timeseries/data/([A-Za-z0-9_#-]+)/?")
_PERIOD = re.compile(r"([MQSA])([0-9]{2})")
_YEAR = re.compile(r"[0-9]{4}")
#: First years of the surveys, by the beginning of a series id.
_FIRST = {"CE": 1939, "CI": 2001, "CU": 1913, "JT": 2000, "LN": 1948, "WP": 2009}
#: Years to an answer, with a key and without.
_WITH_KEY, _WITHOUT = 20, 10
#: What the service says beside whole answers: years without data, and that its own catalogue lacks a series.
_HARMLESS = re.compile(r"No Data Available for Series \S+ Year: [0-9]{4}|Unable to get Catalog Data for series \S+")
_SUCCEEDED = "REQUEST_SUCCEEDED"
#: In place of a value: there is none.
_ABSENT = "-"


class _Footnote(msgspec.Struct, forbid_unknown_fields=True):
    code: str | None = None
    text: str | None = None


class _Datum(msgspec.Struct, forbid_unknown_fields=True):
    year: str
    period: str
    value: str
    period_name: str | None = msgspec.field(name="periodName", default=None)
    latest: str | None = None
    footnotes: list[_Footnote] = []


class _Series(msgspec.Struct, forbid_unknown_fields=True):
    id: str = msgspec.field(name="seriesID")
    data: list[_Datum]


class _Results(msgspec.Struct, forbid_unknown_fields=True):
    series: list[_Series]


class _Head(msgspec.Struct):
    status: str
    message: list[str] = []


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    status: str
    results: _Results = msgspec.field(name="Results")
    message: list[str] = []
    response_time: int | None = msgspec.field(name="responseTime", default=None)


class Bls(Connector):
    """Time series, one to an answer."""

    version = 4
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        With a key: each series in windows of twenty years from its survey's first. Without: the last ten years.

        The key is added on the wire only. Windows begin at fixed years, so that their addresses stay the same.
        """
        secret = {"registrationkey": key} if key else {}
        planned: list[Request] = []
        for native in sorted(series):
            for first, last in _windows(native, today, with_key=bool(key)):
                if since is not None and last < since.year:
                    continue
                address = f"https://{_HOST}/publicAPI/v2/timeseries/data/{native}?startyear={first}&endyear={last}"
                closed = is_closed(date(last, 12, 31), today)
                planned.append(Request(address, secret=secret, closed=closed))
        return planned

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one answer, one block for each mapped series, complete from its first period listed to its last.

        Raises SourceChanged naming series and period, and with the service's own words where it refused.
        """
        path = unquote(urlsplit(payload.url).path)
        if _DATA.fullmatch(path) is None:
            return Parsed(ignored=f"{path}: not time series in JSON")
        where = path.rpartition("/data/")[2].rstrip("/")
        parsed = Parsed()
        head = strict.json(payload.body, _Head, where, parsed)
        if head.status != _SUCCEEDED:
            raise SourceChanged(f"{where}: {head.status}, {strict.shown('; '.join(head.message))}")
        answer = strict.json(payload.body, _Answer, where, parsed)
        refused = [told for told in answer.message if _HARMLESS.fullmatch(told) is None]
        if refused:
            raise SourceChanged(f"{where}: the service says {strict.shown(refused[0])}")
        seen: set[str] = set()
        for listed in answer.results.series:
            if listed.id in seen:
                raise SourceChanged(f"{where}: series {listed.id} is there twice")
            seen.add(listed.id)
            if listed.id not in series:
                parsed.unmapped[listed.id] = len(listed.data)
            elif cells := list(_cells(listed, series[listed.id].frequency, parsed)):
                tables.add_block(parsed, listed.id, cells)
        return parsed


def _cells(series: _Series, frequency: Frequency, parsed: Parsed) -> Iterator[tables.Cell]:
    for datum in series.data:
        where = f"{series.id} {datum.year}-{datum.period}"
        period = _period(datum, frequency, where)
        if period is None:
            parsed.unmapped[f"{series.id} {datum.period}"] += 1
            continue
        marks = [mark for mark in datum.footnotes if mark.code or mark.text]
        note = notes.note(
            flags=tuple(mark.code for mark in marks if mark.code),
            footnotes=tuple(mark.text for mark in marks if mark.text),
        )
        yield tables.Cell(period.key, None if datum.value == _ABSENT else datum.value, where, note)


def _windows(native: str, today: date, *, with_key: bool) -> Iterator[tuple[int, int]]:
    if not with_key:
        yield today.year - _WITHOUT + 1, today.year
        return
    for first in range(_FIRST.get(native[:2], today.year - _WITH_KEY + 1), today.year + 1, _WITH_KEY):
        yield first, first + _WITH_KEY - 1


def _period(datum: _Datum, frequency: Frequency, where: str) -> Period | None:
    """Return the period of a row; None of an average over the year. Raise SourceChanged for one of another frequency."""
    written = _PERIOD.fullmatch(datum.period)
    if written is None or _YEAR.fullmatch(datum.year) is None:
        raise SourceChanged(f"{where} is not a period like 2026-M10")
    stated, number = Frequency(written[1]), int(written[2])
    if stated is not frequency:
        raise SourceChanged(f"{where} is {stated.word}, the catalogue says {frequency.word}")
    most = 12 // stated.months
    if number == most + 1 and most > 1:
        return None
    if not 1 <= number <= most:
        raise SourceChanged(f"{where} is not a period of a year that has {most}")
    return Period.starting(date(int(datum.year), (number - 1) * stated.months + 1, 1), frequency)


CONNECTOR = Bls()
