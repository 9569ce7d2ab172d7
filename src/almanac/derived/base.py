"""
From vintages of inputs to vintages of a result, for every moment of knowledge at once.

For each output cell the whole history of knowledge is recomputed: at every instant at which one of the cells it looks
up changed, the inputs as known then go through the formula, and a vintage is made where the result differs from the
one before. So derive(as_of T) = (derive)(as_of T) for all T. Inputs changed at one instant count together.

Cells whose inputs all have exactly one vintage (nearly all) take a vectorised path with the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.derived.operators import LOOK_BACK_DAYS, Operator, Slot
from almanac.domain.observations import (
    DAY,
    FINAL,
    FORECAST,
    INITIAL,
    UNKNOWN,
    Vintage,
    end_of_day,
    is_unknown,
    number,
    settle,
)
from almanac.domain.periods import Frequency, Period, add_months, end_of, key_at, ordinal

Ints = npt.NDArray[np.int64]
_NONE = -(1 << 62)  # no release time, in arrays
_EPOCH_ORDINAL = 719_163


class Derived(NamedTuple):
    """One vintage of a result and the series (by place among each input's candidates) it was computed from."""

    vintage: Vintage
    used: tuple[int, ...]


@dataclass(slots=True)
class InputSeries:
    """Open vintages of one input series over the range that is needed, by ordinal of its own frequency."""

    frequency: Frequency
    cells: dict[int, list[Vintage]]
    #: Ordinals whose vintages changed; None: all of them.
    changed: frozenset[int] | None = None
    _arrays: _Arrays | None = field(default=None)

    @property
    def arrays(self) -> _Arrays:
        if self._arrays is None:
            self._arrays = _Arrays.of(self.cells)
        return self._arrays

    def touched(self) -> Ints:
        """Changed ordinals, ascending."""
        return np.array(sorted(self.cells if self.changed is None else self.changed), dtype=np.int64)


@dataclass(slots=True)
class _Arrays:
    """Cells of a series as columns, ascending by ordinal; `single` marks those with one vintage that is a number."""

    ordinals: Ints
    single: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    known: Ints
    released: Ints
    ingested: Ints
    flags: Ints

    @classmethod
    def of(cls, cells: Mapping[int, Sequence[Vintage]]) -> _Arrays:
        order = sorted(cells)
        last = [cells[o][-1] for o in order]
        return cls(
            np.array(order, dtype=np.int64),
            np.array([len(cells[o]) == 1 and cells[o][0].value is not None for o in order], dtype=bool),
            np.array([math.nan if v.value is None else v.value for v in last], dtype=np.float64),
            np.array([v.known for v in last], dtype=np.int64),
            np.array([_NONE if v.released is None else v.released for v in last], dtype=np.int64),
            np.array([v.ingested for v in last], dtype=np.int64),
            np.array([v.flags for v in last], dtype=np.int64),
        )


def span_needed(
    operator: Operator, frequency: Frequency, changed: Iterable[tuple[date, date]]
) -> tuple[date, date] | None:
    """First and last day of input periods that outputs touched by changes need. `changed`: spans of changed cells, by their ends."""
    spans = list(changed)
    if not spans:
        return None
    reach = max(slot.months for slot in operator.slots) + 1
    slack = frequency.months + 1
    return (
        add_months(min(s[0] for s in spans), -reach - slack),
        add_months(max(s[1] for s in spans), reach + slack),
    )


def derive(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], allowance_days: int
) -> dict[int, list[Derived]]:
    """
    Vintages of every output cell that the changes can have altered, by period key; an empty list: none.

    `inputs`: for each input of the formula its candidate series in order of preference (one, where one source has all).
    """
    outputs = _outputs(operator, frequency, inputs)
    result: dict[int, list[Derived]] = {}
    rest = outputs
    if operator.vector and all(len(candidates) == 1 for candidates in inputs):
        rest = _vector(operator, frequency, [candidates[0] for candidates in inputs], outputs, allowance_days, result)
    for output in rest.tolist():
        key = key_at(output, frequency)
        result[key] = _sweep(operator, frequency, inputs, output, key, allowance_days)
    return result


