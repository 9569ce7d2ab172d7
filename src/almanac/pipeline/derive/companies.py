"""Recomputation of companies' statements, ratios and scores after changes of the facts they depend on."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from almanac.catalog.companies import items
from almanac.catalog.measures import measures as catalogued
from almanac.catalog.records import is_simulated
from almanac.derived.companies import ratios
from almanac.derived.companies.derivation import CompanyVintages, ItemVintage, derive
from almanac.derived.companies.facts import CompanyInput, FactVintage
from almanac.derived.companies.financials import series_ids
from almanac.derived.companies.reported_values import FactNote
from almanac.derived.companies.ttm import REACH_DAYS
from almanac.domain.companies import fiscal_note
from almanac.domain.observations import Vintage, settle
from almanac.domain.periods import EVERY_KEY, Frequency, days_of
from almanac.domain.progress import Meter, counted, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import money_of
from almanac.pipeline.processes import Job, Processes
from almanac.store.companies import facts, filings, merging, rows, statements
from almanac.store.companies.statements import Key, pack
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import Cells, Change

_KINDS = {"income": statements.INCOME, "balance": statements.BALANCE, "cash_flow": statements.CASH_FLOW}
_MONEY = {"money", "per_share"}
#: Companies derived ahead of the one being written, per process.
_AHEAD = 16
#: Approximate bytes of a stated fact.
_STATE_BYTES = 500


#: Facts while they are read: tag → (start or None, end) → states.
_Held = dict[str, dict[tuple[int | None, int], list[FactVintage]]]
_note = msgspec.json.Decoder(FactNote).decode


#: Statements as they are stored: versions by key, each with the moment from which it was known.
Bodies = dict[Key, list[tuple[int, bytes]]]


class Served(NamedTuple):
    """Settled vintages of one derived series, by period key; the lineage of each is the index of its tags in `Made.tags`."""

    slug: str
    frequency: Frequency
    #: The currency, if it isn't the company's main one.
    currency: str | None
    cells: dict[int, list[Vintage]]


class Made(NamedTuple):
    """All derived data of a company. The series are sorted by name, because each process orders sets in its own way."""

    series: list[Served]
    #: Sets of tags that values come from, the empty one first.
    tags: list[tuple[str, ...]]
    statements: Bodies


class _Begun(NamedTuple):
    """A company whose derivation has begun: its input and the job."""

    company: CompanyInput
    made: Job[Made]


class CompanyDeriver:
    """
    Derivation of companies' data from their facts, writing only the differences.

    Companies do not depend on each other: `processes` derives several at a time, and they are written in order.
    """

    def __init__(self, db: Database, processes: Processes) -> None:
        self._db = db
        self._processes = processes
        #: Companies whose statements may have changed, in the order in which that was noticed.
        self._changed: dict[str, None] = {}
        #: Remaining payloads of the batch with inputs of each company.
        self._awaited: dict[str, int] = {}
        #: Companies derived in advance, from the stored data before any further note.
        self._begun: dict[str, _Begun] = {}

    def note(self, entity: str) -> None:
        """Remember that an input of a company's statements changed."""
        self._changed[entity] = None
        begun = self._begun.pop(entity, None)
        if begun is not None:
            begun.made.drop()

    def forget(self) -> None:
        """Discard the noted changes, because their batch was undone."""
        self._changed.clear()
        self._awaited.clear()
        for begun in self._begun.values():
            begun.made.drop()
        self._begun.clear()

    def expect(self, mentions: Mapping[str, int]) -> None:
        """
        Record how many payloads of the batch contain facts or filings of each company.

        A company whose last payload was folded is derived while later ones are folded. If one of those changes it after
        all, for example its name in a list, it is derived again.
        """
        self._awaited = dict(mentions) if self._processes.count > 1 else {}

    def spoken(self, entity: str) -> None:
        """Record that all facts and filings of a company in one payload have been folded."""
        left = self._awaited.get(entity)
        if left is None:
            return
        self._awaited[entity] = left - 1
        if left == 1 and entity in self._changed and entity not in self._begun:
            begun = self._begin(entity)
            if begun is not None:
                self._begun[entity] = begun

    def run(self, batch: Batch) -> int:
        """Derive every noted company, inside the batch that changed it. Returns how many cells and statements changed."""
        noted, self._changed = list(self._changed), {}
        self._awaited = {}
        return sum(self._write(batch, company, made) for company, made in self._derived(noted))

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """Recompute everything of every company and write the differences. Returns how many cells and statements changed."""
        every = counted(facts.entities(self._db), meter, "companies")
        return sum(self._write(batch, company, made) for company, made in self._derived(every))

    def check(self, probe: Batch, meter: Meter = unmetered) -> Iterator[str]:
        """Recompute everything and compare. `probe` collects the differences of series; those of statements are yielded."""
        for company, made in self._derived(counted(facts.entities(self._db), meter, "companies")):
            self._items(probe, company, made)
            for key in statements.differing(self._db, company.entity, made.statements):
                yield f"{company.entity}: its statement {key} computed anew is not the one stored"

    def _derived(self, entities: Iterable[str]) -> Iterator[tuple[CompanyInput, Made]]:
        """
        Yield companies with their derived data, in order. Companies without any data are skipped.

        Everything is recomputed, because one report can move the fiscal calendar of long past years.
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
        """Write a company's differences. Returns the number of derived cells and statements that changed."""
        changed = self._items(batch, company, made)
        moved = statements.replace(self._db, batch.version, company.entity, made.statements)
        if merging.mark_reports(self._db, company.entity) or moved:
            batch.touch()
        return changed + len(moved)

    # -- items and measures -----------------------------------------------------------------------------------------

    def _items(self, batch: Batch, company: CompanyInput, found: Made) -> int:
        """Write the differences of all derived series of a company together. Returns how many cells changed."""
        handles = batch.put_series(
            [_spec(company, made.slug, made.frequency, made.currency) for made in found.series], "derived"
        )
        ids = {handle.id for handle in handles}
        stored = facts.series(self._db, company.entity, company.source, "derived")
        handles += [batch.existing(identifier) for identifier in stored if identifier not in ids]
        # Sets of tags in use, in the order in which rows name them; the first is empty.
        used = dict.fromkeys(
            row.lineage for made in found.series for rows in made.cells.values() for row in rows if row.lineage
        )
        inputs = [series_ids(company.source, company.entity, found.tags[tags]) for tags in used]
        lineages = {0: 0, **dict(zip(used, batch.lineages(inputs), strict=True))}
        histories = batch.histories(Cells(handle, EVERY_KEY) for handle in handles)
        changes = []
        for place, (handle, history) in enumerate(zip(handles, histories, strict=True)):
            cells = found.series[place].cells if place < len(found.series) else {}
            target: dict[int, list[Vintage]] = {period: [] for period in history}
            for period, vintages in cells.items():
                target[period] = [vintage._replace(lineage=lineages[vintage.lineage]) for vintage in vintages]
            changes.append(Change(handle, history, target))
        return sum(map(len, batch.replace_all(changes)))


