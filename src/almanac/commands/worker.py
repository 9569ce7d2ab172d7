"""`almanac worker` and `almanac ingest --due`: asking sources when their cadence says so."""

from __future__ import annotations

import os
import random
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

from almanac.catalog.load import shipped
from almanac.commands.progress import Progress
from almanac.commands.shared import say, settings, time
from almanac.commands.sources import finish, named_sources
from almanac.config import Settings
from almanac.pipeline.ingest.liveness import Leaseholder, folder_of, heartbeat
from almanac.pipeline.ingest.outcome import exit_code, untracked
from almanac.pipeline.ingest.worker import Worker

#: Exit code after a round that did not do all it should.
_SOME = 3


@click.command()
@click.argument("names", metavar="[SOURCE]…", nargs=-1)
@click.option("--once", is_flag=True, help="Do what is due now, and end as `almanac ingest --due` does.")
def worker(names: tuple[str, ...], once: bool) -> None:
    """Fetch each source when it is due, until SIGTERM or Ctrl-C. Then finish the payload in hand and exit 0.

    SOURCE is a source id or a provider's short name; none: all. Several workers share the work. A source that lacks a
    key or a consent is passed over.
    """
    if once:
        due(names)
    else:
        chosen = settings()
        with (
            heartbeat(folder_of(chosen.home), names) as step,
            Progress() as progress,
            asking(chosen, _ids(names), progress, bars=False, step=step) as ready,
        ):
            ready.run()


def due(names: tuple[str, ...], *, as_json: bool = False) -> NoReturn:
    """Ask what is due, print what came of it, and exit: 0 all good or nothing due, 3 some failed, 1 nothing ingested."""
    chosen = settings()
    with Progress() as progress, asking(chosen, _ids(names), progress, bars=True) as ready:
        done = ready.round()
    code = exit_code(done.outcomes) if done.outcomes else 0
    if done.stopped:
        code = _SOME
    elif not done.outcomes:
        ahead = f"; {done.next_source} is next, at {time(done.next_at)}"
        say("nothing is due" + (": there is no source to ask" if done.next_at is None else ahead))
    finish(done.outcomes, code, ready.passed_over, as_json=as_json)


def _ids(names: tuple[str, ...]) -> list[str]:
    return [source.id for source in named_sources(shipped(), names)] if names else []


@contextmanager
def asking(
    chosen: Settings, only: Sequence[str], progress: Progress, *, bars: bool, step: Callable[[], None] = lambda: None
) -> Iterator[Worker]:
    """
    Yield a worker over these sources (none: all) that ends its work at the first SIGTERM or SIGINT. The second one ends the
    process as if nobody listened.
    """
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        restore()

    for number in before:
        signal.signal(number, ask_to_stop)
    try:
        yield Worker(
            chosen,
            only,
            Leaseholder(f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"),
            progress.say,
            stop,
            chance=random.Random(),  # noqa: S311  (whom to spare and when is no secret)
            track=progress.track if bars else untracked,
            step=step,
        )
    finally:
        restore()
