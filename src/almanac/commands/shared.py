"""Helpers of the commands: settings, errors that end a command, tables."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from almanac.domain.disk_errors import explain
from almanac.domain.plain_text import escaped, one_line

if TYPE_CHECKING:
    from almanac.config import Settings


#: Exit code where this program cannot use the store as it is, and will say so however often it is begun: EX_CONFIG of
#: sysexits.h, of which the units tell systemd.
UNFIT = 78
#: Exit code of a command whose output nobody reads to its end: 128 and the number of SIGPIPE, as shells have it.
_READER_GONE = 141


class _Unfit(click.ClickException):
    exit_code = UNFIT


class Commands(click.Group):
    """
    A group that imports the module of a command when that is used: `almanac --help` answers at once.

    `modules` has of each command its module in `almanac.commands` and a line of help. Commands end with `Error: …` and
    exit 1 where the fault is not ours, never with a traceback.
    """

    def __init__(self, *arguments: Any, modules: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = getattr(import_module(f"almanac.commands.{self._modules[cmd_name][0]}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._modules[name][1]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        # Control flow of click itself is no error, and must not cost the imports below.
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort):
            raise
        except click.ClickException as error:
            error.message = _lines(error.message)  # type: ignore[misc]  # final for those who would tell something else
            raise
        except Exception as error:  # sorted here: what a reader can mend is told, the rest goes on with its traceback
            if not isinstance(error, expected()):
                raise
            from almanac.store.engine.errors import SchemaError

            text = explain(error) if isinstance(error, OSError) else str(error)
            ending = _Unfit if isinstance(error, SchemaError) else click.ClickException
            raise ending(_lines(text)) from None


def expected() -> tuple[type[Exception], ...]:
    """Errors whose message tells the reader what to change."""
    from almanac.catalog.records import CatalogError
    from almanac.config import SettingError
    from almanac.locks import TakenError
    from almanac.pipeline.context import WorldError
    from almanac.pipeline.ingest.ingest import ClockBehindError, NotHeld
    from almanac.pipeline.missing_payloads import LossError
    from almanac.pipeline.operate.backup import BackupError
    from almanac.pipeline.raw_store_binding import RawStoreError
    from almanac.sources.mirror import MirrorError
    from almanac.store.accounts.accounts import AccountError
    from almanac.store.engine.errors import StoreError, UnavailableError
    from almanac.store.raw.captures import Corrupt

    ours = (SettingError, CatalogError, AccountError, BackupError, WorldError, MirrorError, Corrupt, StoreError)
    return (*ours, ClockBehindError, LossError, NotHeld, RawStoreError, TakenError, UnavailableError, OSError)


#: For commands that replace data, or promise that they can be made anew.
without_missing_option = click.option(
    "--without-missing",
    metavar="N",
    type=click.IntRange(0),
    help="Go on without the N payloads that are missing from the raw store, for good. N must be their number.",
)


#: For commands that compute much.
processes_option = click.option(
    "--processes",
    type=click.IntRange(1, 256),
    help="Compute with so many processes. Default: ALMANAC_PROCESSES, else one for each core.",
)


def settings(*, home: bool = True, processes: int | None = None) -> Settings:
    """Read the settings, and make the data folder unless `home` is false. `processes` goes before the setting of that name."""
    import msgspec

    from almanac.catalog.load import source_ids
    from almanac.config import load

    found = load(sources=source_ids)
    if home:
        if found.restored_path.exists():
            raise click.ClickException(
                f"a restore into {found.home} was cut off: run `almanac restore` again, which puts the rest in place"
            )
        unfit = f"ALMANAC_HOME: {found.home} cannot be used as the data folder"
        try:
            found.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise click.ClickException(f"{unfit}: {explain(error)}") from None
        if not os.access(found.home, os.W_OK | os.X_OK):
            raise click.ClickException(f"{unfit}: it is read-only for this user")
    return found if processes is None else msgspec.structs.replace(found, processes=processes)


def time(seconds: int | None) -> str | None:
    """Return a time as the interface writes it, for people and programs alike."""
    from almanac.domain.times import wire_time

    return None if seconds is None else wire_time(seconds)


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool = False) -> None:
    """Print a JSON list of all fields, or the columns named, aligned under their names."""
    if as_json:
        put_json(rows)
        return
    cells = [list(columns), *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        put("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    return " ".join(value) if isinstance(value, (tuple, list)) else str("-" if value in (None, "") else value)


def put(line: object = "") -> None:
    """Print a line of data on stdout. What others wrote may be in it: no terminal obeys it, and it begins no line."""
    _written(one_line(str(line)))


def put_json(value: Any) -> None:
    """Print a line of JSON on stdout; a structure is written by its fields."""
    import msgspec

    plain = isinstance(value, (dict, list))
    _written(escaped(json.dumps(value, ensure_ascii=False) if plain else msgspec.json.encode(value).decode()))


def say(line: str) -> None:
    """Print a line of talk on stderr."""
    _written(one_line(line), err=True)


def _written(text: str, *, err: bool = False) -> None:
    """Write a line. Where who reads has seen enough, as `head` has, the command ends as others do then: at once, without a word."""
    try:
        click.echo(text, err=err)
    except BrokenPipeError:
        # Nothing is left for the interpreter to write at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), (sys.stderr if err else sys.stdout).fileno())
        raise SystemExit(_READER_GONE) from None


def _lines(text: str) -> str:
    """Return an error as it may be shown. Lines after its first are indented, so that none looks like an error of ours."""
    return "\n  ".join(map(one_line, text.split("\n  ")))
