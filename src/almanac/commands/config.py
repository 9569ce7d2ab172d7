"""`almanac config`: the settings, before anything uses them."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import os

import click

from almanac.commands.shared import settings


@click.group()
def config() -> None:
    """Look at the settings."""


@config.command()
def check() -> None:
    """Read all settings as every command does. Prints the names of those that are given; exit 1 with all that is wrong."""
    from almanac.config import given

    settings(home=False)
    for one in given(os.environ):
        click.echo(one.name)
