"""
SDMX services: one connector for all of them. What differs from one to the next is in the catalogue (`[[service]]`).

Native codes are `FLOW.KEY` with the code of every dimension. A message states no time of publication unless its flow
names the attribute that holds one; else its values are known from when they were fetched.
"""

from __future__ import annotations

import calendar
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from almanac.catalog.currencies import Currencies, UnknownCurrency
from almanac.catalog.load import shipped
from almanac.catalog.services import Flow, Service, named
from almanac.domain.observations import PROJECTION, UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source, Unit
from almanac.domain.rights import Exposure
from almanac.domain.times import instant
from almanac.sources.base import DOUBT, Block, Connector, Parsed, Payload, Request, SourceChanged, Specs, is_closed
from almanac.sources.formats import notes, sdmx_csv, sdmx_json, sdmx_ml, strict
from almanac.sources.formats.sdmx_message import (
    BASES,
    Action,
    Asked,
    MessageSeries,
    NotData,
    SdmxObservation,
    period_of,
)

#: Statuses of a value that is not yet a measurement: of CL_OBS_STATUS, and among letters of one's own.
_FORECAST = frozenset("Ff")
#: A year or a month that an index is 100 in.
_BASE = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
#: A year, or a fiscal year, which goes by the year that it ends in (`FY2024`, `FY2023/24`, `2023/2024`).
_YEAR = re.compile(r"(FY)?([0-9]{4})(?:/([0-9]{2}|[0-9]{4}))?")
#: In place of a year or of months: none is stated.
_UNSTATED = frozenset(["", "0", "n/a", "none", "not applicable"])
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
#: Which fiscal year stands under the label of a calendar year: `FY(t-1/t) = CY(t)`.
_MAPPING = re.compile(r"FY\(t([+-][0-9])?/t([+-][0-9])?\)=CY\(t([+-][0-9])?\)", re.IGNORECASE)


class _YearInDoubt(Exception):  # noqa: N818  (the name says what is the matter)
    """Of which year the values of a series are, or which were measured, is not stated in a way that leaves no doubt."""


class _ReportingYear(NamedTuple):
    """The year that stands under the label of a calendar year: it starts in this month of that year or of the one before."""

    month: int = 1
    #: Years from the label to the year it starts in: 0 or -1.
    shift: int = 0

    def period(self, label: Period) -> Period:
        """Return the period that a value is of by the calendar year it is labelled with. Raises SourceChanged for one out of the calendar."""
        try:
            return Period.starting(date(label.end.year + self.shift, self.month, 1), Frequency.ANNUAL)
        except (ValueError, OverflowError):
            raise SourceChanged(f"under {label.end.year} stands a year that is in no calendar") from None

    def label(self, text: str) -> int | None:
        """Return the label of a year or fiscal year as written; None where none is stated. Raises _YearInDoubt."""
        if text.strip().lower() in _UNSTATED:
            return None
        match = _YEAR.fullmatch(text)
        year = int(match[2]) if match else 0
        if match is None or (match[3] and not str(year + 1).endswith(match[3])):
            raise _YearInDoubt
        if self.month == 1:
            # Of a year in two calendar years the first alone is over for certain.
            return year
        if not match[1] and not match[3]:
            return year
        return (year if match[3] else year - 1) - self.shift


