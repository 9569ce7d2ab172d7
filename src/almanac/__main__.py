"""The command line: thin, one function per command. stdout is data, stderr is talk."""

from __future__ import annotations

import click

from almanac import distribution
from almanac.commands.shared import Commands, put


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        put(f"almanac {distribution.version()}")
        context.exit()


_MODULES = {
    "accounts": ("accounts", "Make and change accounts: who may ask."),
    "backup": ("operate", "Write accounts, secrets, raw payloads and data to one FILE."),
    "demo": ("demo", "Load the simulated world into a folder of its own; serve it."),
    "derive": ("operate", "Compute all derived series anew and write what differs."),
    "distribute": ("operate", "Spread large tables over several machines (Citus)."),
    "ingest": ("ingest", "Fetch, keep raw, read, append, derive."),
    "keys": ("keys", "Make, list and revoke API keys."),
    "rebuild": ("operate", "Replay everything from the raw store, with the same ids."),
    "restore": ("operate", "Put a backup FILE into ALMANAC_HOME."),
    "sandbox": ("demo", "Load the built-in simulated world, up to today."),
    "serve": ("serve", "Answer requests until interrupted."),
    "sources": ("sources", "List the sources: what they fetch, their licence, their needs."),
    "start": ("start", "Load and serve data of publishers that ask for no key."),
    "status": ("operate", "Show coverage, the health of each source, and quarantine."),
    "verify": ("operate", "Check hashes, lineage and every derived value."),
    "worker": ("worker", "Fetch each source when it is due, until SIGTERM or Ctrl-C."),
}


@click.group(cls=Commands, modules=_MODULES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.help_option("-h", "--help", hidden=True)
def main() -> None:
    """Almanac: a self-hosted, read-only financial data service."""


if __name__ == "__main__":
    main()
