"""`almanac config`: the settings, before anything uses them."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import os

import click

from almanac.commands.shared import put, say, settings, unusable


@click.group()
def config() -> None:
    """Look at the settings."""


@config.command()
def check() -> None:
    """Read all settings as every command does, and see whether they can be served. Prints the names of those that are given; exit 1 with all that is wrong."""
    from almanac.config import exposed, given
    from almanac.serving import missing_plans, plans_told

    found = settings(home=False)
    problems = found.clashes()
    home = unusable(found.home)
    if home is not None:
        problems.append(home)
    # A look makes no accounts where there are none.
    elif found.accounts_place != found.accounts_path or found.accounts_path.exists():
        missing = missing_plans(found)
        if missing:
            problems.append(plans_told(missing))
    if problems:
        raise click.ClickException("\n  ".join(problems))
    warning = exposed()
    if warning is not None:
        say(f"Warning: {warning}")
    for one in given(os.environ):
        put(one.name)
