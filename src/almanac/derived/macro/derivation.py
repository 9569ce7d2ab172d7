"""
Derivation: from the vintages of inputs to the vintages of a result, for all knowledge times at once.

The whole knowledge history of each output cell is recomputed: at every instant at which an input cell changed, the
inputs known then go through the formula, and a vintage is made if the result differs from the one before. So
derive(as_of T) = (derive)(as_of T) for all T. Inputs that changed at the same instant count together.

Cells whose inputs all have exactly one vintage (nearly all) take a vectorised path with the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from almanac.derived.macro import vectorised
from almanac.derived.macro.input_series import (
    TWO_BASES,
    Derived,
    InputSeries,
    Ints,
    as_known,
    inside,
    on_two_bases,
    result,
    shift,
    window,
    withdrawal,
)
from almanac.derived.macro.operators import Operator, Slot, exact_sum
from almanac.domain.observations import State, Vintage, marks_of, settle
from almanac.domain.periods import Frequency, add_months, key_at

__all__ = ["Derived", "InputSeries", "Used", "derive", "explain", "span_needed"]


def span_needed(
    operator: Operator, frequency: Frequency, changed: Iterable[tuple[date, date]]
) -> tuple[date, date] | None:
    """
    Return the first and last day of the input periods needed for all outputs that the changes affect, within the
    calendar. Return None without changes.

    `changed` holds spans of changed cells, by their period ends.
    """
    spans = list(changed)
    if not spans:
        return None
    reach = max(slot.months for slot in operator.slots) + 1
    slack = frequency.months + 1
    return _moved(min(s[0] for s in spans), -reach - slack), _moved(max(s[1] for s in spans), reach + slack)


def _moved(day: date, months: int) -> date:
    """
    Add months to a day, limited to the ends of the calendar because publishers write days such as 0001-01-01 and
    9999-12-31.
    """
    number = day.year * 12 + day.month - 1 + months
    if number < date.min.year * 12:
        return date.min
    return date.max if number >= (date.max.year + 1) * 12 else add_months(day, months)


def derive(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], allowance_days: int
) -> dict[int, list[Derived]]:
    """
    Return the vintages of every output cell that the changes can affect, by period key. An empty list means that the
    cell has none.

    `inputs` holds, for each input of the formula, its candidate series in order of preference.
    """
    outputs = _outputs(operator, frequency, inputs)
    made: dict[int, list[Derived]] = {}
    columns = [
        candidates[0].arrays for candidates in inputs if len(candidates) == 1 and candidates[0].frequency is frequency
    ]
    if operator.vector and len(outputs) and len(columns) == len(inputs) and None not in columns:
        arrays = [column for column in columns if column is not None]
        outputs = vectorised.at_once(operator, frequency, arrays, outputs, allowance_days, made)
    for output in outputs.tolist():
        key = key_at(output, frequency)
        made[key] = _history_of_cell(operator, frequency, inputs, output, key, allowance_days)
    return made


def _outputs(operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]]) -> Ints:
    """Return the output ordinals that a change can affect: those whose look-ups reach a changed cell."""
    first = operator.slots[0]
    present = [series.ordinals for series in inputs[first.input]]
    if not first.months and not first.within and all(series.changed is None for series in inputs[first.input]):
        # All cells of this input changed, and each is looked up by its own output.
        return np.unique(np.concatenate(present))
    gone = [series.touched for series in inputs[first.input]]
    every = np.unique(np.concatenate([*present, *gone])) if present else np.empty(0, dtype=np.int64)
    hit = np.zeros(len(every), dtype=bool)
    for slot in operator.slots:
        for series in inputs[slot.input]:
            changed = series.touched
            if not len(changed):
                continue
            low, high = window(slot, every, frequency, series.frequency)
            hit |= np.searchsorted(changed, high, side="right") > np.searchsorted(changed, low, side="left")
    return every[hit]


# -- cell by cell -------------------------------------------------------------------------------------------------------


class Lookup(NamedTuple):
    """The result of a look-up at one moment: its value, the vintages used, and all vintages looked at."""

    value: float | None
    used: tuple[Vintage, ...]
    looked: tuple[Vintage, ...]


def _history_of_cell(
    operator: Operator,
    frequency: Frequency,
    inputs: Sequence[Sequence[InputSeries]],
    output: int,
    key: int,
    allowance_days: int,
) -> list[Derived]:
    """Compute all vintages of one output cell."""
    windows = [[cells_for(slot, output, frequency, series) for series in inputs[slot.input]] for slot in operator.slots]
    moments = sorted({v.known for slot in windows for candidates in slot for _, history in candidates for v in history})
    made: list[Derived] = []
    state: State = (None, None, 0, None)
    for moment in moments:
        result = result_at(operator, frequency, inputs, windows, output, moment)
        if (result is None or result[0].withdrawn) and not made:
            continue
        vintage, used, _ = (_nothing(windows, moment), made[-1].used, ()) if result is None else result
        if vintage.state == state:
            continue
        state = vintage.state
        made.append(Derived(vintage, used))
    lineage = {derived.vintage.known: derived.used for derived in made}
    served = settle((derived.vintage for derived in made), key, allowance_days)
    return [Derived(vintage, lineage[vintage.known]) for vintage in served]


Window = list[tuple[int, list[Vintage]]]


def cells_for(slot: Slot, output: int, frequency: Frequency, series: InputSeries) -> Window:
    """Return the cells with vintages that a slot may look at, nearest first."""
    low, high = window(slot, np.array([output], dtype=np.int64), frequency, series.frequency)
    span = range(int(high[0]), int(low[0]) - 1, -1)
    return [(o, series.cells[o]) for o in span if o in series.cells]


def result_at(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], windows: Sequence[Sequence[Window]],
    output: int, moment: int,
) -> tuple[Vintage, tuple[int, ...], Sequence[Lookup]] | None:  # fmt: skip
    """
    Return the result as known at a moment, the index of the series used for each input and the look-up of each slot, or
    None if there is no result.

    The result is a withdrawal if the inputs are on different bases. All lags of one input are read from one series.
    """
    chosen: list[int] = []
    lookups: dict[int, Lookup] = {}
    passed: list[Vintage] = []
    for place, candidates in enumerate(inputs):
        slots = [index for index, slot in enumerate(operator.slots) if slot.input == place]
        for choice, series in enumerate(candidates):
            looked = {
                index: look(operator.slots[index], windows[index][choice], output, frequency, series, moment)
                for index in slots
            }
            if all(looked[index].value is not None or operator.slots[index].optional for index in slots):
                chosen.append(choice)
                lookups.update(looked)
                break
            passed.extend(v for lookup in looked.values() for v in lookup.looked)
        else:
            return None
    in_order = [lookups[index] for index in range(len(operator.slots))]
    values = [lookup.value for lookup in in_order]
    looked_at = [*passed, *(vintage for lookup in in_order for vintage in lookup.looked)]
    if on_two_bases(
        (slot.input, marks_of(vintage.note))
        for slot, lookup in zip(operator.slots, in_order, strict=True)
        for vintage in lookup.used
    ):
        return withdrawal(moment, looked_at, TWO_BASES), tuple(chosen), in_order
    try:
        value = operator.apply(*values)
    except (ZeroDivisionError, OverflowError):
        return None
    if value is None or not math.isfinite(value):
        return None
    used = [vintage for lookup in in_order for vintage in lookup.used]
    note = operator.note(*values) if operator.note else None
    text = operator.words[int(value)] if operator.words else None
    shown = None if operator.words else value
    return result(moment, shown, text, used, looked_at, note), tuple(chosen), in_order


def look(
    slot: Slot, window: Window, output: int, frequency: Frequency, series: InputSeries, moment: int
) -> Lookup:  # fmt: skip
    """
    Resolve a slot as known at a moment: the nearest value, an aggregate of the values inside a period, or the last
    move.
    """
    known = [(place, found) for place, history in window if (found := as_known(history, moment)) is not None]
    if slot.within:
        return _inside(slot, known, output - slot.months, frequency, series)
    if slot.move:
        return _last_move(slot, known, output, frequency)
    for count, (_, vintage) in enumerate(known, start=1):
        if vintage.value is not None:
            return Lookup(vintage.value * series.factor, (vintage,), tuple(v for _, v in known[:count]))
    return Lookup(None, (), tuple(v for _, v in known))


Known = Sequence[tuple[int, Vintage]]


def _inside(slot: Slot, known: Known, output: int, frequency: Frequency, series: InputSeries) -> Lookup:
    """
    Return the last, mean or summed value inside a longer period if that period is complete. `known` holds its cells,
    latest first.

    Months and quarters: each must have a value. Days and weeks: a value for the last day, or for a later one within the
    allowance, must be known. The vintages that prove the period complete count among the inputs.
    """
    own = series.frequency
    first, last, _ = inside(output, frequency, own)
    there = [(place, vintage) for place, vintage in known if vintage.value is not None]
    within = [(place, vintage) for place, vintage in there if place <= last]
    if own.months:
        whole = len(within) == (last - first) // own.months + 1
        witnesses = [vintage for _, vintage in within]
    else:
        witnesses = [vintage for place, vintage in there if place >= last][-1:]
        whole = bool(within and witnesses)
    if not whole:
        return Lookup(None, (), tuple(vintage for _, vintage in known))
    nearest, vintage = within[0]
    looked = known if own.months else [pair for pair in known if pair[0] >= nearest]
    used = (vintage, *(witness for witness in witnesses if witness is not vintage))
    values = [one.value * series.factor for _, one in within if one.value is not None]
    value = values[0] if slot.within == "last" else exact_sum(*values) / (len(values) if slot.within == "mean" else 1)
    return Lookup(value, used, tuple(v for _, v in looked))


def _last_move(slot: Slot, known: Known, output: int, frequency: Frequency) -> Lookup:
    """
    Return the last change of at least the slot's size between neighbouring values, or 0 if there was none. `known` is
    latest first.

    An answer of 0 needs a value at the beginning of the window, because otherwise an unseen move is possible. The value
    from the days before the window counts as the one from which the first value inside has changed.
    """
    start = int(shift(np.array([output], dtype=np.int64), slot.months, frequency)[0])
    there = [(place, v, v.value) for place, v in known if v.value is not None]
    if not there:
        return Lookup(None, (), tuple(v for _, v in known))
    count, latest, end = 1, 0.0, 0
    for (place, _, now), (older, _, before) in pairwise(there):
        if place <= start:
            end = place
            break
        count += 1
        moved = exact_sum(now, -before)
        if abs(moved) >= slot.move and not any(older < at <= place for at in slot.breaks):
            latest, end = moved, older
            break
    if not latest and there[-1][0] > start:
        return Lookup(None, (), tuple(v for _, v in known))
    used = tuple(v for _, v, _ in there[:count])
    # If values end before the window does, a withdrawal may be the cause, so all of it counts as looked at.
    looked = tuple(v for place, v in known if place >= end)
    return Lookup(latest, used, looked)


def _nothing(windows: Sequence[Sequence[Window]], moment: int) -> Vintage:
    """Build a withdrawal for a moment at which nothing can be computed."""
    looked = [
        vintage
        for slot in windows
        for candidates in slot
        for _, history in candidates
        if (vintage := as_known(history, moment)) is not None
    ]
    return withdrawal(moment, looked)


class Used(NamedTuple):
    """
    One input cell: its input's place in the formula, its series' index among the candidates, its ordinal and its
    vintage.
    """

    input: int
    choice: int
    ordinal: int
    vintage: Vintage


def explain(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], output: int, moment: int
) -> tuple[Vintage | None, list[Used]]:
    """
    Return the result of one output cell as known at a moment, and the cells it was computed from, in the formula's
    order.
    """
    windows = [[cells_for(slot, output, frequency, s) for s in inputs[slot.input]] for slot in operator.slots]
    result = result_at(operator, frequency, inputs, windows, output, moment)
    if result is None:
        return None, []
    vintage, chosen, lookups = result
    return vintage, [
        Used(slot.input, chosen[slot.input], ordinal, state)
        for slot, cells, lookup in zip(operator.slots, windows, lookups, strict=True)
        for ordinal, history in cells[chosen[slot.input]]
        for state in history
        if any(state is used for used in lookup.used)
    ]
