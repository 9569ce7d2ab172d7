"""Recomputation of derived series after changes. `plans` decides which series exist."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from almanac.catalog.records import Catalog, Formula, input_slugs
from almanac.derived.macro.cross_sections import PEER_COMPARISONS
from almanac.derived.macro.derivation import Derived, InputSeries, span_needed
from almanac.derived.macro.input_series import NO_RELEASE, Arrays, Cells
from almanac.derived.macro.operators import Operator
from almanac.domain.observations import Vintage
from almanac.domain.periods import EVERY_KEY, end_of, highest_key, lowest_key, ordinal
from almanac.domain.progress import Meter, counted, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.pipeline.derive.cross_sections import Sections
from almanac.pipeline.derive.plans import Planner, SeriesPlan, factor, operator_of
from almanac.pipeline.derive.series_at_work import SeriesAtWork, begun
from almanac.pipeline.processes import Processes
from almanac.store.engine.protocol import Database
from almanac.store.observations import specs
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.writing.batch import Batch
from almanac.store.summary.figures import derived_series

#: Changed periods by series id; None: every period.
Changes = dict[str, set[int] | None]
#: Series computed ahead of the one being written, per process.
_AHEAD = 8


class Deriver:
    """Recomputation of derived series. It holds the list of all series, so `register` each new raw series."""

    def __init__(self, catalog: Catalog, db: Database, processes: Processes | None = None) -> None:
        self._catalog = catalog
        self._db = db
        self._processes = processes or Processes(1)
        #: Series that are computed and not yet written, in writing order.
        self._begun: deque[SeriesAtWork] = deque()
        self._specs: dict[str, SeriesSpec] = {}
        self._topics: dict[tuple[str, str], list[SeriesSpec]] = defaultdict(list)
        self._directory: MetadataCache | None = None
        self.plans = Planner(catalog, self._topics, self._preference).plans
        self._sections = Sections(catalog, self._topics, self._preference)
        self._formulas = _in_order(catalog.formulas)
        self._users: dict[str, list[Formula]] = defaultdict(list)
        for formula in self._formulas:
            if formula.operator in PEER_COMPARISONS:
                continue
            for slug in {slug for text in formula.inputs for _, slug in input_slugs(text)}:
                self._users[slug].append(formula)
        self._before: dict[tuple[str, str], list[SeriesPlan]] = {}
        self._compared_anew = False
        for spec in specs.in_use(db):
            self._enter(spec)

    def _enter(self, spec: SeriesSpec) -> None:
        self._specs[spec.id] = spec
        self._topics[spec.indicator, spec.entity].append(spec)

    def register(self, spec: SeriesSpec) -> None:
        """
        Record a series that is new or whose specification changed.

        A new series may change which series formulas produce. A changed one may change the descriptions of its results
        (for example if an index is now unadjusted).
        """
        if self._find_spec(spec) == spec:
            return
        for formula in self._users[spec.indicator]:
            for entity in self._entities(formula, spec):
                key = (formula.slug, entity)
                if key not in self._before:
                    self._before[key] = self.plans(formula, entity)
        self._leave(spec)
        self._enter(spec)

    def reconsider(self, spec: SeriesSpec | None = None) -> None:
        """
        Record that the rights of a series changed or, with None, that any rights or orders of preference did.

        Formulas with several inputs choose by them, and are recomputed at the next `run`; with None, those over a group
        are too.
        """
        self._directory = None
        self._compared_anew = self._compared_anew or spec is None
        for formula in self._formulas if spec is None else self._users[spec.indicator]:
            entities = {entity for _, entity in self._topics} if spec is None else self._entities(formula, spec)
            for entity in entities if len(formula.inputs) > 1 else ():
                held = self._topics.get((formula.slug, entity), ())
                self._before[formula.slug, entity] = [SeriesPlan(one, formula, (), mixed=False) for one in held]
        if spec is not None:
            # A series computed from it alone has its rights, and may be one of several inputs itself.
            for formula in self._users[spec.indicator]:
                for entity in self._entities(formula, spec) if len(formula.inputs) == 1 else ():
                    for made in self._topics.get((formula.slug, entity), ()):
                        self.reconsider(made)

    def _preference(self, spec: SeriesSpec) -> tuple[Any, ...]:
        """Return the preference of a series as readers see it, by the current rights and orders. A lower key is preferred."""
        if self._directory is None:
            self._directory = MetadataCache(self._db, 0)
        info = self._directory.series_by_id(spec.id)
        rank = self._directory.rank(spec.indicator, spec.source, spec.variant or "", sys.maxsize)
        return (info is None or info.rights.withheld, *rank)

    def _find_spec(self, spec: SeriesSpec) -> SeriesSpec | None:
        """Return the known specification of a series, or None if the series doesn't exist."""
        return next((held for held in self._topics.get((spec.indicator, spec.entity), ()) if held.id == spec.id), None)

    def _leave(self, spec: SeriesSpec) -> None:
        topic = self._topics[spec.indicator, spec.entity]
        topic[:] = [held for held in topic if held.id != spec.id]

    def _entities(self, formula: Formula, spec: SeriesSpec) -> list[str]:
        """
        Return the entities whose result of a formula depends on a series: its own, or all if the formula names it
        explicitly.
        """
        names = [pair for text in formula.inputs for pair in input_slugs(text)]
        if any(entity == spec.entity and slug == spec.indicator for entity, slug in names if entity is not None):
            free = {slug for entity, slug in names if entity is None}
            return sorted({entity for slug, entity in self._topics if slug in free} | {spec.entity})
        return [spec.entity]

    # -- computing --------------------------------------------------------------------------------------------------

    def run(self, batch: Batch, changes: Changes) -> None:
        """
        Recompute all derived series that depend on changed inputs, inside the batch that changed them.

        Derived series that change are added to `changes`.
        """
        self._directory = None
        if not changes and not self._before and not self._compared_anew:
            return  # a payload about companies: nothing here depends on it
        for series in changes:
            self._drop_if_empty(batch, self._specs[series])
        with self._all_or_nothing():
            self._run(batch, changes)
        self._before.clear()
        self._compared_anew = False

    def _run(self, batch: Batch, changes: Changes) -> None:
        for formula in self._formulas:
            self._finish_before(batch, formula, changes)
            if formula.operator in PEER_COMPARISONS:
                every = self._of_indicator(formula.inputs[0]) if self._compared_anew else {}
                self._compare(batch, formula, {**changes, **every}, changes)
                continue
            for entity in self._touched(formula, changes):
                plans = self.plans(formula, entity)
                before = self._before.pop((formula.slug, entity), plans)
                if before != plans:
                    self._clear(batch, before, plans, changes)
                known = {plan.spec.id: plan for plan in before}
                for plan in plans:
                    self._begin(batch, plan, changes, anew=known.get(plan.spec.id) != plan)
        self._finish(batch, changes)

    def _of_indicator(self, slug: str) -> Changes:
        return {spec.id: None for (indicator, _), held in self._topics.items() if indicator == slug for spec in held}

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """
        Recompute every derived series from the stored inputs and write the differences. Returns the number of changed
        cells.
        """
        with self._all_or_nothing():
            return self._recompute(batch, meter)

    def _recompute(self, batch: Batch, meter: Meter) -> int:
        self._directory = None
        changes: Changes = dict.fromkeys(self._specs)
        held: dict[str, set[str]] = defaultdict(set)
        for slug, identifier in derived_series(self._db):
            held[slug].add(identifier)
        changed = 0
        for formula in counted(self._formulas, meter, "formulas"):
            changed += self._finish_before(batch, formula, changes)
            if formula.operator in PEER_COMPARISONS:
                changed += self._compare(batch, formula, changes, changes)
                held.pop(formula.slug, None)
                continue
            plans = [plan for entity in self._touched(formula, changes) for plan in self.plans(formula, entity)]
            # Other series stored under this formula go first, because others may be computed from them.
            for identifier in sorted(held.pop(formula.slug, set()) - {plan.spec.id for plan in plans}):
                changed += self._drop(batch, identifier)
            for plan in plans:
                changed += self._begin(batch, plan, changes, anew=True)
        changed += self._finish(batch, changes)
        for identifier in sorted(set().union(*held.values())):
            changed += self._drop(batch, identifier)
        self._before.clear()
        return changed

    def _drop(self, batch: Batch, identifier: str) -> int:
        handle = batch.existing(identifier)
        self._forget(self._specs[identifier])
        return len(batch.replace(handle, {period: [] for period in batch.history(handle, EVERY_KEY)}))

    def _touched(self, formula: Formula, changes: Changes) -> list[str]:
        slugs = {slug for text in formula.inputs for _, slug in input_slugs(text)}
        found = {entity for slug, entity in self._before if slug == formula.slug}
        for series in changes:
            spec = self._specs[series]
            if spec.indicator in slugs:
                found.update(self._entities(formula, spec))
        return sorted(found)

    def _clear(self, batch: Batch, before: Sequence[SeriesPlan], now: Sequence[SeriesPlan], changes: Changes) -> None:
        """Close the rows of derived series that are no longer produced, for example because one source now has all inputs."""
        kept = {plan.spec.id for plan in now}
        for plan in before:
            if plan.spec.id not in kept and plan.spec.id in self._specs:
                handle = batch.existing(plan.spec.id)
                held = batch.history(handle, EVERY_KEY)
                changes[plan.spec.id] = set(batch.replace(handle, {period: [] for period in held}))
                self._forget(plan.spec)

    def _forget(self, spec: SeriesSpec) -> None:
        """Remove a series without rows from further formulas. If it comes back, it counts as new."""
        for formula in self._users[spec.indicator]:
            for entity in self._entities(formula, spec):
                self._before.setdefault((formula.slug, entity), self.plans(formula, entity))
        self._leave(spec)

    def _drop_if_empty(self, batch: Batch, spec: SeriesSpec) -> None:
        """
        Remove a series that has no vintages left, because the stored data alone must decide which series formulas
        produce.

        A series can lose its last vintage if a value and its withdrawal are stated for the same second, or by a replay.
        """
        if not batch.has_rows(batch.existing(spec.id)):
            self._forget(spec)

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Drop unfinished work when the block ends, because after an error the batch is undone."""
        try:
            yield
        finally:
            while self._begun:
                self._begun.popleft().rest.drop()

    def _finish_before(self, batch: Batch, formula: Formula, changes: Changes) -> int:
        """
        Write the inputs that a formula needs before it is computed; before a comparison of peers, write everything
        begun.
        """
        needed = {slug for text in formula.inputs for _, slug in input_slugs(text)}
        if formula.operator in PEER_COMPARISONS or any(one.plan.formula.slug in needed for one in self._begun):
            return self._finish(batch, changes)
        return 0

    def _begin(self, batch: Batch, plan: SeriesPlan, changes: Changes, *, anew: bool) -> int:
        """
        Begin to recompute one series: a free process computes its cells while others are written.

        Begun series are written in order once there are enough. Returns the number of cells changed by that.
        """
        every = [series for candidates in plan.inputs for series in candidates]
        if not anew and not any(series in changes for series in every):
            return 0
        frequency = plan.spec.frequency
        op = operator_of(plan.formula, plan.spec.entity, frequency)
        whole = anew or any(changes.get(series, ()) is None for series in every)
        span = EVERY_KEY
        if not whole:
            ends = [
                (end_of(min(moved)), end_of(max(moved)))
                for series in every
                if (moved := changes.get(series)) is not None and moved
            ]
            days = span_needed(op, frequency, ends)
            if days is None:
                return 0
            span = (lowest_key(days[0]), highest_key(days[1]))
        at_once = op.vector and all(len(candidates) == 1 for candidates in plan.inputs)
        inputs = [
            [
                self._input(batch, op, series, span, None if whole else changes.get(series, set()), at_once=at_once)
                for series in candidates
            ]
            for candidates in plan.inputs
        ]
        self._begun.append(begun(self._processes, plan, op, inputs, span if whole else None))
        return self._finish(batch, changes, _AHEAD * self._processes.count if self._processes.count > 1 else 0)

    def _finish(self, batch: Batch, changes: Changes, left: int = 0) -> int:
        """Write begun series in order until only `left` remain. Returns the number of changed cells."""
        count = 0
        while len(self._begun) > left:
            count += self._write(batch, self._begun.popleft(), changes)
        return count

    def _write(self, batch: Batch, one: SeriesAtWork, changes: Changes) -> int:
        """Write one computed series and return the number of changed cells."""
        plan, computed = one.plan, one.computed()
        every = [series for candidates in plan.inputs for series in candidates]
        if self._find_spec(plan.spec) is None and not any(computed.values()):
            return 0
        self.register(plan.spec)
        handle = batch.series(plan.spec, "derived", None if plan.mixed else every)
        target = {key: self._vintages(batch, plan, made) for key, made in computed.items()}
        if one.span is not None:
            for key in batch.history(handle, one.span):
                target.setdefault(key, [])
        written = batch.replace(handle, target)
        if written:
            changes[plan.spec.id] = set(written)
            self._drop_if_empty(batch, plan.spec)
        return len(written)

    def _input(
        self, batch: Batch, op: Operator, series: str, span: tuple[int, int], changed: set[int] | None, *, at_once: bool
    ) -> InputSeries:
        """Return one input as stored now. With `at_once` it is given as columns, and as cells only if one is needed."""
        spec = self._specs[series]
        handle = batch.existing(series)

        def cells() -> Cells:
            return {ordinal(key, spec.frequency): found for key, found in batch.history(handle, span).items()}

        moved = None if changed is None else frozenset(ordinal(key, spec.frequency) for key in changed)
        if not at_once:
            return InputSeries(spec.frequency, cells, moved, factor=factor(self._catalog, op, spec))
        rows = batch.numbers(handle, span, NO_RELEASE)
        return InputSeries(spec.frequency, cells, moved, Arrays.of_rows(rows, spec.frequency, batch.note))

    def _compare(self, batch: Batch, formula: Formula, moved: Changes, changes: Changes) -> int:
        """
        Recompute a formula over a group of entities and return how many cells changed.

        `moved` holds the changes of the inputs to consider; changed results are added to `changes`.
        """
        count = 0
        held = {spec.id: spec for (slug, _), specs in self._topics.items() if slug == formula.slug for spec in specs}
        for spec, target in self._sections.computed(batch, formula, moved, self._specs):
            known = held.get(spec.id)
            if known is None and not any(target.values()):
                continue
            self.register(spec)
            written = batch.replace(batch.series(spec, "derived"), target)
            count += len(written)
            if written:
                changes[spec.id] = set(written)
                self._drop_if_empty(batch, spec)
        return count

    def _vintages(self, batch: Batch, plan: SeriesPlan, made: Sequence[Derived]) -> list[Vintage]:
        if not plan.mixed:
            return [derived.vintage for derived in made]
        return [
            derived.vintage._replace(
                lineage=batch.lineage([plan.inputs[place][choice] for place, choice in enumerate(derived.used)])
            )
            for derived in made
        ]


def _in_order(formulas: Mapping[str, Formula]) -> list[Formula]:
    """Return the formulas in an order in which each comes after its inputs."""
    done: dict[str, Formula] = {}

    def visit(formula: Formula) -> None:
        if formula.slug in done:
            return
        for text in formula.inputs:
            for _, slug in input_slugs(text):
                if slug in formulas:
                    visit(formulas[slug])
        done[formula.slug] = formula

    for slug in sorted(formulas):
        visit(formulas[slug])
    return list(done.values())
