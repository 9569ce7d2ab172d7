"""Acceptance of responses that are held back because they would withdraw much."""

from __future__ import annotations

from almanac.domain.errors import UserError
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.store.log import payloads


class NotHeld(UserError):  # noqa: N818  (the name says what is the matter)
    """There is no such held response. The message lists those there are."""


def accept(world: PipelineContext, sha256: str, say: Say) -> list[RunOutcome]:
    """
    Accept the held responses with that hash, or with the only hash that begins so: record it for good, and ingest them.

    If it is killed in between, run it again. Raises NotHeld if no held response matches, or responses with several
    hashes do.
    """
    held = [row for row in payloads.quarantined(world.db) if row.held]
    meant = [row for row in held if row.sha256.startswith(sha256.lower())]
    hashes = sorted({row.sha256 for row in meant})
    if len(hashes) != 1:
        every = hashes or sorted({row.sha256 for row in held})
        there = f"held are {', '.join(every)}" if every else "none is held"
        raise NotHeld(f"no one response is held whose SHA-256 begins with {sha256!r}: {there}")
    outcomes = []
    for source in sorted({row.source for row in meant}):
        ours = sorted((row for row in meant if row.source == source), key=lambda row: row.ref.order)
        run = Ingest(world, world.catalog.sources[source], say)
        world.raw.accept(source, hashes[0], world.settings.clock())
        outcomes.append(run.again([row.kept for row in ours]))
    return outcomes
