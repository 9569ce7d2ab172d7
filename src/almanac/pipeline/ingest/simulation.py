"""Ingestion of the simulated world: many pages per transaction, all sources together, each page through its connector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from operator import attrgetter

from almanac.domain.progress import Meter, unmetered
from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.captures import Arrival, BeingRead, mentions
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.pipeline.workplace import Workplace
from almanac.sandbox import world as simulated
from almanac.sandbox.world import Response, SimulatedPages

#: Pages and bytes of one transaction. Derivation runs once for each group, which is most of the work; the bytes limit
#: memory.
_GROUP, _BYTES = 500, 16 << 20
#: Pages created ahead, and the approximate bytes of one: fewer than a group has for companies.
_AHEAD, _PAGE = 64, 256 << 10
#: Pages of a source that are stored concurrently.
_KEEPING = 4


def load(
    world: Workplace,
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


def made_ahead(world: Workplace, pages: SimulatedPages) -> SimulatedPages:
    """Let worker processes, if there are any, create pages ahead while earlier ones are read and written."""
    if world.processes.count == 1:
        return pages
    return pages.begun(lambda make: world.processes.job(make, weight=_PAGE).result, _AHEAD)


def load_first(world: Workplace, say: Say) -> list[RunOutcome]:
    """
    Load the part of the simulated world that gives first answers, up to the beginning of today. `load` continues from
    there.
    """
    now = world.settings.clock()
    return take_in(world, simulated.first_pages(now - now % DAY_SECONDS), say)


def take_in(world: Workplace, pages: Iterable[Response], say: Say, meter: Meter = unmetered) -> list[RunOutcome]:
    """
    Ingest pages of the simulated world in order, and skip those already stored.

    If it is killed at any instant, the next run continues: a group is written whole, with everything derived from it,
    or not at all.
    """
    runs = {key: Ingest(world, source, say) for key, source in world.catalog.sources.items() if source.simulated}
    world.claim()
    for run in runs.values():
        run.begin()
    left = [
        (run, run.reading(capture, world.raw.read(capture))) for run in runs.values() for capture in run.left_behind()
    ]
    left.sort(key=lambda one: one[1].capture.order)
    _write(world, left)
    advance = meter("pages", len(pages) if isinstance(pages, Sized) else 0)
    before: list[tuple[Ingest, BeingRead]] = []
    with ThreadPoolExecutor(_KEEPING) as pool:
        for group in _groups(pages):
            kept = []
            # In the order of the pages; consecutive pages of one source are stored together.
            for source, told in groupby(group, key=attrgetter("source")):
                run, several = runs[source], list(told)
                arrivals = [Arrival(page.url, page.body, page.media_type, page.fetched_at) for page in several]
                for page, capture in zip(several, run.keep_all(arrivals, pool), strict=True):
                    if capture is not None:
                        kept.append((run, run.reading(capture, page.body)))
            # These are read while the group before is written.
            _write(world, before)
            before = kept
            advance(len(group))
    _write(world, before)
    return [run.close() for run in runs.values()]


def _groups(pages: Iterable[Response]) -> Iterator[list[Response]]:
    group: list[Response] = []
    held = 0
    for page in pages:
        group.append(page)
        held += len(page.body)
        if len(group) == _GROUP or held >= _BYTES:
            yield group
            group, held = [], 0
    if group:
        yield group


def _write(world: Workplace, kept: list[tuple[Ingest, BeingRead]]) -> None:
    if not kept:
        return
    judged = [(run, run.judge(one)) for run, one in kept]
    changes: Changes = {}
    with world.batch(f"{len(kept)} simulated payloads") as batch:
        world.company_deriver.expect(mentions(one for _, one in judged))
        for run, one in judged:
            run.write(batch, one, changes)
        world.bring_into_step(batch, changes)
