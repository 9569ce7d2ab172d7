"""
Explanations of derived values for the HTTP interface, which knows no formulas: the inputs used, and the value computed
again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from almanac.catalog.records import Catalog, Formula
from almanac.derived.macro.cross_sections import PEER_COMPARISONS, peer_comparison, result_of
from almanac.derived.macro.derivation import InputSeries, explain, span_needed
from almanac.domain.observations import InputCell, Recomputed, Vintage
from almanac.domain.periods import end_of, highest_key, key_at, lowest_key, ordinal
from almanac.pipeline.derive.cross_sections import key_range
from almanac.pipeline.derive.plans import factor, operator_of
from almanac.store.observations.reading.lookup import history
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.pages import ObservationRow
from almanac.store.observations.reading.reader import View

#: Before this day a month can't be subtracted.
_EARLIEST = date(1, 2, 1)


class Explainer:
    """An explainer of derived rows by the formulas of a catalogue."""

    def __init__(
        self, catalog: Catalog, of_company: Callable[[View, ObservationRow], Recomputed | None] | None = None
    ) -> None:
        """
        Create an explainer. `of_company` explains companies' derived values, which no formula of the catalogue
        computes.
        """
        self._catalog = catalog
        self._of_company = of_company

    def __call__(self, view: View, row: ObservationRow) -> Recomputed | None:
        """Explain a row. Return None if its formula or an input no longer exists."""
        spec = row.series.spec
        if self._of_company is not None and spec.entity.startswith("company_"):
            return self._of_company(view, row)
        formula = self._catalog.formulas.get(spec.indicator)
        lineage = view.directory.lineage(row.lineage) if row.lineage else row.series.inputs
        infos = [info for name in lineage if (info := view.directory.series_by_id(name)) is not None]
        if formula is None or len(infos) != len(lineage):
            return None
        if formula.operator in PEER_COMPARISONS:
            return _compared(view, row, formula, infos)
        if len(infos) != len(formula.inputs):
            return None
        op = operator_of(formula, spec.entity, spec.frequency)
        end = end_of(row.period)
        days = span_needed(op, spec.frequency, [(end, end)])
        if days is None:
            return None
        low = lowest_key(max(days[0], _EARLIEST) - timedelta(days=31))
        high = highest_key(days[1])
        inputs: list[list[InputSeries]] = []
        for info in infos:
            cells = {ordinal(key, info.spec.frequency): v for key, v in history(view, info, low, high).items()}
            inputs.append([InputSeries(info.spec.frequency, cells, factor=factor(self._catalog, op, info.spec))])
        result, used = explain(op, spec.frequency, inputs, ordinal(row.period, spec.frequency), row.known)
        cells_used = [
            InputCell(lineage[cell.input], key_at(cell.ordinal, inputs[cell.input][0].frequency), cell.vintage)
            for cell in used
        ]
        unique = list(dict.fromkeys(cells_used))
        return Recomputed(result.value if result else None, result.text if result else None, unique)


def _compared(view: View, row: ObservationRow, formula: Formula, infos: list[SeriesInfo]) -> Recomputed:
    """Explain a value of a formula over a group. Its inputs are the cells of every entity in the comparison."""
    how = peer_comparison(formula.operator, formula.params)
    frequency = row.series.spec.frequency
    output = ordinal(row.period, frequency)
    group: dict[str, list[InputSeries]] = {}
    for info in infos:
        cells: dict[int, list[Vintage]] = {}
        for number in {output, how.base(output)}:
            stored = history(view, info, *key_range(number, number, frequency))
            cells |= {ordinal(key, frequency): cell for key, cell in stored.items()}
        group[info.spec.entity] = [InputSeries(frequency, cells)]
    found, used = result_of(how, group, output, row.series.spec.entity, row.known)
    places = (output, how.base(output)) if how.years else (output,)
    inputs = [
        InputCell(info.id, key_at(place, frequency), vintage)
        for info in infos
        if info.spec.entity in used
        for place, vintage in zip(places, used[info.spec.entity][1], strict=True)
    ]
    return Recomputed(found.value if found else None, None, inputs)
