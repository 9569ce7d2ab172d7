"""Observations: the lists, their vintages, and the latest readings."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import Any

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer
from almanac.api.contract.errors import refuse
from almanac.api.contract.params import Param, day_of
from almanac.api.endpoints.macro.records import DerivedObservation, Observation
from almanac.api.rows.filters import (
    AS_OF,
    COUNTRY,
    ENTITY,
    ENTITY_ID,
    FREQUENCY,
    INDICATOR,
    INDICATORS,
    OBSERVATION_FILTERS,
    PROVIDER_ID,
    SORT,
    SOURCE_ID,
    selection,
)
from almanac.api.rows.redaction import Redaction
from almanac.store.observations.newest.candidates import WantedFreshness
from almanac.store.observations.newest.latest import latest
from almanac.store.observations.reading.changes import Changes
from almanac.store.observations.reading.selection import INDEXED, Selection
from almanac.store.observations.reading.wanted_keys import TooFewError


def _list(ctx: Context, kind: str) -> ListAnswer:
    params, lineage = ctx.params, kind == "derived"
    asked = selection(ctx, kind)
    if _is_by_topic(ctx, asked):
        return _by_topic(ctx, asked, lineage=lineage)
    rows, following = ctx.view.page(
        asked,
        version=ctx.version,
        as_of=params["as_of"],
        every=params["sources"] == "all",
        sort=params["sort"],
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
    )
    return ListAnswer(Redaction.of(ctx).page(rows, lineage=lineage), following)


def _is_by_topic(ctx: Context, asked: Selection) -> bool:
    return ctx.params["sort"] == "topic" and ctx.params["sources"] == "preferred" and asked.observed_from is None


def _place(ctx: Context) -> dict[str, Any]:
    """Which page of a list by topic."""
    params = ctx.params
    return {
        "version": ctx.version,
        "as_of": params["as_of"],
        "descending": params["order"] == "desc",
        "after": ctx.after,
        "limit": params["limit"],
    }


def _asked_ahead(ctx: Context, kind: str) -> bool:
    asked = selection(ctx, kind)
    return _is_by_topic(ctx, asked) and asked.observed_to is None and ctx.view.runs.ask_ahead(asked, **_place(ctx))


def _by_topic(ctx: Context, asked: Selection, *, lineage: bool) -> ListAnswer:
    """The question asked most: joined by the database where that can be, else found row by row."""
    params, view = ctx.params, ctx.view
    place = _place(ctx)
    page = view.runs.page(asked, **place)
    if page is not None:
        runs, following = page
        data, validator = Redaction.of(ctx).runs(runs, lineage=lineage)
    else:
        found = None
        if view.told_whole(asked, params["as_of"]):
            with contextlib.suppress(TooFewError):
                found, following = view.pages.found(asked, **place)
        if found is None:
            rows, following = view.page(asked, every=False, sort="topic", **place)
            return ListAnswer(Redaction.of(ctx).page(rows, lineage=lineage), following)
        data, validator = Redaction.of(ctx).found(found, lineage=lineage)
    return ListAnswer(data, following, validator=validator)


def observations(ctx: Context) -> ListAnswer:
    """Raw observations."""
    return _list(ctx, "raw")


def derived_observations(ctx: Context) -> ListAnswer:
    """Observations of derived indicators, with their lineage."""
    return _list(ctx, "derived")


def vintages(ctx: Context) -> ListAnswer:
    """Every state of every cell, withdrawals too."""
    params = ctx.params
    rows, following = ctx.view.cell_vintages(
        selection(ctx, None),
        version=ctx.version,
        as_of=ctx.as_of,
        every=params["sources"] == "all",
        sort=params["sort"],
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
    )
    return ListAnswer(Redaction.of(ctx).page(rows, lineage=True), following)


def changes(ctx: Context) -> ListAnswer:
    """Cells that are served otherwise than at an earlier data version."""
    params, newest = ctx.params, ctx.version
    since = params["since"]
    if since > newest:
        allowed = {"minimum": 0, "maximum": newest}
        raise refuse(
            "since", f"must be a data version up to the present one, {newest}, not {since}", allowed, code="range"
        )
    found = Changes(ctx.view, selection(ctx, None), since, newest, params["as_of"])
    rows, following = found.page(
        every=params["sources"] == "all",
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
    )
    return ListAnswer(Redaction.of(ctx).page(rows, lineage=True), following)


def latest_readings(ctx: Context) -> ListAnswer:
    """The latest reading per indicator and entity."""
    params, redaction = ctx.params, Redaction.of(ctx)
    wanted = params["freshness"]
    rows, following = latest(
        ctx.view,
        selection(ctx, params["kind"]),
        version=ctx.version,
        as_of=params["as_of"],
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
        accept=lambda series: wanted is None or redaction.freshness(series) == wanted,
        freshness=None if wanted is None else WantedFreshness(wanted, day_of(ctx.as_of)),
    )
    return ListAnswer(redaction.page(rows, lineage=True), following)


#: Parameters that test rows one by one, however few pass: no index leads from them to a page.
_TESTED = ("start_date", "end_date")
#: The same, where the rows come in the order of a column and not by topic.
_TESTED_BY_COLUMN = (*_TESTED, "frequency", "source_id", "provider_id", "period", "period_start", "period_end")


def _long(values: dict[str, Any]) -> bool:
    """Whether a request may make the store sort, or read far more rows than it gives: others may go on meanwhile."""
    sort = values.get("sort", "topic")
    tested = _TESTED if sort == "topic" else _TESTED_BY_COLUMN
    return sort not in INDEXED or any(values[name] is not None for name in tested)


def _unbounded(values: dict[str, Any]) -> bool:
    """Whether readings are asked for of all indicators and entities there are."""
    named = ("indicator", "indicator_id", "country", "entity", "entity_id")
    return all(values[name] is None for name in named)


def _searching(values: dict[str, Any]) -> bool:
    """Whether far more readings may be looked at than are given."""
    tested = ("freshness", "source_id", "provider_id", "as_of")
    return _unbounded(values) and any(values[name] is not None for name in tested)


def _passing_over(values: dict[str, Any]) -> bool:
    """Whether many topics may be looked at that have no row to give."""
    tested = ("period", "period_start", "period_end", "frequency", "source_id", "provider_id", "as_of")
    return _unbounded(values) and any(values[name] is not None for name in tested)


SINCE = Param(
    "since", "Data version of an earlier answer, from its x-data-version; 0 lists all that is served.", "integer",
    required=True, minimum=0, example="0",
)  # fmt: skip

ENDPOINTS = (
    Endpoint(
        path="/observations",
        operation_id="listObservations",
        summary="Raw observations",
        description="Values as their publishers stated them, one row per entity, indicator, frequency and period. "
        "A derived indicator named here gives an empty list.",
        handler=observations,
        ask_ahead=partial(_asked_ahead, kind="raw"),
        scope="macro:read",
        params=(SORT, *OBSERVATION_FILTERS),
        kind="list",
        cached=True,
        heavy=_long,
        threaded=_passing_over,
        record=Observation,
        dated=True,
        tag="Observations",
    ),
    Endpoint(
        path="/observations/latest",
        operation_id="listLatestObservations",
        summary="Latest reading per indicator and entity",
        description="The newest period that is no forecast, then the higher frequency, then the preferred source; raw and derived.",
        handler=latest_readings,
        scope="macro:read",
        params=(
            COUNTRY,
            ENTITY,
            ENTITY_ID,
            INDICATORS,
            INDICATOR,
            SOURCE_ID,
            PROVIDER_ID,
            FREQUENCY,
            Param("kind", "Only raw or only derived indicators.", "enum", choices=("raw", "derived")),
            Param("freshness", "Only readings of this freshness.", "enum", choices=("fresh", "stale", "unknown")),
            AS_OF,
        ),
        kind="list",
        cached=True,
        heavy=_searching,
        threaded=_unbounded,
        record=DerivedObservation,
        dated=True,
        tag="Observations",
    ),
    Endpoint(
        path="/observations/vintages",
        operation_id="listVintages",
        summary="Every vintage of every cell",
        description="One row per published state, oldest first within a cell; a withdrawal has no value and metadata.withdrawn true.",
        handler=vintages,
        scope="macro:read",
        params=(replace(SORT, choices=("topic", "observed_at")), *OBSERVATION_FILTERS),
        kind="list",
        cached=True,
        heavy=_long,
        threaded=_passing_over,
        record=DerivedObservation,
        dated=True,
        tag="Observations",
    ),
    Endpoint(
        path="/observations/changes",
        operation_id="listChanges",
        summary="Cells that changed since a data version",
        description="What is served now of every cell that was served otherwise at an earlier data version. A cell that is "
        "served no more has no value and metadata.withdrawn true. A change of rights, of unit or of the order of sources "
        "lists all cells it concerns.",
        handler=changes,
        scope="macro:read",
        params=(SINCE, *OBSERVATION_FILTERS),
        kind="list",
        cached=True,
        # How far back it reaches is not told by the parameters.
        heavy=lambda _: True,
        record=DerivedObservation,
        dated=True,
        tag="Observations",
    ),
)

DERIVED = (
    Endpoint(
        path="/derived-observations",
        operation_id="listDerivedObservations",
        summary="Observations of derived indicators",
        description="Values computed by a formula, each with the ids of the input series it was computed from. Filterable like /observations.",
        handler=derived_observations,
        ask_ahead=partial(_asked_ahead, kind="derived"),
        scope="analytics:read",
        params=(SORT, *OBSERVATION_FILTERS),
        kind="list",
        cached=True,
        heavy=_long,
        threaded=_passing_over,
        record=DerivedObservation,
        dated=True,
        tag="Analytics",
    ),
)
