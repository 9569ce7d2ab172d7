"""
Derived series that are being computed while others are written.

What is found for a whole series at once is found here, in no time. Cells that are looked at one by one, those with several
vintages above all, are a job for whichever process is free; all that it looks at goes with it, since a worker cannot ask
the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.derived.macro.derivation import Derived, InputSeries, derive_at_once, derive_cells
from almanac.derived.macro.operators import Operator
from almanac.pipeline.derive.plans import SeriesPlan, operator_of
from almanac.pipeline.processes import Job, Processes

#: So few cells are computed here: to send them away costs more. And about what one that is looked at takes.
_FEW_CELLS, _CELL_BYTES = 30, 500


class SeriesAtWork(NamedTuple):
    """A series that is being computed."""

    plan: SeriesPlan
    #: Period keys between which all cells go that are not computed; None: none go.
    span: tuple[int, int] | None
    #: Vintages by period key, of the cells found at once.
    made: dict[int, list[Derived]]
    #: The same of all other cells.
    rest: Job[dict[int, list[Derived]]]

    def computed(self) -> dict[int, list[Derived]]:
        """All cells that changes can have altered; an empty list: none. To be asked for once."""
        return self.made | self.rest.result()


def begun(
    processes: Processes,
    plan: SeriesPlan,
    op: Operator,
    inputs: Sequence[Sequence[InputSeries]],
    span: tuple[int, int] | None,
) -> SeriesAtWork:
    """Begin to compute a series from its inputs as they are now. Raises what `derive_at_once` raises."""
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
    """Vintages of some output cells of a series, by period key. Raises what `derive_cells` raises."""
    frequency = plan.spec.frequency
    op = operator_of(plan.formula, plan.spec.entity, frequency)
    return derive_cells(op, frequency, inputs, outputs, _allowance(plan))


#: For what is not worth the way to a worker.
_HERE = Processes(1)


def _allowance(plan: SeriesPlan) -> int:
    return plan.spec.allowance_days or plan.spec.frequency.allowance_days
