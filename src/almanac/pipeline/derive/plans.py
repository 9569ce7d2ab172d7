"""
Plans: which series a formula produces for an entity, and from which inputs, given the existing series.

A formula produces one series for each source that has all its inputs. It also produces one from the preferred inputs,
under the service's own source, unless one source is the first choice for every input. This is decided per formula and
entity, from the existing series and their rights, independently of the moment, so that the preferred result is the
formula applied to the preferred inputs.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.records import Catalog, Formula, input_slugs
from almanac.derived.macro.operators import Operator, fits, operator
from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import currency_of, is_amount, is_money
from almanac.store.engine.protocol import Database
from almanac.store.observations import specs
from almanac.store.observations.reading.metadata import MIXED_SOURCE, MetadataCache

_ADJUSTED = {"SA", "SCA", "SAAR"}


class SeriesIndex:
    """The existing series by (indicator, entity), except those of companies, and the preference among them."""

    def __init__(self, catalog: Catalog, db: Database) -> None:
        self.catalog = catalog
        self._db = db
        #: Specifications by id, of former series too.
        self.specs: dict[str, SeriesSpec] = {}
        self.topics: dict[tuple[str, str], list[SeriesSpec]] = defaultdict(list)
        self._metadata: MetadataCache | None = None
        for spec in specs.in_use(db):
            self.enter(spec)

    def of(self, indicator: str, entity: str) -> Sequence[SeriesSpec]:
        """Return the series of a topic."""
        return self.topics.get((indicator, entity), ())

    def find(self, spec: SeriesSpec) -> SeriesSpec | None:
        """Return the known specification of a series, or None if the series doesn't exist."""
        return next((known for known in self.of(spec.indicator, spec.entity) if known.id == spec.id), None)

    def enter(self, spec: SeriesSpec) -> None:
        """Add a series, or replace its specification."""
        self.leave(spec)
        self.specs[spec.id] = spec
        self.topics[spec.indicator, spec.entity].append(spec)

    def leave(self, spec: SeriesSpec) -> None:
        """Remove a series from its topic."""
        topic = self.topics[spec.indicator, spec.entity]
        topic[:] = [known for known in topic if known.id != spec.id]

    def forget_preferences(self) -> None:
        """Read rights and orders of preference from the store again when they are next needed."""
        self._metadata = None

    def preference(self, spec: SeriesSpec) -> tuple[Any, ...]:
        """Return the preference of a series as readers see it, by the current rights and orders. A lower key is preferred."""
        if self._metadata is None:
            self._metadata = MetadataCache(self._db, 0)
        info = self._metadata.series_by_id(spec.id)
        rank = self._metadata.rank(spec.indicator, spec.source, spec.variant or "", sys.maxsize)
        return (info is None or info.rights.withheld, *rank)


#: A series, the inputs of all its rows (None: each row has its own), the vintages of its affected cells by period key
#: (an empty list: none), and whether all its other cells are emptied.
DerivedCells = tuple[SeriesSpec, Sequence[str] | None, dict[int, list[Vintage]], bool]


class SeriesPlan(NamedTuple):
    """
    One derived series: its specification, and for each input of its formula the candidate series, best first.

    `mixed` is true if an input has several candidates, so that each row records its own inputs.
    """

    spec: SeriesSpec
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


def plans_of(index: SeriesIndex, formula: Formula, entity: str) -> Iterator[SeriesPlan]:
    """
    Yield the plans of all series that a formula produces for an entity.

    The result has the frequencies of the input that the operator looks up first, if the lag fits them.
    """
    if entity in formula.except_entities:
        return
    setter = formula.inputs[operator_of(formula, entity, Frequency.MONTHLY).slots[0].input]
    there = {spec.frequency for named, slug in input_slugs(setter) for spec in index.of(slug, named or entity)}
    lag = str(formula.params.get("lag", ""))
    allowed = there & set(formula.frequencies or Frequency)
    for frequency in Frequency:
        if frequency in allowed and (not lag or fits(lag, frequency)):
            yield from _of_frequency(index, formula, entity, frequency)


