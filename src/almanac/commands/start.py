"""`almanac start`: real data, served, by one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from almanac import serving
from almanac.catalog.load import shipped
from almanac.commands.progress import loading
from almanac.commands.serve import chosen, listeners
from almanac.commands.shared import mirror_option, put, say
from almanac.commands.sources import named_sources, summary
from almanac.commands.worker import asking
from almanac.config import Settings
from almanac.domain.memory import seldom_searched
from almanac.domain.rights import Exposure
from almanac.first_run import loading_beside, welcome
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.ingest.worker import missing_settings


@click.command()
@listeners
@mirror_option
@click.option("--load-only", is_flag=True, help="Load, say what further sources need, and end: nothing is served.")
def start(folder: Path | None, load_only: bool, **options: Any) -> None:
    """Load and serve data of publishers that ask for no key.

    Sources that need a consent are left out as well.

    Makes a first account and a key where there is no account, serves at once, and meanwhile loads what is new of one source
    after the other, those first that rates and briefs need, then the past of each. A bar shows
    how many requests of a source are done and left. It says what each further source needs, and then asks publishers again when they are due, as `almanac worker` does.

    With --load-only: exit 0 all good, 3 some quarantined or failed, 1 nothing ingested.
    """
    chosen_settings = chosen(**options)
    if load_only:
        sys.exit(_load(chosen_settings, folder))
    commands = [["start", "--load-only", *(() if folder is None else ("--from", str(folder.resolve())))]]
    if folder is None:
        commands.append(["worker"])

    def said(number: int, code: int) -> None:
        if number == 0 and code:
            say("nothing could be loaded" if code == 1 else f"some of it could not be loaded (exit {code})")

    if sys.stderr.isatty() and chosen_settings.log_level == "info":  # a line for each request would tear the bars apart
        chosen_settings = msgspec.structs.replace(chosen_settings, log_level="warning")
    with serving.claimed(chosen_settings):
        # One that holds the simulated world is refused before anything is made.
        with PipelineContext(chosen_settings, kind=REAL, tell=say):
            pass
        for line in welcome(chosen_settings, "operator@localhost", "almanac start"):
            put(line)
        sys.stdout.flush()
        with loading_beside(chosen_settings, commands, said, quiet=False):
            serving.run(chosen_settings)


def _load(chosen_settings: Settings, folder: Path | None) -> int:
    """
    Load every source that needs nothing, and print what each other one needs. Return the exit code of `almanac ingest`; 0
    where nothing is due.
    """
    every = named_sources(shipped(), ())
    sources = [source for source in every if not source.key_required and source.rights.channel is Exposure.public]
    say(f"loading {len(sources)} sources that ask for neither a key nor a consent")
    with seldom_searched(), loading(chosen_settings.home, "data of publishers") as progress:
        if folder is None:
            # One round of a worker over what is due: what is new of each source in the order of need, then what each has of
            # the past. What was asked before stands, so a second start goes on where the first one was.
            with asking(chosen_settings, [source.id for source in sources], progress, bars=True) as worker:
                outcomes = worker.round().outcomes
        else:
            with PipelineContext(chosen_settings, kind=REAL, tell=say) as world:
                outcomes = from_mirror(world, sources, folder, progress.say, progress.track)
    summary(outcomes)
    left_out = [source for source in every if source not in sources]
    put()
    put(f"{len(left_out)} further source{'' if len(left_out) == 1 else 's'}:")
    for source in left_out:
        # One that has what it needs by now is asked by `almanac worker`, or by name.
        missing = missing_settings(chosen_settings, source)
        needs = f"needs {'; and '.join(missing)}" if missing else f"has what it needs: almanac ingest {source.id}"
        put(f"{source.id} ({source.name}) {needs}")
    return exit_code(outcomes) if outcomes or folder is not None else 0
