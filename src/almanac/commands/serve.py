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


def listeners(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where to listen, each over the setting of the same name."""
    for option in (
        click.option(
            "--workers", type=click.IntRange(1, 256), help="Processes that answer. Default: ALMANAC_WORKERS, 1."
        ),
        click.option(
            "--ops-port", type=_PORT, help="Port of the operations listener. Default: ALMANAC_OPS_PORT, 9000."
        ),
        click.option("--no-dashboard", is_flag=True, help="Leave the dashboard out."),
        click.option(
            "--dashboard-port", type=_PORT, help="Port of the dashboard. Default: ALMANAC_DASHBOARD_PORT, 8001."
        ),
        click.option("--port", type=_PORT, help="Port of the API. Default: ALMANAC_PORT, 8000."),
        click.option(
            "--host", callback=_address, metavar="ADDRESS", help="Address of the API. Default: ALMANAC_HOST, 127.0.0.1."
        ),
    ):
        command = option(command)
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
