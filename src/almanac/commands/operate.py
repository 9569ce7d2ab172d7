"""`almanac derive`, `rebuild`, `verify`, `status`, `backup`, `restore`: looking after what is stored."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from almanac.commands.shared import Progress, say, settings, table

if TYPE_CHECKING:
    from almanac.pipeline.operate.status import Status


@click.command()
def derive() -> None:
    """Compute all derived series anew and write differences only; print how many cells changed."""
    from almanac.pipeline.operate.rebuild import recompute
    from almanac.pipeline.world import World

    with World(settings()) as world:
        changed = recompute(world)
    click.echo(f"{changed} cells changed")


@click.command()
def rebuild() -> None:
    """Replay everything from the raw store, with the same ids. Readers keep the old state until the end."""
    from almanac.pipeline.operate.rebuild import rebuild as replay
    from almanac.pipeline.world import World
    from almanac.store.engine import sqlite

    with World(settings(), rebuilding=True) as world:
        progress = Progress()
        with progress():
            count = replay(world, progress.say, progress.track)
        version = sqlite.meta(world.db, "version")
    click.echo(f"{count} payloads replayed, data version {version}")


@click.command()
def verify() -> None:
    """Check hashes, lineage, bitemporal laws and every derived value. Prints each problem; exit 1 if there is any."""
    from almanac.pipeline.operate.verify import Checked
    from almanac.pipeline.operate.verify import verify as check
    from almanac.pipeline.world import World

    checked, problems = Checked(), 0
    with World(settings()) as world:
        for problem in check(world, checked):
            problems += 1
            click.echo(problem)
    counts = f"{checked.payloads} payloads, {checked.series} series, {checked.cells} cells, {checked.vintages} vintages checked"
    if problems:
        say(f"{problems} problems; {counts}")
        sys.exit(1)
    click.echo(f"no problem; {counts}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(as_json: bool) -> None:
    """Show what is held, the health of each source, what is quarantined, not mapped, or not read of what was."""
    import msgspec

    from almanac.pipeline.operate.status import status as look
    from almanac.pipeline.world import World

    chosen = settings()
    with World(chosen) as world:
        found = look(world.db, chosen.clock())
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        _tell(found)


def _tell(found: Status) -> None:
    import msgspec

    held = msgspec.to_builtins(found.coverage)
    indicators = held.pop("indicators")
    figures = {**held, "indicators": f"{indicators['raw']} raw, {indicators['derived']} derived"}
    width = max(map(len, figures))
    for name, value in figures.items():
        click.echo(f"{name.ljust(width)}  {'-' if value is None else value}")
    click.echo()
    table(
        [msgspec.to_builtins(one) for one in found.sources],
        ("id", "health", "lastAttemptAt", "lastSuccessAt", "lastIngestedAt", "series", "staleSeries", "reason"),
    )
    if found.quarantine:
        click.echo()
        table([msgspec.to_builtins(one) for one in found.quarantine], ("source", "url", "fetchedAt", "reason"))
    if found.unmapped:
        click.echo()
        table([msgspec.to_builtins(one) for one in found.unmapped], ("source", "nativeId", "rows"))
    if found.unread:
        click.echo()
        table([msgspec.to_builtins(one) for one in found.unread], ("source", "kind", "name", "met", "seenAt"))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--without-data", is_flag=True, help="Leave out what `almanac rebuild` makes anew from the raw payloads.")
def backup(file: Path, without_data: bool) -> None:
    """Write everything to one FILE: accounts, secrets, raw payloads, data. May run while serving and ingesting."""
    from almanac.pipeline.operate.backup import backup as write

    made = write(settings(home=False), file, with_data=not without_data)
    click.echo(file)
    say(f"{len(made.members)} members; settings and ALMANAC_SECRET are not among them")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def restore(file: Path) -> None:
    """Put a backup FILE into an empty ALMANAC_HOME."""
    from almanac.pipeline.operate.backup import restore as read

    chosen = settings(home=False)
    found = read(chosen, file)
    click.echo(chosen.home)
    if "data.db" not in found.members:
        say("the backup holds no data: run `almanac rebuild`")
