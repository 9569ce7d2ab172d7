"""GET /briefs/{country}: a country in words, six sections of text and readings, what comes and what came."""

from __future__ import annotations

import math
from datetime import date
from functools import partial
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.params import day_of
from almanac.api.contract.records import Record, RowRights, wire_number
from almanac.api.endpoints.calendar.events import EventSchema
from almanac.api.endpoints.calendar.events import records as event_records
from almanac.api.endpoints.calendar.releases import ReleaseSummary, recent
from almanac.api.endpoints.screeners import screening
from almanac.api.endpoints.screeners.screening import AlignedColumn, ProcessCache
from almanac.api.rows import names
from almanac.api.rows.filters import AS_OF
from almanac.api.rows.redaction import of_row, redaction_of
from almanac.domain import fields
from almanac.domain.events import COMING
from almanac.domain.fields import says
from almanac.domain.numbers import difference
from almanac.domain.periods import Frequency, end_of
from almanac.domain.reference import Entity
from almanac.domain.releases import is_before
from almanac.domain.times import DAY_SECONDS, wire_day, wire_time
from almanac.reports import briefs, decade
from almanac.reports.measures import MOVING, SECTIONS, MeasureReading, MeasureSpec, SectionSpec, typical_change
from almanac.store.events import events
from almanac.store.observations.reading.lookup import newest_numbers, numbers_before
from almanac.store.observations.reading.metadata import SeriesInfo, SeriesRights
from almanac.store.observations.reading.reader import View


class BriefReading(Record):
    """The latest reading of one indicator, beside its past and its peers. Numbers are null where it is withheld."""

    indicator_id: fields.IndicatorId
    name: Annotated[str, says("Name of the indicator.")]
    value: Annotated[float | None, says("The latest reading, in `unit`. Null: withheld.")]
    unit: fields.Unit
    currency: fields.Currency
    period_end: fields.PeriodEnd
    previous: Annotated[float | None, says("The period before, in `unit`; of daily data a day within ten. Null: none.")]
    change: Annotated[float | None, says("`value` less `previous`, in `unit` (percentage points). Null: no previous.")]
    percentile10y: Annotated[
        float | None,
        says(
            "Mid-rank among the ten years before it, 0 to 100, as in `/release-summaries`. Null: a number with a trend, or "
            "they are not all there or not reached."
        ),
    ]
    peer_rank: Annotated[int | None, says("Place among countries with a fresh public value, 1 the top. Null: none.")]
    peer_count: Annotated[int | None, says("How many countries that are, itself one of them. Null: not ranked.")]
    freshness_status: fields.FreshnessStatus
    series_id: fields.SeriesId
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class BriefSection(Record):
    """One subject: what is to be said, and the readings it is said from."""

    key: Annotated[
        Literal["growth", "inflation", "labor", "rates", "external", "fiscal"], says("The subject, for programs.")
    ]
    title: Annotated[str, says("The subject, for people.")]
    text: Annotated[str, says("Sentences made by rule; each number is one of the readings, rounded, or of a date.")]
    readings: Annotated[list[BriefReading], says("What they are made from.")]


class Brief(Record):
    """A country in words."""

    entity_id: fields.EntityId
    name: Annotated[str, says("Name of the country or region.")]
    country: Annotated[str, says("Its ISO code: three letters, where it has them; EUR for the euro area.", "USA")]
    as_of: fields.AsOf
    headline: Annotated[str, says("The brief in one or two sentences, made by rule from its readings.")]
    sections: Annotated[list[BriefSection], says("Subject by subject.")]
    upcoming_events: Annotated[list[EventSchema], says("Releases and decisions that come next, the next one first.")]
    recent_releases: Annotated[list[ReleaseSummary], says("What was released of late, the newest first.")]
    derived_from: Annotated[list[str], says("Ids of the series of all readings.")]


class Peer(NamedTuple):
    """A country's public reading that is fresh."""

    value: float
    unit: str | None
    frequency: Frequency
    known: int
    curve: str | None
    #: Last day of its period.
    end: date


class Gathered(NamedTuple):
    """Readings of one section, as sentences use them and as the answer has them."""

    said: briefs.SectionReadings
    records: list[BriefReading]
    #: Knowledge times of the rows.
    used: set[int]
    #: By measure, the kinds of curve that it was ranked among, its own first.
    curves: dict[str, list[str]]


