"""`almanac serve`."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import click
import msgspec

from almanac.commands.shared import settings
from almanac.config import Settings
from almanac.serving import serve as run


def _address(_context: click.Context, _parameter: click.Parameter, host: str | None) -> str | None:

    try:
        return host if host is None else str(ip_address(host))
    except ValueError:
        raise click.BadParameter(f"'{host}' is not an address, like 127.0.0.1 or ::") from None


_PORT = click.IntRange(1, 65_535)
#: What each option says over the setting of the same name, and what it takes.
_LISTENERS: dict[str, tuple[str, dict[str, Any]]] = {
    "host": ("Address of the API.", {"callback": _address, "metavar": "ADDRESS"}),
    "port": ("Port of the API.", {"type": _PORT}),
    "dashboard_port": ("Port of the dashboard.", {"type": _PORT}),
    "ops_port": ("Port of the operations listener.", {"type": _PORT}),
    "workers": ("Processes that answer.", {"type": click.IntRange(1, 256)}),
}


def listeners(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where to listen."""
    command = click.option("--no-dashboard", is_flag=True, help="Leave the dashboard out.")(command)
    for name, (words, how) in reversed(_LISTENERS.items()):
        words = f"{words} Default: ALMANAC_{name.upper()}, {getattr(Settings(), name)}."
        command = click.option(f"--{name.replace('_', '-')}", help=words, **how)(command)
    return command


def chosen(*, no_dashboard: bool, **options: Any) -> Settings:
    """Return the settings with the options of `listeners` that were given over them."""
    given = {name: value for name, value in options.items() if value is not None}
    return msgspec.structs.replace(settings(), **given, **({"dashboard": False} if no_dashboard else {}))


@click.command()
@listeners
def serve(**options: Any) -> None:
    """Answer requests until interrupted. An empty home serves too, and so does one an ingest is writing to."""
    run(chosen(**options))
