"""The command line: thin, one function per command. stdout is data, stderr is talk."""

from __future__ import annotations

import click

from almanac import distribution
from almanac.commands import (
    accounts,
    ingest,
    keys,
    operate,
    serve,
    sources,
    start,
    worker,
)
from almanac.commands.shared import Commands, put


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        put(f"almanac {distribution.version()}")
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.help_option("-h", "--help", hidden=True)
def main() -> None:
    """Almanac: a self-hosted, read-only financial data service."""


for _command in (
    accounts.accounts,
    keys.keys,
    ingest.ingest,
    sources.sources,
    ingest.sandbox,
    worker.worker,
    operate.derive,
    operate.distribute,
    operate.rebuild,
    operate.verify,
    operate.status,
    operate.backup,
    operate.restore,
    serve.serve,
    start.start,
    serve.demo,
):
    main.add_command(_command)


if __name__ == "__main__":
    main()
