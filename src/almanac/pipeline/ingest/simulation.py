"""Ingestion of the simulated world: many pages per transaction, all sources together, each page through its connector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from operator import attrgetter

from almanac.domain.progress import Meter, unmetered
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.captures import Arrival, ParsedPayload, Window
from almanac.pipeline.ingest.ingest import Ingests, fold_together, left_behind
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.sandbox import world as simulated
from almanac.sandbox.world import Response, SimulatedPages

#: Pages and bytes of one transaction. Derivation runs once for each group, which is most of the work; the bytes limit
#: memory.
_GROUP, _BYTES = 500, 16 << 20
#: Pages created ahead, and the approximate bytes of one: fewer than a group has for companies.
_AHEAD, _PAGE = 64, 256 << 10
#: Pages of a source that are stored together, and concurrently.
_KEPT_TOGETHER, _KEEPING = 64, 4


def load(
    world: PipelineContext,
    say: Say,
    observations: int | None = None,
    *,
    companies: bool = True,
    market: int | None = None,
    meter: Meter = unmetered,
) -> list[RunOutcome]:
    """
    Extend the simulated world to the beginning of today (UTC). A second run on the same day adds nothing.

    `observations` is the approximate number of rows wanted, `market` the number of companies; `companies` False leaves
    out companies' filings. Raises ValueError for more than there are, or a clock before the world's start.
    """
    now = world.settings.clock()
    pages = simulated.world(now - now % DAY_SECONDS, observations, companies=companies, market=market)
    return take_in(world, made_ahead(world, pages), say, meter)


def made_ahead(world: PipelineContext, pages: SimulatedPages) -> SimulatedPages:
    """Let worker processes, if there are any, create pages ahead while earlier ones are read and written."""
    if world.processes.count == 1:
        return pages
    return pages.begun(lambda make: world.processes.job(make, weight=_PAGE).result, _AHEAD)


def load_first(world: PipelineContext, say: Say) -> list[RunOutcome]:
    """
    Load the part of the simulated world that gives first answers, up to the beginning of today. `load` continues from
    there.
    """
    now = world.settings.clock()
    return take_in(world, simulated.first_pages(now - now % DAY_SECONDS), say)


def take_in(world: PipelineContext, pages: Iterable[Response], say: Say, meter: Meter = unmetered) -> list[RunOutcome]:
    """
    Ingest pages of the simulated world in order, and skip those already stored.

    If it is killed at any instant, the next run continues: a group is written whole, with everything derived from it,
    or not at all.
    """
    world.claim()
    runs = Ingests(world, say)
    sources = [source for source in world.catalog.sources.values() if source.simulated]
    left = sorted((capture for source in sources for capture in left_behind(world, source)), key=attrgetter("order"))
    _write(world, runs, [runs[capture.source].parse(capture, world.raw.read(capture)) for capture in left])
    advance = meter("pages", len(pages) if isinstance(pages, Sized) else 0)
    window = Window(_GROUP, _BYTES)
    with ThreadPoolExecutor(_KEEPING) as pool:
        for name, several in _together(pages):
            run = runs[name]
            arrivals = [Arrival(page.url, page.body, page.media_type, page.fetched_at) for page in several]
            for page, capture in zip(several, run.keep_all(arrivals, pool), strict=True):
                if capture is not None:
                    _write(world, runs, window.put(run.parse(capture, page.body)))
            advance(len(several))
    for group in window.rest():
        _write(world, runs, group)
    return [runs[source.id].close() for source in sources if source.id in runs]


def _together(pages: Iterable[Response]) -> Iterator[tuple[str, list[Response]]]:
    """Yield consecutive pages of one source, which are stored together, with the source."""
    for source, several in groupby(pages, key=attrgetter("source")):
        while group := list(islice(several, _KEPT_TOGETHER)):
            yield source, group


def _write(world: PipelineContext, runs: Ingests, several: Sequence[ParsedPayload]) -> None:
    if several:
        fold_together(world, runs, several, f"{len(several)} simulated payloads")
