"""`almanac migrate`: the data from one database to another, of either engine."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import contextlib

import click

from almanac.commands.progress import Progress
from almanac.commands.shared import say, settings


@click.command()
@click.option(
    "--to",
    "to",
    required=True,
    metavar="URL",
    help="Where the data shall be: sqlite:/// and the path of a file, or postgresql://user@host/database.",
)
def migrate(to: str) -> None:
    """
    Write all data into another database, of either engine, and compare each table. Accounts and raw payloads stay.

    The database must be empty; a run that was cut off goes on where it was. Stop what writes (workers, ingests) before, and
    set ALMANAC_DATABASE_URL to URL after.
    """
    import msgspec

    from almanac.config import SettingError
    from almanac.config.checks import check_of
    from almanac.store.engine import opening
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.moving import Moved, move

    check, allowed = check_of(("database_url",), str)
    if check is None or not check(to):
        raise click.BadParameter(f"give {allowed}", param_hint="'--to'")
    chosen = settings(home=False)
    place = opening.place(chosen.data_place)
    target = opening.place(msgspec.structs.replace(chosen, database_url=to).data_place)
    if target == place:
        raise SettingError(f"the data are in {place} already")
    progress = Progress()

    def told(one: Moved) -> None:
        progress.say(f"{one.table}: {one.rows} rows, {one.checksum}")

    try:
        with (
            progress(),
            opening.faults(),
            contextlib.closing(opening.connect(place, read_only=True)) as source,
            contextlib.closing(opening.create(target)) as other,
        ):
            moved = move(source, other, told)
            other.truncate_log(0)
    except UnavailableError as error:
        raise click.ClickException(opening.advice(error, target)) from None
    click.echo(f"{sum(one.rows for one in moved)} rows of {len(moved)} tables are in {target}")
    say("set ALMANAC_DATABASE_URL to it, and start what was stopped")
