"""`almanac migrate`: the data from one database to another, of either engine."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, TextIO
from urllib.parse import parse_qsl, urlsplit

import click

from almanac.commands.progress import Progress
from almanac.commands.shared import put, say, settings, without_missing_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Parameters of an address that are secrets, beside the password before its host.
_SECRETS = frozenset({"password", "sslpassword"})
#: More than any address has.
_ADDRESS_CHARACTERS = 4_096


@click.command()
@click.option(
    "--to",
    "to",
    metavar="URL",
    help="Where the data shall be: sqlite:/// and the path of a file, or postgresql://user@host/database without a password.",
)
@click.option(
    "--to-file",
    "file",
    type=click.File("r", encoding="utf-8"),
    help="A file whose first line is that address, with its password; - for standard input.",
)
@without_missing_option
def migrate(to: str | None, file: TextIO | None, without_missing: int | None) -> None:
    """
    Write all data into another database, of either engine, and compare each table. Accounts and raw payloads stay.

    Refused where payloads that the data came from are missing from the raw store: they could not be made anew there.

    The database must be empty; a run that was cut off goes on where it was. Stop what writes (workers, ingests) before, and
    set ALMANAC_DATABASE_URL to the address after. What is on a command line everybody on the machine can read, so an address
    there has no password: it comes in a file, or in PGPASSWORD or PGPASSFILE.
    """
    import msgspec

    from almanac.config import SettingError
    from almanac.config.checks import check_of
    from almanac.pipeline.lacking import Demand, lost, named
    from almanac.store.engine import opening
    from almanac.store.engine.errors import UnavailableError
    from almanac.store.engine.moving import Moved, move
    from almanac.store.raw.captures import RawStore

    to, given = _address(to, file)
    check, allowed = check_of(("database_url",), str)
    if not _passes(check, to):
        raise click.BadParameter(f"give {allowed}", param_hint=given)
    chosen = settings(home=False)
    place = opening.place(chosen.data_place)
    target = opening.place(msgspec.structs.replace(chosen, database_url=to).data_place)
    if target == place:
        raise SettingError(f"the data are in {place} already")
    progress = Progress()

    def say_moved(one: Moved) -> None:
        progress.say(f"{one.table}: {one.rows} rows, {one.checksum}")

    try:
        with (
            progress(),
            opening.faults(),
            contextlib.ExitStack() as held,
            contextlib.closing(opening.connect(place, read_only=True)) as source,
        ):
            rows = named(source)
            gone = lost(rows, RawStore.at(chosen.raw_place), read=without_missing is not None)
            Demand.of("a migration", chosen.raw_place).meet(gone, len(rows), without_missing)
            other = held.enter_context(contextlib.closing(opening.create(target)))
            moved = move(source, other, say_moved)
            other.truncate_log(0)
    except UnavailableError as error:
        raise click.ClickException(opening.advice(error, target)) from None
    put(f"{sum(one.rows for one in moved)} rows of {len(moved)} tables are in {target}")
    say("set ALMANAC_DATABASE_URL to it, and start what was stopped")


def _address(to: str | None, file: TextIO | None) -> tuple[str, str]:
    """The address that is given, and by which option. Raises UsageError for none, two, or one that tells a password to the host."""
    if (to is None) is (file is None):
        raise click.UsageError("give the address of the new database by --to or by --to-file")
    if file is None:
        to = str(to)
        if _tells_password(to):
            raise click.UsageError(
                "--to holds a password, and everybody on this machine can read a command line: give the address without it,"
                " and the password in PGPASSWORD or PGPASSFILE; or put the address into a file that you alone may read and"
                " give --to-file FILE. A password that was given here had better be changed"
            )
        return to, "'--to'"
    _look_at_mode(file)
    return file.readline(_ADDRESS_CHARACTERS).strip(), "'--to-file'"


def _tells_password(address: str) -> bool:
    try:
        parts = urlsplit(address)
        said: Mapping[str, str] = dict(parse_qsl(parts.query, keep_blank_values=True))
        # What libpq would take for a password: between the first colon and the last at sign before the host.
        user, at, _ = parts.netloc.rpartition("@")
    except ValueError:
        return "@" in address  # no address at all; it is not repeated either way
    return bool(at and ":" in user) or not _SECRETS.isdisjoint(said)


def _passes(check: Callable[[str], object] | None, address: str) -> bool:
    try:
        return check is None or bool(check(address))
    except ValueError:
        return False


def _look_at_mode(file: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # no file of the system's: standard input of a test
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            say(f"{file.name} can be read by others than you, and may hold a password: chmod 600 it")
