"""Checks of all stored data against its origins, without writing. Each problem is one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from almanac.catalog.sectors import classify
from almanac.domain.events import EventState
from almanac.domain.observations import AHEAD, Vintage, checksum
from almanac.domain.periods import Period
from almanac.domain.progress import Advance, Meter, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.pipeline.context import PipelineContext
from almanac.store.companies import facts, merging
from almanac.store.companies import rows as companies
from almanac.store.engine.protocol import Database
from almanac.store.events import events
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations import audit, specs
from almanac.store.observations.audit import StoredSeries
from almanac.store.observations.ids import series_hash
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import Change, SeriesHandle
from almanac.store.raw.captures import Capture, Corrupt, RawStore

#: Fields that a payload row repeats from its capture.
_REPEATED_FIELDS = ("source", "url", "sha256", "media_type", "bytes", "fetched_at", "ingested_at")


@dataclass(slots=True)
class Checked:
    """Counts of the items checked."""

    payloads: int = 0
    series: int = 0
    cells: int = 0
    vintages: int = 0


@dataclass(slots=True)
class _Figures:
    """The figures that a series should record, counted from its rows."""

    rows: int = 0
    vintages: int = 0
    first_period: int | None = None
    last_period: int | None = None
    first_known: int | None = None
    last_known: int | None = None
    checksum: int = 0


def verify(world: PipelineContext, checked: Checked, meter: Meter = unmetered) -> Iterator[str]:
    """
    Yield every problem found in raw files, the database file, payloads, series and their specifications and figures,
    vintages, the log of changes, derived values, and events of releases and meetings.

    The database is read in one transaction and stays available to writers. `checked` counts along.
    """
    captures: dict[str, Capture] = {}
    yield from raw_problems(world.raw, captures, meter)
    with world.db.snapshot():
        yield from (f"database: {damage}" for damage in world.db.damages())
        rows = payloads.every(world.db)
        checked.payloads = len(rows)
        yield from payload_problems(rows, world.raw, captures)
        series = {stored.number: stored for stored in audit.series(world.db)}
        checked.series = len(series)
        yield from _specifications(world)
        yield from _companies(world.db)
        yield from _lineages(world, series)
        advance = meter("vintages", sum(stored.figures[1] for stored in series.values()))
        yield from _cells(world.db, series, checked, advance)
        # The log behind /observations/changes names every cell and version in which a vintage began or ended.
        for name, period, version in audit.unnoted(world.db):
            yield f"series {name}, {_period(period)}: that it changed in version {version} was not noted"
        yield from _derived(world, meter)
        yield from _events(world)


def raw_problems(raw: RawStore, captures: dict[str, Capture], meter: Meter = unmetered) -> Iterator[str]:
    """Read all files of the raw store and yield the faults found. Captures are added to `captures`, by id."""
    for capture, flaw in raw.checked(meter):
        if capture is not None:
            captures[capture.id] = capture
        if flaw is not None:
            yield f"raw store: {flaw}"


def payload_problems(rows: Iterable[PayloadRow], raw: RawStore, captures: Mapping[str, Capture]) -> Iterator[str]:
    """
    Compare each payload row with its capture and yield the differences. A capture missing from `captures` is looked up,
    because it may be newer.

    A capture without a row is left by a killed run, and the next run folds it. An unreadable capture is reported by
    `raw_problems`.
    """
    for row in rows:
        try:
            capture = captures.get(row.capture) or raw.capture(row.source, row.capture)
        except Corrupt:
            continue
        if capture is None:
            yield f"payload {row.number} ({row.url}): the raw store has no capture {row.capture}"
            continue
        for name in _REPEATED_FIELDS:
            stored, kept = getattr(row, name), getattr(capture, name)
            if stored != kept:
                yield f"payload {row.number} ({row.url}): {name} is {stored!r}, its capture says {kept!r}"


def _specifications(world: PipelineContext) -> Iterator[str]:
    """Check each series' topic and specification against its id, and its specification against the catalogue."""
    for identifier in audit.misplaced(world.db):
        yield f"series {identifier}: its topic or specification is of another series"
    for stored in specs.in_use(world.db):
        wanted = world.catalog.series_by_id.get(stored.id)
        if wanted is not None and stored != wanted:
            yield f"series {stored.id}: {_differing(stored, wanted)} is not as in the catalogue"


