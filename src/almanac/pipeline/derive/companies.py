"""Recomputation of companies' statements, ratios and scores after changes of the facts they depend on."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from almanac.catalog.companies import items
from almanac.catalog.measures import measures
from almanac.catalog.records import is_simulated
from almanac.derived.companies import ratios
from almanac.derived.companies.derivation import ItemVintage, derive
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
#: Companies derived ahead of the one being written, per process.
_AHEAD = 16
#: Approximate bytes of a stated fact.
_STATE_BYTES = 500
_note = msgspec.json.Decoder(FactNote).decode


class DerivedSeries(NamedTuple):
    """Settled vintages of one series, by period key; the lineage of each is the index of its tags in `DerivedCompany.tags`."""

    slug: str
    frequency: Frequency
    #: The currency, if it isn't the company's main one.
    currency: str | None
    cells: dict[int, list[Vintage]]


class DerivedCompany(NamedTuple):
    """All derived data of a company. The series are sorted by name, because each process orders sets in its own way."""

    series: list[DerivedSeries]
    #: Sets of tags that values come from, the empty one first.
    tags: list[tuple[str, ...]]
    #: Stored bodies of statements, each with the moment from which it was known.
    statements: dict[Key, list[tuple[int, bytes]]]


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

    def note(self, entity: str) -> None:
        """Remember that an input of a company's statements changed."""
        self._changed[entity] = None

    def forget(self) -> None:
        """Discard the noted changes, because their batch was undone."""
        self._changed.clear()

    def run(self, batch: Batch) -> int:
        """Derive every noted company, inside the batch that changed it. Returns how many cells and statements changed."""
        noted, self._changed = list(self._changed), {}
        return sum(self._write(batch, company, made) for company, made in self._derived(noted))

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """Recompute everything of every company and write the differences. Returns how many cells and statements changed."""
        every = counted(facts.entities(self._db), meter, "companies")
        return sum(self._write(batch, company, made) for company, made in self._derived(every))

    def check(self, probe: Batch, meter: Meter = unmetered) -> Iterator[str]:
        """Recompute everything and compare. `probe` collects the differences of series; those of statements are yielded."""
        for company, made in self._derived(counted(facts.entities(self._db), meter, "companies")):
            self._write_series(probe, company, made)
            for key in statements.differing(self._db, company.entity, made.statements):
                yield f"{company.entity}: its statement {key} computed anew is not the one stored"

    def _derived(self, entities: Iterable[str]) -> Iterator[tuple[CompanyInput, DerivedCompany]]:
        """
        Yield companies with their derived data, in order. Companies without any data are skipped.

        Everything is recomputed, because one report can move the fiscal calendar of long past years.
        """
        ahead = 1 if self._processes.count == 1 else _AHEAD * self._processes.count
        waiting: deque[tuple[CompanyInput, Job[DerivedCompany]]] = deque()
        for company in filter(None, (read(self._db, entity) for entity in entities)):
            states = sum(len(states) for periods in company.facts.values() for states in periods.values())
            waiting.append((company, self._processes.job(derived, company, weight=states * _STATE_BYTES)))
            if len(waiting) >= ahead:
                first, job = waiting.popleft()
                yield first, job.result()
        while waiting:
            company, job = waiting.popleft()
            yield company, job.result()

    def _write(self, batch: Batch, company: CompanyInput, made: DerivedCompany) -> int:
        """Write a company's differences. Returns the number of derived cells and statements that changed."""
        changed = self._write_series(batch, company, made)
        moved = statements.replace(self._db, batch.version, company.entity, made.statements)
        if merging.mark_reports(self._db, company.entity) or moved:
            batch.touch()
        return changed + len(moved)

    def _write_series(self, batch: Batch, company: CompanyInput, made: DerivedCompany) -> int:
        """Write the differences of all derived series of a company together. Returns how many cells changed."""
        handles = batch.put_series([_spec(company, series) for series in made.series], "derived")
        ids = {handle.id for handle in handles}
        stored = facts.series(self._db, company.entity, company.source, "derived")
        handles += [batch.existing(identifier) for identifier in stored if identifier not in ids]
        # Sets of tags in use, in the order in which rows name them; the first is empty.
        used = dict.fromkeys(
            row.lineage for series in made.series for rows in series.cells.values() for row in rows if row.lineage
        )
        inputs = [series_ids(company.source, company.entity, made.tags[tags]) for tags in used]
        lineages = {0: 0, **dict(zip(used, batch.lineages(inputs), strict=True))}
        histories = batch.histories(Cells(handle, EVERY_KEY) for handle in handles)
        changes = []
        for place, (handle, history) in enumerate(zip(handles, histories, strict=True)):
            cells = made.series[place].cells if place < len(made.series) else {}
            target: dict[int, list[Vintage]] = {period: [] for period in history}
            for period, vintages in cells.items():
                target[period] = [vintage._replace(lineage=lineages[vintage.lineage]) for vintage in vintages]
            changes.append(Change(handle, history, target))
        return sum(map(len, batch.replace_all(changes)))


