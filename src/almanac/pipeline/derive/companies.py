"""Keeping companies' statements, ratios and scores in step with the facts they are computed from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from almanac.catalog.companies import items
from almanac.catalog.measures import measures as catalogued
from almanac.catalog.records import is_simulated
from almanac.derived.companies import ratios
from almanac.derived.companies.derivation import CompanyVintages, ItemVintage, Vintages, derive
from almanac.derived.companies.facts import CompanyInput, FactVintage
from almanac.derived.companies.reported_values import FactNote
from almanac.derived.companies.statements import series_ids
from almanac.domain.observations import Vintage, settle
from almanac.domain.periods import EVERY_KEY, Frequency, days_of
from almanac.domain.progress import Meter, counted, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import money_of
from almanac.pipeline.processes import Job, Processes
from almanac.store.companies import facts, filings, merging, statement_book
from almanac.store.companies.statement_book import Key
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable
from almanac.store.observations.writing.batch import Batch

_KINDS = {"income": statement_book.INCOME, "balance": statement_book.BALANCE, "cash_flow": statement_book.CASH_FLOW}
_MONEY = {"money", "per_share"}
#: Companies that are derived ahead of the one that is written, for each process.
_AHEAD = 16
#: About what a stated fact takes in a filing.
_STATE_BYTES = 500


_note = msgspec.json.Decoder(FactNote).decode


#: Statements as they are stored: versions by key, each with the moment from which it was known.
Bodies = dict[Key, list[tuple[int, bytes]]]


class Made(NamedTuple):
    """All that is derived of a company."""

    items: Vintages
    statements: Bodies


class _Begun(NamedTuple):
    """A company that is being derived: of what, and the work."""

    company: CompanyInput
    made: Job[Made]


class CompanyDeriver:
    """
    Derives what follows from companies' facts and writes what differs.

    Companies do not look at each other: several are derived at a time by `processes`, and written in their order.
    """

    def __init__(self, db: Database, processes: Processes) -> None:
        self._db = db
        self._processes = processes
        #: Companies whose statements may have changed, in the order in which that was noticed.
        self._changed: dict[str, None] = {}
        #: How many payloads at hand have yet to speak of a company.
        self._awaited: dict[str, int] = {}
        #: Companies that are derived already, from what the store holds of them until something more is noted.
        self._begun: dict[str, _Begun] = {}

    def note(self, entity: str) -> None:
        """Remember that something a company's statements are made from changed."""
        self._changed[entity] = None
        begun = self._begun.pop(entity, None)
        if begun is not None:
            begun.made.drop()

    def forget(self) -> None:
        """Drop what is noted: the batch that it belonged to was undone."""
        self._changed.clear()
        self._awaited.clear()
        for begun in self._begun.values():
            begun.made.drop()
        self._begun.clear()

    def expect(self, mentions: Mapping[str, int]) -> None:
        """
        Take note of how many payloads of the batch will speak of each company.

        One that has been spoken of for the last time is derived while the payloads after it are folded.
        """
        self._awaited = dict(mentions) if self._processes.count > 1 else {}

    def spoken(self, entity: str) -> None:
        """A payload has said all it says of a company."""
        left = self._awaited.get(entity)
        if left is None:
            return
        self._awaited[entity] = left - 1
        if left == 1 and entity in self._changed and entity not in self._begun:
            begun = self._begin(entity)
            if begun is not None:
                self._begun[entity] = begun

    def run(self, batch: Batch) -> int:
        """Bring every company noted into step, inside the batch that changed it. Returns how much changed."""
        noted, self._changed = list(self._changed), {}
        self._awaited = {}
        return sum(self._write(batch, company, made) for company, made in self._derived(noted))

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """Compute everything of every company anew and write what differs. Returns how much changed."""
        every = counted(facts.entities(self._db), meter, "companies")
        return sum(self._write(batch, company, made) for company, made in self._derived(every))

    def check(self, probe: Batch, meter: Meter = unmetered) -> Iterator[str]:
        """Compute everything anew and compare. `probe` collects what differs of series; what differs of statements is yielded."""
        for company, made in self._derived(counted(facts.entities(self._db), meter, "companies")):
            self._items(probe, company, made.items)
            for key in statement_book.differing(self._db, company.entity, made.statements):
                yield f"{company.entity}: its statement {key} computed anew is not the one stored"

    def _derived(self, entities: Iterable[str]) -> Iterator[tuple[CompanyInput, Made]]:
        """
        Companies with all that is derived of them, in their order; without those nobody spoke of.

        All of it is computed anew: one report can move the fiscal calendar of years long past.
        """
        ahead = 1 if self._processes.count == 1 else _AHEAD * self._processes.count
        waiting: deque[_Begun] = deque()
        for entity in entities:
            begun = self._begun.pop(entity, None) or self._begin(entity)
            if begun is not None:
                waiting.append(begun)
            if len(waiting) >= ahead:
                first = waiting.popleft()
                yield first.company, first.made.result()
        while waiting:
            first = waiting.popleft()
            yield first.company, first.made.result()

    def _begin(self, entity: str) -> _Begun | None:
        company = read(self._db, entity)
        if company is None:
            return None
        states = sum(len(told) for periods in company.facts.values() for told in periods.values())
        return _Begun(company, self._processes.job(derived, company, weight=states * _STATE_BYTES))

    def _write(self, batch: Batch, company: CompanyInput, made: Made) -> int:
        """Write what differs of a company. Returns the number of derived cells and statements that changed."""
        changed = self._items(batch, company, made.items)
        moved = statement_book.replace(self._db, batch.version, company.entity, made.statements)
        if merging.mark_reports(self._db, company.entity) or moved:
            batch.touch()
        return changed + len(moved)

    # -- items and measures -----------------------------------------------------------------------------------------

    def _items(self, batch: Batch, company: CompanyInput, items: Vintages) -> int:
        changed = 0
        made: set[str] = set()
        lineages: dict[tuple[str, ...], int] = {}
        # Sorted, so that numbers of rows are the same wherever it was computed: each process orders sets in its own way.
        for (slug, frequency), cells in sorted(items.items()):
            spec = _spec(company, slug, frequency)
            made.add(spec.id)
            handle = batch.series(spec, "derived")
            target = {
                period: settle(
                    [_vintage(batch, company, one, lineages) for one in vintages], period, handle.allowance_days
                )
                for period, vintages in sorted(cells.items())
            }
            for period in batch.history(handle, EVERY_KEY):
                target.setdefault(period, [])
            changed += len(batch.replace(handle, target))
        for identifier in facts.derived_series(self._db, company.entity, company.source):
            if identifier not in made:
                handle = batch.existing(identifier)
                gone: dict[int, list[Vintage]] = {period: [] for period in batch.history(handle, EVERY_KEY)}
                changed += len(batch.replace(handle, gone))
        return changed


