"""The readings of a brief: a country's own, and where they stand among those of other countries and in their own past."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import day_of
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.briefs.records import BriefReading
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.screening import ProcessCache, aligned
from almanac.api.rows.redaction import redaction_of
from almanac.api.rows.rights import of_row
from almanac.domain.numbers import difference
from almanac.domain.periods import end_of
from almanac.domain.reference import Entity
from almanac.domain.releases import is_before
from almanac.domain.times import wire_day
from almanac.reports import briefs, decade
from almanac.reports.measures import MOVING, SECTIONS, MeasureReading, MeasureSpec, Ranking, SectionSpec, typical_change
from almanac.store.observations.reading.lookup import newest_numbers, numbers_before
from almanac.store.observations.reading.metadata import SeriesInfo, SeriesRights
from almanac.store.observations.reading.reader import View


class Moment(NamedTuple):
    """A state of the data as known at a moment. `as_of` in unix seconds; None: now. `today`: what freshness is judged by."""

    view: View
    version: int
    as_of: int | None
    today: date


class PeerReading(NamedTuple):
    """A country's public reading that is fresh."""

    entity: str
    value: float
    unit: str | None
    frequency: str
    known: int
    curve: str | None
    #: Last day of its period.
    end: date


class MeasuredReading(NamedTuple):
    """One measure of one country: for the words (None: withheld), and for the wire. `used`: knowledge times of the rows."""

    reading: MeasureReading | None
    record: BriefReading
    used: tuple[int, ...]
    #: Kinds of curve it was ranked among, its own first.
    curves: tuple[str, ...] = ()


class Gathered(NamedTuple):
    """What there is of a section. `beyond`: older readings than the plan reaches."""

    measured: list[MeasuredReading]
    beyond: bool


class PeerReadings:
    """What the readings of all countries are at one moment; measure by measure, as asked for. No plan cuts them."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.entities = tuple(entities)
        self.row = {entity.id: row for row, entity in enumerate(self.entities)}
        self._fresh: dict[str, tuple[PeerReading, ...]] = {}

    @classmethod
    def at(cls, cache: ProcessCache, moment: Moment) -> PeerReadings:
        """Return the peers of a moment, made once for each state of the data and day."""
        view = moment.view

        def everyone() -> PeerReadings:
            return cls([one for one in view.directory.entities.values() if one.kind in {"country", "region"}])

        # What they follow from: the data, the rights of now, the moment, and the day because of freshness.
        key = ("brief peers", view.epoch, view.version, view.directory.reference, moment.version, moment.as_of, moment.today)  # fmt: skip
        return cache.once(key, everyone)

    def numbers(self, cache: ProcessCache) -> npt.NDArray[np.int32]:
        """Return the numbers by which columns of readings know the entities."""
        return cache.readings.numbers(one.id for one in self.entities)

    def fresh(self, cache: ProcessCache, moment: Moment, measure: MeasureSpec) -> tuple[PeerReading, ...]:
        """Every country's fresh public reading of a measure. Two threads may make them at once, and make the same."""
        found = self._fresh.get(measure.slug)
        if found is None:
            found = self._fresh[measure.slug] = tuple(self._made(cache, moment, measure))
        return found

    def _made(self, cache: ProcessCache, moment: Moment, measure: MeasureSpec) -> Iterator[PeerReading]:
        directory = moment.view.directory
        readings = cache.readings.column(moment.view, measure.slug, version=moment.version, as_of=moment.as_of)
        column = AlignedColumn.of(readings, self.numbers(cache))
        for row, entity in enumerate(self.entities):
            value = float(column.values[row])
            if entity.kind != "country" or math.isnan(value) or (measure.own_bank and shares(entity)):
                continue
            series, end = directory.series(column.series(row)), column.end(row)
            # The latest reading is of its series' newest period, so that need not be looked up.
            if moment.view.judged(series, end, moment.as_of, moment.today) == "fresh":
                spec = series.spec
                yield PeerReading(
                    entity.id, value, column.unit(row), spec.frequency.value, column.known(row), spec.curve_type, end
                )


def prepare(cache: ProcessCache, moment: Moment) -> None:
    """Make what is the same for the briefs of all countries at a moment."""
    peers = PeerReadings.at(cache, moment)
    for section in SECTIONS:
        for measure in section.measures:
            if measure.slug in moment.view.directory.indicators:
                peers.fresh(cache, moment, measure)


