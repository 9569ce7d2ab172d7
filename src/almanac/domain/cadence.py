"""Schedules of sources: cron lines in UTC, and the pause after a failure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from cronsim import CronSim, CronSimError

from almanac.domain.times import DAY_SECONDS

_FIELDS = ("minute", "hour", "day of month", "month", "day of week")
#: Seconds after a first failure, and the longest pause; each further failure doubles it.
FIRST_PAUSE, LONGEST_PAUSE = 300, DAY_SECONDS
#: After this many doublings the longest pause is reached anyway.
_DOUBLINGS = 16


class Cadence:
    """
    A schedule given as a cron line of five fields, in UTC. Times are unix seconds.

    Raises ValueError if the line isn't a cron line of five fields, or describes a time that never comes.

    >>> Cadence("30 23 * * 1-5").next(0)  # Thursday 1 January 1970, 23:30
    84600
    """

    def __init__(self, line: str) -> None:
        self.line = line
        if len(line.split()) != len(_FIELDS):
            raise ValueError(f"{line!r} is not a cron line of five fields ({', '.join(_FIELDS)})")
        try:
            self.next(0)
        except CronSimError as error:
            raise ValueError(f"{line!r} is not a cron line: {error}") from None
        except StopIteration:
            raise ValueError(f"{line!r} never comes") from None

    def last(self, at: int) -> int:
        """Return the newest scheduled time at or before `at`."""
        return _seconds(next(CronSim(self.line, _moment(at + 1), reverse=True)))

    def next(self, at: int) -> int:
        """Return the first scheduled time after `at`."""
        return _seconds(next(CronSim(self.line, _moment(at))))


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


class Turn(NamedTuple):
    """A source's progress through its schedule. Times are unix seconds."""

    #: Start of the last run in which every request was answered or is known to have failed; None: there was none.
    asked_at: int | None = None
    #: Failed runs in a row, and when to try again.
    failures: int = 0
    retry_at: int | None = None

    def due_at(self, cadence: Cadence, now: int) -> int:
        """Return when to ask the source next. If that is now or earlier, the source is due and has waited since then."""
        if self.failures and self.retry_at is not None:
            return self.retry_at
        return cadence.last(now) if self.asked_at is None else cadence.next(self.asked_at)

    def answered(self, began: int) -> Turn:
        """
        Return the state after a successful run that began at `began`. A scheduled time that passed during the run stays
        due.
        """
        return Turn(began if self.asked_at is None else max(began, self.asked_at))

    def owes(self, cadence: Cadence, now: int) -> bool:
        """
        Return whether only the failed requests have to be repeated: the last run failed and no scheduled time has
        passed since.
        """
        return self.failures > 0 and self.asked_at is not None and cadence.next(self.asked_at) > now

    def failed(
        self,
        cadence: Cadence,
        now: int,
        chance: Callable[[], float],
        wished: float = 0.0,
        began: int | None = None,
    ) -> Turn:
        """
        Return the state after a failed run, with the time of the next try.

        The pause doubles with each failure, up to a day; `chance` returns a number from 0 to 1 that places it between
        half and the whole of that. The next scheduled time wins if it comes first. `wished` is the wait in seconds that
        the publisher asked for; it is always respected, up to a day. Pass `began` if the run finished with known failed
        parts: the run then counts as asked at that time, and only those parts are repeated.
        """
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self.failures, _DOUBLINGS)) * (1 + chance()) / 2
        sooner = min(now + int(pause), cadence.next(now))
        asked_at = self.asked_at if began is None else max(began, self.asked_at or began)
        return Turn(asked_at, self.failures + 1, max(sooner, now + int(min(wished, LONGEST_PAUSE))))