def _outputs(operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]]) -> Ints:
    """Output ordinals that a change can have touched: those of the undated input, where a look-up meets a changed cell."""
    first = operator.slots[0]
    present = [series.arrays.ordinals for series in inputs[first.input]]
    gone = [series.touched() for series in inputs[first.input]]
    every = np.unique(np.concatenate([*present, *gone])) if present else np.empty(0, dtype=np.int64)
    hit = np.zeros(len(every), dtype=bool)
    for slot in operator.slots:
        for series in inputs[slot.input]:
            changed = series.touched()
            if not len(changed):
                continue
            low, high = _window(slot, every, frequency, series.frequency)
            hit |= np.searchsorted(changed, high, side="right") > np.searchsorted(changed, low, side="left")
    return every[hit]


def _window(slot: Slot, outputs: Ints, frequency: Frequency, own: Frequency) -> tuple[Ints, Ints]:
    """Ordinals, in the input's own frequency, of the cells a slot may look at: inclusive low and high for each output."""
    if slot.within:
        spans = [_inside(int(o), frequency, own) for o in outputs]
        return np.array([s[0] for s in spans], dtype=np.int64), np.array([s[2] for s in spans], dtype=np.int64)
    target = _shift(outputs, slot.months, frequency)
    return np.subtract(target, _look_back(slot, frequency)), target


def _look_back(slot: Slot, frequency: Frequency) -> int:
    return LOOK_BACK_DAYS if slot.months and not frequency.months else 0


def _shift(outputs: Ints, months: int, frequency: Frequency) -> Ints:
    """Ordinals some months earlier: a subtraction for months, the same calendar day (or the month's last) for days."""
    if not months:
        return outputs
    if frequency.months:
        return outputs - months
    days = (outputs - _EPOCH_ORDINAL).astype("datetime64[D]")
    month = days.astype("datetime64[M]")
    into = (days - month.astype("datetime64[D]")).astype(np.int64)
    earlier = month - np.timedelta64(months, "M")
    length = ((earlier + np.timedelta64(1, "M")).astype("datetime64[D]") - earlier.astype("datetime64[D]")).astype(
        np.int64
    )
    start: Ints = earlier.astype("datetime64[D]").astype(np.int64)
    shifted: Ints = start + np.minimum(into, length - 1) + _EPOCH_ORDINAL
    return shifted


def _inside(output: int, frequency: Frequency, own: Frequency) -> tuple[int, int, int]:
    """For a period of a lower frequency: first and last ordinal inside it in the input's frequency, and the last witness."""
    period = Period.from_key(key_at(output, frequency))
    start = period.start or period.end
    if own.months:
        last = ordinal(Period.ending(period.end, own).key, own)
        first = ordinal(Period.starting(start, own).key, own)
        return first, last, last
    return start.toordinal(), period.end.toordinal(), period.end.toordinal() + own.allowance_days


# -- cell by cell -------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What a look-up gave at one moment: the vintages used, and all that were looked at."""

    value: float | None
    used: tuple[Vintage, ...]
    looked: tuple[Vintage, ...]


def _sweep(
    operator: Operator,
    frequency: Frequency,
    inputs: Sequence[Sequence[InputSeries]],
    output: int,
    key: int,
    allowance_days: int,
) -> list[Derived]:
    """The whole knowledge history of one output cell."""
    windows = [
        [_candidates(slot, output, frequency, series) for series in inputs[slot.input]] for slot in operator.slots
    ]
    moments = sorted({v.known for slot in windows for candidates in slot for _, history in candidates for v in history})
    made: list[Derived] = []
    state: tuple[float | None, int] = (None, 0)
    for moment in moments:
        found = _at(operator, frequency, inputs, windows, output, moment)
        if found is None:
            vintage, used = _nothing(windows, moment), made[-1].used if made else ()
        else:
            vintage, used = found
        if (vintage.value, vintage.flags & FINAL) == state or (vintage.value is None and not made):
            continue
        state = (vintage.value, vintage.flags & FINAL)
        made.append(Derived(vintage, used))
    lineage = {derived.vintage.known: derived.used for derived in made}
    served = settle((derived.vintage for derived in made), key, allowance_days)
    return [Derived(vintage, lineage[vintage.known]) for vintage in served]


Window = list[tuple[int, list[Vintage]]]


