"""The command line: thin, one function per command. stdout is data, stderr is talk."""

from __future__ import annotations

import click

from almanac.commands import accounts, config, ingest, keys, migrate, operate, serve, sources, worker
from almanac.commands.shared import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="almanac", message="almanac %(version)s")
def main() -> None:
    """Almanac: a self-hosted, read-only financial data service.

    Settings come from the environment (ALMANAC_…) and $ALMANAC_HOME/almanac.toml.
    """


for _command in (
    accounts.accounts,
    keys.keys,
    config.config,
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
    migrate.migrate,
    serve.serve,
    serve.demo,
):
    main.add_command(_command)


if __name__ == "__main__":
    main()
