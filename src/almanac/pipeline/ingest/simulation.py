"""Ingestion of the simulated world: many pages per transaction, all sources together, each page through its connector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from operator import attrgetter

from almanac.domain.progress import Meter, unmetered
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingests, fold_together, in_groups, left_behind
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.pipeline.processes import Job
from almanac.sandbox import world as simulated
from almanac.sandbox.world import Response, SimulatedPages
from almanac.sources.base import Parsed
from almanac.store.raw.captures import Capture

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

    def begun(pool: ThreadPoolExecutor) -> Iterator[tuple[Capture, Job[Parsed]]]:
        left = [capture for source in sources for capture in left_behind(world, source)]
        for capture in sorted(left, key=attrgetter("order")):
            yield runs[capture.source].read(capture, world.raw.read(capture))
        advance = meter("pages", len(pages) if isinstance(pages, Sized) else 0)
        for source, of_source in groupby(pages, key=attrgetter("source")):
            while several := list(islice(of_source, _KEPT_TOGETHER)):
                arrivals = [Arrival(page.url, page.body, page.media_type, page.fetched_at) for page in several]
                for page, kept in zip(several, runs[source].keep(arrivals, pool), strict=True):
                    if kept is not None:
                        yield runs[source].read(kept, page.body)
                advance(len(several))

    with ThreadPoolExecutor(_KEEPING) as pool:
        for group in in_groups(begun(pool), _GROUP, _BYTES):
            fold_together(world, runs, group, f"{len(group)} simulated payloads")
    return [runs[source.id].close() for source in sources if source.id in runs]
