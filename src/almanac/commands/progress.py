"""Progress of long work: bars on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from structlog import BytesLogger

from almanac.api.server.logs import write_events
from almanac.commands.shared import say
from almanac.domain.plain_text import one_line
from almanac.domain.progress import Advance, counted
from almanac.load_state import noted

#: Seconds between two plain lines.
_EVERY = 5.0


class Progress(contextlib.ExitStack):
    """Tells on standard error how far work has come, for the length of a block, and `note` too, where one is given."""

    def __init__(self, note: Callable[[str], None] | None = None) -> None:

        super().__init__()
        # What the work logs is talk as well.
        write_events(logging.WARNING, lambda *_: BytesLogger(sys.stderr.buffer))
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Bars(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._note = note
        self._said_at = time.monotonic()

    def __enter__(self) -> Self:
        self.enter_context(self._bars)
        return self

    def track(self, parts: Sequence[Any], name: str = "") -> Iterator[Any]:
        """Pass the parts on, counting."""
        return counted(parts, self.meter, name)

    def meter(self, name: str, total: int, /) -> Advance:
        """Begin a part of the work; what is given back is told how much more is done."""
        bars, note = self._bars, self._note
        task = bars.add_task(one_line(name), total=total or None)
        began, done = time.monotonic(), 0.0

        def advance(more: float) -> None:
            nonlocal done
            done += more
            if note is not None:
                note(f"{name}, {done:,.0f} of {total:,}" if total else f"{name}, {done:,.0f}")
            if not bars.disable:
                bars.advance(task, more)
            elif time.monotonic() - self._said_at >= _EVERY and (not total or done < total):
                self._said_at = time.monotonic()
                # `rebuild: 1,200 of 5,000, about 2 min left`, from how long it took so far.
                left = (self._said_at - began) * (total - done) / done if total and done else 0.0
                ahead = f", about {_span(left)} left" if left else ""
                say(f"{name}: {done:,.0f}" + (f" of {total:,}{ahead}" if total else ""))

        if note is not None:
            note(f"{name}, 0 of {total:,}" if total else name)
        return advance

    def say(self, line: str) -> None:
        """Talk, above the bars where there are any."""
        if self._bars.disable:
            say(line)
        else:
            self._bars.console.print(one_line(line), markup=False, highlight=False)


@contextlib.contextmanager
def loading(home: Path, what: str) -> Iterator[Progress]:
    """Show the progress of a load into a home, on the dashboard too."""
    with noted(home, what) as note, Progress(note) as progress:
        yield progress


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
