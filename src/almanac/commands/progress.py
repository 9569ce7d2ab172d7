"""How far long work has come: bars on a terminal, a plain line now and then elsewhere."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from almanac.commands.shared import say
from almanac.domain.plain_text import one_line
from almanac.domain.progress import counted

if TYPE_CHECKING:
    from almanac.domain.progress import Advance

#: Seconds between two plain lines.
_EVERY = 5.0


class Progress:
    """Tells on standard error how far work has come, and `note` too, where one is given. `clock`: seconds."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, note: Callable[[str], None] | None = None
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
        from structlog import BytesLogger

        from almanac.api.server.logs import write_events

        # What the work logs is talk as well.
        write_events(logging.WARNING, lambda *_: BytesLogger(sys.stderr.buffer))
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Bars(*columns, console=console, transient=True) if console.is_terminal else None
        self._clock = clock
        self._said_at = clock()
        self._note = note

    @contextmanager
    def __call__(self) -> Iterator[Progress]:
        if self._bars is None:
            yield self
        else:
            with self._bars:
                yield self

    def track(self, parts: Sequence[Any], name: str = "") -> Iterator[Any]:
        """Pass the parts on, counting."""
        return counted(parts, self.meter, name)

    def meter(self, name: str, total: int, /) -> Advance:
        """Begin a part of the work; what is given back is told how much more is done."""
        shown = self._line(name, total) if self._bars is None else self._bar(name, total)
        if self._note is None:
            return shown
        note, done = self._note, 0.0

        def advance(more: float) -> None:
            nonlocal done
            done += more
            note(f"{name}, {done:,.0f} of {total:,}" if total else f"{name}, {done:,.0f}")
            shown(more)

        note(f"{name}, 0 of {total:,}" if total else name)
        return advance

    def _bar(self, name: str, total: int) -> Advance:
        bars = self._bars
        if bars is None:
            raise RuntimeError("there are no bars here")
        task = bars.add_task(one_line(name), total=total or None)
        return lambda more: bars.advance(task, more)

    def _line(self, name: str, total: int) -> Advance:
        began, done = self._clock(), 0.0

        def advance(more: float) -> None:
            nonlocal done
            done += more
            now = self._clock()
            if now - self._said_at >= _EVERY and (not total or done < total):
                self._said_at = now
                say(_progress_line(name, done, total, now - began))

        return advance

    def say(self, line: str) -> None:
        """Talk, above the bars where there are any."""
        if self._bars is None:
            say(line)
        else:
            self._bars.console.print(one_line(line), markup=False, highlight=False)


def _progress_line(name: str, done: float, total: int, seconds: float) -> str:
    """`rebuild: 1,200 of 5,000, about 2 min left`, from how long it took so far."""
    if not total:
        return f"{name}: {done:,.0f}"
    left = seconds * (total - done) / done if done else 0.0
    ahead = f", about {_span(left)} left" if done else ""
    return f"{name}: {done:,.0f} of {total:,}{ahead}"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
