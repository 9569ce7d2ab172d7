"""Numbers of events at read time: those of a page are read together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from almanac.api.contract.endpoint import Context
from almanac.api.contract.records import RowRights
from almanac.api.endpoints.calendar.release_rows import before_of, key_of, readable, series_of, stated
from almanac.api.rows.rights import of_row
from almanac.domain.events import COMING, EventState
from almanac.domain.observations import AHEAD
from almanac.domain.periods import Frequency, end_of, highest_key, lowest_key
from almanac.domain.releases import NEAR_DAYS, Release, period_before
from almanac.store.events import releases as store
from almanac.store.observations.newest.latest import numbers_of
from almanac.store.observations.reading.series_info import SeriesInfo


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


class _Cell(NamedTuple):
    series: SeriesInfo
    frequency: Frequency
    period: int


def numbers(ctx: Context, events: Sequence[EventState]) -> dict[str, EventNumbers]:
    """
    Return the numbers of releases and changes of policy rates by event, as known at the request's `as_of`.

    An event that the data say nothing of yet is left out. The numbers of an event are those of the first of its cells that says
    something: the cells that come first are read together, then those behind them.
    """
    told: dict[str, EventNumbers] = {}
    waiting = [(event, iter(_cells(ctx, event))) for event in events]
    while waiting:
        asked = [(event, behind, cell) for event, behind in waiting if (cell := next(behind, None)) is not None]
        spans = [(cell.series.topic, cell.series.number, *_span(ctx, cell)) for _, _, cell in asked]
        rows = store.known_each(ctx.view, spans, ctx.version, ctx.as_of)
        waiting = []
        for (event, behind, cell), vintages in zip(asked, rows, strict=True):
            read = _ahead if event.status in COMING else _numbers_of
            figures = read(ctx, cell, vintages)
            if figures is None:
                waiting.append((event, behind))
            else:
                told[event.event] = figures
    return told


def _cells(ctx: Context, event: EventState) -> list[_Cell]:
    """Return where the numbers of an event may be, in order."""
    if event.entity is None or event.indicator is None or event.period is None:
        return []
    release: Release | None = ctx.view.directory.releases.get(event.type)
    places = [(event.source, Frequency.DAILY)]
    if release is not None:
        data = event.data or _sources(ctx, event.entity, event.indicator)
        places = readable(ctx, release, event.entity, data)
    cells = []
    for source, frequency in places:
        series = series_of(ctx, source, event.entity, event.indicator, frequency)
        period = key_of(event.period, frequency)
        if series is not None and period is not None:
            cells.append(_Cell(series, frequency, period))
    return cells


def _sources(ctx: Context, entity: str, indicator: str) -> list[str]:
    """Return the sources that may have the numbers of a coming release, the preferred one first."""
    every = [ctx.view.directory.series(number) for number in numbers_of(ctx.view, indicator, entity)]
    ranked = sorted(every, key=lambda one: ctx.view.directory.preference_key(one.number, 0, ctx.version))
    return list(dict.fromkeys(one.source.id for one in ranked))


def _span(ctx: Context, cell: _Cell) -> tuple[int, int]:
    """Between which period keys the cell and the one before it are, as far as the plan reaches."""
    if cell.frequency is Frequency.DAILY:
        first = end_of(cell.period) - timedelta(days=NEAR_DAYS)
    else:
        first = end_of(period_before(cell.period, cell.frequency))
    lowest = lowest_key(first)
    if ctx.window_start is not None:
        lowest = max(lowest, min(cell.period, lowest_key(ctx.window_start)))
    return lowest, highest_key(end_of(cell.period))


def _numbers_of(ctx: Context, cell: _Cell, found: list[store.KnownVintage]) -> EventNumbers | None:
    """Read the numbers of an event from the vintages of its cell and of the one before, which are in the order of period and knowledge time. Return None if the cell has no number."""
    series, frequency, period = cell
    mine = [row for row in found if row[0] == period and not row[3] & AHEAD]
    first = stated(mine)
    if first is None:
        return None
    shown = mine[-1]
    rights = ctx.view.directory.row_rights(series, shown[4])
    before = before_of(ctx, found, period, frequency)
    earlier = [row for row in found if row[0] == before]
    known = max(shown[1], earlier[-1][1]) if earlier else shown[1]
    told: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    if not rights.withheld and (ctx.window_start is None or end_of(period) >= ctx.window_start):
        said = next(row[2] for row in mine if row[2] is not None)
        # What was forecast of the period takes the place of its number where that came to be known later.
        now = [row[2] for row in found if row[0] == period][-1]
        told = (said, now if now != said else None, *_previous(series, earlier, first))
    return EventNumbers(*told, series.spec.unit, series.currency, of_row(rights), known)


def _ahead(ctx: Context, cell: _Cell, found: list[store.KnownVintage]) -> EventNumbers | None:
    """Return the number of the period before a coming release; None if it is not known."""
    series, frequency, period = cell
    before = before_of(ctx, found, period, frequency)
    earlier = [row for row in found if row[0] == before and not row[3] & AHEAD]
    if not earlier or earlier[-1][2] is None:
        return None
    _, known, value, _, lineage = earlier[-1]
    rights = ctx.view.directory.row_rights(series, lineage)
    shown = None if rights.withheld else value
    return EventNumbers(None, None, shown, None, series.spec.unit, series.currency, of_row(rights), known)


def _previous(series: SeriesInfo, earlier: list[store.KnownVintage], first: int) -> tuple[float | None, float | None]:
    """Return the number of the period before as it stood just before the release, and as it stands now if that differs."""
    now = earlier[-1][2] if earlier else None
    was = next((row[2] for row in reversed(earlier) if row[1] < first), None)
    if was is None or not series.source.stores_vintages:
        return now, None
    return was, now if now is not None and now != was else None
