"""Replay of everything from the raw store. The data database can always be rebuilt from it."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping

from almanac.domain.progress import Meter, unmetered
from almanac.pipeline import missing_payloads, raw_store_binding
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.ingest import Ingests, Reading, Unstorable, in_groups
from almanac.pipeline.ingest.outcome import Say, Track, untracked
from almanac.pipeline.missing_payloads import demand
from almanac.pipeline.processes import Job
from almanac.sources.base import Parsed, connector
from almanac.store.engine.data_schema import set_meta
from almanac.store.log import payloads
from almanac.store.raw.captures import Capture, Corrupt

#: Captures that workers read ahead of the one being folded, and their bytes.
_AHEAD, _AHEAD_BYTES = 100, 8 << 20


def rebuild(world: PipelineContext, say: Say, track: Track = untracked, *, without: int | None = None) -> int:
    """
    Replay every capture in folding order, and derive everything once. Returns the number of captures replayed.

    It is one transaction and one data version: readers see the old state until the end, and a kill changes nothing. Ids
    and values stay the same, unreadable payloads are quarantined again, and cursors expire. Captures of sources that
    left the catalogue are reported and skipped.

    Raises LossError if payloads of the data are missing from the raw store or have become unreadable, unless `without`
    states their number. Raises store.raw.Corrupt for a damaged raw store, unless `without` is given. The store is then
    unchanged, and the context must be opened again.
    """
    refused: dict[str, str] = {}
    while True:
        try:
            return _replay(world, say, track, refused, without)
        except Unstorable as error:
            # Nothing was written. Try again with that payload in quarantine, as an ingest would have it.
            refused[error.capture.id] = error.reason
        except Corrupt as error:
            raise Corrupt(
                error.name,
                f"{error.reason}: nothing was changed; {missing_payloads.OPTION} 0 passes by what no data came from, and tells how many payloads"
                " the data would lose",
            ) from None


def _replay(world: PipelineContext, say: Say, track: Track, refused: Mapping[str, str], without: int | None) -> int:
    with world.batch("rebuild") as batch:
        before = missing_payloads.named(world.db)
        missing_now = missing_payloads.lost(before, world.raw, sources=world.catalog.sources, read=without is not None)
        words = "a rebuild", f"the raw store {world.settings.raw_place}", missing_payloads.BRING_BACK
        demand(missing_now, len(before), without, *words, at_most=True)
        world.db.recreate()
        set_meta(world.db, "world", world.kind)
        batch.touch()
        world.write_catalog(batch)
        world.renew()
        runs = Ingests(world, say)
        newest: dict[str, int] = {}
        unknown: dict[str, int] = defaultdict(int)
        replayed = 0
        changes: Changes = {}
        missing = None if without is None else say

        def turn(capture: Capture) -> int:
            source = world.catalog.sources.get(capture.source)
            return 0 if source is None else _reader(source.connector).turn(capture.url)

        # List under the lock: whatever another run stores from now on, it will fold itself.
        captures = sorted(world.raw.captures(passed_by=missing), key=turn)

        def begun() -> Iterator[tuple[Capture, Job[Parsed]]]:
            for capture in track(captures, "rebuild"):
                if capture.source not in world.catalog.sources:
                    unknown[capture.source] += 1
                    continue
                run = runs[capture.source]
                try:
                    yield run.read(capture, world.raw.read(capture))
                except Corrupt as error:
                    if missing is None:
                        raise
                    missing(f"left out: {error}")

        for group in in_groups(begun(), _AHEAD, _AHEAD_BYTES):
            for reading in group:
                capture = reading.capture
                if capture.id in refused:
                    reading = Reading(capture, payloads.QUARANTINED, refused[capture.id])
                runs[capture.source].write(batch, reading, changes)
                newest[capture.source] = max(newest.get(capture.source, 0), capture.ingested_at)
                replayed += 1
        world.update_derived(batch, changes)
        for key, run in runs.items():
            run.finish()
            # After a restore without data the newest capture says how the source does.
            if key in newest and not payloads.was_tried(world.db, key):
                at = newest[key]
                payloads.note_attempt(world.db, key, at, succeeded=True, kept=True, error=None, fetched_at=at)
        after = {row.capture: row for row in missing_payloads.named(world.db)}
        lost = []
        for row in before:
            rebuilt = after.get(row.capture)
            if rebuilt is None:
                lost.append(missing_payloads.of(row, "the raw store cannot give it back"))
            elif row.state == payloads.FOLDED != rebuilt.state:
                lost.append(missing_payloads.of(row, f"was read before, and cannot be now: {rebuilt.reason}"))
        demand(lost, len(before), without, *words)
        raw_store_binding.adopt(world.db, world.raw, whole=not without)
    for name, count in sorted(unknown.items()):
        say(f"left out {count} captures of {name}: the catalogue has no such source")
    return replayed


_reader = functools.cache(connector)


def recompute(world: PipelineContext, meter: Meter = unmetered) -> int:
    """
    Recompute all derived series and write only the differences. Returns the number of changed cells: 0 in a healthy
    store.
    """
    with world.batch("derive") as batch:
        changed = world.deriver.recompute(batch, meter) + world.company_deriver.recompute(batch, meter)
        return changed + world.releases.recompute(batch)
