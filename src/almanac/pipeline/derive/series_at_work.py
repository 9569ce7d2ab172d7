"""
Derived series that are computed while others are written.

What can be computed for a whole series at once is computed right here. Cells that need individual attention, mostly
those with several vintages, become a job for a free process; all their inputs go along, because a worker has no access
to the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.derived.macro.derivation import Derived, InputSeries, derive_at_once, derive_cells
from almanac.derived.macro.operators import Operator
from almanac.pipeline.derive.plans import SeriesPlan, operator_of
from almanac.pipeline.processes import Job, Processes

#: So few cells are computed here, because sending them away costs more; and the approximate bytes of a cell.
_FEW_CELLS, _CELL_BYTES = 30, 500


class SeriesAtWork(NamedTuple):
    """A series whose computation has begun."""

    plan: SeriesPlan
    #: Period keys between which all uncomputed cells are removed; None: none are.
    span: tuple[int, int] | None
    #: Vintages by period key, for cells computed at once.
    made: dict[int, list[Derived]]
    #: Vintages by period key, for all other cells.
    rest: Job[dict[int, list[Derived]]]

    def computed(self) -> dict[int, list[Derived]]:
        """Return all cells that changes can affect; an empty list means no vintages. Call it only once."""
        return self.made | self.rest.result()


def begun(
    processes: Processes,
    plan: SeriesPlan,
    op: Operator,
    inputs: Sequence[Sequence[InputSeries]],
    span: tuple[int, int] | None,
) -> SeriesAtWork:
    """Begin to compute a series from its current inputs. Raises what `derive_at_once` raises."""
    made, rest = derive_at_once(op, plan.spec.frequency, inputs, _allowance(plan))
    weight = 0
    if processes.count == 1 or len(rest) <= _FEW_CELLS:
        processes = _HERE
    else:
        weight = _CELL_BYTES * sum(len(series.cells) for candidates in inputs for series in candidates)
    return SeriesAtWork(plan, span, made, processes.job(cells_of, plan, inputs, rest, weight=weight))


def cells_of(
    plan: SeriesPlan, inputs: Sequence[Sequence[InputSeries]], outputs: Sequence[int]
) -> dict[int, list[Derived]]:
    """Return the vintages of some output cells of a series, by period key. Raises what `derive_cells` raises."""
    frequency = plan.spec.frequency
    op = operator_of(plan.formula, plan.spec.entity, frequency)
    return derive_cells(op, frequency, inputs, outputs, _allowance(plan))


#: For jobs too small for a worker.
_HERE = Processes(1)


def _allowance(plan: SeriesPlan) -> int:
    return plan.spec.allowance_days or plan.spec.frequency.allowance_days