def _of_frequency(index: SeriesIndex, formula: Formula, entity: str, frequency: Frequency) -> Iterator[SeriesPlan]:
    op = operator_of(formula, entity, frequency)
    options = [_options(index, formula, place, op, entity, frequency) for place in range(len(formula.inputs))]

    def ranked(place: int) -> list[SeriesSpec]:
        """Sort by preference: rights first, then the alternative (`a|b`: a first), then the order of sources."""
        slugs = [slug for _, slug in input_slugs(formula.inputs[place])]

        def key(spec: SeriesSpec) -> tuple[Any, ...]:
            withheld, *rank = index.preference(spec)
            return (withheld, slugs.index(spec.indicator), *rank)

        return sorted(options[place], key=key)

    def plan(source: str, inputs: Sequence[Sequence[SeriesSpec]]) -> SeriesPlan:
        every = [spec for candidates in inputs for spec in candidates]
        # A result may be as late as its inputs, so a slow data set makes its results slow too.
        allowance = max(spec.allowance_days or spec.frequency.allowance_days for spec in every)
        # With mixed inputs, each row states what its own inputs have in common.
        is_mixed = inputs is ranking
        curves = {(None, None)} if is_mixed else {(spec.curve_type, spec.compounding) for spec in every}
        adjusted = {None} if is_mixed else {spec.seasonal_adjustment for spec in every}
        curve_type, compounding = curves.pop() if len(curves) == 1 else (None, None)
        spec = msgspec.structs.replace(
            result_of(index.catalog, formula, entity, frequency, source),
            seasonal_adjustment=adjusted.pop() if len(adjusted) == 1 else None,
            curve_type=curve_type,
            compounding=compounding,
            allowance_days=allowance if allowance > frequency.allowance_days else None,
            judged_by_fetch=all(spec.judged_by_fetch for spec in every),
            discontinued=all(spec.discontinued for spec in every),
        )
        ids = tuple(tuple(spec.id for spec in candidates) for candidates in inputs)
        return SeriesPlan(spec, ids, is_mixed or any(len(candidates) > 1 for candidates in ids))

    if op.money:
        # The first currency, by the order of the first input, that every input has.
        of_currency = [[(_currency(index.catalog, spec), spec) for spec in candidates] for candidates in options]
        shared = set.intersection(*({code for code, _ in pairs} for pairs in of_currency)) - {None}
        chosen = next((code for spec in ranked(0) if (code := _currency(index.catalog, spec)) in shared), None)
        options = [[spec for code, spec in pairs if code == chosen and code] for pairs in of_currency]
    if not options or not all(options):
        return
    by_source = [{spec.source: spec for spec in reversed(candidates)} for candidates in options]
    ranking: list[list[SeriesSpec]] = []
    if not op.same_source and len(options) > 1 and len(set().union(*by_source)) > 1:
        ranking = [ranked(place) for place in range(len(options))]
    mixed = len({candidates[0].source for candidates in ranking}) > 1
    for source in by_source[0]:
        if (mixed and source == MIXED_SOURCE) or not all(source in candidates for candidates in by_source):
            continue
        inputs = [[candidates[source]] for candidates in by_source]
        if op.same_source and len({(spec.curve_type, spec.compounding) for (spec,) in inputs}) > 1:
            continue
        if len(inputs) == 1 and not is_money(formula.unit):
            # A growth rate uses the values of one currency, former or later, never of both.
            (first,) = inputs[0]
            others = sorted(index.of(first.indicator, first.entity), key=lambda spec: spec.variant or "")
            inputs[0] += [
                spec for spec in others if spec.source == source and spec.id != first.id and spec.code == first.code
            ]
        yield plan(source, inputs)
    if mixed:
        yield plan(MIXED_SOURCE, ranking)


def _options(
    index: SeriesIndex, formula: Formula, place: int, op: Operator, entity: str, frequency: Frequency
) -> list[SeriesSpec]:
    """
    Return the candidate series of one input, one per source for each alternative.

    If an input within a period has several frequencies, the highest is taken; the main series of a topic comes
    before its variants.
    """
    words = {slot.within for slot in op.slots if slot.input == place and slot.within}
    options: list[SeriesSpec] = []
    for named, slug in input_slugs(formula.inputs[place]):
        offered: dict[str, SeriesSpec] = {}
        for spec in sorted(index.of(slug, named or entity), key=lambda spec: spec.variant or ""):
            if formula.seasonally_adjusted_only and spec.seasonal_adjustment not in _ADJUSTED:
                continue
            if not words:
                if spec.frequency is frequency:
                    offered.setdefault(spec.source, spec)
            # A mean or sum needs whole periods with a known number of values.
            elif words == {"last"} or spec.frequency.months:
                before = offered.get(spec.source)
                if spec.frequency.rank <= (frequency.rank if before is None else before.frequency.rank - 1):
                    offered[spec.source] = spec
        options.extend(offered.values())
    return options


def _currency(catalog: Catalog, spec: SeriesSpec) -> str | None:
    """Return the ISO code of the currency that a series counts in, or None if it doesn't count money."""
    if not is_amount(spec.unit):
        return None
    return currency_of(spec.unit, spec.currency or catalog.entities[spec.entity].currency)