class Gatherer:
    """Finds the readings of one country for one request."""

    def __init__(self, cache: ProcessCache, ctx: Context, entity: Entity) -> None:
        self._cache, self._ctx, self._entity = cache, ctx, entity
        self._exit = redaction_of(ctx)
        self._as_of: int | None = ctx.params["as_of"]
        self._moment = Moment(ctx.view, ctx.version, self._as_of, day_of(ctx.as_of))
        self._peers = PeerReadings.at(cache, self._moment)
        self._numbers = self._peers.numbers(cache)

    def gather(self, section: SectionSpec, *, own_bank: bool) -> Gathered:
        """Return the readings of a section, in the order of its measures."""
        found: list[MeasuredReading] = []
        settled: set[str] = set()
        beyond = False
        for measure in section.measures:
            group = measure.instead_of or measure.slug
            if group in settled or (measure.own_bank and not own_bank):
                continue
            if measure.slug not in self._ctx.view.directory.indicators:
                continue
            column = aligned(self._cache, self._ctx, measure.slug, self._numbers)
            row = self._peers.row[self._entity.id]
            if column.places[row] < 0:
                # A reading that there is lies before the plan's window.
                beyond = beyond or bool(column.column.rows(self._numbers)[row] >= 0)
                continue
            one = self._measured(measure, column, row)
            found.append(one)
            if one.reading is not None and one.reading.freshness == "fresh":
                settled.add(group)
        return Gathered(found, beyond)

    def _measured(self, measure: MeasureSpec, column: AlignedColumn, row: int) -> MeasuredReading:
        ctx, place = self._ctx, column.places[row]
        series = ctx.view.directory.series(column.series(row))
        period, known = int(column.column.periods[place]), column.known(row)
        past = newest_numbers(ctx.view, series, period, version=ctx.version, as_of=self._as_of)
        lineage = past[0].lineage if past and past[0].period == period else 0
        rights = ctx.view.directory.row_rights(series, lineage)
        fresh = self._exit.freshness(series)
        if rights.withheld or column.column.withheld[place]:
            return MeasuredReading(None, _record(ctx, measure, series, period, fresh, rights), (known,))
        before = next((one for one in past if is_before(one.period, period, series.spec.frequency)), None)
        # The newest one of another time, where that is all there is: its day is told, and nothing compared with it.
        older = next((one for one in past if one.period < period), None) if before is None else None
        since = None if older is None or not self._reached(end_of(older.period)) else older.period
        if before is not None and (before.withheld or not self._reached(end_of(before.period))):
            before = None
        value = float(column.values[row])
        spec, begins = series.spec, decade.begins(period)
        start = begins if ctx.window_start is None else max(begins, ctx.window_start)
        # As known when the reading was, and as much of them as the plan reaches.
        ten_years = numbers_before(ctx.view, series, start, period, version=ctx.version, as_of=known)
        percentile = None
        if ten_years is not None and self._reached(begins):
            percentile = decade.standing(value, spec.unit, period, spec.frequency, decade.Decade(*ten_years)).percentile
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
            usual=None
            if ten_years is None or measure.kind not in MOVING
            else typical_change(measure, ten_years.values),
            since=since,
        )
        peers = self._among(measure, series, fresh)
        reading = reading._replace(ranking=briefs.ranking(value, sorted(one.value for one in peers)))
        record = _record(ctx, measure, series, period, fresh, rights, reading)
        used = [known, *(one.known for one in peers)] + ([] if before is None else [before.known])
        kinds = sorted({one.curve for one in peers if one.curve is not None})
        own = series.spec.curve_type
        return MeasuredReading(reading, record, tuple(used), () if own is None or not kinds else (own, *kinds))

    def _reached(self, day: date) -> bool:
        return self._ctx.window_start is None or day >= self._ctx.window_start

    def _among(self, measure: MeasureSpec, series: SeriesInfo, fresh: str) -> list[PeerReading]:
        """Countries that a fresh reading of this country is ranked among, itself one of them; none where it is not ranked."""
        if not measure.ranked or fresh != "fresh" or self._entity.kind != "country":
            return []
        spec = series.spec
        return [
            one
            for one in self._peers.fresh(self._cache, self._moment, measure)
            if one.unit == spec.unit
            and (measure.instant or one.frequency == spec.frequency.value)
            and self._reached(one.end)
        ]


def shares(entity: Entity) -> bool:
    """Whether a country uses the euro, so that another's central bank sets its policy rate."""
    return entity.kind == "country" and entity.currency == "EUR"


def _record(
    ctx: Context, measure: MeasureSpec, series: SeriesInfo, period: int, fresh: str, rights: SeriesRights,
    reading: MeasureReading | None = None,
) -> BriefReading:  # fmt: skip
    """Make the record of a reading. Its numbers are null where `reading` is None: they are withheld."""
    indicator = ctx.view.directory.indicators[measure.slug]
    value = previous = change = percentile = None
    ranking: Ranking | None = None
    if reading is not None:
        value, previous, percentile, ranking = reading.value, reading.previous, reading.percentile, reading.ranking
        computed = indicator.kind == "derived"
        change = None if previous is None else difference(value, previous, computed=computed)
    return BriefReading(
        indicator_id=f"indicator_{measure.slug}",
        name=indicator.name,
        value=wire_number(value),
        unit=series.spec.unit,
        currency=series.currency,
        period_end=wire_day(end_of(period)),
        previous=wire_number(previous),
        change=wire_number(change),
        percentile10y=wire_number(percentile),
        peer_rank=None if ranking is None else ranking.rank,
        peer_count=None if ranking is None else ranking.of,
        freshness_status=fresh,  # type: ignore[arg-type]  # one of the three words
        series_id=series.id,
        rights=of_row(rights),
    )