def fresh_peers(
    cache: ProcessCache, view: View, measure: MeasureSpec, *, version: int, as_of: int | None, today: date
) -> list[Peer]:
    """
    Return every country's fresh public reading of a measure, made once for each state of the data and day. No plan cuts them.

    `today` is what freshness is judged by.
    """

    def make() -> list[Peer]:
        places = screening.places(cache, view)
        readings = cache.readings.column(view, measure.slug, version=version, as_of=as_of)
        column = AlignedColumn.of(readings, places.numbers)
        peers = []
        for row, entity in enumerate(places.entities):
            value = float(column.values[row])
            if entity.kind != "country" or math.isnan(value) or (measure.own_bank and shares(entity)):
                continue
            series, end = view.directory.series(column.series(row)), column.end(row)
            # The latest reading is of its series' newest period, so that need not be looked up.
            if view.judged(series, end, as_of, today) == "fresh":
                spec = series.spec
                peers.append(Peer(value, column.unit(row), spec.frequency, column.known(row), spec.curve_type, end))
        return peers

    # What they follow from: the moment, and the day because of freshness.
    return cache.once(view, "peers", measure.slug, version, as_of, today, make=make)


def prepare(cache: ProcessCache, view: View, today: date) -> None:
    """Make what is the same for the briefs of all countries as they are now."""
    for section in SECTIONS:
        for measure in section.measures:
            if measure.slug in view.directory.indicators:
                fresh_peers(cache, view, measure, version=view.version, as_of=None, today=today)


def gather(cache: ProcessCache, ctx: Context, entity: Entity, section: SectionSpec) -> Gathered:
    """Return the readings of a country in a section, in the order of its measures."""
    places = screening.places(cache, ctx.view)
    row = places.ties.index((entity.name, entity.id))
    readings: list[MeasureReading] = []
    gathered = Gathered(briefs.SectionReadings(readings), [], set(), {})
    settled: set[str] = set()
    beyond = False
    for measure in section.measures:
        group = measure.instead_of or measure.slug
        if group in settled or (measure.own_bank and shares(entity)):
            continue
        if measure.slug not in ctx.view.directory.indicators:
            continue
        column = screening.aligned(cache, ctx, measure.slug, places.numbers)
        if column.places[row] < 0:
            # A reading that there is lies before the plan's window.
            beyond = beyond or bool(column.column.rows(places.numbers)[row] >= 0)
            continue
        reading = _reading(cache, ctx, entity, measure, column, row, gathered)
        if reading is not None:
            readings.append(reading)
            if reading.freshness == "fresh":
                settled.add(group)
    return gathered._replace(said=briefs.SectionReadings(readings, len(readings) < len(gathered.records), beyond))


def _reading(
    cache: ProcessCache,
    ctx: Context,
    entity: Entity,
    measure: MeasureSpec,
    column: AlignedColumn,
    row: int,
    gathered: Gathered,
) -> MeasureReading | None:
    """Return one measure of a country for the words, None where it is withheld; add to `gathered` the record and what it rests on."""
    as_of: int | None = ctx.params["as_of"]
    place = column.places[row]
    series = ctx.view.directory.series(column.series(row))
    period, known = int(column.column.periods[place]), column.known(row)
    past = newest_numbers(ctx.view, series, period, version=ctx.version, as_of=as_of)
    lineage = past[0].lineage if past and past[0].period == period else 0
    rights = ctx.view.directory.row_rights(series, lineage)
    fresh = redaction_of(ctx).freshness(series)
    gathered.used.add(known)
    if rights.withheld or column.column.withheld[place]:
        gathered.records.append(_record(ctx, measure, series, period, fresh, rights))
        return None
    before = next((one for one in past if is_before(one.period, period, series.spec.frequency)), None)
    # The newest one of another time, where that is all there is: its day is told, and nothing compared with it.
    older = next((one for one in past if one.period < period), None) if before is None else None
    since = None if older is None or not _reached(ctx, end_of(older.period)) else older.period
    if before is not None and (before.withheld or not _reached(ctx, end_of(before.period))):
        before = None
    value = float(column.values[row])
    spec, begins = series.spec, decade.begins(period)
    start = begins if ctx.window_start is None else max(begins, ctx.window_start)
    # As known when the reading was, and as much of them as the plan reaches.
    ten_years = numbers_before(ctx.view, series, start, period, version=ctx.version, as_of=known)
    percentile = usual = None
    if ten_years is not None and _reached(ctx, begins):
        percentile = decade.standing(value, spec.unit, period, spec.frequency, decade.Decade(*ten_years)).percentile
    if ten_years is not None and measure.kind in MOVING:
        usual = typical_change(measure, ten_years.values)
    peers: list[Peer] = []
    if measure.ranked and fresh == "fresh" and entity.kind == "country":
        every = fresh_peers(cache, ctx.view, measure, version=ctx.version, as_of=as_of, today=day_of(ctx.as_of))
        peers = [
            peer
            for peer in every
            if peer.unit == spec.unit
            and (measure.instant or peer.frequency is spec.frequency)
            and _reached(ctx, peer.end)
        ]
    reading = MeasureReading(
        measure,
        value,
        spec.unit,
        period,
        spec.frequency,
        fresh,
        None if before is None else before.value,
        None if before is None else before.period,
        percentile,
        briefs.ranking(value, sorted(peer.value for peer in peers)),
        usual=usual,
        since=since,
    )
    gathered.records.append(_record(ctx, measure, series, period, fresh, rights, reading))
    gathered.used.update(peer.known for peer in peers)
    if before is not None:
        gathered.used.add(before.known)
    kinds = sorted({peer.curve for peer in peers if peer.curve is not None})
    if spec.curve_type is not None and kinds:
        gathered.curves[measure.slug] = [spec.curve_type, *kinds]
    return reading


