"""Revisions of a series: the triangle of releases and periods, and its pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Any

import msgspec

from almanac.dashboard.drawing.columns import CountColumn, column_chart
from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry, readout
from almanac.dashboard.drawing.lines import FigureState, fan_chart, life_chart
from almanac.dashboard.drawing.svg import value_axis
from almanac.dashboard.explorer.one_series import Cell, Row, Series, Vintages
from almanac.dashboard.formatting.dates import code, day, day_of, notation, noun, period, period_of, short_day
from almanac.dashboard.formatting.numbers import UnitWords, change, number
from almanac.dashboard.formatting.values import ChartPoint, counted, masked, points
from almanac.dashboard.visit import Visit
from almanac.domain.numbers import exact, mean
from almanac.domain.periods import Frequency
from almanac.reports.wording import sentence

#: Statuses of a first state that is the first publication, not the first we saw.
_PUBLISHED = {"initial", "final"}


class Triangle(msgspec.Struct, frozen=True):
    """The revision triangle of the macro `triangle`: releases in words, oldest first, and rows, newest period first."""

    releases: tuple[str, ...]
    rows: tuple[Row, ...]


def by_release(
    vintages: Vintages, days: Sequence[str], cells: Sequence[Cell], unit: UnitWords, digits: int, frequency: str
) -> Triangle:
    """One column for each day of a release, one row for each cell."""
    held = vintages.cells
    rows = []
    for cell in cells:
        states = held[cell]
        row, place, before = [], 0, None
        for release in days:
            start = place
            while place < len(states) and states[place]["observedAt"][:10] <= release:
                place += 1
            now = states[place - 1] if place else None
            fresh = place > start and now is not None and now["observedAt"][:10] == release
            row.append(_cell(now, before, states[0], unit, digits, fresh=fresh))
            before = now
        rows.append({"period": period(cell[0], cell[1], frequency), "cells": row})
    # The year may go to a second line: nine whole days would not fit beside each other.
    return Triangle(tuple(f"{short_day(release)} {release[:4]}" for release in days), tuple(rows))


def _cell(now: Row | None, before: Row | None, oldest: Row, unit: UnitWords, digits: int, *, fresh: bool) -> Row:
    if now is None:
        return {"state": "none", "text": ""}
    text = write_state(now, unit, digits)
    if not fresh:
        return {"state": "same", "text": text}
    if now is oldest:
        return {"state": "first" if now["revisionStatus"] in _PUBLISHED else "same", "text": text}
    moved = _moved(before, now)
    return {"state": "changed", "text": text, "direction": "up" if moved > 0 else "down"} if moved else {
        "state": "same", "text": text,
    }  # fmt: skip


def write_state(row: Row, unit: UnitWords, digits: int) -> str:
    """Return a state in a table whose head has the unit."""
    if masked(row):
        return "Withheld"
    if row["metadata"].get("withdrawn"):
        return "withdrawn"
    if row["valueNumeric"] is None:
        return str(row["valueText"] or "No data")
    return unit.cell(row["valueNumeric"], digits)


def _moved(before: Row | None, now: Row) -> float:
    if before is None or before["valueNumeric"] is None or now["valueNumeric"] is None:
        return 0.0
    return float(exact(now["valueNumeric"]) - exact(before["valueNumeric"]))


def by_age(vintages: Vintages, unit: UnitWords, digits: int, frequency: str) -> list[Row]:
    """One row for each cell: its first, second and third state, that of a year later, and the newest."""
    rows = []
    for cell, states in vintages.cells.items():
        first = states[0]["observedAt"]
        later = f"{int(first[:4]) + 1}{first[4:]}"
        year = [one for one in states if one["observedAt"] <= later][-1] if states[-1]["observedAt"] > later else None
        texts = [write_state(one, unit, digits) for one in states[:3]]
        texts += [""] * (3 - len(texts))
        rows.append(
            {
                "period": period(cell[0], cell[1], frequency),
                "states": len(states),
                "texts": [
                    *texts,
                    "" if year is None else write_state(year, unit, digits),
                    write_state(states[-1], unit, digits),
                ],
            }
        )
    return rows


def typical_change(vintages: Vintages, unit: UnitWords) -> list[Decimal]:
    """From the first publication of a cell to its newest state, over all cells that have both; zero for one that never changed."""
    found = []
    for states in vintages.cells.values():
        first, last = states[0], states[-1]
        if (
            first["revisionStatus"] in _PUBLISHED
            and first["valueNumeric"] is not None
            and last["valueNumeric"] is not None
        ):
            found.append(unit.scaled(last["valueNumeric"]) - unit.scaled(first["valueNumeric"]))
    return found


def foot(vintages: Vintages, unit: UnitWords, digits: int) -> list[Row]:
    """Return what revisions amount to, over all cells whose first publication is known; nothing where none was revised."""
    every = typical_change(vintages, unit)
    revised = [move for move in every if move]
    if not revised:
        return []
    up = sum(move > 0 for move in revised)
    more = digits + 1
    return [
        {"term": "Mean revision", "text": change(mean([float(move) for move in every]), more)},
        {"term": "Mean absolute revision", "text": number(mean([float(abs(move)) for move in every]), more)},
        {"term": "Revised up", "text": f"{up:,} of {len(revised):,}"},
        {"term": "Never changed", "text": f"{len(every) - len(revised):,} of {len(every):,}"},
    ]


#: Lines of a fan: those of the newest releases; and its periods, by frequency.
_LINES = 120
_PERIODS = {Frequency.DAILY: 60, Frequency.WEEKLY: 52, Frequency.MONTHLY: 24}
_PERIODS_SELDOM = 12
#: Periods whose lives are offered.
_LIVES = 24
#: Columns of a histogram at most, and revisions that are few enough to be read one by one.
_BINS = 13


def pictures(
    visit: Visit, series: Series, then: Vintages, unit: UnitWords, digits: int, known_to: str | None
) -> dict[str, Any]:
    """All of it, of what was known on the day of the page. Nothing of a series whose source publishes no vintages."""
    lives = {cell: found for cell, states in then.cells.items() if (found := _stated(states))}
    # Of a series that is withheld in part no picture says how far a value lies from those around it.
    if not lives or not then.published or any(masked(row) for row in then.rows):
        return {"fan": None, "sizes": None, "life": None, "states": [], "options": [], "steps": []}
    names = {
        cell: (code(span := period_of(*cell), series.frequency), notation(span, series.frequency)) for cell in lives
    }
    # The period of the address; else of the newest two dozen the one that was told most often.
    offered = list(lives)[:_LIVES]
    asked = (cell for cell in lives if names[cell][0] == visit.query.get("period"))
    chosen = next(asked, max(offered, key=lambda cell: len(lives[cell])))
    if chosen not in offered:
        offered.append(chosen)
    until = date.fromisoformat(known_to[:10]) if known_to else visit.today
    # Decimals with which no state reads like the one before it, as far as two more than usual tell them apart.
    values = [row["valueNumeric"] for row in lives[chosen]]
    fine = digits
    while fine < digits + 2 and any(unit.cell(one, fine) == unit.cell(other, fine) for one, other in pairwise(values)):
        fine += 1
    return {
        "fan": _fan(series, then, unit, digits),
        "sizes": _sizes(series, then, unit, digits),
        "life": _life(names[chosen][1], lives[chosen], until, unit, fine),
        # The states of the chosen figure, oldest first, and the decimals they are told with.
        "states": lives[chosen],
        "digits": fine,
        "options": [{"code": names[cell][0], "period": names[cell][1], "chosen": cell == chosen} for cell in offered],
        "steps": _binned(every, digits) if any(every := typical_change(then, unit)) else [],
    }


def _stated(states: Sequence[Row]) -> list[Row]:
    """Return states with a number, each other than the one before it."""
    numbered = (row for row in states if row["valueNumeric"] is not None)
    return [next(alike) for _, alike in groupby(numbered, key=lambda row: row["valueNumeric"])]


# -- the fan ------------------------------------------------------------------------------------------------------------


def _fan(series: Series, then: Vintages, unit: UnitWords, digits: int) -> ChartFigure | None:
    frequency = series.frequency
    cells = list(then.cells)[: _PERIODS.get(frequency, _PERIODS_SELDOM)]
    known = {cell: then.cells[cell] for cell in cells}
    days = sorted({row["observedAt"][:10] for states in known.values() for row in states})
    if len(days) < 2:
        return None
    newest = _line(known, None)
    older = [_line(known, end) for end in days[-_LINES - 1 : -1]]
    shown = [point for point in newest if point.value is not None]
    if not shown:
        return None
    last = shown[-1].value or 0.0
    drawing = fan_chart(newest, older, label=unit.figure(last, digits), fraction=unit.fraction)
    first = f"{len(older) + 1:,} lines, one for each release since {day(days[-_LINES - 1 :][0])}, over {counted(len(cells), frequency)}"
    moved = sum(len(_stated(states)) > 1 for states in known.values())
    second = f"Where a grey line leaves the blue one, a number was told otherwise before: {moved:,} of {len(cells):,} {noun(frequency, len(cells))} were"
    return ChartFigure(
        id="fan",
        title=f"Every published line of {series.title.replace(': ', ', ')}",
        caption=f"{sentence(first)} {sentence(second)}",
        drawing=drawing,
        legend=[
            LegendEntry(name=f"Known on {day(days[-1])}", colour=1),
            LegendEntry(name="Known before", kind="past"),
        ],
    )


def _line(known: Mapping[Cell, Sequence[Row]], end: str | None) -> list[ChartPoint]:
    """Return the line as known at the end of a day; None: the newest."""
    rows = []
    for states in known.values():
        there = states if end is None else [row for row in states if row["observedAt"][:10] <= end]
        if there:
            rows.append(there[-1])
    return points(rows)


# -- how large revisions are --------------------------------------------------------------------------------------------


def _sizes(series: Series, then: Vintages, unit: UnitWords, digits: int) -> ChartFigure | None:
    moves = typical_change(then, unit)
    revised = [move for move in moves if move]
    if len(moves) < 2 or not revised:
        return None
    columns = _binned(moves, digits)
    more = digits + 1
    words = noun(series.frequency, len(moves))
    first = (
        f"{len(revised):,} of {len(moves):,} {words} differ from their first publication, "
        f"{sum(move > 0 for move in revised):,} of them upwards"
    )
    size = mean([float(abs(move)) for move in moves])
    second = f"Over all {len(moves):,} the mean revision is {change(mean([float(move) for move in moves]), more)}, the mean absolute revision {number(size, more)}"
    largest = max(revised, key=abs)
    told = [
        [
            place,
            one.counts[0],
            f"Revised by {f'up {one.label}' if one.label != '0' else 'nothing'}: {counted(one.counts[0], series.frequency)}",
        ]
        for place, one in enumerate(columns)
    ]
    return ChartFigure(
        id="sizes",
        title="How large revisions are",
        caption=f"{sentence(first)} {sentence(second)} {sentence(f'The largest is {change(largest, digits)}')}",
        drawing=column_chart(columns),
        readout=readout([("", "c1", told)], year=3),
        legend=[],
    )


def _binned(moves: Sequence[Decimal], digits: int) -> list[CountColumn]:
    """Return counts of revisions in steps of one width, about zero; what did not change has a column of its own."""
    largest = float(max(abs(move) for move in moves))
    ticks = value_axis([0.0, largest]).ticks
    step = exact(ticks[1]) - exact(ticks[0])
    half = math.ceil(exact(largest) / step)
    while half > _BINS // 2:
        step, half = step * 2, math.ceil(exact(largest) / (step * 2))
    places = max(digits, -int(step.normalize().as_tuple().exponent))
    counts: dict[int, int] = {}
    for move in moves:
        size = math.ceil(abs(move) / step)
        counts[size if move > 0 else -size] = counts.get(size if move > 0 else -size, 0) + 1
    found = []
    for size in range(-half, half + 1):
        # Each holds what lies between its neighbour's bound and its own.
        label = f"to {change(step * size, places)}" if size else "0"
        found.append(CountColumn(label, [counts.get(size, 0)]))
    return found


# -- the life of a figure -----------------------------------------------------------------------------------------------


def _life(name: str, states: Sequence[Row], until: date, unit: UnitWords, digits: int) -> ChartFigure | None:
    values = [row["valueNumeric"] for row in states]
    drawn = [
        FigureState(
            day_of(row["observedAt"]).toordinal(), float(row["valueNumeric"]), unit.figure(row["valueNumeric"], digits)
        )
        for row in states
    ]
    begins = "First published" if states[0]["revisionStatus"] in {"initial", "final"} else "First seen"
    first = f"{begins} as {unit.sentence(values[0], digits)} on {day(states[0]['observedAt'])}"
    moved = unit.scaled(values[-1]) - unit.scaled(values[0])
    if len(states) == 1:
        second = "It has not changed since"
    else:
        times = "once" if len(states) == 2 else f"{len(states) - 1} times"
        second = f"Changed {times} since, to {unit.sentence(values[-1], digits)} on {day(states[-1]['observedAt'])}: {change(moved, digits)} in all"
    told = [[state.day, state.value, _said(row, before, unit, digits)]
            for state, row, before in zip(drawn, states, [None, *states], strict=False)]  # fmt: skip
    return ChartFigure(
        id="life",
        title=f"The life of one figure: {name}",
        caption=f"{sentence(first)} {sentence(second)}",
        drawing=life_chart(drawn, until.toordinal(), fraction=unit.fraction),
        readout=readout([(name, "c1", told)], year=5),
        legend=[LegendEntry(name="First", kind="first"), LegendEntry(name="As it was told", colour=1)],
    )


def _said(row: Row, before: Row | None, unit: UnitWords, digits: int) -> str:
    now = f"Known on {day(row['observedAt'])}: {unit.sentence(row['valueNumeric'], digits)}"
    if before is None:
        return f"{now}, the first"
    moved = unit.scaled(row["valueNumeric"]) - unit.scaled(before["valueNumeric"])
    return f"{now}, {change(moved, digits)} on the one before"
