"""
SDMX services: one connector for all of them. What differs from one to the next is in the catalogue (`[[service]]`).

Native codes are `FLOW.KEY` with the code of every dimension. A message states no time of publication unless its flow
names the attribute that holds one; else its values are known from when they were fetched.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from urllib.parse import parse_qs, unquote, urlsplit

from almanac.catalog.currencies import Currencies, UnknownCurrency
from almanac.catalog.load import shipped
from almanac.catalog.services import Flow, Service, named
from almanac.domain.observations import PROJECTION, UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source, Unit
from almanac.domain.rights import Exposure
from almanac.domain.times import instant
from almanac.sources.base import Block, Connector, Parsed, Payload, Request, SourceChanged, is_closed
from almanac.sources.formats import notes, sdmx_csv, sdmx_json, sdmx_ml, strict
from almanac.sources.formats.sdmx_message import (
    BASES,
    Action,
    Asked,
    MessageSeries,
    NotData,
    SdmxObservation,
    flags,
    is_free,
    period_of,
    value_of,
)
from almanac.sources.reckoning import FIRST_YEAR, Size, periods

#: Statuses of a value that is not yet a measurement: of CL_OBS_STATUS, and among letters of one's own.
_FORECAST = frozenset("Ff")
#: Separators that an answer asked for may hold, as reckoned: half of what is read at once, since reckoning is no counting.
_MOST_PARTS = strict.PARTS // 2
#: Bytes to a separator of an answer.
_WIDTH = 8
#: A year or a month that an index is 100 in.
_BASE = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
#: A year, or a fiscal year, which goes by the year that it ends in (`FY2024`, `FY2023/24`, `2023/2024`).
_YEAR = re.compile(r"(?:FY)?([0-9]{4})(?:/([0-9]{2}|[0-9]{4}))?")


class Sdmx:
    """The connector of one service. `whole` is the service with all its flows, `units` and `money` are the catalogue's."""

    version = 6

    def __init__(
        self, service: Service, whole: Service, units: Mapping[str, Unit], money: Currencies | None = None
    ) -> None:
        self._service = service
        self._whole = whole
        self._units = units
        self._money = money or Currencies()

    def owns(self, url: str) -> bool:
        """Whether the URL is on a host of the service and names one of the flows read here.

        One that names none of the service's flows belongs to the source that reads its first.
        """
        if urlsplit(url).hostname not in self._service.hosts:
            return False
        flow = self._whole.find(_words(url)) or self._whole.flow[0]
        return flow in self._service.flow

    def plan(
        self, source: Source, series: Mapping[str, SeriesSpec], since: date | None, today: date, key: str | None
    ) -> list[Request]:
        """
        One request for each series, or for all series that differ only in dimensions the flow asks whole.

        A flow that the publisher has closed is not asked for.
        """
        wanted: dict[tuple[str, str], list[str]] = {}
        for native in sorted(series):
            flow, codes = self._split(native)
            if flow.closed:
                continue
            asked = [
                self._service.wildcard if name in flow.every else code
                for name, code in zip(flow.dimensions, codes, strict=True)
            ]
            wanted.setdefault((flow.id, ".".join(asked)), []).append(native)
        service = self._service
        headers = {"accept": service.accept} if service.accept else {}
        empty = frozenset(service.empty)
        return [
            Request(url, headers=headers, closed=is_closed(last, today), empty=empty, later=service.later, size=size)
            for (_, asked_key), natives in sorted(wanted.items())
            for url, last, size in self._urls(asked_key, natives, series, since, today)
        ]

    def _split(self, native: str) -> tuple[Flow, list[str]]:
        flow = next(flow for flow in self._service.flow if native.startswith(flow.id + "."))
        return flow, native.removeprefix(flow.id + ".").split(".")

    def _urls(
        self, key: str, natives: list[str], series: Mapping[str, SeriesSpec], since: date | None, today: date
    ) -> Iterator[tuple[str, date | None, Size]]:
        """Addresses, each with the last day it asks for (None for an open end) and the size of its answer."""
        flow, codes = self._split(natives[0])
        frequencies = {series[native].frequency for native in natives}
        # Of several the lowest: its period that holds a day begins before that of any other.
        frequency = max(frequencies, key=lambda one: one.rank)
        one = ".".join(codes) if len(natives) == 1 else key
        base = self._service.url.format(flow=flow.path or flow.id, key=one)
        # How many codes the publisher has is the flow's to say: those mapped may be more (former ones), or as many.
        rows = 1 if len(natives) == 1 else flow.codes if flow.codes > 1 else len(natives)
        for first, last in _windows(flow, frequencies, since, today):
            begins = first or date(flow.first_year or FIRST_YEAR, 1, 1)
            values = rows * periods(frequencies, begins, last or today)
            size = Size.of(values, flow.row_parts, flow.row_parts * _WIDTH)
            bounds = [
                form.format(_written(day, frequency))
                for form, day in ((self._service.since, first), (self._service.until, last))
                if day is not None
            ]
            separator = "&" if "?" in base else "?"
            yield base + separator + "&".join(bounds) if bounds else base, last, size

    def parse(self, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
        """
        Read one message, one block for each mapped series, complete from its first listed period to its last.

        A message of what changed of late (`updatedAfter`, `action="Append"`) claims nothing, and one that deletes withdraws
        what it lists. Raises SourceChanged.
        """
        parsed = Parsed()
        asked = Asked(self._service, _words(payload.url), urlsplit(payload.url).path, parsed)
        whole = "updatedAfter" not in parse_qs(urlsplit(payload.url).query)
        seen: set[tuple[str, Action]] = set()
        found: dict[str, Block] = {}
        try:
            for one in _read(payload.body, asked):
                spec = series.get(one.native)
                if spec is None:
                    rows = sum(row.value != "" for row in one.rows)
                    parsed.unmapped[one.native] = parsed.unmapped.get(one.native, 0) + rows
                    continue
                if (one.native, one.action) in seen:
                    raise SourceChanged(f"{asked.where}: series {one.native} is there twice")
                seen.add((one.native, one.action))
                native = self._in_currency(one, spec, payload, parsed, f"{asked.where}: {one.native}")
                if native is None:
                    continue
                block = self._block(one, spec, asked, whole=whole and one.action is Action.whole)
                if block is not None:
                    block = replace(block, native=native)
                    held = found.get(native)
                    found[native] = block if held is None else _joined(held, block, asked.where)
                marks = {row.confidentiality or row.status for row in one.rows if not is_free(row, self._service)}
                if marks:
                    reason = f"The publisher marks values of this series as not free ({', '.join(sorted(marks))})."
                    parsed.tightened[native] = (Exposure.restricted, reason)
        except NotData as kind:
            return Parsed(ignored=f"{asked.where}: {kind}")
        parsed.blocks += found.values()
        return parsed

    def _block(self, one: MessageSeries, spec: SeriesSpec, asked: Asked, *, whole: bool) -> Block | None:
        """The statements of one series, oldest period first; None of a series without rows."""
        where = f"{asked.where}: {one.native}"
        rows: dict[int, SdmxObservation] = {}
        for row in one.rows:
            key = period_of(row.period, spec.frequency, where).key
            if key in rows:
                raise SourceChanged(f"{where}: {row.period} is there twice")
            rows[key] = row
        if not rows:
            return None
        span = (min(rows), max(rows)) if whole else None
        if one.action is Action.deletion:
            return Block(one.native, [ReportedValue(key, None, flags=UNKNOWN) for key in sorted(rows)], span)
        self._check_multiplier(one, spec, where)
        flow = one.flow
        released = _stamp(one.attributes, flow.release if flow else None, where)
        corrected = _stamp(one.attributes, flow.corrected if flow else None, where, required=False)
        actual = _last_actual(one.attributes, flow.last_actual if flow else None, where)
        name = self._service.published
        stamp = one.attributes.get(name, "") if name else ""
        published = notes.published_at(stamp, self._service.zone, f"{where}: {name}") if stamp else None
        version = asked.versions.get(flow.id) if flow and flow.versioned else None
        basis, prices = _base(one.attributes, spec)
        statements: list[ReportedValue] = []
        for key, row in sorted(rows.items()):
            value = value_of(row, self._service, f"{where} {row.period}")
            marks = flags(row, self._service, f"{where} {row.period}")
            forecast = not _FORECAST.isdisjoint(marks or (row.status,))
            projection = forecast or _is_projected(Period.from_key(key), actual, flow, released)
            note = notes.note(dataflow=version, flags=marks, published=published, basis=basis, price_basis=prices)
            if value is not None:
                said = PROJECTION if projection else 0
                statements += _statements(key, value, released, corrected, said, note)
        return Block(one.native, statements, span)

    def _in_currency(
        self, one: MessageSeries, spec: SeriesSpec, payload: Payload, parsed: Parsed, where: str
    ) -> str | None:
        """The native code with the currency of the amounts; None, and reported, where the message states an unknown one."""
        flow, name = one.flow, self._service.currency
        stated = one.attributes.get(name) if name else None
        released = _stamp(one.attributes, flow.release if flow else None, where, required=False)
        edition = payload.fetched_at if released is None else released
        try:
            return self._money.native(one.native, spec, stated, datetime.fromtimestamp(edition, UTC).date())
        except UnknownCurrency:
            parsed.meet([f"{strict.shown(stated)} of {one.native}"], "currency")
            return None

    def _check_multiplier(self, one: MessageSeries, spec: SeriesSpec, where: str) -> None:
        """Raise SourceChanged if the message counts in another power of ten than the catalogue says."""
        name = self._service.multiplier
        stated = one.attributes.get(name, "") if name else ""
        unit = self._units.get(spec.unit or "")
        expected = spec.scale or (unit.scale if unit is not None else 0)
        if stated and stated != str(expected):
            raise SourceChanged(f"{where} has {name} {strict.shown(stated)}, the catalogue says {expected}")


def _joined(one: Block, other: Block, where: str) -> Block:
    """What two data sets of a message say of one series: values, and what is deleted. Raises SourceChanged where both say a period."""
    both = {told.period for told in one.statements} & {told.period for told in other.statements}
    if both:
        raise SourceChanged(f"{where}: {one.native} {Period.from_key(min(both))} is in two data sets")
    return Block(one.native, [*one.statements, *other.statements], one.complete or other.complete)


def _read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """The message in whatever form it is: XML begins with `<`, JSON with `{`, all else is CSV."""
    start = body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise SourceChanged(f"{asked.where} is empty")
    if start == b"<":
        return sdmx_ml.read(body, asked)
    if start == b"{":
        return sdmx_json.read(body, asked)
    return sdmx_csv.read(body, asked)


def _words(url: str) -> tuple[str, ...]:
    """What may name a flow in an address: the parts of its path, and of parts like `IMF.RES,WEO,9.0.0`."""
    return tuple(word for part in unquote(urlsplit(url).path).split("/") for word in part.split(",") if word)


def _windows(
    flow: Flow, frequencies: Collection[Frequency], since: date | None, today: date
) -> Iterator[tuple[date | None, date | None]]:
    """Spans of days to ask for, oldest first; the last one is open, so that its address stays the same."""
    years = flow.window_years(frequencies, _MOST_PARTS)
    first_year = flow.first_year or today.year
    if years is None or years > today.year - first_year:
        yield since, None
        return
    for year in range(first_year, today.year + 1, years):
        first, last = date(year, 1, 1), date(year + years - 1, 12, 31)
        if since is not None and last < since:
            continue
        yield max(first, since) if since is not None else first, last if last < today else None


def _written(day: date, frequency: Frequency) -> str:
    """The day as a period of that frequency."""
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
    What a row says. Without a release time: the value is known from its capture.

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
    """An instant among the attributes, in unix seconds; None where the flow has no such attribute, or need not."""
    if name is None or not (required or attributes.get(name)):
        return None
    text = attributes.get(name)
    try:
        return instant(datetime.fromisoformat(text or ""))
    except ValueError:
        raise SourceChanged(f"{where}: {name} {strict.shown(text)} is not an instant with a time zone") from None


def _last_actual(attributes: Mapping[str, str], name: str | None, where: str) -> int | None:
    """The last year that was measured, where the message says it."""
    text = attributes.get(name, "") if name else ""
    if not text:
        return None
    match = _YEAR.fullmatch(text)
    year = int(match[1]) if match else 0
    if match is None or (match[2] and not str(year + 1).endswith(match[2])):
        raise SourceChanged(f"{where}: {name} {strict.shown(text)} is not a year")
    return year + 1 if match[2] else year


def _is_projected(period: Period, actual: int | None, flow: Flow | None, released: int | None) -> bool:
    """Whether a value is a projection: past the last measured year, or, where none is stated, not over at release."""
    if actual is not None:
        return period.end.year > actual
    if flow is None or flow.last_actual is None or released is None:
        return False
    return period.end >= datetime.fromtimestamp(released, UTC).date()


@functools.cache
def connector(name: str) -> Connector:
    """The connector `service`, or `service/FLOW`, of the catalogue. Raises KeyError for one there is not."""
    catalog = shipped()
    whole = catalog.services[name.partition("/")[0]]
    return Sdmx(named(name, catalog.services), whole, catalog.units, catalog.money)
