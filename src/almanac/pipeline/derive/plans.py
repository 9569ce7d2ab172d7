"""
Plans: which series a formula produces for an entity, and from which inputs, given the existing series.

A formula produces one series for each source that has all its inputs. It also produces one from the preferred inputs,
under the service's own source, unless one source is the first choice for every input. This is decided per formula and
entity, from the existing series and their rights, independently of the moment, so that the preferred result is the
formula applied to the preferred inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.records import Catalog, Formula, input_slugs
from almanac.derived.macro.operators import Operator, fits, operator
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import currency_of, is_amount, is_money
from almanac.store.observations.reading.metadata import MIXED_SOURCE

_ADJUSTED = {"SA", "SCA", "SAAR"}

#: Series by (indicator, entity).
Topics = Mapping[tuple[str, str], Sequence[SeriesSpec]]


class SeriesPlan(NamedTuple):
    """
    One derived series: its specification, and for each input of its formula the candidate series, best first.

    `mixed` is true if an input has several candidates, so that each row records its own inputs.
    """

    spec: SeriesSpec
    formula: Formula
    inputs: tuple[tuple[str, ...], ...]
    mixed: bool


def operator_of(formula: Formula, entity: str, frequency: Frequency) -> Operator:
    """
    Return the operator of a formula for an entity, with the days on which the entity's input was redefined. Raises
    FormulaError.
    """
    return operator(formula.operator, {**formula.params, "breaks": formula.redefined.get(entity, ())}, frequency)


def factor(catalog: Catalog, op: Operator, spec: SeriesSpec) -> float:
    """
    Return the factor for published numbers that enter a formula: 1 unless the formula is about money.

    For money it is the power of ten of unit and series, and for a flow at annual rates also the period's share of a
    year.
    """
    if not op.money:
        return 1.0
    scale = 0 if spec.unit is None else catalog.units[spec.unit].scale
    ten = float(10 ** (scale + spec.scale))
    return ten * spec.frequency.months / 12 if spec.annualized else ten


def result_of(catalog: Catalog, formula: Formula, entity: str, frequency: Frequency, source: str) -> SeriesSpec:
    """Return the series specification of a formula's results for an entity, as far as formula and entity determine it."""
    return SeriesSpec(
        source=source,
        native=formula.slug,
        indicator=formula.slug,
        entity=entity,
        frequency=frequency,
        unit=formula.unit,
        name=f"{formula.name}, {catalog.entities[entity].name}",
    )


