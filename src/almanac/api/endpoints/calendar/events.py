"""Official events: releases, filings, notices and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer, Where
from almanac.api.contract.params import Param
from almanac.api.contract.records import Record, RowRights, wire_number
from almanac.api.endpoints.calendar.releases import before_of, cells_of, readable, span_of, stated
from almanac.api.rows import filters
from almanac.api.rows.names import suggested
from almanac.api.rows.redaction import of_row, of_source
from almanac.domain import fields
from almanac.domain.events import CATEGORIES, COMING, SERVED_STATUSES, Category, EventState, Precision, ServedStatus
from almanac.domain.fields import Time, says
from almanac.domain.observations import AHEAD
from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.releases import Release
from almanac.domain.times import DAY_SECONDS, cached_wire_time
from almanac.domain.units import currency_of
from almanac.store.companies import rows as company_rows
from almanac.store.engine.deadline import check_deadline
from almanac.store.events import events
from almanac.store.events import releases as store
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.newest import numbers_of


class EventSchema(Record):
    """
    Something official that was or will be made public, as known from `observedAt`.

    Its numbers are null where there are none, where they may not be shown, and of a period that ends before the plan's
    window.
    """

    id: Annotated[str, says("Id of the event, which stays the same when it is moved.")]
    category: Annotated[Category, says("What kind of event it is.")]
    type: Annotated[str, says("Which release, form or action it is.", "consumer_prices", "10-K")]
    title: Annotated[str, says("What it is, in words.")]
    status: Annotated[
        ServedStatus,
        says(
            "Where it stands, as known at the moment asked. `unknown`: it was announced for a day that is past, and nothing "
            "says that it happened."
        ),
    ]
    occurred_at: Annotated[Time, says("When it happens; the first second of the day where `timePrecision` is day.")]
    time_precision: Annotated[Precision, says("Whether the time is known to the minute or to the day.")]
    time_zone: Annotated[str, says("IANA name of the zone the source states the time in.", "America/New_York")]
    entity_id: Annotated[fields.EntityId | None, says("The country, region or company it is about. Null: none.")]
    country: Annotated[str | None, says("Id of its country, a company's domicile. Null: unknown.", "country_usa")]
    indicator_id: Annotated[fields.IndicatorId | None, says("The indicator that is released. Null: it releases none.")]
    period: Annotated[str | None, says("The period it is about. Null: none.", "2026-10", "2026-Q3")]
    actual: Annotated[float | None, says("The first print, in `unit`, which stays for ever. Null: none, or not shown.")]
    revised_actual: Annotated[float | None, says("The first print as it is now. Null: it is the same, or not shown.")]
    previous: Annotated[
        float | None,
        says(
            "The period before, in `unit`, as it stood before the release, of one to come as it stands; of daily data the "
            "last day before, within ten. Null: none, or not shown."
        ),
    ]
    revised_previous: Annotated[float | None, says("The period before as it is now. Null: the same, or not shown.")]
    unit: Annotated[str | None, says("What the numbers count. Null: there are none.", "percent")]
    currency: fields.Currency
    form: Annotated[str | None, says("Form of a company's filing. Null: it is none.", "10-Q")]
    accession: Annotated[str | None, says("Accession number of that filing. Null: it is none.")]
    url: Annotated[fields.Uri | None, says("Where it is announced or filed. Null: not known.")]
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    observed_at: fields.ObservedAt
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class EventNumbers(NamedTuple):
    """Numbers of an event, and the rights of the row they are of. `actual` is the first print."""

    actual: float | None
    revised_actual: float | None
    previous: float | None
    revised_previous: float | None
    unit: str | None
    currency: str | None
    rights: RowRights
    #: Since when they are known.
    known: int


#: A series, the frequency that its release has, and the key of a period.
_Cell = tuple[SeriesInfo, Frequency, int]


def numbers(ctx: Context, events: Sequence[EventState]) -> dict[str, EventNumbers]:
    """
    Return the numbers of releases and changes of policy rates by event, as known at the request's `as_of`.

    An event that the data say nothing of yet is left out. The numbers of an event are those of the first of its cells that says
    something: the cells that come first are read together, then those behind them.
    """
    told: dict[str, EventNumbers] = {}
    waiting = [(event, _cells(ctx, event)) for event in events]
    while waiting:
        asked = [(event, behind, cell) for event, behind in waiting if (cell := next(behind, None)) is not None]
        spans = [
            (series.topic, series.number, *span_of(ctx, period, frequency))
            for _, _, (series, frequency, period) in asked
        ]
        rows = store.known(ctx.view, spans, ctx.version, ctx.as_of)
        waiting = []
        for (event, behind, cell), vintages in zip(asked, rows, strict=True):
            read = _ahead if event.status in COMING else _numbers_of
            figures = read(ctx, cell, vintages)
            if figures is None:
                waiting.append((event, behind))
            else:
                told[event.event] = figures
    return told


def _cells(ctx: Context, event: EventState) -> Iterator[_Cell]:
    """Return where the numbers of an event may be, in order."""
    if event.entity is None or event.indicator is None or event.period is None:
        return iter(())
    release: Release | None = ctx.view.directory.releases.get(event.type)
    places = [(event.source, Frequency.DAILY)]
    if release is not None:
        places = readable(ctx, release, event.entity, event.data or _sources(ctx, event.entity, event.indicator))
    return cells_of(ctx, places, event.entity, event.indicator, event.period)


def _sources(ctx: Context, entity: str, indicator: str) -> list[str]:
    """Return the sources that may have the numbers of a coming release, the preferred one first."""
    every = [ctx.view.directory.series(number) for number in numbers_of(ctx.view, indicator, entity)]
    ranked = sorted(every, key=lambda series: ctx.view.directory.preference_key(series.number, 0, ctx.version))
    return list(dict.fromkeys(series.source.id for series in ranked))


def _numbers_of(ctx: Context, cell: _Cell, vintages: list[store.KnownVintage]) -> EventNumbers | None:
    """Read the numbers of an event from the vintages of its cell and of the one before, which are in the order of period and knowledge time. Return None if the cell has no number."""
    series, frequency, period = cell
    of_period = [row for row in vintages if row[0] == period and not row[3] & AHEAD]
    first = stated(of_period)
    if first is None:
        return None
    shown = of_period[-1]
    rights = ctx.view.directory.row_rights(series, shown[4])
    before = before_of(ctx, vintages, period, frequency)
    earlier = [row for row in vintages if row[0] == before]
    known = max(shown[1], earlier[-1][1]) if earlier else shown[1]
    shown_numbers: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    if not rights.withheld and (ctx.window_start is None or end_of(period) >= ctx.window_start):
        said = next(row[2] for row in of_period if row[2] is not None)
        # What was forecast of the period takes the place of its number where that came to be known later.
        now = [row[2] for row in vintages if row[0] == period][-1]
        # The number of the period before as it stood just before the release, and as it stands now if that differs.
        previous = earlier[-1][2] if earlier else None
        was = next((row[2] for row in reversed(earlier) if row[1] < first), None)
        revised = None
        if was is not None and series.source.stores_vintages:
            previous, revised = was, previous if previous != was else None
        shown_numbers = (said, now if now != said else None, previous, revised)
    return EventNumbers(*shown_numbers, series.unit, series.currency, of_row(rights), known)


def _ahead(ctx: Context, cell: _Cell, vintages: list[store.KnownVintage]) -> EventNumbers | None:
    """Return the number of the period before a coming release; None if it is not known."""
    series, frequency, period = cell
    before = before_of(ctx, vintages, period, frequency)
    earlier = [row for row in vintages if row[0] == before and not row[3] & AHEAD]
    if not earlier or earlier[-1][2] is None:
        return None
    _, known, value, _, lineage = earlier[-1]
    rights = ctx.view.directory.row_rights(series, lineage)
    shown = None if rights.withheld else value
    return EventNumbers(None, None, shown, None, series.unit, series.currency, of_row(rights), known)


#: Events that are read at a time where a form is looked for.
_READ = 500


def listed(ctx: Context) -> ListAnswer:
    """List events by when they happen."""
    params = ctx.params
    starts = [moment for moment in (params["start_date"], ctx.window_seconds) if moment is not None]
    wanted = events.Wanted(
        category=params["category"],
        types=None if params["type"] is None else tuple(name.lower() for name in params["type"]),
        indicators=filters.indicators(ctx),
        entities=filters.entities(ctx, "entity", "entity_id"),
        countries=filters.entities(ctx, "country"),
        sources=filters.sources(ctx),
        occurred_from=max(starts, default=None),
        occurred_to=params["end_date"],
    )
    status = params["status"]
    if status == "unknown":
        wanted = wanted.until(_overdue(ctx) - 1)._replace(statuses=COMING)
    elif status is not None:
        wanted = (wanted.since(_overdue(ctx)) if status in COMING else wanted)._replace(statuses=(status,))
    page, following = _page(ctx, wanted)
    if not page and ctx.after is None and wanted.types is not None:
        _warn_of_types(ctx, wanted.types)
    return ListAnswer([msgspec.json.encode(record) for record in records(ctx, page)], following)


def _page(ctx: Context, wanted: events.Wanted) -> tuple[list[EventState], list[Any] | None]:
    """Read as many events as asked for, where there are so many. A form has no column: it is told by what is read."""
    params, limit, after = ctx.params, ctx.params["limit"], ctx.after
    forms = None if params["form"] is None else {name.upper() for name in params["form"]}
    rows: list[EventState] = []
    while True:
        page, following = events.page(
            ctx.view,
            wanted,
            version=ctx.version,
            known_by=ctx.as_of,
            descending=params["order"] == "desc",
            after=after,
            limit=limit if forms is None else _READ,
        )
        if forms is None:
            return page, following
        for event in page:
            if event.form is not None and event.form.upper() in forms:
                if len(rows) == limit:
                    return rows, [rows[-1].occurred_at, rows[-1].event]
                rows.append(event)
        if following is None:
            return rows, None
        check_deadline()
        after = following


def _overdue(ctx: Context) -> int:
    """Return the moment before which what was announced should have been heard of: the beginning of the day before that asked for."""
    return ctx.as_of - ctx.as_of % DAY_SECONDS - DAY_SECONDS


def _warn_of_types(ctx: Context, types: Sequence[str]) -> None:
    """Say which types are of no release that is known, where nothing was found."""
    known = ctx.view.directory.releases
    for name in types:
        near = suggested(ctx, "type of event", name, lambda: [(one.type, (one.name,)) for one in known.values()])
        ctx.warn("type", name, "is the type of no event found here", None if near == name else near)


def records(ctx: Context, states: Sequence[EventState]) -> list[EventSchema]:
    """Return events as this request may see them."""
    companies = company_rows.by_ids(ctx.view, {event.entity for event in states if event.entity and not event.country})
    domiciles = {entity: company.country for entity, company in companies.items()}
    rights = {source: of_source(ctx, source) for source in {event.source for event in states}}
    # Numbers of these are those of observations, not the event's own; of one to come, the number before.
    told_by_data = [
        event
        for event in states
        if event.status in {"released", "revised", *COMING}
        and event.category in {"macro_release", "central_bank"}
        and event.unit is None
    ]
    figures = numbers(ctx, told_by_data)
    return [_event(ctx, event, figures.get(event.event), domiciles, rights[event.source]) for event in states]


def _event(
    ctx: Context,
    event: EventState,
    figures: EventNumbers | None,
    domiciles: dict[str, str | None],
    rights: RowRights,
) -> EventSchema:
    directory = ctx.view.directory
    source, entity = directory.sources.get(event.source), directory.entities.get(event.entity or "")
    shown_of: EventNumbers | EventState = event if figures is None else figures
    if figures is not None and figures.rights.value_withheld:
        rights = figures.rights
    reached, before = _reached(ctx, event)
    shown = not rights.value_withheld and reached
    compared = shown and before
    return EventSchema.from_attributes(
        event,
        id=event.event,
        status="unknown" if event.status in COMING and event.occurred_at < _overdue(ctx) else event.status,
        occurred_at=cached_wire_time(event.occurred_at),
        time_precision=event.precision,
        entity_id=event.entity,
        country=event.country or domiciles.get(event.entity or ""),
        indicator_id=None if event.indicator is None else f"indicator_{event.indicator}",
        actual=wire_number(shown_of.actual) if shown else None,
        revised_actual=wire_number(shown_of.revised_actual) if shown else None,
        previous=wire_number(shown_of.previous) if compared else None,
        revised_previous=wire_number(shown_of.revised_previous) if compared else None,
        unit=shown_of.unit,
        currency=currency_of(event.unit, entity and entity.currency) if figures is None else figures.currency,
        source_id=event.source,
        provider_id=source.provider if source is not None else event.source,
        observed_at=cached_wire_time(event.known_at if figures is None else max(event.known_at, figures.known)),
        rights=rights,
    )


def _reached(ctx: Context, event: EventState) -> tuple[bool, bool]:
    """Return whether the plan reaches the period that an event is about, and whether it reaches the period before."""
    if ctx.window_start is None or event.period is None:
        return True, True
    period = Period.parse(event.period)
    return period.end >= ctx.window_start, (period.start or period.end) > ctx.window_start


#: Filters no index leads to pages by: the walk may read far more events than it gives.
_TESTED = ("status", "type", "form", "country", "source_id", "provider_id", "indicator", "indicator_id")


#: A page of more takes tens of milliseconds, five times one of observations, for which others would wait.
_MOST_IN_LOOP = 100


def _where(params: Mapping[str, Any]) -> Where:
    if any(params[name] is not None for name in _TESTED):
        return "heavy"
    return "loop" if params["limit"] <= _MOST_IN_LOOP else "thread"


ENDPOINT = Endpoint(
    path="/events",
    operation_id="listEvents",
    summary="Official events",
    description="Releases, decisions, filings, notices: each in the latest state known, by when it happens, newest first. "
    "A moved event keeps its id. Numbers of a source that may not be redistributed are null. "
    "An indicator that nothing is known by gives an empty list, and `meta.warnings` says so.",
    handler=listed,
    scope="events:read",
    params=(
        replace(
            filters.INDICATOR,
            description="Canonical field name, storage id, slug or alias of an indicator; the same filter as `indicator_id`.",
        ),
        filters.INDICATORS,
        Param("category", "Only events of this category.", "enum", choices=CATEGORIES),
        replace(
            filters.COUNTRY,
            description="ISO-2, ISO-3 or numeric code, id or slug of a country, of a company's event its domicile; several separated "
            "by commas.",
        ),
        replace(filters.ENTITY, example="apple-inc"),
        replace(filters.ENTITY_ID, example="company_0000320193"),
        filters.SOURCE_ID,
        filters.PROVIDER_ID,
        Param(
            "type",
            "Types of events: a release, a meeting, what a filing is; several separated by commas.",
            "list",
            maximum=filters.MOST_VALUES,
            example="consumer_prices",
        ),
        Param(
            "form",
            "Forms of filings, as filed (10-K is not 10-K/A); several separated by commas.",
            "list",
            maximum=filters.MOST_VALUES,
            example="10-K",
        ),
        Param("status", "Only events in this state.", "enum", choices=SERVED_STATUSES),
        *filters.span("Events that happen"),
        Param("sort", "Sort field; ties are by id.", "enum", "occurred_at", choices=("occurred_at",)),
        replace(
            filters.AS_OF,
            description="Point-in-time cutoff: the latest state of each event known by then. A bare date means its last second, UTC.",
        ),
    ),
    kind="list",
    record=EventSchema,
    dated=True,
    default_order="desc",
    cached=True,
    cost=_where,
    tag="Events",
)
