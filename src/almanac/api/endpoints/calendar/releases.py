"""Release summaries: what each publication said, newest first."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, NamedTuple

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer
from almanac.api.contract.records import Record, RowRights, wire_number
from almanac.api.rows.filters import COUNTRY, INDICATOR, entities, indicators, span
from almanac.api.rows.redaction import of_row
from almanac.domain import fields
from almanac.domain.events import EventState
from almanac.domain.fields import Time, says
from almanac.domain.observations import AHEAD
from almanac.domain.periods import Frequency, Period, end_of, highest_key, lowest_key
from almanac.domain.releases import NEAR_DAYS, Release, period_before
from almanac.domain.times import DAY_SECONDS, wire_day, wire_time
from almanac.reports import decade
from almanac.reports import releases as report
from almanac.reports.measures import MEASURES, typical_change
from almanac.store.events import releases as store
from almanac.store.observations.ids import observation_id
from almanac.store.observations.reading.lookup import numbers_of_vintages
from almanac.store.observations.reading.metadata import SeriesInfo, SeriesRights


class ReleaseReading(Record):
    """One measure of a release, as known when it was out."""

    indicator_id: fields.IndicatorId
    unit: fields.Unit
    currency: fields.Currency
    actual: Annotated[float | None, says("What was released, in `unit`. Null: withheld, or none.")]
    previous: Annotated[float | None, says("The period before, in `unit`, as it stood before the release. Null: none.")]
    revised_previous: Annotated[float | None, says("What this release made of it, in `unit`. Null: nothing else.")]
    change: Annotated[float | None, says("`actual` less the period before as revised, in `unit`. Null: unknown.")]
    z_score_10y: Annotated[
        float | None,
        says(
            "How many standard deviations `actual` lies from the mean of the ten years before. Null: a number with a "
            "trend, or they are not all there or not reached."
        ),
    ] = msgspec.field(name="zScore10y")
    percentile_10y: Annotated[float | None, says("Its place among those ten years, 0 to 100. Null: as the score.")] = (
        msgspec.field(name="percentile10y")
    )
    observation_id: fields.ObservationId
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class ReleaseSummary(Record):
    """Figures of one publication, beside those known before."""

    id: Annotated[str, says("Id of the summary: that of its event, with `rls_` in front.")]
    release: Annotated[str, says("Which release it is, the `type` of its event.", "consumer_prices")]
    name: Annotated[str, says("Name of the release.")]
    country: Annotated[str | None, says("Id of the country or region. Null: none in particular.", "country_usa")]
    entity_id: fields.EntityId
    period: Annotated[str, says("The period it is about.", "2026-10")]
    period_end: fields.PeriodEnd
    released_at: Annotated[Time, says("When it was out: the `occurredAt` of its event.")]
    observed_at: fields.ObservedAt
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    headline: Annotated[str, says("What it said, in one sentence made by rule.")]
    readings: Annotated[list[ReleaseReading], says("What it said, measure by measure.")]


#: A measure of a release that is known later than so many seconds after the release itself is none of it.
_TOGETHER = DAY_SECONDS


class _CellReading(NamedTuple):
    series: SeriesInfo
    rights: SeriesRights
    figures: report.ReleaseFigures
    observation: str
    before: int | None


def series_of(ctx: Context, data: str, entity: str, slug: str, frequency: Frequency) -> SeriesInfo | None:
    """Return the main series of a source for an indicator of an entity; None where it has none."""
    return ctx.view.directory.series_by_id(f"{data}:{entity}:{slug}:{frequency.value}")


def span_of(ctx: Context, period: int, frequency: Frequency, since: date | None = None) -> tuple[int, int]:
    """Return between which keys a period and the one before it are, or those from `since` on, as far as the plan reaches."""
    if frequency is Frequency.DAILY:
        first = end_of(period) - timedelta(days=NEAR_DAYS)
    else:
        first = end_of(period_before(period, frequency))
    lowest = lowest_key(first if since is None else min(first, since))
    if ctx.window_start is not None:
        lowest = max(lowest, min(period, lowest_key(ctx.window_start)))
    return lowest, highest_key(end_of(period))


def read(ctx: Context, series: SeriesInfo, period: int, *, since: int, by: int) -> _CellReading | None:
    """
    Return the reading of one cell, None where there was none by the moment `by` (unix seconds).

    `since`: when the release it belongs to was out: the numbers are those known then, or within a day of it. What the plan
    does not reach takes no part: of a period before it the numbers are None, and nothing is placed among ten years of which
    it lacks some.
    """
    spec = series.spec
    start = ctx.window_start
    reached = start is None or end_of(period) >= start
    latest = min(by, since + _TOGETHER - 1)
    decade_before = None if spec.frequency is Frequency.DAILY else decade.begins(period)
    span = span_of(ctx, period, spec.frequency, decade_before)
    (found,) = store.known(ctx.view, [(series.topic, series.number, *span)], ctx.version, latest)
    mine = [row for row in found if row[0] == period and not row[3] & AHEAD]
    first = stated(mine)
    if first is None:
        return None
    at = max(since, first)
    shown = [row for row in mine if row[1] <= at][-1]
    rights = ctx.view.directory.row_rights(series, shown[4])
    before = before_of(ctx, found, period, spec.frequency)
    figures = report.ReleaseFigures()
    if reached and not rights.withheld:
        measure, actual = MEASURES.get(spec.indicator), shown[2]
        # As known with the number shown: a brief that shows it places it among the same.
        past = numbers_of_vintages(ctx.view, series, found, decade.begins(period), period, as_of=shown[1])
        stands = decade.DecadePlace()
        if past is not None and actual is not None and (start is None or decade.begins(period) >= start):
            stands = decade.standing(actual, spec.unit, period, spec.frequency, decade.Decade(*past))
        figures = report.figures(
            # A projection is no number of its period.
            [(row[0], row[1], None if row[3] & AHEAD else row[2]) for row in found],
            period,
            before,
            first,
            at,
            vintages=series.source.stores_vintages,
            standing=stands,
            usual=None if measure is None or past is None else typical_change(measure, past.values),
            computed=series.kind == "derived",
        )
    return _CellReading(series, rights, figures, observation_id(series.id, period, shown[1]), before)


def stated(mine: list[store.KnownVintage]) -> int | None:
    """Return the knowledge time of the first of a cell's vintages (in that order) that has a number; None if none has."""
    return next((row[1] for row in mine if row[2] is not None), None)


