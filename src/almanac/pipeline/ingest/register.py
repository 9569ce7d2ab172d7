"""Which requests of a plan are asked now, and how each went: the newest each turn, the past on a slow round, again what failed."""

from __future__ import annotations

import enum
import zlib
from collections.abc import Callable, Mapping, Sequence

from almanac.domain.times import DAY_SECONDS
from almanac.sources.base import Request
from almanac.store.engine.protocol import Database
from almanac.store.log import requests

#: Days in which every window of the past is asked once. Which day is a window's own follows from its address, so that they
#: do not come together.
SLOW_ROUND = 28
#: Turns that fail in a row after which what was answered shows that it is some addresses alone, and no passing trouble.
_STUBBORN = 3


class Portion(enum.Enum):
    """How much of a source's plan is asked."""

    #: All of it, as a person's command does.
    WHOLE = "whole"
    #: What is new, what failed, and of the past what has its day.
    NEWEST = "newest"
    #: The past that was never asked for.
    PAST = "past"
    #: Only what failed.
    OWED = "owed"


def wanted(
    plan: Sequence[Request], held: Mapping[str, requests.RequestState], portion: Portion, now: int
) -> list[Request]:
    """Which requests of a plan are asked: the newest in its order, then the past, its newest first."""
    again = {one.via for one in held.values() if one.answered_at is None}

    def is_wanted(request: Request) -> bool:
        if portion is Portion.WHOLE:
            return not request.newest
        if portion is Portion.PAST:
            return request.closed and request.url not in held
        if request.url in again:
            return True
        if portion is Portion.OWED or not request.closed:
            return portion is Portion.NEWEST
        state = held.get(request.url)
        return state is not None and (state.answered_at or 0) < its_day(request.url, now)

    asked = [request for request in plan if is_wanted(request)]
    return [one for one in asked if not one.closed] + [one for one in reversed(asked) if one.closed]


def in_trouble(failures: int, held: Mapping[str, requests.RequestState]) -> bool:
    """
    Whether a source is to be left alone with its past. A dead address does not keep that of all others away for ever: after
    some turns that failed it is asked for, where there have been answers at all.
    """
    return failures > 0 and (failures < _STUBBORN or all(one.answered_at is None for one in held.values()))


class Register:
    """The requests of one source, by how they stand in the data database."""

    def __init__(self, db: Database, source: str, portion: Portion, clock: Callable[[], int]) -> None:
        self._db = db
        self._source = source
        self._portion = portion
        self._clock = clock
        self._held = requests.standing(db, source)

    def chosen(self, plan: Sequence[Request]) -> list[Request]:
        """What is asked now. What is planned no more is forgotten."""
        addresses = {request.url for request in plan}
        requests.forget(self._db, self._source, [url for url, one in self._held.items() if one.via not in addresses])
        return wanted(plan, self._held, self._portion, self._clock())

    def led(self, request: Request, led: Sequence[Request]) -> list[Request]:
        """Of the requests that an answer led to those that are asked: all, or where only what failed is asked, such."""
        own = self._held.get(request.url)
        if self._portion is not Portion.OWED or (own is not None and own.answered_at is None):
            return list(led)
        owed = {url for url, one in self._held.items() if one.answered_at is None}
        return [one for one in led if one.url in owed]

    def note(self, request: Request, via: str, *, answered: bool) -> None:
        """Write down how a request went. One that was led to leaves a trace only where it failed, now or before."""
        if request.url == via or not answered or request.url in self._held:
            requests.note(self._db, self._source, request.url, via, self._clock() if answered else None)


class Unregistered:
    """For a plan that is not the source's whole one: all of it is asked, and nothing kept."""

    def chosen(self, plan: Sequence[Request]) -> list[Request]:
        return list(plan)

    def led(self, request: Request, led: Sequence[Request]) -> list[Request]:
        return list(led)

    def note(self, request: Request, via: str, *, answered: bool) -> None:
        pass


def its_day(url: str, now: int) -> int:
    """The beginning of the latest day of the slow round that is this address's own."""
    today = now // DAY_SECONDS
    return (today - (today - zlib.crc32(url.encode())) % SLOW_ROUND) * DAY_SECONDS
