"""Series of formulas over a group of entities: the members of a group, and the results that changes affect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from almanac.catalog.records import Catalog, Formula
from almanac.derived.macro.cross_sections import PeerComparison, Scored, compare, peer_comparison
from almanac.derived.macro.input_series import InputSeries
from almanac.derived.macro.operators import FormulaError
from almanac.domain.observations import Vintage
from almanac.domain.periods import (
    EVERY_KEY,
    Frequency,
    Period,
    end_of,
    highest_key,
    key_at,
    lowest_key,
    ordinal,
)
from almanac.domain.reference import Entity, SeriesSpec
from almanac.domain.rights import Exposure
from almanac.pipeline.derive.plans import Topics, result_of
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from almanac.store.observations.writing.batch import Batch

#: Ordinals further apart than this are read in separate ranges.
_GAP = 40
#: Entity → candidate series, in order of preference.
Group = dict[str, list[SeriesSpec]]


def belongs(entity: Entity, members: str) -> bool:
    """Return whether an entity belongs to the group `members`. Raises FormulaError for an unknown group."""
    if members == "countries":
        return entity.kind == "country"
    if members == "rates_scopes":
        return entity.rates_scope is not None
    raise FormulaError(f"members {members!r}: there are countries, rates_scopes")


class Sections:
    """
    Computation of formulas over groups, from the catalogue and a live view of the existing series.

    Candidates are series that may be shown without a consent, because one withheld country would otherwise withhold the
    results of all others. The catalogue alone decides, so recording a consent changes no value.
    """

    def __init__(self, catalog: Catalog, topics: Topics, preference: Callable[[SeriesSpec], tuple[Any, ...]]) -> None:
        self._catalog = catalog
        self._topics = topics
        self._preference = preference

    def computed(
        self, batch: Batch, formula: Formula, changes: Mapping[str, set[int] | None], specs: Mapping[str, SeriesSpec]
    ) -> Iterator[tuple[SeriesSpec, dict[int, list[Vintage]]]]:
        """
        Yield every series of a formula that the changes can affect, with the vintages of its affected cells (an empty
        list: none).

        `changes` maps series ids to changed periods, None for all of them; `specs` describes each of those series,
        including former ones.
        """
        how = peer_comparison(formula.operator, formula.params)
        slug = formula.inputs[0]
        touched: dict[Frequency, set[int] | None] = {}
        for identifier, periods in changes.items():
            spec = specs[identifier]
            if spec.indicator == slug and self._takes(formula, how, spec):
                held = touched.setdefault(spec.frequency, set())
                if periods is None or held is None:
                    touched[spec.frequency] = None
                else:
                    numbers = {ordinal(period, spec.frequency) for period in periods}
                    held |= numbers | {number + 12 * how.years for number in numbers}
        for frequency in sorted(touched, key=lambda one: one.rank):
            yield from self._of(batch, formula, how, frequency, touched[frequency])

    def _takes(self, formula: Formula, how: PeerComparison, spec: SeriesSpec) -> bool:
        """Return whether a series of the formula's input takes part in the comparison."""
        if spec.entity in formula.except_entities or not how.fits(spec.frequency):
            return False
        if formula.frequencies and spec.frequency not in formula.frequencies:
            return False
        allowed = self._public(spec) or self._catalog.sources[spec.source].rights.derivatives_allowed
        return allowed and belongs(self._catalog.entities[spec.entity], formula.params["members"])

    def _public(self, spec: SeriesSpec) -> bool:
        rights = self._catalog.sources[spec.source].rights
        return max(rights.exposure, rights.channel, spec.exposure) is Exposure.public

    def _place(self, spec: SeriesSpec) -> tuple[Any, ...]:
        """Return the sort key of a candidate: the order for readers, but without regard to consents."""
        return (not self._public(spec), *self._preference(spec)[1:])

    def _of(
        self, batch: Batch, formula: Formula, how: PeerComparison, frequency: Frequency, touched: set[int] | None
    ) -> Iterator[tuple[SeriesSpec, dict[int, list[Vintage]]]]:
        group = self._group(formula, how, frequency)
        read = {
            entity: [InputSeries(frequency, _cells(batch, spec, touched, how)) for spec in several]
            for entity, several in group.items()
        }
        every = {number for several in read.values() for series in several for number in series.cells}
        outputs = sorted(every if touched is None else every & touched)
        scored = compare(how, frequency, read, outputs, frequency.allowance_days)
        there = {
            entity: spec
            for (slug, entity), several in self._topics.items()
            if slug == formula.slug
            for spec in several
            if spec.frequency is frequency
        }
        for entity in sorted(group.keys() | there.keys()):
            several = group.get(entity, [])
            spec = self._spec(formula, entity, frequency, several) if several else there[entity]
            target: dict[int, list[Vintage]] = {key_at(number, frequency): [] for number in touched or ()}
            if touched is None and entity in there:
                target = {key: [] for key in batch.history(batch.existing(spec.id), EVERY_KEY)}
            for key, made in scored.get(entity, {}).items():
                target[key] = self._with_lineage(batch, group, made)
            yield spec, target

    def _group(self, formula: Formula, how: PeerComparison, frequency: Frequency) -> Group:
        found: Group = defaultdict(list)
        for (slug, entity), several in self._topics.items():
            if slug == formula.inputs[0]:
                for spec in several:
                    if spec.frequency is frequency and self._takes(formula, how, spec):
                        found[entity].append(spec)
        for several in found.values():
            several.sort(key=self._place)
        return dict(sorted(found.items()))

    def _with_lineage(self, batch: Batch, group: Group, made: Sequence[Scored]) -> list[Vintage]:
        return [
            scored.vintage._replace(lineage=batch.lineage([group[entity][place].id for entity, place in scored.used]))
            for scored in made
        ]

    def _spec(
        self, formula: Formula, entity: str, frequency: Frequency, own: Sequence[SeriesSpec]
    ) -> SeriesSpec:  # fmt: skip
        made = result_of(self._catalog, formula, entity, frequency, MIXED_SOURCE)
        return msgspec.structs.replace(made, discontinued=all(spec.discontinued for spec in own))


def _cells(batch: Batch, spec: SeriesSpec, touched: set[int] | None, how: PeerComparison) -> dict[int, list[Vintage]]:
    """Return open vintages of a series by ordinal, all or those needed for the outputs `touched`."""
    handle = batch.existing(spec.id)
    found: dict[int, list[Vintage]] = {}
    for span in [EVERY_KEY] if touched is None else _spans(touched | {how.base(o) for o in touched}, spec.frequency):
        for key, history in batch.history(handle, span).items():
            found[ordinal(key, spec.frequency)] = history
    return found


def _spans(numbers: Iterable[int], frequency: Frequency) -> Iterator[tuple[int, int]]:
    """Yield ranges of period keys that cover the periods with these numbers. Nearby periods share a range."""
    last: int | None = None
    first = 0
    for number in sorted(numbers):
        if last is None or number - last > _GAP:
            if last is not None:
                yield _span(first, last, frequency)
            first = number
        last = number
    if last is not None:
        yield _span(first, last, frequency)


def _span(first: int, last: int, frequency: Frequency) -> tuple[int, int]:
    """Return the range of keys of all periods that end between these months, or days, given by their numbers."""
    ends = end_of(key_at(first, frequency)), end_of(key_at(last, frequency))
    begin = Period.ending(ends[0], Frequency.MONTHLY).start if frequency.months else ends[0]
    return lowest_key(begin or ends[0]), highest_key(ends[1])
