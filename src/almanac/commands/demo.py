"""`almanac sandbox` and `almanac demo`: the simulated world, loaded, and served."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from almanac import serving
from almanac.commands.progress import loading
from almanac.commands.serve import chosen, listeners
from almanac.commands.shared import processes_option, put, say, settings
from almanac.commands.sources import finish
from almanac.domain.memory import seldom_searched
from almanac.first_run import loading_beside, welcome
from almanac.locks import TakenError
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.ingest.simulation import load, load_first


@click.command()
@click.option("--observations", type=click.IntRange(min=1), help="Make a larger world, of about so many rows.")
@click.option("--companies", type=click.IntRange(min=1), help="Make a larger market, of so many companies.")
@processes_option
def sandbox(observations: int | None, companies: int | None, processes: int | None) -> None:
    """Load the built-in simulated world, up to today. A second run adds only what is new."""
    own = settings(processes=processes)
    with seldom_searched(), PipelineContext(own, kind=SIMULATED, tell=say) as world:
        say("loading the simulated world")
        try:
            with loading(own.home, "the simulated world") as progress:
                outcomes = load(world, lambda _: None, observations, market=companies, meter=progress.meter)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    finish(outcomes, exit_code(outcomes))


@click.command()
@listeners
def demo(**options: Any) -> None:
    """Load the simulated world into a folder of its own; serve it. Print where to look, a key and a first request."""
    chosen_settings = chosen(**options)
    # A folder of its own, whatever engine the others use.
    demo_settings = msgspec.structs.replace(
        chosen_settings, home=chosen_settings.home / "demo", database_url=None, raw_url=None
    )

    def said(_number: int, code: int) -> None:
        say("The whole world is there." if code == 0 else f"Loading the rest of the world failed: exit {code}.")

    try:
        with serving.claimed(demo_settings):
            # A second run adds only the days since.
            with PipelineContext(demo_settings, kind=SIMULATED) as world:
                say("Loading a simulated yield curve …")
                outcomes = load_first(world, lambda _: None)
            say(f"{sum(outcome.folded for outcome in outcomes)} simulated payloads read.")
            for line in welcome(demo_settings, "demo@localhost", "make run"):
                put(line)
            say("Other curves and economies, then companies are loaded meanwhile (some minutes the first time) …")
            with loading_beside(demo_settings, [["sandbox"]], said, quiet=True):
                serving.run(demo_settings)
    except TakenError as error:
        raise TakenError(f"{error}\n  Nothing was changed; what runs goes on as it was.") from None
