"""Keeping companies' statements, ratios and scores in step with the facts they are computed from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from almanac.catalog.companies import items
from almanac.catalog.measures import measures as catalogued
from almanac.catalog.records import is_simulated
from almanac.derived.companies import ratios
from almanac.derived.companies.derivation import CompanyVintages, ItemVintage, derive
from almanac.derived.companies.facts import CompanyInput, FactVintage
from almanac.derived.companies.reported_values import FactNote
from almanac.derived.companies.statements import series_ids
from almanac.domain.observations import Vintage, settle
from almanac.domain.periods import EVERY_KEY, Frequency, days_of
from almanac.domain.progress import Meter, counted, unmetered
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import money_of
from almanac.store.companies import facts, filings, merging, statement_book
from almanac.store.companies.statement_book import Key
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable
from almanac.store.observations.writing.batch import Batch

_KINDS = {"income": statement_book.INCOME, "balance": statement_book.BALANCE, "cash_flow": statement_book.CASH_FLOW}
_MONEY = {"money", "per_share"}


_note = msgspec.json.Decoder(FactNote).decode


class CompanyDeriver:
    """Derives what follows from companies' facts and writes what differs."""

    def __init__(self, db: Database) -> None:
        self._db = db
        #: Companies whose statements may have changed, in the order in which that was noticed.
        self._changed: dict[str, None] = {}

    def note(self, entity: str) -> None:
        """Remember that something a company's statements are made from changed."""
        self._changed[entity] = None

    def forget(self) -> None:
        """Drop what is noted: the batch that it belonged to was undone."""
        self._changed.clear()

    def run(self, batch: Batch) -> int:
        """Bring every company noted into step, inside the batch that changed it. Returns how much changed."""
        noted, self._changed = list(self._changed), {}
        return sum(self.bring(batch, entity) for entity in noted)

    def recompute(self, batch: Batch, meter: Meter = unmetered) -> int:
        """Compute everything of every company anew and write what differs. Returns how much changed."""
        return sum(self.bring(batch, entity) for entity in counted(facts.entities(self._db), meter, "companies"))

    def bring(self, batch: Batch, entity: str) -> int:
        """
        Bring one company into step. Returns the number of derived cells and statements that changed.

        All of it is computed anew: one report can move the fiscal calendar of years long past.
        """
        found = self._derived(entity)
        if found is None:
            return 0
        company, outcome = found
        changed = self._items(batch, company, outcome)
        moved = statement_book.replace(self._db, batch.version, entity, _bodies(outcome))
        if merging.mark_reports(self._db, entity) or moved:
            batch.touch()
        return changed + len(moved)

    def check(self, probe: Batch, meter: Meter = unmetered) -> Iterator[str]:
        """Compute everything anew and compare. `probe` collects what differs of series; what differs of statements is yielded."""
        for entity in counted(facts.entities(self._db), meter, "companies"):
            found = self._derived(entity)
            if found is not None:
                company, outcome = found
                self._items(probe, company, outcome)
                for key in statement_book.differing(self._db, entity, _bodies(outcome)):
                    yield f"{entity}: its statement {key} computed anew is not the one stored"

    def _derived(self, entity: str) -> tuple[CompanyInput, CompanyVintages] | None:
        company = read(self._db, entity)
        return None if company is None else (company, derive(company, measure=ratios.measures, reach=ratios.REACH_DAYS))

    # -- items and measures -----------------------------------------------------------------------------------------

    def _items(self, batch: Batch, company: CompanyInput, outcome: CompanyVintages) -> int:
        changed = 0
        made: set[str] = set()
        lineages: dict[tuple[str, ...], int] = {}
        for (slug, frequency), cells in outcome.items.items():
            spec = _spec(company, slug, frequency)
            made.add(spec.id)
            handle = batch.series(spec, "derived")
            target = {
                period: settle(
                    [_vintage(batch, company, one, lineages) for one in vintages], period, handle.allowance_days
                )
                for period, vintages in cells.items()
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


def _bodies(outcome: CompanyVintages) -> dict[Key, list[tuple[int, bytes]]]:
    """Versions of statements as they are stored."""
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
