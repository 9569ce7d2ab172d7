"""The health of a source, judged by its schedule and by the age of its data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from almanac.domain.cadence import Cadence
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import DAY_SECONDS, wire_time

Word = Literal["ok", "late", "failing", "never_run"]


class Tried(NamedTuple):
    """The outcome of a source's recent runs. Times are unix seconds; `failures` counts failed attempts in a row."""

    last_attempt: int | None = None
    last_success: int | None = None
    #: When an answer last differed from the one before.
    last_ingested: int | None = None
    failures: int = 0
    last_error: str | None = None
    #: Addresses whose newest answer is unreadable or held back, and the number of those held back.
    unreadable: int = 0
    shrunk: int = 0
    #: Start of a run that hasn't ended and left no other record; None: there is none.
    unended: int | None = None


@dataclass(slots=True)
class Feed:
    """Counts of the stale and of all series of a source. Series without rows and discontinued ones don't count."""

    series: int = 0
    stale: int = 0
    #: All occurring freshness words, including those of discontinued and companies' series.
    words: set[str] = field(default_factory=set)
    #: Frequency → True while every series of it is stale.
    _stopped: dict[Frequency, bool] = field(default_factory=dict, init=False)

    def count(self, spec: SeriesSpec, freshness: str) -> None:
        """Count one series with its freshness today (fresh, stale, unknown)."""
        self.words.add(freshness)
        if spec.discontinued:
            return
        self.series += 1
        self.stale += freshness == "stale"
        # A series judged by its fetch says nothing about the feed's content.
        if freshness != "unknown" and not spec.judged_by_fetch:
            self._stopped[spec.frequency] = self._stopped.get(spec.frequency, True) and freshness == "stale"

    @property
    def stopped(self) -> list[Frequency]:
        """
        Frequencies at which every series is stale, the highest first. A single stale series may have ended; if all are
        stale, the feed has stopped.
        """
        return sorted((one for one, stopped in self._stopped.items() if stopped), key=lambda frequency: frequency.rank)


class Health(NamedTuple):
    """A word for programs and a reason for people. The reason is None if all is well."""

    word: Word
    reason: str | None = None


def health(source: Source, tried: Tried, feed: Feed, now: int) -> Health:
    """
    Judge a source at `now` (unix seconds).

    `never_run`: there was no attempt. `failing`: the last attempt failed, or a newest answer is unreadable or held
    back. `late`: no run has succeeded since the scheduled time one day before the latest, or answers come without
    anything new. Otherwise `ok`.
    """
    if tried.last_attempt is None:
        if tried.unended is None:
            return Health("never_run")
        return Health(
            "never_run", f"a run that began at {wire_time(tried.unended)} has not ended: it goes on, or was cut off"
        )
    if tried.failures:
        since = "no success yet" if tried.last_success is None else f"no success since {wire_time(tried.last_success)}"
        return Health("failing", f"{tried.last_error or 'the last attempt failed'}; {since}")
    if tried.unreadable:
        whose = f"the newest answer of {tried.unreadable} {'address' if tried.unreadable == 1 else 'addresses'}"
        if tried.shrunk == tried.unreadable:
            return Health("failing", f"{whose} would withdraw much of what is served, and is held")
        also = f"; of these {tried.shrunk} would withdraw much of what is served" if tried.shrunk else ""
        return Health("failing", f"{whose} cannot be read{also}")
    reason = _not_asked(source, tried, now) or _silent(source, tried, feed, now)
    return Health("ok") if reason is None else Health("late", reason)


def _not_asked(source: Source, tried: Tried, now: int) -> str | None:
    if tried.last_success is None:
        return "no success yet"
    if source.cadence is None:
        since = now - _allowance(source.frequencies) * DAY_SECONDS
    else:
        cadence = Cadence(source.cadence)
        # Several scheduled times a day count as one, for operators who ask once a day.
        since = cadence.last(cadence.last(now) - DAY_SECONDS)
    return None if tried.last_success >= since else f"no success since {wire_time(tried.last_success)}"


def _silent(source: Source, tried: Tried, feed: Feed, now: int) -> str | None:
    """Return why answers without news make the source late, or None if they don't."""
    if feed.stopped:
        return f"answers, but every {' and '.join(f.word for f in feed.stopped)} series is stale"
    # Without series to judge (companies), a changed answer is what counts. A calendar, which has no frequency, may stay
    # unchanged for long.
    if feed.series or not source.frequencies or tried.last_ingested is None:
        return None
    same = now - tried.last_ingested > _allowance(source.frequencies) * DAY_SECONDS
    return f"gives the same answers since {wire_time(tried.last_ingested)}" if same else None


def _allowance(frequencies: Iterable[Frequency]) -> int:
    """Return the freshness allowance, in days, of the highest frequency."""
    return min(frequencies, key=lambda f: f.rank, default=Frequency.DAILY).allowance_days
