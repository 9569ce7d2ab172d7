"""`almanac ingest`, `almanac sources`, `almanac sandbox`: what comes in, and from where."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from almanac.commands.shared import Progress, say, settings, table

if TYPE_CHECKING:
    from almanac.catalog.load import Catalog
    from almanac.config import Settings
    from almanac.domain.reference import Source
    from almanac.pipeline.ingest import Outcome


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
def ingest(
    names: tuple[str, ...],
    every: bool,
    due: bool,
    folder: Path | None,
    entities: tuple[str, ...],
    since: str | None,
) -> None:
    """Fetch, keep raw, read, append, derive. SOURCE is a source id or a provider's short name.

    Exit 0 all good, 3 some quarantined or failed, 1 nothing ingested.
    """
    from almanac.pipeline.asking import from_network
    from almanac.pipeline.ingest import exit_code, from_mirror
    from almanac.pipeline.worker import note_asked
    from almanac.pipeline.world import REAL, World

    if due:
        _due(names, narrowed=bool(every or folder or entities or since))
    if every == bool(names):
        raise click.UsageError("name one source or more, or give --all or --due")
    first = _day(since)
    chosen = settings()
    with World(chosen, kind=REAL) as world:
        sources = named_sources(world.catalog, names)
        about = _entities(world.catalog, entities)
        missing: list[Source] = []
        progress = Progress()
        with progress():
            if folder is not None:
                if since is not None or entities:
                    progress.say("--since and --entity narrow what a publisher is asked; a mirror is read whole")
                outcomes = from_mirror(world, sources, folder, progress.say, progress.track)
            else:
                missing = [source for source in sources if _lacks_key(chosen, source)]
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
    summary(outcomes)
    sys.exit(exit_code(outcomes) or (3 if missing else 0))


def _due(names: tuple[str, ...], *, narrowed: bool) -> NoReturn:
    from almanac.commands import worker

    if narrowed:
        raise click.UsageError("--due asks a source whole, by its cadence: no other option goes with it")
    worker.due(names)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a day like 2026-01-31", param_hint="'--since'") from None


def named_sources(catalog: Catalog, names: Sequence[str]) -> list[Source]:
    """Real sources with a connector, by the names given; all of them for none. Each once, in the order of naming."""
    real = {key: source for key, source in catalog.sources.items() if source.connector and not source.simulated}
    found: dict[str, Source] = {}
    for name in names:
        try:
            meant = [key for key in catalog.providers_sources(name) if key in real]
        except KeyError:
            meant = []
        if not meant:
            valid = sorted({*real, *(source.provider for source in real.values())})
            raise click.BadParameter(_unknown("source", name, valid), param_hint="'SOURCE…'")
        found.update({key: real[key] for key in meant})
    return list(found.values()) if names else [real[key] for key in sorted(real)]


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


def _unknown(what: str, name: str, valid: Sequence[str]) -> str:
    near = difflib.get_close_matches(name.lower(), valid, n=1, cutoff=0.4)
    told = f"; the nearest is {near[0]}" if near else ""
    return f"there is no {what} {name!r}{told}. Valid: {', '.join(valid)}"


def _lacks_key(chosen: Settings, source: Source) -> bool:
    return source.key_required and not _has_key(chosen, source)


def _has_key(chosen: Settings, source: Source) -> bool:
    held = chosen.sources.get(source.id)
    return bool(held and held.key(source.key_setting))


def summary(outcomes: Sequence[Outcome]) -> None:
    """What came of each source, as a table on standard output."""
    rows = [
        {
            "source": o.source,
            "read": o.folded,
            "known": o.known,
            "notRead": len(o.ignored),
            "quarantined": len(o.quarantined),
            "failed": len(o.failed),
            "cellsChanged": o.vintages,
            "unmappedSeries": len(o.unmapped),
        }
        for o in outcomes
    ]
    if rows:
        table(rows, list(rows[0]))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def sources(as_json: bool) -> None:
    """List the sources: what they fetch, under which licence, and what they need."""
    from almanac.catalog.load import load

    chosen = settings(home=False)
    rows = [_source_row(chosen, source) for source in named_sources(load(), ())]
    table(rows, ("id", "fetches", "license", "vintages", "needs", "consent"), as_json=as_json)


def _source_row(chosen: Settings, source: Source) -> dict[str, Any]:
    from almanac.domain.rights import Exposure

    needs = ["network"]
    if source.key_setting is not None:
        optional = "optional, " if source.key_optional else ""
        state = "set" if _has_key(chosen, source) else "missing"
        needs.append(f"key ({source.key_setting}, {optional}{state})")
    if source.rights.channel is Exposure.public:
        consent = "not needed"
    else:
        consent = "missing" if chosen.consent(source.id) is None else "recorded"
    return {
        "id": source.id,
        "provider": source.provider,
        "fetches": source.name,
        "license": source.rights.license,
        "exposure": source.rights.exposure.name,
        "vintages": "yes" if source.stores_vintages else "no",
        "needs": needs,
        "keySetting": source.key_setting,
        "consent": consent,
        "homepage": source.homepage,
    }


@click.command()
@click.option("--observations", type=click.IntRange(min=1), help="Make a larger world, of about so many rows.")
def sandbox(observations: int | None) -> None:
    """Load the built-in simulated world, up to today. A second run adds only what is new."""
    from almanac.pipeline.ingest import exit_code
    from almanac.pipeline.simulation import load
    from almanac.pipeline.world import SIMULATED, World

    with World(settings(), kind=SIMULATED) as world:
        say("loading the simulated world")
        try:
            outcomes = load(world, lambda _: None, observations)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    summary(outcomes)
    sys.exit(exit_code(outcomes))
