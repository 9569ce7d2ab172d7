"""Bank of Japan: the time-series API, JSON. Native codes are `DATABASE'SERIES` (`FM08'FXERD01`), as the bank writes them.

Dates and values are two lists of one length, null where there is none. The day of the last update is the whole series':
it is kept with each row and dates none. A long answer names the place where the next one starts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from almanac.catalog.load import shipped
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source, Unit
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import notes, strict, tables

_HOST = "www.stat-search.boj.or.jp"
_DATA = "/api/v1/getDataCode"
#: Amounts of yen → power of ten.
_YEN = {"yen": 0, "thousand yen": 3, "million yen": 6, "100 million yen": 8, "billion yen": 9, "trillion yen": 12}
#: What the bank writes of the catalogue's other units.
_UNITS = {
    "percent": re.compile(r"(?:%|percent)(?: per annum)?", re.IGNORECASE),
    "per_usd": re.compile(r"yen per u\.s\. dollar", re.IGNORECASE),
    "points": re.compile(r"% points?|points?", re.IGNORECASE),
}


class _Values(msgspec.Struct, forbid_unknown_fields=True, rename="upper"):
    survey_dates: list[int]
    values: list[strict.JsonNumber | None]


class _Series(msgspec.Struct, forbid_unknown_fields=True, rename="upper"):
    series_code: str
    frequency: str
    last_update: int
    values: _Values
    unit: str = ""
    name_of_time_series: str = ""
    category: str = ""


class _Head(msgspec.Struct, rename="upper"):
    status: int
    message: str = ""


class _Answer(msgspec.Struct, forbid_unknown_fields=True, rename="upper"):
    status: int
    messageid: str
    message: str
    date: str
    parameter: dict[str, str | None]
    resultset: list[_Series]
    nextposition: int | None = None


@dataclass(frozen=True)
class Boj(Connector):
    """Series by code. `units` are the catalogue's."""

    version = 3
    hosts = frozenset({_HOST})
    leads_further = True
    units: Mapping[str, Unit]

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Plan one request for each series: one answer has one data base and one frequency only."""
        planned = []
        for native, spec in sorted(series.items()):
            database, _, code = native.partition("'")
            asked = {"format": "json", "lang": "en", "db": database, "code": code}
            if since is not None:
                asked["startDate"] = _written(since, spec.frequency)
            planned.append(Request(f"https://{_HOST}{_DATA}?{urlencode(asked)}"))
        return planned

    def follow(self, payload: Payload, source: Source, key: str | None) -> list[Request]:
        """Return the request of the next part of a long answer. Raise SourceChanged."""
        url = urlsplit(payload.url)
        if url.path != _DATA:
            return []
        place = strict.json(payload.body, _Answer, "getDataCode", Parsed()).nextposition
        if place is None:
            return []
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()} | {"startPosition": str(place)}
        return [Request(f"https://{_HOST}{_DATA}?{urlencode(asked)}")]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one answer, one block for each mapped series, complete from its first date listed to its last.

        Raises SourceChanged naming series and date, and with the bank's own words where it refused.
        """
        path = urlsplit(payload.url).path
        if path != _DATA:
            return Parsed(ignored=f"{path}: not data of series by code")
        parsed = Parsed()
        head = strict.json(payload.body, _Head, "getDataCode", parsed)
        if head.status != 200:
            raise SourceChanged(f"getDataCode: status {head.status}, {strict.shown(head.message)}")
        answer = strict.json(payload.body, _Answer, "getDataCode", parsed)
        database = answer.parameter.get("DB")
        if not database:
            raise SourceChanged("getDataCode: the answer does not name its data base DB")
        for listed in answer.resultset:
            native, days, values = f"{database}'{listed.series_code}", listed.values.survey_dates, listed.values.values
            if len(days) != len(values):
                raise SourceChanged(f"{native} has {len(days)} dates and {len(values)} values")
            if native not in series:
                parsed.unmapped[native] = sum(value is not None for value in values)
            elif days:
                self._take(native, listed, series[native], parsed)
        return parsed

    def _take(self, native: str, one: _Series, spec: SeriesSpec, parsed: Parsed) -> None:
        # The word for weeks names the day: `WEEKLY(MONDAY)`.
        before, opened, rest = one.frequency.partition("(")
        word = f"{before}{rest.rpartition(')')[2]}".strip() if opened and ")" in rest else one.frequency.strip()
        if word != spec.frequency.name:
            raise SourceChanged(f"{native} is {strict.shown(one.frequency)}, the catalogue says {spec.frequency.word}")
        self._check_unit(native, one.unit.strip(), spec)
        published = notes.published_at(str(one.last_update), None, f"{native}: LAST_UPDATE")
        note = notes.note(published=published)
        cells = (
            tables.Cell(_period(number, spec.frequency, f"{native} {number}").key, value, f"{native} {number}", note)
            for number, value in zip(one.values.survey_dates, one.values.values, strict=True)
        )
        tables.add_block(parsed, native, cells, updated=notes.updated(published))

    def _check_unit(self, native: str, text: str, spec: SeriesSpec) -> None:
        """Raise SourceChanged for a unit that is unknown, or another than the catalogue's."""
        wanted = _UNITS.get(spec.unit or "")
        if wanted is not None:
            if wanted.fullmatch(text) is None:
                raise SourceChanged(f"{native} is in {strict.shown(text)}, the catalogue says {spec.unit}")
            return
        stated, unit = _YEN.get(text.lower()), self.units.get(spec.unit or "")
        expected = spec.scale or (unit.scale if unit is not None else 0)
        if stated is None:
            raise SourceChanged(
                f"{native} is in {strict.shown(text)}, which nobody knows; the catalogue says 10^{expected} yen"
            )
        if stated != expected:
            raise SourceChanged(f"{native} is in {text} (10^{stated}), the catalogue says 10^{expected}")


def _written(day: date, frequency: Frequency) -> str:
    """Return the first period to ask for: a year, its quarter or half, else its month."""
    part = (day.month - 1) // (frequency.months or 1) + 1
    return f"{day.year}" if frequency is Frequency.ANNUAL else f"{day.year}{part:02}"


def _period(number: int, frequency: Frequency, where: str) -> Period:
    """Parse a period written 20250131, 202501 (a month, or the number of a quarter or half), 2025. Raises SourceChanged."""
    text = str(number)
    try:
        if frequency in {Frequency.DAILY, Frequency.WEEKLY} and len(text) == 8:
            return Period.ending(date.fromisoformat(text), frequency)
        if frequency is Frequency.ANNUAL and len(text) == 4:
            return Period.starting(date(number, 1, 1), frequency)
        if frequency.months and frequency is not Frequency.ANNUAL and len(text) == 6:
            month = (int(text[4:]) - 1) * frequency.months + 1
            return Period.starting(date(int(text[:4]), month, 1), frequency)
    except ValueError:
        pass
    raise SourceChanged(f"{where} is not a {frequency.word} period")


CONNECTOR = Boj(shipped().units)
