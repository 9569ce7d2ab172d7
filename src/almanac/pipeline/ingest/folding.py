"""
Folding of parsed payloads into the store, and replay of series when a payload arrives out of order.

The served data is the result of appending all stored payloads in order of (`fetched_at`, SHA-256), except those held
back because they would withdraw too much (`mass_withdrawal_guard`). A payload older than the newest one of a series
cannot simply be appended: a repeated value that was not stored may now matter, and another payload may now have to be
held back or released. So all series connected by payloads are folded again from the raw store, separately, and only the
differences are written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from almanac.catalog.currencies import apart, in_currency
from almanac.catalog.succession import Stretch, stretches
from almanac.domain.observations import ReportedValue, Vintage
from almanac.domain.periods import EVERY_KEY
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import midnight
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.companies import CompanyFolding
from almanac.pipeline.ingest.mass_withdrawal_guard import why_held
from almanac.sources.base import Connector, Parsed, Payload, SourceChanged
from almanac.sources.formats import notes
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations.writing import vintages
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import (
    Cells,
    Change,
    History,
    SeriesClaim,
    SeriesHandle,
    by_period,
    fold,
)

#: The vintages of a cell that goes.
_NOTHING: list[Vintage] = []


class Folding:
    """The folding of payloads of one source."""

    def __init__(
        self, world: PipelineContext, source: Source, reader: Connector, series: Mapping[str, SeriesSpec]
    ) -> None:
        self._world = world
        self._source = source
        self._reader = reader
        self._series = series
        self._stretches = stretches(series)
        self._companies = CompanyFolding(world.db, source.id, world.company_deriver)
        self._changed = 0
        self._specs: dict[int, SeriesSpec] = {}
        #: Series for which the last payload shows an older state than the known one.
        self.past = 0
        #: Payloads whose status changed with the last one: with the reason if they are now held back, or None if
        #: released.
        self.turned: dict[int, tuple[PayloadRow, str | None]] = {}

    @property
    def vintages(self) -> int:
        """Cells of raw series changed so far."""
        return self._changed + self._companies.vintages

    def fold(self, batch: Batch, row: PayloadRow, parsed: Parsed, changes: Changes) -> dict[str, int]:
        """
        Store the content of a payload. Returns the unmapped native series with their row counts; changed cells are
        added to `changes`.

        `turned` then tells whether it was held back, and which other payloads were held back or released because of it.
        The caller must recompute dependent data before the batch ends.
        """
        unmapped = dict(parsed.unmapped)
        self.turned = {}
        claims = self._claims(batch, row, parsed, unmapped)
        late = any(batch.behind(claim.series, row.ref) for claim in claims)
        fresh = [claim for claim in claims if late or not batch.is_past(claim.series, claim.updated)]
        self.past = len(claims) - len(fresh)
        db, raw = self._world.db, self._world.raw

        def served(series: SeriesHandle, span: tuple[int, int]) -> set[int]:
            return vintages.periods(db, series.topic, series.number, span)

        if late:
            batch.remember(row.ref, claims)
            self._replay(batch, claims, row, parsed, changes)
        elif why := why_held(raw, row, fresh, served):
            batch.remember(row.ref, claims)
            self.turned[row.number] = row, why
        else:
            for claim, changed in zip(claims, batch.append(row.ref, claims), strict=True):
                self._note(claim.series, changed, changes)
        for native, (exposure, reason) in parsed.tightened.items():
            stretch = self._stretch(native)
            if stretch is not None:
                spec = stretch.series
                if batch.tighten(batch.series(spec, "raw"), exposure, reason):
                    self._world.deriver.reconsider(spec)
        if parsed.companies or parsed.filings or parsed.facts:
            for native, rows in self._companies.fold(batch, row, parsed, self._reread).items():
                unmapped[native] = unmapped.get(native, 0) + rows
        for native, rows in unmapped.items():
            payloads.note_unmapped(db, self._source.id, native, rows, row.ingested_at)
        natives = dict.fromkeys(apart(block.native)[0] for block in parsed.blocks)
        payloads.note_read(db, row, (native for native in natives if native in self._stretches))
        payloads.note_unread(db, row, parsed.unknown, parsed.missing)
        for dated in parsed.release_dates:
            payloads.note_release_date(db, self._source.id, dated.release, dated.day.toordinal(), row.ref)
        self._world.releases.note(row, parsed)
        for payload, why in self.turned.values():
            payloads.judge(db, payload.number, payloads.FOLDED if why is None else payloads.QUARANTINED, why)
        return unmapped

    def _claims(self, batch: Batch, row: PayloadRow, parsed: Parsed, unmapped: dict[str, int]) -> list[SeriesClaim]:
        """Return a payload's statements series by series. Blocks without a series are counted in `unmapped`."""
        claimed: list[tuple[SeriesSpec, Sequence[ReportedValue], tuple[int, int] | None, int | None]] = []
        for block in parsed.blocks:
            stretch = self._stretch(block.native)
            if stretch is None:
                unmapped[block.native] = unmapped.get(block.native, 0) + len(block.statements)
                continue
            statements, complete = stretch.clip(block.statements, block.proven)
            if not statements and complete is None and (block.statements or block.complete):
                continue  # all of it lies in the stretch of another native code
            code = self._series[apart(block.native)[0]]
            statements = _with_base(statements, self._series[code.copy_of or code.native], row.ingested_at)
            # Codes that succeed each other come from data sets with separate update times.
            updated = block.updated if stretch.is_whole else None
            claimed.append((stretch.series, statements, complete, updated))
        handles = batch.put_series([spec for spec, *_ in claimed], "raw")
        self._specs.update({handle.number: spec for handle, (spec, *_) in zip(handles, claimed, strict=True)})
        return [
            SeriesClaim(handle, statements, complete, updated)
            for handle, (_, statements, complete, updated) in zip(handles, claimed, strict=True)
        ]

    def _stretch(self, native: str) -> Stretch | None:
        """
        Return the stretch of a native code, with the series of the currency if its amounts are in another one. None for
        unknown codes.
        """
        stretch = self._stretches.get(native)
        if stretch is not None:
            return stretch
        plain, code = apart(native)
        stretch = self._stretches.get(plain)
        return None if stretch is None or code is None else stretch._replace(series=in_currency(stretch.series, code))

    # -- payloads out of order --------------------------------------------------------------------------------------

    def _replay(
        self, batch: Batch, claims: Sequence[SeriesClaim], row: PayloadRow, parsed: Parsed, changes: Changes
    ) -> None:
        """
        Fold all payloads again, in order, that are connected with the series of these claims, and write the
        differences.

        Payloads are connected if they state a common series, directly or through others.
        """
        cells: dict[int, History] = defaultdict(dict)
        #: Update time of the newest payload of each series, if stated.
        newest: dict[int, int] = {}

        def is_past(claim: SeriesClaim) -> bool:
            return claim.updated is not None and claim.updated < newest.get(claim.series.number, claim.updated)

        def served(series: SeriesHandle, span: tuple[int, int]) -> list[int]:
            alive = [period for period, cell in cells[series.number].items() if cell and not cell[-1].withdrawn]
            return [period for period in alive if span[0] <= period <= span[1]]

        moved = {claim.series.number: claim.series for claim in claims}
        for payload in self._tied(moved, row):
            content = parsed if payload.number == row.number else self._reread(payload)
            stated = claims if payload.number == row.number else self._claims(batch, payload, content, {})
            why = why_held(self._world.raw, payload, (claim for claim in stated if not is_past(claim)), served)
            if why is None:
                for claim in stated:
                    handle, statements, complete, updated = claim
                    stored, allowance = cells[handle.number], handle.allowance_days
                    stored.update(
                        fold(stored, payload.ref, by_period(statements), complete, allowance, is_past=is_past(claim))
                    )
                    if updated is not None:
                        newest[handle.number] = max(updated, newest.get(handle.number, updated))
            if why != (payload.reason if payload.held else None):
                self.turned[payload.number] = payload, why
            if payload.held != (why is not None):
                moved.update({claim.series.number: claim.series for claim in stated})
        histories = batch.histories(Cells(handle, EVERY_KEY) for handle in moved.values())
        replaced = [
            Change(handle, history, dict.fromkeys(history, _NOTHING) | cells[handle.number])
            for handle, history in zip(moved.values(), histories, strict=True)
        ]
        for handle, changed in zip(moved.values(), batch.replace_all(replaced), strict=True):
            self._note(handle, changed, changes)

    def _tied(self, series: Iterable[int], row: PayloadRow) -> list[PayloadRow]:
        """
        Return all payloads connected with these series, directly or through other payloads and series, in folding
        order.
        """
        of_series: dict[int, set[int]] = defaultdict(set)
        of_payload: dict[int, set[int]] = defaultdict(set)
        for number, payload in payloads.spoken(self._world.db, self._source.id):
            of_series[number].add(payload)
            of_payload[payload].add(number)
        seen, tied, waiting = set(series), {row.number}, list(series)
        while waiting:
            for payload in of_series[waiting.pop()] - tied:
                tied.add(payload)
                fresh = of_payload[payload] - seen
                seen |= fresh
                waiting += fresh
        rows = filter(None, (payloads.by_number(self._world.db, number) for number in tied))
        # A payload that became unreadable is quarantined for that and doesn't take part.
        taking_part = [other for other in rows if other.state == payloads.FOLDED or other.held]
        return sorted(taking_part, key=lambda other: other.ref.order)

    def _note(self, handle: SeriesHandle, changed: list[int], changes: Changes) -> None:
        if changed:
            self._world.deriver.register(self._specs[handle.number])
            self._changed += len(changed)
            noted = changes.setdefault(handle.id, set())
            if noted is not None:
                noted.update(changed)

    def _reread(self, row: PayloadRow) -> Parsed:
        payload = Payload(row.url, self._world.raw.read(row.kept), row.ingested_at, row.media_type)
        try:
            return self._reader.parse(payload, self._source, self._series)
        except SourceChanged as error:
            raise SourceChanged(f"to fold anew, {row.url} (sha256 {row.sha256}) is read again: {error}") from error


def _with_base(statements: Sequence[ReportedValue], spec: SeriesSpec, ingested: int) -> Sequence[ReportedValue]:
    """Add a native code's base year and price basis to the values published on it."""
    if spec.basis is None and spec.price_basis is None:
        return statements
    since = 0 if spec.based_from is None else midnight(spec.based_from.toordinal())
    return [
        line
        if line.value is None or (ingested if line.known is None else line.known) < since
        else line._replace(note=notes.with_base(line.note, spec.basis, spec.price_basis))
        for line in statements
    ]
