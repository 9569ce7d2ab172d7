"""Release summaries: what each publication said, newest first."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ListAnswer
from almanac.api.endpoints.calendar.records import ReleaseSummary
from almanac.api.endpoints.calendar.release_rows import summary
from almanac.api.rows.filters import COUNTRY, INDICATOR, entities, indicators, span
from almanac.store.events import releases as store


def listed(ctx: Context) -> ListAnswer:
    """Releases by when they were out."""
    params = ctx.params
    rows, following = _walk(
        ctx,
        types=_types(ctx),
        countries=entities(ctx, "country"),
        span=(params["start_date"], params["end_date"]),
        descending=params["order"] == "desc",
        after=ctx.after,
        limit=params["limit"],
    )
    return ListAnswer([msgspec.json.encode(row) for row in rows], following)


def _types(ctx: Context) -> tuple[str, ...] | None:
    """Releases that bring the indicator asked for; None where none is."""
    named = indicators(ctx)
    if named is None:
        return None
    return tuple(sorted(one.type for one in ctx.view.directory.releases.values() if set(named) & set(one.indicators)))


def recent(ctx: Context, entity: str, limit: int = 5) -> list[ReleaseSummary]:
    """
    Return the newest releases of a country or region (an entity id), newest first, at most `limit`.

    As known at the request's `at`, within the window of its plan; withheld numbers are null. Call it inside the
    reading transaction.
    """
    rows, _ = _walk(ctx, types=None, countries=(entity,), span=(None, None), descending=True, after=None, limit=limit)
    return rows


def _walk(
    ctx: Context,
    *,
    types: tuple[str, ...] | None,
    countries: tuple[str, ...] | None,
    span: tuple[int | None, int | None],
    descending: bool,
    after: list[object] | None,
    limit: int,
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
            last = [out.released, out.event]
        if following is None:
            return rows, None


ENDPOINTS = (
    Endpoint(
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
    ),
)
