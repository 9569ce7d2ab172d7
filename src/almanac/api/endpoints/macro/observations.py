"""Observations: the lists, their vintages, and the latest readings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, cast

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer, Where
from almanac.api.contract.errors import ApiError, refuse
from almanac.api.contract.params import Param, day_of
from almanac.api.rows import filters
from almanac.api.rows.observation_columns import observation_columns
from almanac.api.rows.redaction import DerivedObservation, Observation, Redaction, redaction_of
from almanac.domain.companies import FiscalPeriod
from almanac.domain.times import wire_time
from almanac.store.observations.reading.changes import read_changes
from almanac.store.observations.reading.newest import WantedFreshness, read_latest
from almanac.store.observations.reading.pages import TooBroadError, find_rows
from almanac.store.observations.reading.query import NOTE, SERIES, Found, ObservationQuery

_BASE = re.compile(r'"(?:basis|priceBasis)":"((?:[^"\\]|\\.)*)"')


def _warn_of_knowledge_bounds(ctx: Context) -> None:
    """Warn that `start_date` and `end_date` bound knowledge times, where neither `as_of` nor a bound on periods is given."""
    params = ctx.params
    if any(params[name] is not None for name in ("as_of", "period", "period_start", "period_end")):
        return
    for name, bound in (("start_date", "period_start"), ("end_date", "period_end")):
        if params[name] is not None:
            reason = "bounds when values became known (observedAt), not the periods they are about"
            ctx.warn(name, wire_time(params[name]), reason, bound)
            return


def listed(ctx: Context, kind: str | None, *, lineage: bool, history: bool = False) -> ListAnswer:
    """Return a page of observations: raw, derived or (None) of both kinds; with `history` every vintage, withdrawals too."""
    params = ctx.params
    query = _query(ctx, kind, history=history)
    if params["start_date"] is not None or params["end_date"] is not None:
        _warn_of_knowledge_bounds(ctx)
    ctx.list_plan = query.strategy
    try:
        rows, following = find_rows(ctx.view, query, whole=ctx.whole)
    except TooBroadError as error:
        raise _too_broad(params, error) from None
    # The warnings of a whole list are sent before it.
    if not history and params["sources"] == "preferred" and not (ctx.whole and ctx.after):
        _warn_of_bases(ctx, rows)
    return _shown(ctx, redaction_of(ctx), rows, following, lineage=lineage)


def _shown(
    ctx: Context, redaction: Redaction, rows: Sequence[Found], following: list[Any] | None, *, lineage: bool = True
) -> ListAnswer:
    """Return rows as they may be seen, in what the form that is asked for is written from."""
    if not ctx.columns:
        return redaction.answer(rows, following, lineage=lineage)
    record = cast("type[msgspec.Struct]", ctx.endpoint.record)
    return ListAnswer(observation_columns(redaction, record, rows), following)


def _query(ctx: Context, kind: str | None, *, history: bool = False) -> ObservationQuery:
    """Return the query of a request for observations of a kind (None: of both)."""
    params = ctx.params
    return ObservationQuery(
        filters.selection(ctx, kind),
        ctx.version,
        ctx.as_of if history else params["as_of"],
        params["limit"],
        ctx.after,
        sort=params.get("sort", "topic"),
        descending=params["order"] == "desc",
        every=params.get("sources") == "all",
        history=history,
    )


def _warn_of_bases(ctx: Context, rows: Sequence[Found]) -> None:
    """Warn of each preferred series that has values of two bases, or in the prices of two years, on this page."""
    notes = set(map(itemgetter(NOTE), rows))
    if len(notes) < 2:
        return
    stated_in = {note: found[1] for note in notes if note is not None and (found := _BASE.search(note)) is not None}
    bases: dict[tuple[str, str], set[str]] = {}
    for row in rows if len(stated_in) > 1 else ():
        if row[NOTE] in stated_in:
            spec = ctx.view.directory.series(row[SERIES]).spec
            bases.setdefault((spec.indicator, spec.entity), set()).add(stated_in[row[NOTE]])
    for (indicator, entity), stated in sorted(bases.items()):
        if len(stated) > 1:
            several = " and ".join(sorted(stated))
            ctx.warn("sources", "preferred", f"joins values of {indicator} for {entity} on different bases: {several}")


def changes(ctx: Context) -> ListAnswer:
    """List cells that are served otherwise than at an earlier data version."""
    params, newest = ctx.params, ctx.version
    since = params["since"]
    if since > newest:
        allowed = {"minimum": 0, "maximum": newest}
        raise refuse(
            "since", f"must be a data version up to the present one, {newest}, not {since}", allowed, code="range"
        )
    try:
        rows, following = read_changes(ctx.view, _query(ctx, None), since)
    except TooBroadError as error:
        raise _too_broad(params, error) from None
    if ctx.params["start_date"] is not None or ctx.params["end_date"] is not None:
        _warn_of_knowledge_bounds(ctx)
    return _shown(ctx, redaction_of(ctx), [row.found for row in rows], following)


def latest_readings(ctx: Context) -> ListAnswer:
    """Return the latest reading per indicator and entity."""
    redaction, wanted = redaction_of(ctx), ctx.params["freshness"]
    rows, following = read_latest(
        ctx.view,
        _query(ctx, ctx.params["kind"]),
        accept=lambda series: wanted is None or redaction.freshness(series) == wanted,
        freshness=None if wanted is None else WantedFreshness(wanted, day_of(ctx.as_of)),
    )
    return _shown(ctx, redaction, [row.found for row in rows], following)


#: Bounds on knowledge: no index leads from them to rows.
_KNOWN = ("start_date", "end_date")
#: What a row is tested for after it is read.
_TESTS = ("period", "period_start", "period_end", "frequency", "source_id", "provider_id", "license", "as_of")
#: What names indicators or entities.
_OF_TOPICS = ("indicator", "indicator_id", "country", "entity", "entity_id")
#: What narrows a list whose rows are gone through, in the order in which it is worth naming.
_NARROWING = ("indicator_id", "country", "entity_id", "source_id", "provider_id", "frequency", "period", "license")


def _too_broad(params: Mapping[str, Any], error: TooBroadError) -> ApiError:
    """Return the 400 of a list that would go through too much, which says how to narrow it."""
    culprit = next(name for name in ("sort", *_KNOWN) if params.get(name) not in {None, "topic"})
    narrow_by = [name for name in _NARROWING if params.get(name) is None]
    message = f"'{culprit}' means {error.rows:,} vintages, more than the {error.allowed:,} that are gone through: narrow it by {', '.join(narrow_by)}"
    details = {
        "parameter": culprit, "reason": "too_broad", "rows": error.rows, "allowed": error.allowed, "narrowBy": narrow_by,
    }  # fmt: skip
    return ApiError(400, message, details)


def _where(params: Mapping[str, Any], *, history: bool = False) -> Where:
    """
    Return where a page of a list is answered.

    A list that is sorted, or bounded by knowledge times, is gone through whole, and what a fiscal period means is looked up;
    but the rows of one indicator for one entity are few. A filter on rows may pass over many topics that have none to give.
    """
    through = params["sort"] != "topic" or params["start_date"] is not None or params["end_date"] is not None
    if isinstance(params["period"], FiscalPeriod) or (through and not _is_of_one(params)):
        return "heavy"
    if any(map(params.get, _OF_TOPICS)) or not (history or any(params[name] is not None for name in _TESTS)):
        return "loop"
    return "thread"


def _is_of_one(params: Mapping[str, Any]) -> bool:
    """Return whether at most one indicator and one entity are named."""
    indicators = len(params["indicator_id"] or ()) + (params["indicator"] is not None)
    return indicators == 1 and any(len(params[name] or ()) == 1 for name in ("country", "entity", "entity_id"))


def _where_newest(params: Mapping[str, Any]) -> Where:
    """Return where a page of newest readings is answered: each indicator and entity has one, which a test may pass over."""
    tested = any(params[name] is not None for name in ("source_id", "provider_id", "license", "as_of", "freshness"))
    if any(map(params.get, _OF_TOPICS)):
        return "thread" if tested and not _is_of_one(params) else "loop"
    return "heavy" if tested else "thread"


SINCE = Param(
    "since", "Data version of an earlier answer, from its x-data-version; 0 lists all that is served.", "integer",
    required=True, minimum=0, example="0",
)  # fmt: skip

_LIST = partial(Endpoint, kind="list", cached=True, dated=True, record=DerivedObservation, batch=10_000)
_OBSERVATIONS = partial(_LIST, scope="macro:read", tag="Observations")

ENDPOINTS = (
    _OBSERVATIONS(
        path="/observations",
        operation_id="listObservations",
        summary="Raw observations",
        description="Values as their publishers stated them, one row per entity, indicator, frequency and period. "
        "A derived indicator named here gives an empty list.",
        handler=partial(listed, kind="raw", lineage=False),
        params=(filters.SORT, *filters.OBSERVATION_FILTERS),
        cost=_where,
        record=Observation,
    ),
    _OBSERVATIONS(
        path="/observations/latest",
        operation_id="listLatestObservations",
        summary="Latest reading per indicator and entity",
        description="The newest period that is no forecast, then the higher frequency, then the preferred source; raw and derived. What may "
        "not be sent is a reading only where nothing else is.",
        handler=latest_readings,
        params=(
            filters.COUNTRY,
            filters.ENTITY,
            filters.ENTITY_ID,
            filters.INDICATORS,
            filters.INDICATOR,
            filters.SOURCE_ID,
            filters.PROVIDER_ID,
            filters.LICENSE,
            filters.FREQUENCY,
            Param("kind", "Only raw or only derived indicators.", "enum", choices=("raw", "derived")),
            Param("freshness", "Only readings of this freshness.", "enum", choices=("fresh", "stale", "unknown")),
            filters.AS_OF,
        ),
        cost=_where_newest,
    ),
    _OBSERVATIONS(
        path="/observations/vintages",
        operation_id="listVintages",
        summary="Every vintage of every cell",
        description="One row per published state, oldest first within a cell; a withdrawal has no value and metadata.withdrawn true.",
        handler=partial(listed, kind=None, lineage=True, history=True),
        params=(replace(filters.SORT, choices=("topic", "observed_at")), *filters.OBSERVATION_FILTERS),
        cost=lambda params: _where(params, history=True),
    ),
    _OBSERVATIONS(
        path="/observations/changes",
        operation_id="listChanges",
        summary="Cells that changed since a data version",
        description="What is served now of every cell that was served otherwise at an earlier data version. A cell that is "
        "served no more has no value and metadata.withdrawn true. A change of rights, of unit or of the order of sources "
        "lists all cells it concerns.",
        handler=changes,
        params=(SINCE, *filters.OBSERVATION_FILTERS),
        # How far back it reaches is not told by the question.
        cost="heavy",
    ),
)

DERIVED = _LIST(
    path="/derived-observations",
    operation_id="listDerivedObservations",
    summary="Observations of derived indicators",
    description="Values computed by a formula, each with the ids of the input series it was computed from. Filterable like /observations.",
    handler=partial(listed, kind="derived", lineage=True),
    scope="analytics:read",
    params=(filters.SORT, *filters.OBSERVATION_FILTERS),
    cost=_where,
    tag="Analytics",
)