def _differing(stored: SeriesSpec, wanted: SeriesSpec) -> str:
    return ", ".join(name for name in stored.__struct_fields__ if getattr(stored, name) != getattr(wanted, name))


def _companies(db: Database) -> Iterator[str]:
    """
    Check each company's row against its source records, because its kind and currency decide its statements and lists
    show the rest.
    """
    places = merging.places_of(db)
    reporting = set(facts.entities(db))
    for entity in companies.names(db):
        reporting.discard(entity)
        for name, stored, wanted in merging.unlike(db, entity, classify, places):
            yield f"{entity}: {name} is {stored!r}, of what was told of it comes {wanted!r}"
    for entity in sorted(reporting):
        yield f"{entity}: has facts, and is no company"
    for entity, main, currency in facts.missorted(db):
        yield f"{entity}: its facts in {currency} are kept as of another currency than its own, which is {main or 'not known'}"


def _lineages(world: PipelineContext, series: Mapping[int, StoredSeries]) -> Iterator[str]:
    names = {stored.id for stored in series.values()}
    lineages = audit.lineages(world.db)
    for number, inputs in lineages.items():
        for name in inputs:
            if name not in names:
                yield f"lineage {number}: there is no series {name}"
    for stored in series.values():
        if stored.lineage and stored.lineage not in lineages:
            yield f"series {stored.id}: there is no lineage {stored.lineage}"
    for identifier, number in audit.lineages_of_rows(world.db):
        if number not in lineages:
            yield f"series {identifier}: a row has lineage {number}, which does not exist"


def _cells(
    db: Database,
    series: Mapping[int, StoredSeries],
    checked: Checked,
    advance: Advance,
) -> Iterator[str]:
    """Check the open vintages cell by cell, and the figures of each series against its rows."""
    folded = payloads.folded(db)
    counted = {number: _Figures() for number in series}
    for (topic, period, number), vintages in audit.vintages(db):
        stored = series.get(number)
        checked.cells += 1
        advance(len(vintages))
        if stored is None or stored.topic != topic:
            yield f"vintages: topic {topic} has no series {number}"
            continue
        where = f"series {stored.id}, {_period(period)}"
        if _period(period).isdigit():
            yield f"{where}: is no period"
            continue
        checked.vintages += len(vintages)
        _count(counted[number], period, [vintage for vintage, _ in vintages])
        yield from (f"{where}: {problem}" for problem in _history(stored, vintages, folded))
    for number, stored in series.items():
        if stored.hash != series_hash(stored.id):
            yield f"series {stored.id}: is not found by its id"
        figures = _Figures(*stored.figures)
        if figures != counted[number]:
            yield f"series {stored.id}: says {figures} of itself, its rows say {counted[number]}"


def _period(key: int) -> str:
    """Format a period key for people, or return the bare number if it isn't a valid key."""
    try:
        return str(Period.from_key(key))
    except (ValueError, OverflowError):
        return str(key)


def _count(figures: _Figures, period: int, vintages: Sequence[Vintage]) -> None:
    figures.vintages += len(vintages)
    figures.checksum += sum(checksum(period, vintage) for vintage in vintages)
    known = vintages[0].known, vintages[-1].known
    figures.first_known = min(known[0], known[0] if figures.first_known is None else figures.first_known)
    figures.last_known = max(known[1], known[1] if figures.last_known is None else figures.last_known)
    last = vintages[-1]
    if not last.withdrawn:
        figures.rows += 1
        # Cells come in the order of periods within a topic.
        figures.first_period = period if figures.first_period is None else figures.first_period
        if not last.flags & AHEAD:
            figures.last_period = period


