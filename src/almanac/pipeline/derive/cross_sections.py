"""Series of formulas over a group of entities: the members of a group, and the results that changes affect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from almanac.catalog.records import Catalog, Formula
from almanac.derived.macro.cross_sections import PeerComparison, compare, peer_comparison
from almanac.derived.macro.input_series import InputSeries
from almanac.derived.macro.operators import FormulaError
from almanac.domain.observations import Vintage
from almanac.domain.periods import EVERY_KEY, Frequency, end_of, highest_key, key_at, lowest_key, ordinal
from almanac.domain.reference import Entity, SeriesSpec
from almanac.domain.rights import Exposure
from almanac.pipeline.derive.plans import DerivedCells, SeriesIndex, result_of
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from almanac.store.observations.writing.batch import Batch


def belongs(entity: Entity, members: str) -> bool:
    """Return whether an entity belongs to the group `members`. Raises FormulaError for an unknown group."""
    if members == "countries":
        return entity.kind == "country"
    if members == "rates_scopes":
        return entity.rates_scope is not None
    raise FormulaError(f"members {members!r}: there are countries, rates_scopes")


def takes_part(catalog: Catalog, formula: Formula, comparison: PeerComparison, spec: SeriesSpec) -> bool:
    """
    Return whether a series of the formula's input takes part in the comparison.

    A series that may be shown only with a consent does not, because one withheld country would otherwise withhold the
    results of all others. The catalogue alone decides, so recording a consent changes no value.
    """
    if spec.entity in formula.except_entities or not comparison.fits(spec.frequency):
        return False
    if formula.frequencies and spec.frequency not in formula.frequencies:
        return False
    allowed = _is_public(catalog, spec) or catalog.sources[spec.source].rights.derivatives_allowed
    return allowed and belongs(catalog.entities[spec.entity], formula.params["members"])


def compared(
    index: SeriesIndex, batch: Batch, formula: Formula, changes: Mapping[str, set[int] | None], *, anew: bool
) -> Iterator[DerivedCells]:
    """
    Yield every series of a formula that the changes can affect, with its affected cells.

    `changes` maps ids of current and former series to changed periods, None for all of them. With `anew` all series
    count as changed.
    """
    inputs_now = [s.id for (slug, _), several in index.topics.items() if slug == formula.inputs[0] for s in several]
    comparison = peer_comparison(formula.operator, formula.params)
    touched: dict[Frequency, set[int] | None] = {}
    for identifier, periods in {**changes, **dict.fromkeys(inputs_now if anew else ())}.items():
        spec = index.specs[identifier]
        if spec.indicator == formula.inputs[0] and takes_part(index.catalog, formula, comparison, spec):
            before = touched.setdefault(spec.frequency, set())
            if periods is None or before is None:
                touched[spec.frequency] = None
            else:
                changed = {ordinal(period, spec.frequency) for period in periods}
                before |= changed | {number + 12 * comparison.years for number in changed}

    def place(spec: SeriesSpec) -> tuple[Any, ...]:
        """Return the sort key of a candidate: the order for readers, but without regard to consents."""
        return (not _is_public(index.catalog, spec), *index.preference(spec)[1:])

    for frequency, numbers in sorted(touched.items(), key=lambda item: item[0].rank):
        group: dict[str, list[SeriesSpec]] = {}
        stored: dict[str, SeriesSpec] = {}
        for (slug, entity), several in index.topics.items():
            if slug == formula.inputs[0]:
                taking = [
                    s for s in several if s.frequency is frequency and takes_part(index.catalog, formula, comparison, s)
                ]
                if taking:
                    group[entity] = sorted(taking, key=place)
            elif slug == formula.slug:
                stored.update((entity, spec) for spec in several if spec.frequency is frequency)
        spans = {EVERY_KEY}
        if numbers is not None:
            needed = numbers, {comparison.base(number) for number in numbers}
            spans = {key_range(min(part), max(part), frequency) for part in needed if part}
        inputs: dict[str, list[InputSeries]] = {}
        for entity in sorted(group):  # sums are taken in this order
            histories = [[batch.history(batch.existing(spec.id), span) for span in spans] for spec in group[entity]]
            inputs[entity] = [
                InputSeries(frequency, {ordinal(key, frequency): cell for part in parts for key, cell in part.items()})
                for parts in histories
            ]
        every = {number for several in inputs.values() for series in several for number in series.cells}
        outputs = sorted(every if numbers is None else every & numbers)
        scored = compare(comparison, frequency, inputs, outputs, frequency.allowance_days)
        for entity in sorted(group.keys() | stored.keys()):
            spec = result_of(index.catalog, formula, entity, frequency, MIXED_SOURCE)
            discontinued = all(candidate.discontinued for candidate in group.get(entity, ()))
            spec = msgspec.structs.replace(spec, discontinued=discontinued) if entity in group else stored[entity]
            target: dict[int, list[Vintage]] = {key_at(number, frequency): [] for number in numbers or ()}
            for key, made in scored.get(entity, {}).items():
                target[key] = [
                    vintage._replace(lineage=batch.lineage([group[name][choice].id for name, choice in used]))
                    for vintage, used in made
                ]
            yield spec, None, target, numbers is None


def key_range(first: int, last: int, frequency: Frequency) -> tuple[int, int]:
    """Return the range of keys of all periods that end between these months, or days, given by their ordinals."""
    start, end = end_of(key_at(first, frequency)), end_of(key_at(last, frequency))
    return lowest_key(start.replace(day=1) if frequency.months else start), highest_key(end)


def _is_public(catalog: Catalog, spec: SeriesSpec) -> bool:
    rights = catalog.sources[spec.source].rights
    return max(rights.exposure, rights.channel, spec.exposure) is Exposure.public
