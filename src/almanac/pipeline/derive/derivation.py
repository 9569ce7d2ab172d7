"""Recomputation of derived series after changes. `plans` decides which series exist."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from almanac.catalog.records import Catalog, Formula, input_slugs
from almanac.derived.macro.cross_sections import PEER_COMPARISONS
from almanac.derived.macro.derivation import InputSeries, derive, span_needed
from almanac.derived.macro.input_series import NO_RELEASE, Arrays, Cells
from almanac.domain.observations import Vintage
from almanac.domain.periods import EVERY_KEY, end_of, highest_key, lowest_key, ordinal
from almanac.domain.progress import Meter, counted, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.pipeline.derive.cross_sections import compared
from almanac.pipeline.derive.plans import DerivedCells, SeriesIndex, SeriesPlan, factor, operator_of, plans_of
from almanac.store.engine.protocol import Database
from almanac.store.observations.writing.batch import Batch
from almanac.store.summary.figures import derived_series

#: Changed periods by series id; None: every period.
Changes = dict[str, set[int] | None]


class Deriver:
    """Recomputation of derived series. It holds the list of all series, so `register` each new raw series."""

    def __init__(self, catalog: Catalog, db: Database) -> None:
        self._db = db
        self._index = SeriesIndex(catalog, db)
        self._formulas = _in_order(catalog.formulas)
        self._users: dict[str, list[Formula]] = defaultdict(list)
        for formula in self._formulas:
            for slug in _input_slugs(formula) if formula.operator not in PEER_COMPARISONS else ():
                self._users[slug].append(formula)
        #: Formulas and entities whose results are recomputed whole: other series may come of them, or of other inputs.
        self._anew: set[tuple[str, str]] = set()
        self._compared_anew = False

    def register(self, spec: SeriesSpec) -> None:
        """
        Record a series that is new or whose specification changed.

        A new series may change which series formulas produce. A changed one may change the descriptions of its results
        (for example if an index is now unadjusted).
        """
        if self._index.find(spec) != spec:
            self._recompute_users(spec)
            self._index.enter(spec)

    def reconsider(self, spec: SeriesSpec | None = None) -> None:
        """
        Record that the rights of a series changed or, with None, that any rights or orders of preference did.

        Formulas with several inputs choose by them, and are recomputed at the next `run`; with None, those over a group
        are too.
        """
        self._index.forget_preferences()
        self._compared_anew = self._compared_anew or spec is None
        for formula in self._formulas if spec is None else self._users[spec.indicator]:
            entities = {entity for _, entity in self._index.topics} if spec is None else self._entities(formula, spec)
            if len(formula.inputs) > 1:
                self._anew.update((formula.slug, entity) for entity in entities)
            elif spec is not None:
                # A series computed from it alone has its rights, and may be one of several inputs itself.
                for entity in entities:
                    for result in self._index.of(formula.slug, entity):
                        self.reconsider(result)

    def run(self, batch: Batch, changes: Changes) -> None:
        """
        Recompute all derived series that depend on changed inputs, inside the batch that changed them.

        Derived series that change are added to `changes`.
        """
        if not changes and not self._anew and not self._compared_anew:
            return  # a payload about companies: nothing here depends on it
        for series in changes:
            self._forget_if_empty(batch, self._index.specs[series])
        self._update(batch, changes, self._formulas)

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """
        Recompute every derived series from the stored inputs and write the differences. Returns the number of changed
        cells.
        """
        slugs = {formula.slug for formula in self._formulas}
        self._anew.update(topic for topic in self._index.topics if topic[0] in slugs)
        count = self._update(batch, dict.fromkeys(self._index.specs), counted(self._formulas, meter, "formulas"))
        for _, identifier in sorted(pair for pair in derived_series(self._db) if pair[0] not in slugs):
            count += self._write(batch, (self._index.specs[identifier], None, {}, True), {})
        return count

    def _update(self, batch: Batch, changes: Changes, formulas: Iterable[Formula]) -> int:
        """Write the results of formulas that the changes affect, and add them to `changes`. Returns the number of changed cells."""
        self._index.forget_preferences()
        count = 0
        for formula in formulas:
            if formula.operator in PEER_COMPARISONS:
                results = compared(self._index, batch, formula, changes, anew=self._compared_anew)
            else:
                results = self._derived(batch, formula, changes)
            count += sum(self._write(batch, result, changes) for result in results)
        self._anew.clear()
        self._compared_anew = False
        return count

    def _derived(self, batch: Batch, formula: Formula, changes: Changes) -> Iterator[DerivedCells]:
        slugs = _input_slugs(formula)
        touched = {entity for slug, entity in self._anew if slug == formula.slug}
        for series in changes:
            spec = self._index.specs[series]
            if spec.indicator in slugs:
                touched.update(self._entities(formula, spec))
        for entity in sorted(touched):
            anew = (formula.slug, entity) in self._anew
            plans = list(plans_of(self._index, formula, entity))
            planned = {plan.spec.id for plan in plans}
            for spec in list(self._index.of(formula.slug, entity)) if anew else ():
                if spec.id not in planned:  # for example because one source now has all inputs
                    yield spec, None, {}, True
            for plan in plans:
                every = [series for candidates in plan.inputs for series in candidates]
                whole = anew or any(changes.get(series, ()) is None for series in every)
                target = self._cells(batch, formula, plan, None if whole else changes)
                yield plan.spec, None if plan.mixed else every, target, whole

    def _cells(
        self, batch: Batch, formula: Formula, plan: SeriesPlan, changes: Changes | None
    ) -> dict[int, list[Vintage]]:
        """Return the vintages of the cells of one series that the changes (None: of everything) affect, by period key."""
        frequency = plan.spec.frequency
        op = operator_of(formula, plan.spec.entity, frequency)
        span = EVERY_KEY
        if changes is not None:
            moved = [periods for candidates in plan.inputs for series in candidates if (periods := changes.get(series))]
            ends = [(end_of(min(periods)), end_of(max(periods))) for periods in moved]
            days = span_needed(op, frequency, ends)
            if days is None:
                return {}
            span = (lowest_key(days[0]), highest_key(days[1]))
        at_once = op.vector and all(len(candidates) == 1 for candidates in plan.inputs)

        def read(series: str) -> InputSeries:
            """Return one input as stored now, with `at_once` as columns, and as cells only if one is needed."""
            spec, handle = self._index.specs[series], batch.existing(series)

            def cells() -> Cells:
                return {ordinal(key, spec.frequency): cell for key, cell in batch.history(handle, span).items()}

            moved = () if changes is None else changes.get(series) or ()
            changed = None if changes is None else frozenset(ordinal(key, spec.frequency) for key in moved)
            rows = batch.numbers(handle, span, NO_RELEASE) if at_once else None
            arrays = None if rows is None else Arrays.of_rows(rows, spec.frequency, batch.note)
            return InputSeries(spec.frequency, cells, changed, arrays, factor(self._index.catalog, op, spec))

        inputs = [[read(series) for series in candidates] for candidates in plan.inputs]
        computed = derive(op, frequency, inputs, plan.spec.allowance_days or frequency.allowance_days)

        def with_lineage(vintage: Vintage, used: Sequence[int]) -> Vintage:
            lineage = [plan.inputs[place][choice] for place, choice in enumerate(used)]
            return vintage._replace(lineage=batch.lineage(lineage))

        return {key: [with_lineage(v, used) if plan.mixed else v for v, used in made] for key, made in computed.items()}

    def _write(self, batch: Batch, result: DerivedCells, changes: Changes) -> int:
        """Write the differences of one series and return the number of changed cells."""
        spec, inputs, target, whole = result
        known, has_rows = self._index.find(spec), any(target.values())
        if not has_rows and known is None:
            return 0
        self.register(spec)
        handle = batch.series(spec, "derived", inputs) if has_rows or known != spec else batch.existing(spec.id)
        if whole:
            target = {key: [] for key in batch.history(handle, EVERY_KEY)} | target
        written = batch.replace(handle, target)
        if written:
            changes[spec.id] = set(written)
            self._forget_if_empty(batch, spec)
        return len(written)

    def _forget_if_empty(self, batch: Batch, spec: SeriesSpec) -> None:
        """
        Remove a series that has no vintages left, because the stored data alone must decide which series formulas
        produce. If it comes back, it counts as new.

        A series can lose its last vintage if a value and its withdrawal are stated for the same second, or by a replay.
        """
        if not batch.has_rows(batch.existing(spec.id)):
            self._recompute_users(spec)
            self._index.leave(spec)

    def _recompute_users(self, spec: SeriesSpec) -> None:
        for formula in self._users[spec.indicator]:
            self._anew.update((formula.slug, entity) for entity in self._entities(formula, spec))

    def _entities(self, formula: Formula, spec: SeriesSpec) -> list[str]:
        """
        Return the entities whose result of a formula depends on a series: its own, or all if the formula names it
        explicitly.
        """
        names = [pair for text in formula.inputs for pair in input_slugs(text)]
        if any(entity == spec.entity and slug == spec.indicator for entity, slug in names if entity is not None):
            free = {slug for entity, slug in names if entity is None}
            return sorted({entity for slug, entity in self._index.topics if slug in free} | {spec.entity})
        return [spec.entity]


def _input_slugs(formula: Formula) -> set[str]:
    return {slug for text in formula.inputs for _, slug in input_slugs(text)}


def _in_order(formulas: Mapping[str, Formula]) -> list[Formula]:
    """Return the formulas in an order in which each comes after its inputs."""
    done: dict[str, Formula] = {}

    def visit(slug: str) -> None:
        if slug in formulas and slug not in done:
            for text in formulas[slug].inputs:
                for _, name in input_slugs(text):
                    visit(name)
            done[slug] = formulas[slug]

    for slug in sorted(formulas):
        visit(slug)
    return list(done.values())