def _candidates(slot: Slot, output: int, frequency: Frequency, series: InputSeries) -> Window:
    """Cells with vintages that a slot may look at, nearest first."""
    low, high = _window(slot, np.array([output], dtype=np.int64), frequency, series.frequency)
    span = range(int(high[0]), int(low[0]) - 1, -1)
    return [(o, series.cells[o]) for o in span if o in series.cells]


def _at(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], windows: Sequence[Sequence[Window]],
    output: int, moment: int,
) -> tuple[Vintage, tuple[int, ...]] | None:  # fmt: skip
    """The result as known at a moment, or None where an input is missing. All lags of one input come from one series."""
    chosen: list[int] = []
    found: dict[int, _Found] = {}
    passed: list[Vintage] = []
    for place, candidates in enumerate(inputs):
        slots = [index for index, slot in enumerate(operator.slots) if slot.input == place]
        for choice, series in enumerate(candidates):
            looked = {
                index: _look(operator.slots[index], windows[index][choice], output, frequency, series.frequency, moment)
                for index in slots
            }
            if all(looked[index].value is not None or operator.slots[index].optional for index in slots):
                chosen.append(choice)
                found.update(looked)
                break
            passed.extend(v for one in looked.values() for v in one.looked)
        else:
            return None
    in_order = [found[index] for index in range(len(operator.slots))]
    values = [one.value for one in in_order]
    try:
        value = operator.apply(*values)
    except (ZeroDivisionError, OverflowError):
        return None
    if value is None or not math.isfinite(value):
        return None
    used = [vintage for one in in_order for vintage in one.used]
    looked_at = [*passed, *(vintage for one in in_order for vintage in one.looked)]
    released = [v.released for v in used]
    flags = 0
    if any(is_unknown(v.flags) for v in used):
        flags |= UNKNOWN
    elif all(v.flags & FINAL for v in used):
        flags |= FINAL
    when = None if None in released else max(r for r in released if r is not None)
    if when is not None and any(v.flags & DAY for v in used):
        flags |= DAY
    note = operator.note(*values) if operator.note else None
    vintage = Vintage(moment, number(value), None, flags, when, max(v.ingested for v in looked_at), 0, note)
    return vintage, tuple(chosen)


def _look(slot: Slot, window: Window, output: int, frequency: Frequency, own: Frequency, moment: int) -> _Found:
    """
    The nearest value a slot finds as known at a moment.

    For a look-up inside a longer period the period must be over: a value for its last day or for a later one within
    the allowance must be known, and that witness counts among the inputs.
    """
    looked: list[Vintage] = []
    witness: Vintage | None = None
    last_inside = _inside(output, frequency, own)[1] if slot.within else None
    for place, history in window:
        vintage = _as_known(history, moment)
        if vintage is None:
            continue
        looked.append(vintage)
        if vintage.value is None:
            continue
        if last_inside is not None and place >= last_inside:
            witness = vintage
        if last_inside is not None and place > last_inside:
            continue
        if last_inside is not None and witness is None:
            return _Found(None, (), tuple(looked))
        used = (vintage,) if witness is None or witness is vintage else (vintage, witness)
        return _Found(vintage.value, used, tuple(looked))
    return _Found(None, (), tuple(looked))


def _as_known(history: Sequence[Vintage], moment: int) -> Vintage | None:
    """The last vintage known by a moment; a history is short, so a walk from its end is the fastest search."""
    for vintage in reversed(history):
        if vintage.known <= moment:
            return vintage
    return None


def _nothing(windows: Sequence[Sequence[Window]], moment: int) -> Vintage:
    """A withdrawal: nothing can be computed at this moment from what is known."""
    looked = [
        vintage
        for slot in windows
        for candidates in slot
        for _, history in candidates
        if (vintage := _as_known(history, moment)) is not None
    ]
    flags = UNKNOWN if any(v.flags & UNKNOWN for v in looked) else 0
    return Vintage(moment, None, None, flags, None, max(v.ingested for v in looked), 0)


# -- whole series -------------------------------------------------------------------------------------------------------


