"""Ingestion of a mirror folder: upstream responses as files, each treated as if just fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from almanac.domain.reference import Source
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest, check_clock
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.sources import mirror
from almanac.sources.base import Payload, SourceChanged, connector

#: Source name in the outcome for unclaimed responses.
UNCLAIMED = "(no source)"


def from_mirror(
    world: PipelineContext, sources: Sequence[Source], folder: Path, say: Say, track: Track = untracked
) -> list[RunOutcome]:
    """
    Ingest every response of a mirror folder that belongs to one of the sources.

    Responses that no source of the catalogue reads are listed in an extra outcome after the others. One with a status
    other than 200 is reported but not parsed; one with a broken file counts as failed. Raises mirror.MirrorError for an
    unusable folder or listing, and ClockBehindError if a response without a stated time would count as fetched before
    the store's newest.
    """
    rows = mirror.rows(folder)
    for source in sources:
        reader = connector(source.connector)
        if any(row.fetched_at is None and reader.owns(row.url) for row in rows):
            check_clock(world.db, source.id, world.settings.clock())
    outcomes: list[RunOutcome] = []
    for source in sources:
        ingest = Ingest(world, source, say)
        reader = ingest.connector
        mine = sorted((row for row in rows if reader.owns(row.url)), key=lambda row: reader.turn(row.url))
        arrivals = _arrivals(ingest, track(mine, source.id), world.settings.http.max_bytes)
        outcomes.append(ingest.run(arrivals, ahead=True))
    readers = [
        connector(source.connector)
        for source in world.catalog.sources.values()
        if source.connector and not source.simulated
    ]
    strange = [row.url for row in rows if not any(reader.owns(row.url) for reader in readers)]
    if strange:
        outcomes.append(RunOutcome(UNCLAIMED))
        for url in strange:
            outcomes[-1].set_aside(url, "no source reads this address", quarantined=False)
            say(f"not read {url}: no source reads this address")
    return outcomes


def _arrivals(ingest: Ingest, rows: Iterable[mirror.MirrorRow], most: int) -> Iterator[Arrival]:
    """Yield the responses of a source's rows, with archives opened. `most` is the size limit of a file in bytes."""
    for row in rows:
        if row.status != 200:
            ingest.set_aside(row.url, f"the publisher answered {row.status}", quarantined=False)
            continue
        try:
            payload = Payload(row.url, row.read(most), row.fetched_at or 0, row.media_type)
            for part in ingest.connector.unpack(payload):
                yield Arrival(part.url, part.body, part.media_type, row.fetched_at)
        except (mirror.MirrorError, SourceChanged) as error:
            ingest.fail(row.url, str(error))