def derived(company: CompanyInput) -> DerivedCompany:
    """Derive all data of a company. Raises what `derive` raises."""
    outcome = derive(company, measure=ratios.measures, reach=REACH_DAYS)
    tags: dict[tuple[str, ...], int] = {(): 0}
    series = [
        DerivedSeries(
            slug,
            frequency,
            currency,
            {period: _settled(vintages, period, frequency, tags) for period, vintages in sorted(cells.items())},
        )
        for currency, of_currency in ((None, outcome.items), *sorted(outcome.others.items()))
        for (slug, frequency), cells in sorted(of_currency.items())
    ]
    bodies = {
        Key(_KINDS[key.kind], key.frequency.value, key.period): [
            (version.known, b"" if version.body is None else pack(msgspec.json.encode(version.body)))
            for version in versions
        ]
        for key, versions in outcome.statements.items()
    }
    return DerivedCompany(series, list(tags), bodies)


def _settled(
    made: Iterable[ItemVintage], period: int, frequency: Frequency, tags: dict[tuple[str, ...], int]
) -> list[Vintage]:
    """
    Return the served vintages of one cell. New sets of tags are added to `tags`.

    If the period was renamed while nothing else changed, a vintage says so, so that a row and its statement have one
    name at every moment. It is not a revision: its status is that of the vintage before.
    """
    stated = [
        Vintage(
            item.known,
            item.value,
            None,
            item.flags,
            item.released,
            max(item.ingested, item.known),
            0,
            _row_note(item.note, item.fiscal),
            tags.setdefault(item.tags, len(tags)),
        )
        for item in made
    ]
    served = {vintage.known: vintage for vintage in settle(stated, period, frequency.allowance_days)}
    vintages: list[Vintage] = []
    name: tuple[int, str] | None = None
    for item, state in zip(made, stated, strict=True):
        vintage = served.get(item.known)
        if vintage is None and vintages and not vintages[-1].withdrawn and item.fiscal != name:
            vintage = vintages[-1]._replace(known=state.known, ingested=state.ingested, note=state.note)
        if vintage is not None:
            vintages.append(vintage)
            name = item.fiscal
    return vintages


@functools.lru_cache(maxsize=4_096)
def _row_note(method: str | None, fiscal: tuple[int, str] | None) -> str | None:
    """Return the note of a row: its period's fiscal name and the method of its value, or None without either."""
    parts = [] if fiscal is None else [fiscal_note(*fiscal)]
    if method is not None:
        parts.append(f'"method":"{method}"')
    return "{" + ",".join(parts) + "}" if parts else None


def read(db: Queryable, entity: str, *, placed: bool = False) -> CompanyInput | None:
    """
    Read the inputs of a company's statements from the store, or None for an unknown company.

    With `placed`, each state includes its raw cell, so that amounts can name theirs.
    """
    record = rows.by_id(db, entity)
    if record is None:
        return None
    #: Currency → tag → (start or None, end) → states.
    every: dict[str | None, dict[str, dict[tuple[int | None, int], list[FactVintage]]]] = {None: {}}
    notes: dict[str | None, FactNote] = {None: FactNote()}
    for fact in facts.of(db, entity, record.source):
        if fact.value is None:
            continue
        note = notes.get(fact.note)
        if note is None:  # each filing's is there once for every fact it states
            note = notes[fact.note] = _note(fact.note) if fact.note else FactNote()
        of_currency = every.setdefault(fact.variant, {})
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
    return CompanyInput(
        entity,
        record.source,
        every.pop(None),
        filings.of(db, entity),
        record.template,
        record.currency or "USD",
        {currency: tags for currency, tags in every.items() if currency is not None},
        not is_simulated(record.source),
    )


def _spec(company: CompanyInput, series: DerivedSeries) -> SeriesSpec:
    described = items().get(series.slug) or measures()[series.slug]
    money = described.unit in {"money", "per_share"}
    currency = series.currency or company.currency
    return SeriesSpec(
        source=company.source,
        native=series.slug,
        indicator=series.slug,
        entity=company.entity,
        frequency=series.frequency,
        unit=money_of(currency, per_share=described.unit == "per_share") if money else described.unit,
        name=described.name,
        currency=currency if money else None,
        variant=series.currency,
    )