def before_of(ctx: Context, found: list[store.KnownVintage], period: int, frequency: Frequency) -> int | None:
    """Return the key of the period before, None where this request may not see it."""
    if frequency is Frequency.DAILY:
        before = max((row[0] for row in found if row[0] < period), default=None)
    else:
        before = period_before(period, frequency)
    if before is None or (ctx.window_start is not None and end_of(before) < ctx.window_start):
        return None
    return before


def summary(ctx: Context, out: EventState) -> ReleaseSummary | None:
    """Return the summary of a release; None where the plan does not reach its numbers, or there are none yet."""
    directory = ctx.view.directory
    release: Release | None = directory.releases.get(out.type)
    entity = directory.entities.get(out.country or "")
    source = directory.sources.get(out.source)
    if release is None or entity is None or source is None or out.period is None:
        return None
    places = readable(ctx, release, entity.id, out.data)
    for head, frequency, period in cells_of(ctx, places, entity.id, release.headline, out.period):
        if ctx.window_start is not None and end_of(period) < ctx.window_start:
            return None
        (of_cell,) = store.known(ctx.view, [(head.topic, head.number, period, period)], ctx.version, ctx.at)
        since = stated([row for row in of_cell if not row[3] & AHEAD])
        if since is None:
            continue
        shown = [
            (slug, one)
            for slug in release.indicators
            if (series := series_of(ctx, head.source.id, entity.id, slug, frequency)) is not None
            and (one := read(ctx, series, period, since=since, by=ctx.at)) is not None
        ]
        headline = next((one for slug, one in shown if slug == release.headline), None)
        if headline is None:
            continue
        indicator = directory.indicators.get(release.headline)
        return ReleaseSummary(
            id="rls_" + out.event.removeprefix("evt_"),
            release=release.type,
            name=release.name,
            country=entity.id,
            entity_id=entity.id,
            period=out.period,
            period_end=wire_day(end_of(period)),
            released_at=wire_time(out.occurred_at),
            observed_at=wire_time(since),
            source_id=source.id,
            provider_id=source.provider,
            headline=report.headline(
                report.HeadlineParts(
                    place=entity.name,
                    slug=release.headline,
                    name=release.headline if indicator is None else indicator.name,
                    unit=head.spec.unit,
                    frequency=frequency,
                    period=period,
                    before=headline.before,
                    withheld=headline.rights.withheld,
                    figures=headline.figures,
                )
            ),
            readings=[_reading(slug, one) for slug, one in shown],
        )
    return None