def derived(company: CompanyInput) -> Made:
    """All that is derived of a company. Raises what `derive` raises."""
    outcome = derive(company, measure=ratios.measures, reach=ratios.REACH_DAYS)
    return Made(outcome.items, _bodies(outcome))


def _bodies(outcome: CompanyVintages) -> Bodies:
    return {
        Key(_KINDS[key.kind], key.frequency.value, key.period): [
            (version.known, b"" if version.body is None else msgspec.json.encode(version.body)) for version in versions
        ]
        for key, versions in outcome.statements.items()
    }


def read(db: Queryable, entity: str, *, placed: bool = False) -> CompanyInput | None:
    """
    What the statements of a company are made from, as the store has it; None for a company nobody spoke of.

    `placed`: each state tells the raw cell it is of, so that amounts tell theirs.
    """
    record = facts.company(db, entity)
    if record is None:
        return None
    held: dict[str, dict[tuple[int | None, int], list[FactVintage]]] = {}
    for fact in facts.of(db, entity, record.source):
        if fact.value is None:
            continue
        note = _note(fact.note) if fact.note else FactNote()
        held.setdefault(fact.native, {}).setdefault(days_of(fact.period), []).append(
            FactVintage(
                fact.known,
                fact.value,
                note.accession,
                fact.released,
                fact.ingested,
                fact.flags,
                note.inconsistent,
                (fact.series, fact.period) if placed else None,
            )
        )
    archived = not is_simulated(record.source)
    return CompanyInput(
        entity, record.source, held, filings.of(db, entity), record.template, record.currency or "USD", archived
    )


def _vintage(batch: Batch, company: CompanyInput, made: ItemVintage, lineages: dict[tuple[str, ...], int]) -> Vintage:
    lineage = 0
    if made.tags:
        held = lineages.get(made.tags)
        if held is None:
            held = lineages[made.tags] = batch.lineage(series_ids(company.source, company.entity, made.tags))
        lineage = held
    note = None if made.note is None else f'{{"method":"{made.note}"}}'
    return Vintage(
        made.known, made.value, None, made.flags, made.released, max(made.ingested, made.known), 0, note, lineage
    )


def _spec(company: CompanyInput, slug: str, frequency: Frequency) -> SeriesSpec:
    unit, name = _described(slug)
    money = unit in _MONEY
    return SeriesSpec(
        source=company.source,
        native=slug,
        indicator=slug,
        entity=company.entity,
        frequency=frequency,
        unit=money_of(company.currency, per_share=unit == "per_share") if money else unit,
        name=name,
        currency=company.currency if money else None,
    )


def _described(slug: str) -> tuple[str | None, str]:
    item = items().get(slug)
    if item is not None:
        return item.unit, item.name
    measure = catalogued()[slug]
    return measure.unit, measure.name
