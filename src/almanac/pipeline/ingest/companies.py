"""
Companies: storing their facts, filings and names.

Facts become raw series, one for each tag and length of period. A fact is known from its filing's time. If that becomes
known more exactly (the index of filings arrives after the facts), the company's facts are folded again, so the order of
arrival does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from almanac.catalog.sectors import classify
from almanac.derived.companies.facts import letter
from almanac.derived.companies.reported_values import reported_values
from almanac.domain.companies import CompanyFacts, company_id, is_periodic, is_warning, raw_slug
from almanac.domain.events import EventState
from almanac.domain.observations import ReportedValue, Vintage
from almanac.domain.periods import EVERY_KEY, Frequency
from almanac.domain.reference import SeriesSpec
from almanac.domain.units import money_of
from almanac.pipeline.derive.companies import CompanyDeriver
from almanac.pipeline.events import filings as filing_events
from almanac.sources.base import Parsed
from almanac.store.companies import facts, filings, merging, rows
from almanac.store.engine.protocol import Database
from almanac.store.events import events
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import Cells, Change, SeriesClaim, by_period, fold

#: Kinds of a company's record: from its own facts, and from the regulator's quarterly data sets.
FACTS, DATASETS = "facts", "datasets"

#: The vintages of a cell that goes.
_NOTHING: list[Vintage] = []

#: Parses a payload again, to fold a company's facts again.
Reread = Callable[[PayloadRow], Parsed]
#: Series → its values in one payload.
Shelf = dict[str, tuple[SeriesSpec, list[ReportedValue]]]


class ServedUnit(NamedTuple):
    """
    The served form of a filing's unit: the unit's id, its currency if it is money, and the variant that separates the
    series.
    """

    unit: str
    currency: str | None = None
    variant: str | None = None


def unit_of(text: str, main: str | None) -> ServedUnit | None:
    """
    Return how a filing's unit (`USD`, `TWD/shares`, `shares`, `pure`) is served, for a filer whose main currency is
    `main`.

    Return None for units that no line of a statement uses.
    """
    if text in {"shares", "pure"}:
        return ServedUnit("shares" if text == "shares" else "ratio")
    money, slash, per = text.partition("/")
    if len(money) != 3 or not (money.isascii() and money.isupper()) or (slash and per != "shares"):
        return None
    return ServedUnit(money_of(money, per_share=bool(slash)), money, None if money == main else money)


class CompanyFolding:
    """
    Storage of what payloads of one source say about companies. `source` is its id; `deriver` hears which companies
    changed.
    """

    def __init__(self, db: Database, source: str, deriver: CompanyDeriver) -> None:
        self._db = db
        self._source = source
        self._deriver = deriver
        #: Cells of raw series changed so far.
        self.vintages = 0

    def fold(self, batch: Batch, row: PayloadRow, parsed: Parsed, reread: Reread) -> dict[str, int]:
        """Store a payload's statements about companies. Returns the kinds of skipped facts with their row counts."""
        passed: dict[str, int] = defaultdict(int)
        # Data sets round the days of periods, so they replace missing facts but are never mixed with a company's own.
        replaced = [
            record.entity
            for record in parsed.companies
            if record.part == FACTS
            and not merging.has_part(self._db, record.entity, FACTS)
            and facts.payloads(self._db, record.entity)
        ]
        renamed: list[str] = []
        if parsed.companies:
            changed = merging.put_records(
                self._db, parsed.companies, self._source, row.fetched_at, row.sha256, classify
            )
            for entity, (before, after) in changed.items():
                batch.touch()
                # Filings may have come before the company's record did.
                renamed += [entity] * (before is None or before.name != after.name)
                if before is None:
                    continue
                if before.template != after.template:
                    self._deriver.note(entity)  # other lines, other scores
                if before.currency != after.currency and facts.payloads(self._db, entity):
                    replaced.append(entity)
        again = self._file(batch, row, parsed, renamed) | dict.fromkeys(replaced)
        for entity in again:
            self._refold(batch, entity, row, parsed, reread)
        behind: dict[str, None] = {}
        for stated in self._counting(parsed):
            entity = company_id(stated.cik)
            if entity not in again and entity not in behind and not self._append(batch, row, stated, passed):
                behind[entity] = None
        for entity in behind:
            self._refold(batch, entity, row, parsed, reread)
        return dict(passed)

    def _counting(self, parsed: Parsed) -> Iterator[CompanyFacts]:
        """Yield the facts of a payload, without those of a data set for companies whose own facts are stored."""
        datasets = {record.cik for record in parsed.companies if record.part == DATASETS}
        for told in parsed.facts:
            if told.cik not in datasets or not merging.has_part(self._db, company_id(told.cik), FACTS):
                yield told

    def _file(self, batch: Batch, row: PayloadRow, parsed: Parsed, renamed: Sequence[str]) -> dict[str, None]:
        """Store filings and their events. Returns companies with facts whose knowledge time changed."""
        # In the order of the store, so that rows fill its pages.
        in_order = sorted(parsed.filings, key=lambda filed: (filed[0], filed[1].filed, filed[1].known_at or 0))
        filed = [(company_id(cik), filing) for cik, filing in in_order]
        fresh: dict[str, list[filings.Timed]] = defaultdict(list)
        former: dict[str, list[filings.Timed]] = defaultdict(list)
        moved: dict[str, None] = {}
        entered, replaced = filings.enter(self._db, filed, self._source, row.number)
        for key, timed in replaced.items():
            former[key[0]].append(timed)
            if entered[key][0].known_at != timed[0].known_at:
                moved[key[0]] = None
        for (entity, _), (filing, exact) in entered.items():
            fresh[entity].append((filing, exact))
            if is_periodic(filing.form) or is_warning(filing):
                # The fiscal calendar depends on what reports say they are about, and a warning marks statements.
                self._deriver.note(entity)
        if renamed:
            for entity in renamed:
                fresh.pop(entity, None)
            for (entity, _), timed in filings.stored(self._db, renamed).items():
                fresh[entity].append(timed)
        names = {entity: record.name for entity in fresh if (record := rows.by_id(self._db, entity)) is not None}
        states = filing_events.states(self._source, fresh, names)
        # A report was an event by itself until its items were known, or of another kind until its form was.
        gone = {event: list[EventState]() for event in filing_events.states(self._source, former, names)}
        if events.replace(self._db, batch.version, gone | states):
            batch.touch()
        return {entity: None for entity in moved if facts.payloads(self._db, entity)}

    # -- facts ------------------------------------------------------------------------------------------------------

    def _append(self, batch: Batch, row: PayloadRow, told: CompanyFacts, passed: dict[str, int]) -> bool:
        """
        Append a payload's facts. Returns False if a later payload already stated them, so that all must be folded
        again.
        """
        entity = company_id(told.cik)
        shelf = self._shelve(entity, told, passed)
        handles = batch.put_series([spec for spec, _ in shelf.values()], "raw")
        claims = [SeriesClaim(handle, values) for handle, (_, values) in zip(handles, shelf.values(), strict=True)]
        if any(batch.behind(handle, row.ref) for handle in handles):
            batch.remember(row.ref, claims)
            return False
        self._note(entity, batch.append(row.ref, claims))
        return True

    def _note(self, entity: str, changed: Iterable[list[int]]) -> None:
        cells = sum(map(len, changed))
        if cells:
            self.vintages += cells
            self._deriver.note(entity)

    def _refold(self, batch: Batch, entity: str, row: PayloadRow, parsed: Parsed, reread: Reread) -> None:
        """Fold all payloads with facts of a company again, in order, and write the differences."""
        numbers = {*facts.payloads(self._db, entity), row.number}
        rows = [found for number in numbers if (found := payloads.by_number(self._db, number)) is not None]
        cells: dict[str, dict[int, list[Vintage]]] = defaultdict(dict)
        for one in sorted(rows, key=lambda r: r.ref.order):
            said = parsed if one.number == row.number else reread(one)
            for told in self._counting(said):
                if company_id(told.cik) != entity:
                    continue
                shelf = self._shelve(entity, told, {})
                handles = batch.put_series([spec for spec, _ in shelf.values()], "raw")
                batch.remember(one.ref, [SeriesClaim(handle, ()) for handle in handles])
                for handle, (_, values) in zip(handles, shelf.values(), strict=True):
                    held = cells[handle.id]
                    held.update(fold(held, one.ref, by_period(values), None, handle.allowance_days))
        # Series that no payload mentions any more (another main currency, a replaced data set) lose their rows.
        every = [batch.existing(identifier) for identifier in facts.series(self._db, entity, self._source, "raw")]
        changes = [
            Change(handle, stored, dict.fromkeys(stored, _NOTHING) | cells[handle.id])
            for handle, stored in zip(every, batch.histories(Cells(handle, EVERY_KEY) for handle in every), strict=True)
        ]
        self._note(entity, batch.replace_all(changes))

    def _shelve(self, entity: str, told: CompanyFacts, passed: dict[str, int]) -> Shelf:
        """Group a payload's facts by series. Facts in unknown units or periods are counted in `passed`."""
        record = rows.by_id(self._db, entity)
        main = record.currency if record is not None else None
        filed = filings.stored(self._db, [entity]).values()
        known = {filing.accession: filing.known_at for filing, _ in filed if filing.known_at is not None}
        by_day = frozenset(filing.accession for filing, exact in filed if not exact)
        shelf: dict[tuple[str, str, str | None], tuple[SeriesSpec, list[ReportedValue]]] = {}
        for (tag, text, start, end), states in reported_values(told.facts, known, by_day).items():
            unit, frequency = unit_of(text, main), letter(start, end)
            if unit is None or frequency is None:
                why = f"unit {text}" if unit is None else "periods of other lengths"
                passed[f"facts: {why}"] = passed.get(f"facts: {why}", 0) + len(states)
                continue
            slug = raw_slug(tag)
            name = (slug, frequency, unit.variant)
            if name not in shelf:
                spec = SeriesSpec(
                    source=self._source,
                    native=tag,
                    indicator=slug,
                    entity=entity,
                    frequency=Frequency(frequency),
                    unit=unit.unit,
                    name=tag,
                    currency=unit.currency,
                    variant=unit.variant,
                )
                shelf[name] = (spec, [])
            shelf[name][1].extend(states)
        return {spec.id: (spec, statements) for spec, statements in shelf.values()}