@functools.lru_cache(maxsize=16_384)
def key_of(text: str, frequency: Frequency) -> int | None:
    """Return the key of an event's period; None if that is of another frequency."""
    parsed = Period.parse(text)
    period = Period.ending(parsed.end, frequency)
    return period.key if frequency in {Frequency.WEEKLY, Frequency.DAILY} or period == parsed else None


def _reading(slug: str, one: _CellReading) -> ReleaseReading:
    figures = one.figures
    return ReleaseReading(
        indicator_id=f"indicator_{slug}",
        unit=one.series.unit,
        currency=one.series.currency,
        actual=wire_number(figures.actual),
        previous=wire_number(figures.previous),
        revised_previous=wire_number(figures.revised_previous),
        change=wire_number(figures.change),
        z_score_10y=wire_number(figures.z_score),
        percentile_10y=wire_number(figures.percentile),
        observation_id=one.observation,
        rights=of_row(one.rights),
    )


def readable(ctx: Context, release: Release, entity: str, data: Sequence[str]) -> list[tuple[str, Frequency]]:
    """Return the pairs of source and frequency that may have a release's numbers, withheld ones last."""
    places = [(source, frequency) for source in data for frequency in release.frequencies]

    def withheld(place: tuple[str, Frequency]) -> bool:
        series = series_of(ctx, place[0], entity, release.headline, place[1])
        return series is not None and series.rights.withheld

    return sorted(places, key=withheld)


def cells_of(
    ctx: Context, places: Sequence[tuple[str, Frequency]], entity: str, slug: str, period: str
) -> Iterator[tuple[SeriesInfo, Frequency, int]]:
    """Yield where the number of a period may be: a series, the frequency its release has, and the key of the period."""
    for source, frequency in places:
        series, key = series_of(ctx, source, entity, slug, frequency), key_of(period, frequency)
        if series is not None and key is not None:
            yield series, frequency, key


def listed(ctx: Context) -> ListAnswer:
    """List release summaries by when the releases were out."""
    params, named = ctx.params, indicators(ctx)
    releases = ctx.view.directory.releases.values()
    rows, following = _walk(
        ctx,
        types=None
        if named is None
        else tuple(sorted(release.type for release in releases if set(named) & set(release.indicators))),
        countries=entities(ctx, "country"),
        span=(params["start_date"], params["end_date"]),
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
    )
    return ListAnswer([msgspec.json.encode(row) for row in rows], following)


def recent(ctx: Context, entity: str, limit: int = 5) -> list[ReleaseSummary]:
    """
    Return the newest releases of a country or region (an entity id), newest first, at most `limit`.

    As known at the request's `at`, within the window of its plan; withheld numbers are null. Call it inside the
    reading transaction.
    """
    return _walk(ctx, countries=(entity,), limit=limit)[0]


def _walk(
    ctx: Context,
    *,
    countries: tuple[str, ...] | None,
    limit: int,
    types: tuple[str, ...] | None = None,
    span: tuple[int | None, int | None] = (None, None),
    descending: bool = True,
    after: list[object] | None = None,
) -> tuple[list[ReleaseSummary], list[object] | None]:
    """Read as many summaries as asked for, where there are so many: releases that have none are passed over."""
    starts = [moment for moment in (span[0], ctx.window_seconds) if moment is not None]
    rows: list[ReleaseSummary] = []
    last: list[object] | None = None
    following = after
    while True:
        found, following = store.page(
            ctx.view,
            types=types,
            countries=countries,
            span=(max(starts, default=None), span[1]),
            version=ctx.version,
            known_by=ctx.at,
            descending=descending,
            after=following,
            limit=limit + 1,
        )
        for out in found:
            row = summary(ctx, out)
            if row is None:
                continue
            if len(rows) == limit:
                return rows, last
            rows.append(row)
            last = [out.occurred_at, out.event]
        if following is None:
            return rows, None


ENDPOINT = Endpoint(
    path="/release-summaries",
    operation_id="listReleaseSummaries",
    summary="Release summaries",
    description="What each publication said of one period: its readings beside the ones before and the ten years behind "
    "them, as known when it was out, and one sentence. Newest first. Numbers that may not be redistributed are null.",
    handler=listed,
    scope="analytics:read",
    params=(
        COUNTRY,
        replace(
            INDICATOR,
            description="Id, slug or alias of an indicator that the release brings.",
            example="cpi_inflation_yoy",
        ),
        *span("Releases that were out"),
    ),
    kind="list",
    record=ReleaseSummary,
    dated=True,
    default_order="desc",
    cached=True,
    cost="heavy",
    tag="Analytics",
)