def _reached(ctx: Context, day: date) -> bool:
    return ctx.window_start is None or day >= ctx.window_start


def shares(entity: Entity) -> bool:
    """Return whether a country uses the euro, so that another's central bank sets its policy rate."""
    return entity.kind == "country" and entity.currency == "EUR"


def _record(
    ctx: Context, measure: MeasureSpec, series: SeriesInfo, period: int, fresh: str, rights: SeriesRights,
    reading: MeasureReading | None = None,
) -> BriefReading:  # fmt: skip
    """Make the record of a reading. Its numbers are null where `reading` is None: they are withheld."""
    indicator = ctx.view.directory.indicators[measure.slug]
    change, ranking = None, reading and reading.ranking
    if reading is not None and reading.previous is not None:
        change = difference(reading.value, reading.previous, computed=indicator.kind == "derived")
    return BriefReading(
        indicator_id=f"indicator_{measure.slug}",
        name=indicator.name,
        value=wire_number(reading and reading.value),
        unit=series.unit,
        currency=series.currency,
        period_end=wire_day(end_of(period)),
        previous=wire_number(reading and reading.previous),
        change=wire_number(change),
        percentile10y=wire_number(reading and reading.percentile),
        peer_rank=ranking and ranking.rank,
        peer_count=ranking and ranking.of,
        freshness_status=fresh,  # type: ignore[arg-type]  # one of the three words
        series_id=series.id,
        rights=of_row(rights),
    )


_EVENTS = 10
_OFFICIAL = ("macro_release", "central_bank")


def _brief(cache: ProcessCache, ctx: Context) -> ItemAnswer:
    """Return the brief of one country."""
    entity = names.place_in_path(ctx, "country")
    place = briefs.BriefSubject(entity.name, shares(entity))
    gathered = {section.key: gather(cache, ctx, entity, section) for section in SECTIONS}
    coming, coming_known = _upcoming(ctx, entity)
    # Release summaries are as known at the moment of the request; here at the one asked for.
    came = recent(replace(ctx, at=ctx.as_of), entity.id)
    used = set(coming_known).union(*(found.used for found in gathered.values()))
    times = [wire_time(known) for known in used] + [one.observed_at for one in came]
    asked = ctx.params["as_of"]
    record = Brief(
        entity_id=entity.id,
        name=entity.name,
        country=screening.place_code(entity),
        as_of=max(times, default=None) if asked is None else wire_time(asked),
        headline=briefs.headline(place, {key: found.said.readings for key, found in gathered.items()}),
        sections=[
            BriefSection(
                key=section.key,
                title=section.title,
                text=briefs.section_text(section, place, gathered[section.key].said, gathered[section.key].curves),
                readings=gathered[section.key].records,
            )
            for section in SECTIONS
        ],
        upcoming_events=coming,
        recent_releases=came,
        derived_from=sorted({reading.series_id for found in gathered.values() for reading in found.records}),
    )
    return ItemAnswer(msgspec.json.encode(record))


def _upcoming(ctx: Context, entity: Entity) -> tuple[list[EventSchema], list[int]]:
    """
    Return the next official events of the country itself, soonest first.

    Without `as_of` they are those from the beginning of today on that have not happened yet as far as is known: the same
    answer all day.
    """
    asked = ctx.params["as_of"]
    start = ctx.now - ctx.now % DAY_SECONDS if asked is None else asked + 1
    chosen = events.coming(
        ctx.view,
        entity.id,
        start,
        categories=_OFFICIAL,
        statuses=COMING,
        version=ctx.version,
        known_by=ctx.as_of,
        limit=_EVENTS,
    )
    return event_records(ctx, chosen), [one.known_at for one in chosen]


def endpoint(cache: ProcessCache) -> Endpoint:
    """Return the brief of a country."""
    return Endpoint(
        path="/briefs/{country}",
        operation_id="getCountryBrief",
        summary="A country in words",
        description="Headline and six sections (growth, inflation, labour market, interest rates, external position, public finances), "
        "written by rule from the latest readings: every number in a text is one of them. Ranks are among countries, 1 the "
        "highest value; ranks and percentiles are over public values only. Then the next official events and the newest "
        "releases. By ISO-2, ISO-3, id, slug or any name that /entities/resolve finds exactly; EUR for the euro area.",
        handler=partial(_brief, cache),
        braces=(names.PLACE_IN_PATH,),
        warm=lambda view, now: prepare(cache, view, day_of(now)),
        scope="analytics:read",
        params=(AS_OF,),
        record=Brief,
        dated=True,
        cost="thread",
        cached=True,
        tag="Analytics",
    )
