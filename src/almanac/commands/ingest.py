"""`almanac ingest`, `almanac sources`, `almanac sandbox`: what comes in, and from where."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NoReturn

import click

from almanac.catalog.records import Catalog
from almanac.commands import worker
from almanac.commands.progress import Progress, loading
from almanac.commands.shared import processes_option, say, settings
from almanac.commands.sources import finish, has_key, named_sources
from almanac.domain.memory import seldom_searched
from almanac.domain.reference import Source
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest.asking import from_network
from almanac.pipeline.ingest.ingest import accept as let_pass
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.ingest.worker import note_asked


@click.command()
@click.argument("names", metavar="SOURCE…", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All sources; one whose key is missing is passed over (exit 3).")
@click.option(
    "--due",
    is_flag=True,
    help="Ask only what is due, of the SOURCEs or of all, as `almanac worker` would: for cron. Nothing due: exit 0.",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Read a mirror folder (mirror.csv) in place of the network.",
)
@click.option(
    "--entity", "entities", multiple=True, help="Ask only for series of this entity, by id or slug; may be given again."
)
@click.option("--since", metavar="DATE", help="Ask only for what is about this day or later, like 2026-01-31.")
@click.option(
    "--accept",
    metavar="SHA256",
    help="Ask nobody: take in the response of this SHA-256, or of the one that begins so, which is held as `shrunk`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: what came of each source, with reasons.")
@processes_option
def ingest(
    names: tuple[str, ...],
    every: bool,
    due: bool,
    folder: Path | None,
    entities: tuple[str, ...],
    since: str | None,
    accept: str | None,
    as_json: bool,
    processes: int | None,
) -> None:
    """Fetch, keep raw, read, append, derive. SOURCE is a source id or a provider's short name.

    Exit 0 all good, 3 some quarantined or failed, 1 nothing ingested.
    """
    if accept is not None:
        _accept(accept, alone=not (names or every or due or folder or entities or since), as_json=as_json)
    if due:
        if every or folder or entities or since or processes:
            raise click.UsageError("--due asks a source whole, by its cadence: no other option but --json goes with it")
        worker.due(names, as_json=as_json)
    if every == bool(names):
        raise click.UsageError("name one source or more, or give --all or --due")
    first = _day(since)
    chosen = settings(processes=processes)
    with (
        seldom_searched(),
        PipelineContext(chosen, kind=REAL, tell=say) as world,
        loading(chosen.home, "data of publishers") as progress,
    ):
        sources = named_sources(world.catalog, names)
        about = _entities(world.catalog, entities)
        missing: list[Source] = []
        if folder is not None:
            if since is not None or entities:
                progress.say("--since and --entity narrow what a publisher is asked; a mirror is read whole")
            outcomes = from_mirror(world, sources, folder, progress.say, progress.track)
        else:
            missing = [source for source in sources if source.key_required and not has_key(chosen, source)]
            for source in missing:
                told = f"{source.id} needs a key: set {source.key_setting}"
                if not every:
                    raise click.ClickException(told)
                progress.say(f"passed over: {told}")
            ready = [source for source in sources if source not in missing]
            began = chosen.clock()
            try:
                outcomes = from_network(world, ready, first, progress.say, progress.track, about)
            except ValueError as error:
                raise click.ClickException(str(error)) from None
            if first is None and about is None:
                note_asked(world, outcomes, began)
    code = exit_code(outcomes) or (3 if missing else 0)
    passed_over = {source.id: f"needs a key: set {source.key_setting}" for source in missing}
    finish(outcomes, code, passed_over, as_json=as_json)


def _accept(sha256: str, *, alone: bool, as_json: bool) -> NoReturn:

    if not alone:
        raise click.UsageError("--accept asks nobody: no SOURCE and no other option but --json goes with it")
    if not re.fullmatch("[0-9a-fA-F]{8,64}", sha256):
        raise click.BadParameter("give 8 to 64 hexadecimal digits", param_hint="'--accept'")
    with PipelineContext(settings(processes=1), tell=say) as world, Progress() as progress:
        outcomes = let_pass(world, sha256, progress.say)
    finish(outcomes, exit_code(outcomes), as_json=as_json)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a day like 2026-01-31", param_hint="'--since'") from None


def _entities(catalog: Catalog, names: Sequence[str]) -> set[str] | None:
    if not names:
        return None
    ids = {word: entity.id for entity in catalog.entities.values() for word in (entity.id, entity.slug)}
    for name in names:
        if name.lower() not in ids:
            near = difflib.get_close_matches(name.lower(), ids, n=1)
            told = f"; the nearest is {near[0]}" if near else ""
            raise click.BadParameter(f"there is no entity {name!r}{told}", param_hint="'--entity'")
    return {ids[name.lower()] for name in names}
