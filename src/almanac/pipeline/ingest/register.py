"""Which requests of a plan are asked now, and how each went: the newest each turn, the past on a slow round, again what failed."""

from __future__ import annotations

import enum
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

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
        state = held.get(request.url)
        if portion is Portion.OWED or not request.closed:
            today = request.once_a_day and state is not None and (state.answered_at or 0) >= midnight_of(now)
            return portion is Portion.NEWEST and not today
        return state is not None and (state.answered_at or 0) < its_day(request.url, now)

    asked = [request for request in plan if is_wanted(request)]
    if portion is not Portion.WHOLE:
        asked = _with_news(plan, asked, held)
    return [one for one in asked if not one.closed] + [one for one in reversed(asked) if one.closed]


def _with_news(
    plan: Sequence[Request], asked: Sequence[Request], held: Mapping[str, requests.RequestState]
) -> list[Request]:
    """Lists of what is new go with those that they spare something: where anything that was led to has been answered."""
    if any(request.led_by_news for request in asked) and knows_what_it_led_to(held):
        return [one for one in plan if one.news_since is not None or one in asked]
    owed = {one.via for one in held.values() if one.answered_at is None}
    return [one for one in asked if one.news_since is None or one.url in owed]


def knows_what_it_led_to(held: Mapping[str, requests.RequestState]) -> bool:
    """Whether it is known of anything that answers led to when it was answered."""
    return any(one.answered_at is not None for _, one in _led(held))


def _led(held: Mapping[str, requests.RequestState]) -> Iterator[tuple[str, requests.RequestState]]:
    """Requests that answers led to."""
    return ((url, one) for url, one in held.items() if url != one.via)


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
        #: Whether it is written down when what answers lead to was answered, for lists of news say what is asked for again.
        self._keeps = False
        #: Since when all that is new is in the lists read; None: they could not all be read.
        self._news_since: int | None = None
        #: Requests for lists of news, that they led to as well, and what those name.
        self._lists: set[str] = set()
        self._news: dict[str, int] = {}
        #: When that was answered, of all that answers led to, which has waited longest.
        self._oldest = min((one.answered_at for _, one in _led(self._held) if one.answered_at is not None), default=0)

    def chosen(self, plan: Sequence[Request]) -> list[Request]:
        """What is asked now. What is planned no more is forgotten."""
        addresses = {request.url for request in plan}
        requests.forget(self._db, self._source, [url for url, one in self._held.items() if one.via not in addresses])
        self._keeps = any(request.news_since is not None for request in plan)
        asked = wanted(plan, self._held, self._portion, self._clock())
        lists = [request for request in asked if request.news_since is not None]
        self._lists = {request.url for request in lists}
        self._news_since = max(
            (request.news_since for request in lists if request.news_since is not None), default=None
        )
        return asked

    def led(self, request: Request, led: Sequence[Request]) -> list[Request]:
        """
        Of the requests that an answer led to those that are asked: all, or where only what failed is asked, such; and where
        the publisher's lists were read, what they name.
        """
        if request.url in self._lists:
            # Nor such as came before all that was answered.
            lists = [one for one in led if one.settled_at is None or one.settled_at > self._oldest]
            self._lists.update(one.url for one in lists)
            return lists
        own = self._held.get(request.url)
        if self._portion is not Portion.OWED or (own is not None and own.answered_at is None):
            return [one for one in led if self._is_new(one)]
        owed = {url for url, one in self._held.items() if one.answered_at is None}
        return [one for one in led if one.url in owed]

    def is_settled(self, request: Request) -> bool:
        """Whether the answer that it had is the last one."""
        state = self._held.get(request.url)
        return request.settled_at is not None and state is not None and (state.answered_at or 0) >= request.settled_at

    def announce(self, news: Mapping[str, int]) -> None:
        """Take in what a list names as new."""
        for url, at in news.items():
            self._news[url] = max(at, self._news.get(url, 0))

    def note(self, request: Request, via: str, *, answered: bool) -> None:
        """
        Write down how a request went. One that was led to leaves a trace only where it failed, now or before, or where there
        are lists of news. One of those without an answer: what is new may be in it, so that everything is.
        """
        if request.url in self._lists and not answered:
            self._news_since = None
        if request.url == via or not answered or self._keeps or request.url in self._held:
            at = self._clock() if answered else None
            requests.note(self._db, self._source, request.url, via, at, keep=self._keeps)

    def _is_new(self, request: Request) -> bool:
        """Whether what an answer led to is to be asked for, by the publisher's lists of what is new."""
        state = self._held.get(request.url)
        if state is None or state.answered_at is None or self._news_since is None:
            return True
        since = max(self._news_since, self._news.get(request.url, 0), its_day(request.url, self._clock()))
        return state.answered_at < since


class Unregistered:
    """For a plan that is not the source's whole one: all of it is asked, and nothing kept."""

    def chosen(self, plan: Sequence[Request]) -> list[Request]:
        return list(plan)

    def led(self, request: Request, led: Sequence[Request]) -> list[Request]:
        return list(led)

    def is_settled(self, request: Request) -> bool:
        return False

    def announce(self, news: Mapping[str, int]) -> None:
        pass

    def note(self, request: Request, via: str, *, answered: bool) -> None:
        pass


def midnight_of(now: int) -> int:
    """When the day of a moment began, UTC."""
    return now // DAY_SECONDS * DAY_SECONDS


def its_day(url: str, now: int) -> int:
    """The beginning of the latest day of the slow round that is this address's own."""
    today = now // DAY_SECONDS
    return (today - (today - zlib.crc32(url.encode())) % SLOW_ROUND) * DAY_SECONDS
