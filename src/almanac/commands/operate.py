"""`almanac derive`, `rebuild`, `verify`, `status`, `backup`, `restore`: looking after what is stored."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click
import msgspec

from almanac.commands.progress import Progress
from almanac.commands.shared import (
    processes_option,
    put,
    put_json,
    say,
    settings,
    table,
    time,
    without_missing_option,
)
from almanac.config import real_time
from almanac.domain.errors import UserError
from almanac.domain.memory import seldom_searched
from almanac.pipeline import raw_store_binding
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.operate import verify as verification
from almanac.pipeline.operate.backup import backup as write_backup
from almanac.pipeline.operate.rebuild import rebuild as replay
from almanac.pipeline.operate.rebuild import recompute
from almanac.pipeline.operate.restore import check as check_backup
from almanac.pipeline.operate.restore import restore as read_backup
from almanac.pipeline.operate.status import checkup, failed, room, vitals
from almanac.pipeline.operate.status import status as read_status
from almanac.store.engine.data_schema import meta
from almanac.store.engine.opening import distribute as distribute_tables
from almanac.store.engine.opening import place
from almanac.store.observations.reading.reader import Reader

_SOURCE_COLUMNS = "id health lastAttemptAt lastSuccessAt lastIngestedAt series judgedSeries staleSeries reason"


@click.command()
@processes_option
def derive(processes: int | None) -> None:
    """Compute all derived series anew and write what differs. Print how many cells changed."""
    with seldom_searched(), PipelineContext(settings(processes=processes), tell=say) as world, Progress() as progress:
        changed = recompute(world, progress.meter)
    put(f"{changed} cells changed")


@click.command()
@processes_option
@without_missing_option
def rebuild(processes: int | None, without_missing: int | None) -> None:
    """
    Replay everything from the raw store, with the same ids. Readers keep the old state until the end.

    Refused, with nothing changed, where a payload that the data came from is missing from the raw store, or can be read no more.
    """
    chosen = settings(processes=processes)
    with seldom_searched(), PipelineContext(chosen, rebuilding=True) as world, Progress() as progress:
        count = replay(world, progress.say, progress.track, without=without_missing)
        version = meta(world.db, "version")
    put(f"{count} payloads replayed, data version {version}")


@click.command()
@click.option(
    "--parts",
    type=click.IntRange(1, 1_000),
    default=32,
    show_default=True,
    help="In how many parts; more than machines there will ever be.",
)
def distribute(parts: int) -> None:
    """Spread large tables over several machines (Citus). Readers and writers wait."""
    done = distribute_tables(place(settings(home=False).data_place), parts)
    put(f"the data stand in {parts} parts" if done else "the data stand in parts already; nothing to do")


@click.command()
def verify() -> None:
    """Check hashes, lineage and every derived value. Print each problem; exit 1 if there is any."""
    checked, problems = verification.Checked(), 0
    with PipelineContext(settings(), tell=say) as world, Progress() as progress:
        for problem in verification.verify(world, checked, progress.meter):
            problems += 1
            put(problem)
    counts = f"{checked.payloads} payloads, {checked.series} series, {checked.cells} cells, {checked.vintages} vintages checked"
    if problems:
        say(f"{problems} problems; {counts}")
        sys.exit(1)
    put(f"no problem; {counts}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--check",
    "as_check",
    is_flag=True,
    help="Print one line as monitoring plug-ins do; exit 0 ok, 1 warning, 2 critical.",
)
def status(as_json: bool, as_check: bool) -> None:
    """Show coverage, the health of each source, and quarantine. Show also what was not mapped or not read."""
    if as_check:
        if as_json:
            raise click.UsageError("--check prints one line: --json does not go with it")
        # It only looks: it makes no store, upgrades none, and waits for no writer.
        try:
            chosen = settings(home=False)
            with closing(Reader(place(chosen.data_place))) as reader, reader.view() as view:
                measured = vitals(view, chosen.clock())
            finding = checkup(measured, room(chosen), real_time())
        except (UserError, OSError) as error:
            finding = failed(str(error))
        put(finding.line)
        sys.exit(finding.code)

    chosen = settings()
    with PipelineContext(chosen, tell=say) as world:
        report = read_status(
            world.db, chosen.clock(), raw_store_binding.explain_other_store(world.db, world.raw, chosen)
        )
    if as_json:
        put_json(report)
        return
    figures = msgspec.to_builtins(report.coverage)
    indicators = figures.pop("indicators")
    figures["indicators"] = f"{indicators['raw']} raw, {indicators['derived']} derived"
    width = max(map(len, figures))
    for name, value in figures.items():
        put(f"{name.ljust(width)}  {'-' if value is None else value}")
    put()
    table(msgspec.to_builtins(report.sources), _SOURCE_COLUMNS.split())
    if report.raw_store is not None:
        put()
        put(f"another raw store: {report.raw_store}")
    for records, columns in (
        (report.quarantine, "source url fetchedAt reason"),
        (report.unmapped, "source nativeId rows"),
        (report.unread, "source kind name met seenAt"),
    ):
        if records:
            put()
            table(msgspec.to_builtins(records), columns.split())


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--without-data", is_flag=True, help="Leave out what `almanac rebuild` makes anew from the raw payloads.")
@click.option(
    "--accounts-only",
    is_flag=True,
    help="Write accounts, secrets and counts of use alone: no raw payloads and no data, so nothing that is served.",
)
@without_missing_option
@click.option("--no-verify", is_flag=True, help="Do not look through the databases for damage first.")
@click.option(
    "--verify",
    is_flag=True,
    help="Write nothing: check that FILE is whole and can be restored. Prints each problem; exit 1 if there is any.",
)
def backup(
    file: Path, without_data: bool, accounts_only: bool, without_missing: int | None, no_verify: bool, verify: bool
) -> None:
    """
    Write accounts, secrets, raw payloads and data to one FILE. May run while serving and ingesting.

    Refused where what is served could not be made again from it: a payload that the data came from is missing or damaged,
    or a database is.
    """
    if verify:
        if without_data or accounts_only or no_verify or without_missing is not None:
            raise click.UsageError("--verify looks at all that FILE holds: no other option goes with it")
        _look_over(file)
        return
    if accounts_only and (without_data or without_missing is not None):
        raise click.UsageError(
            "--accounts-only leaves out data and raw payloads: the other options say nothing beside it"
        )
    chosen = settings(home=False)
    with Progress() as progress:
        made = write_backup(
            chosen,
            file,
            with_data=not without_data,
            accounts_only=accounts_only,
            without=without_missing,
            verify=not no_verify,
            meter=progress.meter,
        )
    put(file)
    say(f"{len(made.members)} members; settings and ALMANAC_SECRET are not among them")
    if accounts_only:
        say("accounts, secrets and counts of use alone: nothing that is served can be made of it")
    elif isinstance(chosen.data_place, str) and not without_data:
        say("the data on the server are not among them: `almanac rebuild` makes them anew, or pg_dump keeps them")
    if without_missing:
        say(f"{without_missing} payloads that the data came from are not among them")


def _look_over(file: Path) -> None:

    if not file.is_file():
        raise click.ClickException(f"there is no file {file}")
    with Progress() as progress:
        manifest, problems = check_backup(file, progress.meter)
    for problem in problems:
        put(problem)
    if problems or manifest is None:
        say(f"{len(problems)} problems: {file} is not to be relied upon")
        sys.exit(1)
    data = "no data" if manifest.data_version is None else f"data version {manifest.data_version}"
    made = f"made by Almanac {manifest.almanac} at {time(manifest.created_at)}"
    put(f"no problem; {len(manifest.members)} members, {data}, {made}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@without_missing_option
def restore(file: Path, without_missing: int | None) -> None:
    """
    Put a backup FILE into ALMANAC_HOME. What else is there stays; data and accounts that are there are never overwritten.

    Refused where FILE lacks payloads that its data, or those on the server, came from.
    """
    chosen = settings(home=False)
    resumed = chosen.restored_path.exists()
    kept = sorted(path.name for path in chosen.home.iterdir()) if chosen.home.is_dir() else []
    with Progress() as progress:
        found = read_backup(chosen, file, progress.meter, without=without_missing)
    put(chosen.home)
    if resumed:
        say(f"a restore that was cut off is ended now; {file} was not read")
    elif kept:
        say(f"left as they were: {', '.join(kept)}")
    if not any(name.startswith("raw/") for name in found.members) and "data.db" not in found.members:
        say("the backup holds accounts, secrets and counts of use alone: no raw payloads and no data")
    elif isinstance(chosen.data_place, str):
        say("accounts and counts of requests are on the server, data were left out: run `almanac rebuild`")
    elif "data.db" not in found.members:
        say("the backup holds no data: run `almanac rebuild`")
