"""`almanac serve` and `almanac demo`."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from almanac.commands.shared import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from almanac.config import Settings


def _address(_context: click.Context, _parameter: click.Parameter, host: str | None) -> str | None:
    from ipaddress import ip_address

    try:
        return host if host is None else str(ip_address(host))
    except ValueError:
        raise click.BadParameter(f"'{host}' is not an address, like 127.0.0.1 or ::") from None


def _listeners(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where to listen: each option over the setting of the same name."""
    for option in (
        click.option(
            "--workers", type=click.IntRange(1, 256), help="Processes that answer. Default: ALMANAC_WORKERS, 1."
        ),
        click.option(
            "--ops-port",
            type=click.IntRange(1, 65_535),
            help="Port of the operations listener. Default: ALMANAC_OPS_PORT, 9000.",
        ),
        click.option("--port", type=click.IntRange(1, 65_535), help="Port of the API. Default: ALMANAC_PORT, 8000."),
        click.option(
            "--host", callback=_address, metavar="ADDRESS", help="Address of the API. Default: ALMANAC_HOST, 127.0.0.1."
        ),
    ):
        command = option(command)
    return command


def _chosen(found: Settings, **options: Any) -> Settings:
    import msgspec

    return msgspec.structs.replace(found, **{name: value for name, value in options.items() if value is not None})


@click.command()
@_listeners
def serve(host: str | None, port: int | None, ops_port: int | None, workers: int | None) -> None:
    """Answer requests until interrupted. An empty home serves too, and so does one an ingest is writing to."""
    from almanac.hosting import serve as run

    run(_chosen(settings(), host=host, port=port, ops_port=ops_port, workers=workers))


@click.command()
@_listeners
def demo(host: str | None, port: int | None, ops_port: int | None, workers: int | None) -> None:
    """Load the simulated world into a folder of its own, print a fresh key and a first request, and serve it."""
    from almanac.demo import companies, first_request, prepare
    from almanac.hosting import serve as run

    chosen = _chosen(settings(), host=host, port=port, ops_port=ops_port, workers=workers)

    def say(text: str) -> None:
        click.echo(text, err=True)

    apart, key = prepare(chosen, say)
    click.echo(f"Key: {key}")
    click.echo(f"Try: {first_request(apart, key)}")
    with companies(apart, say):
        run(apart)