@dataclass(frozen=True)
class Sdmx(Connector):
    """The connector of one service. `whole` is the service with all its flows, `units` and `money` are the catalogue's."""

    version = 6
    service: Service
    whole: Service
    units: Mapping[str, Unit]
    money: Currencies = field(default_factory=Currencies)

    def owns(self, url: str) -> bool:
        """Tell whether the URL is on a host of the service and names one of the flows read here.

        One that names none of the service's flows belongs to the source that reads its first.
        """
        if urlsplit(url).hostname not in self.service.hosts:
            return False
        return (self.whole.find(_words(url)) or self.whole.flow[0]) in self.service.flow

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """
        Plan one request for each series, or for all series that differ only in dimensions the flow asks whole.

        A flow that the publisher has closed is not asked for.
        """
        service = self.service
        wanted: dict[tuple[str, str], list[str]] = {}
        for native in sorted(series):
            flow, codes = self._split(native)
            named = zip(flow.dimensions, codes, strict=True)
            asked = ".".join(service.wildcard if name in flow.every else code for name, code in named)
            if not flow.closed:
                wanted.setdefault((flow.id, asked), []).append(native)
        headers, empty = {"accept": service.accept} if service.accept else {}, frozenset(service.empty)
        request = functools.partial(Request, headers=headers, empty=empty, gone=service.gone, later=service.later)
        return [
            request(url, closed=is_closed(last, today), dataset=flow_id)
            for (flow_id, asked), natives in sorted(wanted.items())
            for url, last in self._urls(asked, natives, series, since, today)
        ]

    def _split(self, native: str) -> tuple[Flow, list[str]]:
        flow = next(flow for flow in self.service.flow if native.startswith(flow.id + "."))
        return flow, native.removeprefix(flow.id + ".").split(".")

    def _urls(
        self, key: str, natives: list[str], series: Specs, since: date | None, today: date
    ) -> Iterator[tuple[str, date | None]]:
        """Yield addresses, each with the last day it asks for (None for an open end)."""
        flow, codes = self._split(natives[0])
        # Of several the lowest: its period that holds a day begins before that of any other.
        frequency = max((series[native].frequency for native in natives), key=lambda one: one.rank)
        one = ".".join(codes) if len(natives) == 1 else key
        base = self.service.url.format(flow=flow.path or flow.id, key=one)
        for first, last in _windows(flow, frequency, since, today):
            days = ((self.service.since, first), (self.service.until, last))
            bounds = "&".join(form.format(_written(day, frequency)) for form, day in days if day is not None)
            yield f"{base}{'&' if '?' in base else '?'}{bounds}" if bounds else base, last

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """
        Read one message, one block for each mapped series, complete from its first listed period to its last.

        A message of what changed of late (`updatedAfter`, `action="Append"`) claims nothing, and one that deletes withdraws
        what it lists. Raise SourceChanged.
        """
        parsed, url = Parsed(), urlsplit(payload.url)
        asked = Asked(self.service, _words(payload.url), url.path, parsed)
        whole = "updatedAfter" not in parse_qs(url.query)
        seen: set[tuple[str, Action]] = set()
        found: dict[str, Block] = {}
        try:
            for one in _read(payload.body, asked):
                spec = series.get(one.native)
                if spec is None:
                    rows = sum(row.value != "" for row in one.rows)
                    parsed.unmapped[one.native] += rows
                    continue
                if (one.native, one.action) in seen:
                    raise asked.error(f": series {one.native} is there twice")
                seen.add((one.native, one.action))
                native = self._in_currency(one, spec, payload.fetched_at, asked)
                if native is None:
                    continue
                block = self._block(one, spec, asked, whole=whole and one.action is Action.whole)
                if block is not None:
                    block = replace(block, native=native)
                    found[native] = _joined(found[native], block, asked) if native in found else block
                marks = {row.confidentiality or row.status for row in one.rows if not row.is_free(self.service)}
                if marks:
                    reason = f"The publisher marks values of this series as not free ({', '.join(sorted(marks))})."
                    parsed.tightened[native] = (Exposure.restricted, reason)
        except NotData as kind:
            return Parsed(ignored=f"{asked.where}: {kind}")
        parsed.blocks += found.values()
        return parsed

    def _block(self, one: MessageSeries, spec: SeriesSpec, asked: Asked, *, whole: bool) -> Block | None:
        """Return the statements of one series, oldest period first; None of a series without rows."""
        where, flow, attributes = f"{asked.where}: {one.native}", one.flow, one.attributes
        try:
            reporting = _reporting_year(attributes, flow, spec.frequency)
            actual = reporting.label(attributes.get(flow.last_actual or "", "") if flow else "")
        except _YearInDoubt:
            names = (flow.reporting_year, flow.last_actual) if flow else ()
            told = ", ".join(filter(None, (attributes.get(name or "", "") for name in names)))
            asked.parsed.meet([f"{strict.shown(told)} of {one.native}"], "year")
            return None
        rows: dict[int, tuple[SdmxObservation, int]] = {}
        for row in one.rows:
            period = period_of(row.period, spec.frequency, where)
            key = (period if reporting is _CALENDAR else reporting.period(period)).key
            if key in rows:
                raise SourceChanged(f"{where}: {row.period} is there twice")
            rows[key] = row, period.end.year
        if not rows:
            return None
        span = (min(rows), max(rows)) if whole else None
        if one.action is Action.deletion:
            return Block(one.native, [ReportedValue(key, None, flags=UNKNOWN) for key in sorted(rows)], span)
        name = self.service.multiplier
        stated = attributes.get(name, "") if name else ""
        unit = self.units.get(spec.unit or "")
        expected = spec.scale or (unit.scale if unit is not None else 0)
        if stated and stated != str(expected):
            raise SourceChanged(f"{where} has {name} {strict.shown(stated)}, the catalogue says {expected}")
        released = _stamp(attributes, flow.release if flow else None, where)
        corrected = _stamp(attributes, flow.corrected if flow else None, where, required=False)
        name = self.service.published
        stamp = attributes.get(name, "") if name else ""
        published = notes.published_at(stamp, self.service.zone, f"{where}: {name}") if stamp else None
        version = asked.versions.get(flow.id) if flow and flow.versioned else None
        basis, prices = _base(attributes, spec)
        statements: list[ReportedValue] = []
        for key, (row, label) in sorted(rows.items()):
            at = f"{where} {row.period}"
            try:
                value = row.number(self.service, at)
            except strict.NotFiniteError as doubt:
                asked.parsed.meet([str(doubt)], DOUBT)
                span = None
                continue
            marks = row.flags(self.service, at)
            projection = not _FORECAST.isdisjoint(marks or (row.status,)) or _is_projected(
                Period.from_key(key), label, actual, flow, released
            )
            note = notes.note(dataflow=version, flags=marks, published=published, basis=basis, price_basis=prices)
            if value is not None:
                statements += _statements(key, value, released, corrected, PROJECTION if projection else 0, note)
        return Block(one.native, statements, span, notes.updated(published))

    def _in_currency(self, one: MessageSeries, spec: SeriesSpec, fetched_at: int, asked: Asked) -> str | None:
        """Return the native code with the currency of the amounts; None, and report it, if the message states an unknown one."""
        name, where = self.service.currency, f"{asked.where}: {one.native}"
        stated = one.attributes.get(name) if name else None
        released = _stamp(one.attributes, one.flow.release if one.flow else None, where, required=False)
        edition = datetime.fromtimestamp(fetched_at if released is None else released, UTC).date()
        try:
            return self.money.native(one.native, spec, stated, edition)
        except UnknownCurrency:
            asked.parsed.meet([f"{strict.shown(stated)} of {one.native}"], "currency")
            return None