def _vector(
    operator: Operator, frequency: Frequency, inputs: Sequence[InputSeries], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> Ints:  # fmt: skip
    """
    Compute at once all cells whose look-ups meet single vintages only; returns the outputs left for the sweep.

    A look-back may be decided here only if everything it could have met was known no later than the other inputs:
    else an older value stood in for a while, and that is a vintage of its own.
    """
    if not len(outputs) or any(series.frequency is not frequency for series in inputs):
        return outputs
    picks: list[tuple[_Arrays, Ints]] = []
    there = np.ones(len(outputs), dtype=bool)
    eligible = np.ones(len(outputs), dtype=bool)
    checks: list[tuple[_Arrays, Ints, npt.NDArray[np.bool_]]] = []
    firm = np.full(len(outputs), _NONE, dtype=np.int64)
    for slot in operator.slots:
        arrays = inputs[slot.input].arrays
        if not len(arrays.ordinals):
            return outputs
        low, high = _window(slot, outputs, frequency, frequency)
        index = np.searchsorted(arrays.ordinals, high, side="right") - 1
        clipped = np.maximum(index, 0)
        met = (index >= 0) & (arrays.ordinals[clipped] >= low)
        there &= met
        eligible &= arrays.single[clipped]
        picks.append((arrays, clipped))
        if _look_back(slot, frequency):
            for back in range(LOOK_BACK_DAYS + 1):
                older = np.maximum(clipped - back, 0)
                inside = met & (clipped - back >= 0) & (arrays.ordinals[older] >= low)
                checks.append((arrays, older, inside))
        else:
            firm = np.maximum(firm, arrays.known[clipped])
    for arrays, older, inside in checks:
        eligible &= ~inside | (arrays.single[older] & (arrays.known[older] <= firm))
    take = there & eligible
    if take.any():
        _emit(
            operator,
            frequency,
            [(arrays, index[take]) for arrays, index in picks],
            outputs[take],
            allowance_days,
            result,
        )
    # Outputs for which some look-up meets no cell at all have no vintages: their rows, if any, are closed.
    for output in outputs[~there].tolist():
        result[key_at(output, frequency)] = []
    rest: Ints = outputs[there & ~eligible]
    return rest


def _emit(
    operator: Operator, frequency: Frequency, picks: Sequence[tuple[_Arrays, Ints]], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> None:  # fmt: skip
    with np.errstate(all="ignore"):
        value = operator.apply(*(arrays.value[index] for arrays, index in picks)) + 0.0
    known = np.max([arrays.known[index] for arrays, index in picks], axis=0)
    ingested = np.max([arrays.ingested[index] for arrays, index in picks], axis=0)
    releases = np.array([arrays.released[index] for arrays, index in picks])
    released = np.where((releases == _NONE).any(axis=0), _NONE, releases.max(axis=0))
    flag_sets = np.array([arrays.flags[index] for arrays, index in picks])
    unknown = ((flag_sets & UNKNOWN != 0) | (flag_sets & (FINAL | INITIAL | 16) == 0)).any(axis=0)
    final = ~unknown & (flag_sets & FINAL != 0).all(axis=0)
    day = (released != _NONE) & (flag_sets & DAY != 0).any(axis=0)
    stated = np.where(unknown, UNKNOWN, 0) | np.where(final, FINAL, 0) | np.where(day, DAY, 0)
    used = (0,) * (max(slot.input for slot in operator.slots) + 1)
    columns: tuple[list[Any], ...] = (
        outputs.tolist(), value.tolist(), known.tolist(), ingested.tolist(), released.tolist(), stated.tolist(),
        np.isfinite(value).tolist(),
    )  # fmt: skip
    for output, number_, when, taken, release, flags, finite in zip(*columns, strict=True):
        key = key_at(output, frequency)
        if not finite:
            result[key] = []
            continue
        at = None if release == _NONE else release
        vintage = Vintage(when, number_, None, flags | _first_place(key, when, at, flags, allowance_days), at, taken, 0)
        result[key] = [Derived(vintage, used)]


def _first_place(key: int, known: int, released: int | None, flags: int, allowance_days: int) -> int:
    """What `settle` adds to the one vintage of a cell, without building its tables."""
    period = Period.from_key(key)
    forecast = FORECAST if period.start is not None and end_of_day(period.start) - 86_399 > known else 0
    if flags & (FINAL | UNKNOWN) or released is None:
        return forecast
    late = released > end_of_day(end_of(key)) + 1 + allowance_days * 86_400
    return forecast | (0 if late else INITIAL)