class Planner:
    """
    A maker of plans from a catalogue and a live view of the existing series.

    `preference` returns the sort key by which readers choose among series of one topic; the lowest is preferred.
    """

    def __init__(self, catalog: Catalog, topics: Topics, preference: Callable[[SeriesSpec], tuple[Any, ...]]) -> None:
        self._catalog = catalog
        self._topics = topics
        self._preference = preference

    def plans(self, formula: Formula, entity: str) -> list[SeriesPlan]:
        """Return the plans of all series that a formula produces for an entity."""
        if entity in formula.except_entities:
            return []
        return [
            plan for frequency in self._frequencies(formula, entity) for plan in self._of(formula, entity, frequency)
        ]

    def _of(self, formula: Formula, entity: str, frequency: Frequency) -> Iterator[SeriesPlan]:
        """Yield the plans for one frequency."""
        op = operator_of(formula, entity, frequency)
        options = [self._options(formula, place, op, entity, frequency) for place in range(len(formula.inputs))]
        if op.money:
            options = self._of_one_currency(formula, options)
        if not options or not all(options):
            return
        by_source = [{spec.source: spec for spec in reversed(one)} for one in options]
        mixed = not op.same_source and len(options) > 1 and len(set().union(*by_source)) > 1
        ranked = [self._ranked(formula.inputs[place], one) for place, one in enumerate(options)] if mixed else []
        mixed = mixed and len({one[0].source for one in ranked}) > 1
        for source in by_source[0]:
            if (mixed and source == MIXED_SOURCE) or not all(source in one for one in by_source):
                continue
            chosen = [one[source] for one in by_source]
            if not op.same_source or len({(s.curve_type, s.compounding) for s in chosen}) == 1:
                inputs = [[s] for s in chosen]
                if len(chosen) == 1 and not is_money(formula.unit):
                    inputs = [[*chosen, *self._in_other_currencies(chosen[0])]]
                yield self._plan(formula, entity, frequency, source, inputs, mixed=False)
        if mixed:
            yield self._plan(formula, entity, frequency, MIXED_SOURCE, ranked, mixed=True)

    def _frequencies(self, formula: Formula, entity: str) -> list[Frequency]:
        """Return the frequencies of the result: those of the input that the operator looks up first, if the lag fits them."""
        setter = formula.inputs[operator_of(formula, entity, Frequency.MONTHLY).slots[0].input]
        found = {spec.frequency for spec in self._series_of(setter, entity)}
        lag = str(formula.params.get("lag", ""))
        allowed = set(formula.frequencies) or set(Frequency)
        return [f for f in list(Frequency) if f in found and f in allowed and (not lag or fits(lag, f))]

    def _series_of(self, text: str, entity: str) -> Iterable[SeriesSpec]:
        for named, slug in input_slugs(text):
            yield from self._topics.get((slug, named or entity), ())

    def _options(
        self, formula: Formula, place: int, op: Operator, entity: str, frequency: Frequency
    ) -> list[SeriesSpec]:
        """
        Return the candidate series of one input, one per source for each alternative.

        If an input within a period has several frequencies, the highest is taken; the main series of a topic comes
        before its variants.
        """
        words = {slot.within for slot in op.slots if slot.input == place and slot.within}
        found: list[SeriesSpec] = []
        for named, slug in input_slugs(formula.inputs[place]):
            offered: dict[str, SeriesSpec] = {}
            for spec in sorted(self._topics.get((slug, named or entity), ()), key=lambda one: one.variant or ""):
                if formula.seasonally_adjusted_only and spec.seasonal_adjustment not in _ADJUSTED:
                    continue
                if words:
                    held = offered.get(spec.source)
                    # A mean or sum needs whole periods with a known number of values.
                    countable = words == {"last"} or spec.frequency.months
                    if (
                        countable
                        and spec.frequency.rank <= frequency.rank
                        and (held is None or spec.frequency.rank < held.frequency.rank)
                    ):
                        offered[spec.source] = spec
                elif spec.frequency is frequency:
                    offered.setdefault(spec.source, spec)
            found.extend(offered.values())
        return found

    def _of_one_currency(self, formula: Formula, options: Sequence[Sequence[SeriesSpec]]) -> list[list[SeriesSpec]]:
        """Return the options in the first currency, by the order of the first input, that every input has; or none."""
        for first in self._ranked(formula.inputs[0], options[0]):
            currency = self._currency(first)
            if currency is not None:
                kept = [[spec for spec in one if self._currency(spec) == currency] for one in options]
                if all(kept):
                    return kept
        return []

    def _in_other_currencies(self, spec: SeriesSpec) -> list[SeriesSpec]:
        """
        Return series of the same amounts in a former or later currency. A growth rate uses the values of one of them,
        never both.
        """
        every = sorted(self._topics.get((spec.indicator, spec.entity), ()), key=lambda one: one.variant or "")
        return [one for one in every if one.source == spec.source and one.id != spec.id and one.code == spec.code]

    def _currency(self, spec: SeriesSpec) -> str | None:
        """Return the ISO code of the currency that a series counts in, or None if it doesn't count money."""
        if not is_amount(spec.unit):
            return None
        return currency_of(spec.unit, spec.currency or self._catalog.entities[spec.entity].currency)

    def _ranked(self, text: str, options: Sequence[SeriesSpec]) -> list[SeriesSpec]:
        """Sort options by preference: rights first, then the alternative (`a|b`: a first), then the order of sources."""
        slugs = [slug for _, slug in input_slugs(text)]

        def place(spec: SeriesSpec) -> tuple[Any, ...]:
            withheld, *rank = self._preference(spec)
            return (withheld, slugs.index(spec.indicator), *rank)

        return sorted(options, key=place)

    def _plan(
        self,
        formula: Formula,
        entity: str,
        frequency: Frequency,
        source: str,
        inputs: Sequence[Sequence[SeriesSpec]],
        *,
        mixed: bool,
    ) -> SeriesPlan:
        every = [spec for candidates in inputs for spec in candidates]
        # A result may be as late as its inputs, so a slow data set makes its results slow too.
        allowance = max(spec.allowance_days or spec.frequency.allowance_days for spec in every)
        # With mixed inputs, each row states what its own inputs have in common.
        alike = () if mixed else every
        curves = {(spec.curve_type, spec.compounding) for spec in alike}
        curve = next(iter(curves)) if len(curves) == 1 else (None, None)
        adjusted = {spec.seasonal_adjustment for spec in alike}
        spec = msgspec.structs.replace(
            result_of(self._catalog, formula, entity, frequency, source),
            seasonal_adjustment=next(iter(adjusted)) if len(adjusted) == 1 else None,
            curve_type=curve[0],
            compounding=curve[1],
            allowance_days=allowance if allowance > frequency.allowance_days else None,
            judged_by_fetch=all(spec.judged_by_fetch for spec in every),
            discontinued=all(spec.discontinued for spec in every),
        )
        ids = tuple(tuple(s.id for s in candidates) for candidates in inputs)
        return SeriesPlan(spec, formula, ids, mixed or any(len(candidates) > 1 for candidates in ids))