def derived(company: CompanyInput) -> Made:
    """Derive all data of a company. Raises what `derive` raises."""
    outcome = derive(company, measure=ratios.measures, reach=REACH_DAYS)
    tags: dict[tuple[str, ...], int] = {(): 0}
    series = [
        Served(
            slug,
            frequency,
            currency,
            {period: _settled(vintages, period, frequency, tags) for period, vintages in sorted(cells.items())},
        )
        for currency, of_currency in ((None, outcome.items), *sorted(outcome.others.items()))
        for (slug, frequency), cells in sorted(of_currency.items())
    ]
    return Made(series, list(tags), _bodies(outcome))


def _settled(
    made: Sequence[ItemVintage], period: int, frequency: Frequency, tags: dict[tuple[str, ...], int]
) -> list[Vintage]:
    """Return the served vintages of one cell. New sets of tags are added to `tags`."""
    stated = [
        Vintage(
            one.known,
            one.value,
            None,
            one.flags,
            one.released,
            max(one.ingested, one.known),
            0,
            _said(one.note, one.fiscal),
            tags.setdefault(one.tags, len(tags)),
        )
        for one in made
    ]
    served = settle(stated, period, frequency.allowance_days)
    return _renamed(served, made) if len({one.fiscal for one in made}) > 1 else served


