"""GET /briefs/{country}: a country in words, six sections of text and readings, what comes and what came."""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec.structs import replace

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param, day_of
from almanac.api.endpoints.briefs.readings import gather, prepare, shares
from almanac.api.endpoints.briefs.records import Brief, BriefSection
from almanac.api.endpoints.calendar.events import records as event_records
from almanac.api.endpoints.calendar.records import EventSchema
from almanac.api.endpoints.calendar.releases import recent
from almanac.api.endpoints.screeners.screening import ProcessCache
from almanac.api.rows import names
from almanac.api.rows.filters import AS_OF
from almanac.domain.events import COMING
from almanac.domain.reference import Entity
from almanac.domain.times import DAY_SECONDS, wire_time
from almanac.reports import briefs
from almanac.reports.measures import SECTIONS
from almanac.store.events import events

_EVENTS = 10
_OFFICIAL = ("macro_release", "central_bank")


def _brief(cache: ProcessCache, ctx: Context) -> ItemAnswer:
    """Return the brief of one country."""
    entity = _entity(ctx)
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
        country=entity.iso3 or entity.rates_scope or entity.iso2 or entity.id,
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


def _entity(ctx: Context) -> Entity:
    """Return the country the path names. Raises ApiError 404."""
    name = ctx.path["country"]
    found = names.place(ctx, name)
    if found is None:
        raise ApiError(
            404,
            f"there is no country {quoted(name)}: give an ISO-2 or ISO-3 code, a name, an id or a slug; EUR for the euro area",
            {"parameter": "country"},
        )
    return found


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
        braces=(
            Param(
                "country",
                "Id, slug, ISO code or exact name of a country or region; EUR for the euro area.",
                example="USA",
            ),
        ),
        warm=lambda view, now: prepare(cache, view, day_of(now)),
        scope="analytics:read",
        params=(AS_OF,),
        kind="item",
        record=Brief,
        dated=True,
        cost="thread",
        cached=True,
        tag="Analytics",
    )