def _joined(one: Block, other: Block, asked: Asked) -> Block:
    """Join what two data sets of a message say of one series: values, and what is deleted. Raise SourceChanged if both say a period."""
    both = {told.period for told in one.statements} & {told.period for told in other.statements}
    if both:
        raise asked.error(f": {one.native} {Period.from_key(min(both))} is in two data sets")
    statements = [*one.statements, *other.statements]
    return Block(one.native, statements, one.complete or other.complete, one.updated or other.updated)


def _read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Read a message in whatever form it is: XML begins with `<`, JSON with `{`, all else is CSV."""
    start = body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise asked.error(" is empty")
    reader = {b"<": sdmx_ml.read, b"{": sdmx_json.read}.get(start, sdmx_csv.read)
    return reader(body, asked)


def _words(url: str) -> tuple[str, ...]:
    """Return what may name a flow in an address: the parts of its path, and of parts like `IMF.RES,WEO,9.0.0`."""
    return tuple(word for part in unquote(urlsplit(url).path).split("/") for word in part.split(",") if word)


def _windows(
    flow: Flow, frequency: Frequency, since: date | None, today: date
) -> Iterator[tuple[date | None, date | None]]:
    """Yield spans of days to ask for, oldest first; the last one is open, so that its address stays the same."""
    years = flow.window_years.get(frequency)
    if years is None or years > today.year - flow.first_year:
        yield since, None
        return
    for year in range(flow.first_year, today.year + 1, years):
        first, last = date(year, 1, 1), date(year + years - 1, 12, 31)
        if since is not None and last < since:
            continue
        yield max(first, since) if since is not None else first, last if last < today else None


def _written(day: date, frequency: Frequency) -> str:
    """Write the day as a period of that frequency."""
    if frequency is Frequency.ANNUAL:
        return str(day.year)
    if frequency is Frequency.SEMIANNUAL:
        return f"{day.year}-S{(day.month + 5) // 6}"
    if frequency is Frequency.QUARTERLY:
        return f"{day.year}-Q{(day.month + 2) // 3}"
    return day.isoformat()[: 7 if frequency is Frequency.MONTHLY else 10]


def _statements(
    period: int, value: float, released: int | None, corrected: int | None, flags: int, note: str | None
) -> list[ReportedValue]:
    """
    Return what a row says. Without a release time: the value is known from its capture.

    An edition corrected after its release states a cell twice: as of the release, which holds only if nothing was
    known of the cell, and as of the correction. So neither the edition's date nor an earlier capture's value is lost.
    """
    if released is None:
        return [ReportedValue(period, value, flags=UNKNOWN | flags, note=note)]
    if corrected is None or corrected <= released:
        return [ReportedValue(period, value, released, released, flags, note=note)]
    return [
        ReportedValue(period, value, released, released, flags, first_only=True, note=note),
        ReportedValue(period, value, corrected, corrected, flags, note=note),
    ]


def _base(attributes: Mapping[str, str], spec: SeriesSpec) -> tuple[str | None, str | None]:
    """Return what the message says an index is 100 in, and whose prices a volume counts in."""
    stated = next((attributes[name] for name in BASES if attributes.get(name)), None)
    if stated is None:
        return None, None
    if spec.unit == "index":
        return (f"{stated}=100" if _BASE.fullmatch(stated) else stated), None
    volume = spec.price_basis not in {None, "current"}
    return None, f"{stated} prices" if volume else None


def _stamp(attributes: Mapping[str, str], name: str | None, where: str, *, required: bool = True) -> int | None:
    """Return an instant among the attributes, in unix seconds; None where the flow has no such attribute, or need not."""
    if name is None or not (required or attributes.get(name)):
        return None
    text = attributes.get(name)
    try:
        return instant(datetime.fromisoformat(text or ""))
    except ValueError:
        raise SourceChanged(f"{where}: {name} {strict.shown(text)} is not an instant with a time zone") from None


_CALENDAR = _ReportingYear()


def _reporting_year(attributes: Mapping[str, str], flow: Flow | None, frequency: Frequency) -> _ReportingYear:
    """
    Return the year that annual values are of: the calendar's unless the message states another one.

    Raises _YearInDoubt for months that are no year, and for a fiscal year of which the message does not say, or says in two
    ways, under which label it stands.
    """
    if flow is None or flow.reporting_year is None or frequency is not Frequency.ANNUAL:
        return _CALENDAR
    text = attributes.get(flow.reporting_year, "").strip().lower()
    stated = "".join(attributes.get(flow.year_mapping or "", "").split())
    shifts = {
        _offset(start) - _offset(label)
        for start, end, label in _MAPPING.findall(stated)
        if _offset(end) == _offset(start) + 1
    }
    measured = _YEAR.fullmatch(attributes.get(flow.last_actual or "", ""))
    mapped = _MAPPING.search(stated) is not None
    if text in _UNSTATED and not mapped and not (measured and (measured[1] or measured[3])):
        return _CALENDAR
    first, _, last = text.partition("/")
    start, end = _MONTHS.get(first.strip(), 0), _MONTHS.get(last.strip(), 0)
    if not start or not end or end != (start + 10) % 12 + 1:
        raise _YearInDoubt
    if start == 1 and not mapped:
        return _CALENDAR
    if start == 1 or len(shifts) != 1 or not shifts <= {0, -1}:
        raise _YearInDoubt
    return _ReportingYear(start, shifts.pop())


def _offset(text: str) -> int:
    """Return the years that a label's formula adds: `-1` in `t-1`, none in `t`."""
    return int(text or 0)


def _is_projected(period: Period, label: int, actual: int | None, flow: Flow | None, released: int | None) -> bool:
    """Return whether a value is a projection: of a period not over at the release, or past the last year that was measured."""
    if flow is None or flow.last_actual is None:
        return False
    if released is not None and period.end >= datetime.fromtimestamp(released, UTC).date():
        return True
    return actual is not None and label > actual


@functools.cache
def connector(name: str) -> Connector:
    """Return the connector `service`, or `service/FLOW`, of the catalogue. Raise KeyError for one there is not."""
    catalog = shipped()
    whole = catalog.services[name.partition("/")[0]]
    return Sdmx(named(name, catalog.services), whole, catalog.units, catalog.money)