def _renamed(served: Sequence[Vintage], made: Iterable[ItemVintage]) -> list[Vintage]:
    """
    Add a vintage where a cell's period was renamed while nothing else of it changed.

    This gives a row and its statement one name at every moment. It is not a revision, so its status is that of the
    vintage before.
    """
    at = {vintage.known: vintage for vintage in served}
    found: list[Vintage] = []
    called: tuple[int, str] | None = None
    for one in made:
        vintage = at.get(one.known)
        if vintage is None and found and not found[-1].withdrawn and one.fiscal != called:
            ingested = max(one.ingested, one.known)
            vintage = found[-1]._replace(known=one.known, ingested=ingested, note=_said(one.note, one.fiscal))
        if vintage is not None:
            found.append(vintage)
            called = one.fiscal
    return found


@functools.lru_cache(maxsize=4_096)
def _said(method: str | None, fiscal: tuple[int, str] | None) -> str | None:
    """Return the note of a row: its period's fiscal name and the method of its value, or None without either."""
    told = [] if fiscal is None else [fiscal_note(*fiscal)]
    if method is not None:
        told.append(f'"method":"{method}"')
    return "{" + ",".join(told) + "}" if told else None


def _bodies(outcome: CompanyVintages) -> Bodies:
    return {
        Key(_KINDS[key.kind], key.frequency.value, key.period): [
            (version.known, b"" if version.body is None else pack(msgspec.json.encode(version.body)))
            for version in versions
        ]
        for key, versions in outcome.statements.items()
    }


def read(db: Queryable, entity: str, *, placed: bool = False) -> CompanyInput | None:
    """
    Read the inputs of a company's statements from the store, or None for an unknown company.

    With `placed`, each state includes its raw cell, so that amounts can name theirs.
    """
    record = rows.by_id(db, entity)
    if record is None:
        return None
    held: dict[str | None, _Held] = {None: {}}
    notes: dict[str | None, FactNote] = {None: FactNote()}
    for fact in facts.of(db, entity, record.source):
        if fact.value is None:
            continue
        note = notes.get(fact.note)
        if note is None:  # each filing's is there once for every fact it states
            note = notes[fact.note] = _note(fact.note) if fact.note else FactNote()
        of_currency = held.setdefault(fact.variant, {})
        of_currency.setdefault(fact.native, {}).setdefault(days_of(fact.period), []).append(
            FactVintage(
                fact.known,
                fact.value,
                note.accession,
                fact.released,
                fact.ingested,
                fact.flags,
                note.inconsistent,
                (fact.series, fact.period) if placed else None,
                note.without,
            )
        )
    main = held.pop(None)
    return CompanyInput(
        entity,
        record.source,
        main,
        filings.of(db, entity),
        record.template,
        record.currency or "USD",
        {currency: facts_ for currency, facts_ in held.items() if currency is not None},
        not is_simulated(record.source),
    )


def _spec(company: CompanyInput, slug: str, frequency: Frequency, currency: str | None) -> SeriesSpec:
    unit, name = _described(slug)
    money = unit in _MONEY
    told = currency or company.currency
    return SeriesSpec(
        source=company.source,
        native=slug,
        indicator=slug,
        entity=company.entity,
        frequency=frequency,
        unit=money_of(told, per_share=unit == "per_share") if money else unit,
        name=name,
        currency=told if money else None,
        variant=currency,
    )


def _described(slug: str) -> tuple[str | None, str]:
    item = items().get(slug)
    if item is not None:
        return item.unit, item.name
    measure = catalogued()[slug]
    return measure.unit, measure.name