def _history(series: StoredSeries, vintages: Sequence[tuple[Vintage, int | None]], folded: set[int]) -> Iterator[str]:
    """Check the rules for one cell's vintages, in ascending knowledge time."""
    previous: Vintage | None = None
    following: list[int | None] = [*(vintage.known for vintage, _ in vintages[1:]), None]
    for (vintage, until), after in zip(vintages, following, strict=True):
        if until != after:
            yield f"the vintage known at {vintage.known} is told to stand until {until}, the next one is known at {after}"
        if vintage.known > vintage.ingested:
            yield f"is known at {vintage.known}, before it came in at {vintage.ingested}"
        if series.kind == "raw" and vintage.payload not in folded:
            yield f"comes from payload {vintage.payload}, which was not folded"
        if previous is None and vintage.withdrawn:
            yield "begins with a withdrawal"
        if previous is not None and previous.known == vintage.known:
            yield f"has two vintages known at {vintage.known}"
        elif previous is not None and previous.state == vintage.state and previous.note == vintage.note:
            yield f"the vintages known at {previous.known} and {vintage.known} are equal"
        previous = vintage


def _derived(world: PipelineContext, meter: Meter) -> Iterator[str]:
    """Recompute every derived series from the stored inputs and compare the results bit for bit."""
    probe = _Probe(world.db, 0, "verify")
    world.renew()
    try:
        world.deriver.recompute(probe, meter)
        yield from world.company_deriver.check(probe, meter)
    except (ValueError, OverflowError, KeyError) as error:
        yield f"derived values cannot be computed again from what is stored: {error}"
    world.renew()
    yield from probe.problems


def _events(world: PipelineContext) -> Iterator[str]:
    """Recompute every event of a release or meeting from calendars and vintages, and compare."""
    problems: list[str] = []

    def compare(db: Database, _: int, target: Mapping[str, Sequence[EventState]]) -> bool:
        for event, states in target.items():
            stored = events.read_states(db, event)
            if stored != list(states):
                problems.append(f"event {event}: made anew it has {_states(states)}, stored are {_states(stored)}")
        return False

    try:
        world.releases.recompute(_Probe(world.db, 0, "verify"), compare)
    except (ValueError, OverflowError, KeyError) as error:
        yield f"events cannot be made anew from what is stored: {error}"
    yield from problems


def _states(states: Sequence[EventState]) -> str:
    return msgspec.json.encode(states).decode()


class _Probe(Batch):
    """A batch that writes nothing and reports what a recomputation would change."""

    problems: list[str]

    def __enter__(self) -> Self:
        raise NotImplementedError("a probe belongs to the transaction of its caller")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.version = 0
        self.problems = []

    def put_series(
        self, wanted: Sequence[SeriesSpec], kind: str, inputs: Sequence[Sequence[str] | None] | None = None
    ) -> list[SeriesHandle]:
        sets = [None] * len(wanted) if inputs is None else inputs
        return [self._compared(spec, inputs) for spec, inputs in zip(wanted, sets, strict=True)]

    def _compared(self, spec: SeriesSpec, inputs: Sequence[str] | None) -> SeriesHandle:
        handle = self._handles.get(spec.id)
        if handle is None:
            try:
                handle = self.existing(spec.id)
            except KeyError:
                self.problems.append(f"series {spec.id}: a formula makes it, but it is not there")
                handle = self._handles[spec.id] = SeriesHandle(-1, spec.id, -1, 0, is_new=False, lineage=0)
            else:
                stored = specs.of(self._db, spec.id)
                if stored != spec:
                    self.problems.append(f"series {spec.id}: {_differing(stored, spec)} is not as it is computed")
                if handle.lineage != (self.lineage(inputs) if inputs else 0):
                    self.problems.append(f"series {spec.id}: its inputs are not {', '.join(inputs or ['per row'])}")
        return handle

    def lineages(self, sets: Iterable[Sequence[str]]) -> list[int]:
        return [-1 if number is None else number for number in map(self.known_lineage, sets)]

    def replace_all(self, changes: Sequence[Change]) -> list[list[int]]:
        return [self._differing(change) for change in changes]

    def _differing(self, change: Change) -> list[int]:
        series, stored, target = change
        changed = [period for period in sorted(target) if stored.get(period, []) != target[period]]
        if series.number >= 0:
            self.problems += [
                f"series {series.id}, {Period.from_key(period)}: computed anew it is {_encode(target[period])},"
                f" stored is {_encode(stored.get(period, []))}"
                for period in changed
            ]
        return changed


def _encode(vintages: Sequence[Vintage]) -> str:
    return msgspec.json.encode([(v.known, v.value, v.text, v.flags, v.released, v.ingested) for v in vintages]).decode()
