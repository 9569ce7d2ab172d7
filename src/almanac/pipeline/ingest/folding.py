"""
Folding a parsed payload into the store; and replaying a series when a payload comes out of order.

What is served is the result of appending all kept payloads in order of (`fetched_at`, SHA-256). A payload older than
the newest one a series has seen cannot simply be appended (a repeated value that was not stored may now matter), so
the series is folded anew from the raw store, aside, and only the difference is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from almanac.catalog.succession import stretches
from almanac.domain.observations import Vintage
from almanac.domain.periods import EVERY_KEY
from almanac.domain.reference import SeriesSpec, Source
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.companies import CompanyFolding
from almanac.pipeline.world import World
from almanac.sources.base import Block, Connector, Parsed, Payload, SourceChanged
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations.writing.batch import Batch, Handle, by_period, fold
from almanac.store.raw.captures import Capture


class Folding:
    """Folds payloads of one source."""

    def __init__(self, world: World, source: Source, reader: Connector, series: Mapping[str, SeriesSpec]) -> None:
        self._world = world
        self._source = source
        self._reader = reader
        self._series = series
        self._stretches = stretches(series)
        self._companies = CompanyFolding(world.db, source.id, world.company_deriver)
        self._changed = 0

    @property
    def vintages(self) -> int:
        """Cells of raw series changed so far."""
        return self._changed + self._companies.vintages

    def fold(self, batch: Batch, row: PayloadRow, parsed: Parsed, changes: Changes) -> dict[str, int]:
        """
        Write what a payload says. Returns the native series that are not mapped; `changes` grows by the cells changed.

        The caller brings what is computed from them into step, before the batch ends.
        """
        unmapped = dict(parsed.unmapped)
        late: list[tuple[Handle, SeriesSpec]] = []
        for block in parsed.blocks:
            stretch = self._stretches.get(block.native)
            if stretch is None:
                unmapped[block.native] = unmapped.get(block.native, 0) + len(block.statements)
                continue
            spec = stretch.series
            statements, complete = stretch.clip(block.statements, block.complete)
            if not statements and complete is None and (block.statements or block.complete):
                continue  # all of it lies in the stretch of another native code
            handle = batch.series(spec, "raw")
            if batch.behind(handle, row.ref):
                batch.remember(handle, row.ref)
                late.append((handle, spec))
                continue
            self._note(batch, spec, batch.append(handle, row.ref, statements, complete), changes)
        for handle, spec in late:
            self._note(batch, spec, self._replay(batch, handle, spec, row, parsed), changes)
        for native, (exposure, reason) in parsed.tightened.items():
            if native in self._stretches:
                spec = self._stretches[native].series
                if batch.tighten(batch.series(spec, "raw"), exposure, reason):
                    self._world.deriver.reconsider(spec)
        if parsed.companies or parsed.filings or parsed.facts:
            for native, rows in self._companies.fold(batch, row, parsed, self._reread).items():
                unmapped[native] = unmapped.get(native, 0) + rows
        db = self._world.db
        for native, rows in unmapped.items():
            payloads.note_unmapped(db, self._source.id, native, rows, row.ingested_at)
        payloads.note_read(db, row, (block.native for block in parsed.blocks if block.native in self._stretches))
        payloads.note_unread(db, row, parsed.unknown, parsed.missing)
        for dated in parsed.release_dates:
            payloads.note_release_date(db, self._source.id, dated.release, dated.day.toordinal(), row.ref)
        self._world.releases.note(row, parsed)
        return unmapped

    def _note(self, batch: Batch, spec: SeriesSpec, changed: list[int], changes: Changes) -> None:
        if changed:
            self._world.deriver.register(spec)
            self._changed += len(changed)
            held = changes.setdefault(spec.id, set())
            if held is not None:
                held.update(changed)

    def _replay(self, batch: Batch, handle: Handle, spec: SeriesSpec, row: PayloadRow, parsed: Parsed) -> list[int]:
        """Fold all payloads of a series anew, in order, and write what differs from what is stored."""
        numbers = {*batch.payloads_of(handle), row.number}
        rows = [found for number in numbers if (found := payloads.by_number(self._world.db, number)) is not None]
        cells: dict[int, list[Vintage]] = {}
        for one in sorted(rows, key=lambda r: r.ref.order):
            blocks = parsed.blocks if one.number == row.number else self._reread(one).blocks
            for block in blocks:
                stretch = self._stretches.get(block.native)
                if stretch is not None and stretch.series.id == spec.id:
                    cells.update(self._fold_block(cells, one, block, handle))
        target: dict[int, list[Vintage]] = {period: [] for period in batch.history(handle, EVERY_KEY)} | cells
        return batch.replace(handle, target)

    def _fold_block(
        self, cells: Mapping[int, list[Vintage]], row: PayloadRow, block: Block, handle: Handle
    ) -> dict[int, list[Vintage]]:
        statements, complete = self._stretches[block.native].clip(block.statements, block.complete)
        return fold(cells, row.ref, by_period(statements), complete, handle.allowance_days)

    def _reread(self, row: PayloadRow) -> Parsed:
        capture = Capture(
            id=row.capture,
            source=row.source,
            url=row.url,
            sha256=row.sha256,
            fetched_at=row.fetched_at,
            ingested_at=row.ingested_at,
            media_type=row.media_type,
            bytes=row.bytes,
        )
        payload = Payload(row.url, self._world.raw.read(capture), row.ingested_at, row.media_type)
        try:
            return self._reader.parse(payload, self._source, self._series)
        except SourceChanged as error:
            raise SourceChanged(f"to fold anew, {row.url} (sha256 {row.sha256}) is read again: {error}") from error
