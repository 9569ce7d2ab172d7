"""Numbers of events at read time: those of a page are read together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.newest import numbers_of
from almanac.store.state_memory import Remembered

#: Events whose numbers are kept of one state of the store, some 0.5 KB each; and which series have those of a release.
_NUMBERS, _PLACES = 4_000, 10_000


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


#: By version, start of the window, event, and when its state was known.
_NUMBERS_HELD: Remembered[dict[tuple[object, ...], EventNumbers]] = Remembered("numbers of events", lambda _: {})
#: By type, source, data, entity and indicator of an event.
_PLACES_HELD: Remembered[dict[tuple[object, ...], list[tuple[SeriesInfo, Frequency]]]] = Remembered(
    "series of events", lambda _: {}
)
#: When the last vintage of all was known; None: there is none.
_LAST_KNOWN: Remembered[int | None] = Remembered("last known", store.last_known)


def numbers(ctx: Context, some: Sequence[EventState]) -> dict[str, EventNumbers]:
    """
    Return the numbers of releases and changes of policy rates by event, as known at the request's `as_of`.

    An event that the data say nothing of yet is left out. No event may be given twice.

    Of the newest data version they are kept for as long as the data stay the same: they are the same at every moment from the
    one on at which the store knew the last there is.
    """
    last = _LAST_KNOWN.of(ctx.view)
    if last is None or ctx.as_of < last or ctx.version != ctx.view.version:
        return dict(_read(ctx, some))
    held = _NUMBERS_HELD.of(ctx.view)
    keys = {one.event: (ctx.version, ctx.window_start, one.event, one.known_at) for one in some}
    found = {event: kept for event, key in keys.items() if (kept := held.get(key)) is not None}
    for event, told in _read(ctx, [one for one in some if one.event not in found]):
        if len(held) >= _NUMBERS:
            held.clear()
        held[keys[event]] = found[event] = told
    return found


def _read(ctx: Context, some: Sequence[EventState]) -> Iterator[tuple[str, EventNumbers]]:
    """Of each the first cell that says something; the cells that come first are read together, then those behind them."""
    waiting = [(one, iter(_cells(ctx, one))) for one in some]
    while waiting:
        asked = [(one, behind, cell) for one, behind in waiting if (cell := next(behind, None)) is not None]
        spans = [(cell.series.topic, cell.series.number, *_span(ctx, cell)) for _, _, cell in asked]
        rows = store.known_each(ctx.view, spans, ctx.version, ctx.as_of)
        waiting = []
        for (one, behind, cell), found in zip(asked, rows, strict=True):
            told = _ahead(ctx, cell, found) if one.status in COMING else _numbers_of(ctx, cell, found)
            if told is None:
                waiting.append((one, behind))
            else:
                yield one.event, told


class _Cell(NamedTuple):
    series: SeriesInfo
    frequency: Frequency
    period: int


def _cells(ctx: Context, one: EventState) -> list[_Cell]:
    """Where the numbers of an event may be, in order."""
    if one.entity is None or one.indicator is None or one.period is None:
        return []
    held = _PLACES_HELD.of(ctx.view)
    key = (one.type, one.source, one.data, one.entity, one.indicator)
    places = held.get(key)
    if places is None:
        if len(held) >= _PLACES:
            held.clear()
        places = held[key] = _places(ctx, one, one.entity, one.indicator)
    periods = ((series, frequency, key_of(one.period, frequency)) for series, frequency in places)
    return [_Cell(series, frequency, period) for series, frequency, period in periods if period is not None]


def _places(ctx: Context, one: EventState, entity: str, indicator: str) -> list[tuple[SeriesInfo, Frequency]]:
    release: Release | None = ctx.view.directory.releases.get(one.type)
    data = one.data or (() if release is None else _sources(ctx, entity, indicator))
    held = [(one.source, Frequency.DAILY)] if release is None else readable(ctx, release, entity, data)
    found = ((series_of(ctx, data, entity, indicator, frequency), frequency) for data, frequency in held)
    return [(series, frequency) for series, frequency in found if series is not None]


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
