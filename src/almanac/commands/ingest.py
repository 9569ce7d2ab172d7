"""`almanac ingest`, `almanac sources`, `almanac sandbox`: what comes in, and from where."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import click

from almanac.commands import worker
from almanac.commands.progress import Progress, loading
from almanac.commands.shared import mirror_option, processes_option, say, settings
from almanac.commands.sources import finish, has_key, named_sources
from almanac.domain.memory import seldom_searched
from almanac.domain.plain_text import nearest
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
@mirror_option
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
        if names or every or due or folder or entities or since:
            raise click.UsageError("--accept asks nobody: no SOURCE and no other option but --json goes with it")
        if not re.fullmatch("[0-9a-fA-F]{8,64}", accept):
            raise click.BadParameter("give 8 to 64 hexadecimal digits", param_hint="'--accept'")
        with PipelineContext(settings(processes=1), tell=say) as world, Progress() as progress:
            outcomes = let_pass(world, accept, progress.say)
        finish(outcomes, exit_code(outcomes), as_json=as_json)
    if due:
        if every or folder or entities or since or processes:
            raise click.UsageError("--due asks a source whole, by its cadence: no other option but --json goes with it")
        worker.due(names, as_json=as_json)
    if every == bool(names):
        raise click.UsageError("name one source or more, or give --all or --due")
    try:
        first = None if since is None else date.fromisoformat(since)
    except ValueError:
        raise click.BadParameter(f"{since!r} is not a day like 2026-01-31", param_hint="'--since'") from None
    chosen = settings(processes=processes)
    missing: dict[str, str] = {}
    with (
        seldom_searched(),
        PipelineContext(chosen, kind=REAL, tell=say) as world,
        loading(chosen.home, "data of publishers") as progress,
    ):
        sources = named_sources(world.catalog, names)
        ids = {word: entity.id for entity in world.catalog.entities.values() for word in (entity.id, entity.slug)}
        for name in entities:
            if name.lower() not in ids:
                near = nearest(name.lower(), ids)
                raise click.BadParameter(f"there is no entity {name!r}{near}", param_hint="'--entity'")
        about = {ids[name.lower()] for name in entities} or None
        if folder is not None:
            if since is not None or entities:
                progress.say("--since and --entity narrow what a publisher is asked; a mirror is read whole")
            outcomes = from_mirror(world, sources, folder, progress.say, progress.track)
        else:
            for source in sources:
                if source.key_required and not has_key(chosen, source):
                    missing[source.id] = f"needs a key: set {source.key_setting}"
                    if not every:
                        raise click.ClickException(f"{source.id} {missing[source.id]}")
                    progress.say(f"passed over: {source.id} {missing[source.id]}")
            ready = [source for source in sources if source.id not in missing]
            began = chosen.clock()
            try:
                outcomes = from_network(world, ready, first, progress.say, progress.track, about)
            except ValueError as error:
                raise click.ClickException(str(error)) from None
            if first is None and about is None:
                note_asked(world, outcomes, began)
    finish(outcomes, exit_code(outcomes) or (3 if missing else 0), missing, as_json=as_json)
