"""Selection and state of requests: new data every turn, old data on a slow round, and failed requests again."""

from __future__ import annotations

import enum
import zlib
from collections.abc import Callable, Mapping, Sequence

from almanac.domain.times import DAY_SECONDS
from almanac.sources.base import Request
from almanac.store.engine.protocol import Database
from almanac.store.log import requests

#: Days within which every window of the past is asked once. A window's day follows from its address, which spreads
#: them.
SLOW_ROUND = 28
#: After this many failed turns with some answers, single addresses are at fault rather than the source.
_STUBBORN = 3


class Portion(enum.Enum):
    """The part of a source's plan that is asked."""

    #: All of it, as in a person's command.
    WHOLE = "whole"
    #: New data, failed requests, and the past requests due on this day.
    NEWEST = "newest"
    #: Past data that was never requested.
    PAST = "past"
    #: Failed requests only.
    RETRY = "retry"


def wanted(
    plan: Sequence[Request], states: Mapping[str, requests.RequestState], portion: Portion, now: int
) -> list[Request]:
    """
    Return the requests of a plan to ask now: those for new data in the plan's order, then those for the past, newest
    first. `states` are those recorded, by address.
    """
    again = {state.via for state in states.values() if state.answered_at is None}

    def is_wanted(request: Request) -> bool:
        if portion is Portion.WHOLE:
            return not request.newest
        if portion is Portion.PAST:
            return request.closed and request.url not in states
        if request.url in again:
            return True
        state = states.get(request.url)
        if portion is Portion.RETRY or not request.closed:
            today = request.once_a_day and state is not None and (state.answered_at or 0) >= midnight_of(now)
            return portion is Portion.NEWEST and not today
        return state is not None and (state.answered_at or 0) < its_day(request.url, now)

    asked = [request for request in plan if is_wanted(request)]
    if portion is not Portion.WHOLE:
        # Lists of news are included only if they can save requests: an asked request has follow-ups that news can limit,
        # and some follow-up has a recorded answer. Otherwise only those that failed, or led to a failed request, stay.
        is_known = any(state.answered_at is not None and url != state.via for url, state in states.items())
        if is_known and any(request.led_by_news for request in asked):
            asked = [request for request in plan if request.news_since is not None or request in asked]
        else:
            asked = [request for request in asked if request.news_since is None or request.url in again]
    return [request for request in asked if not request.closed] + [
        request for request in reversed(asked) if request.closed
    ]


def in_trouble(failures: int, states: Mapping[str, requests.RequestState]) -> bool:
    """
    Return whether to leave a source's past alone because the source is failing.

    A single dead address must not block the past of all others for ever. So after some failed turns the past is asked
    for again, if any request was ever answered.
    """
    return failures > 0 and (failures < _STUBBORN or all(state.answered_at is None for state in states.values()))


class RequestLedger:
    """
    The requests of one source with their state in the data database. For a plan that isn't whole, without `recording`,
    everything is asked and nothing is recorded.
    """

    def __init__(
        self, db: Database, source: str, portion: Portion, clock: Callable[[], int], *, recording: bool = True
    ) -> None:
        self._db = db
        self._source = source
        self._portion = portion
        self._clock = clock
        self._recording = recording
        self._states = requests.standing(db, source) if recording else {}
        #: True if answers to follow-up requests are recorded, because lists of news decide what is repeated.
        self._keeps = False
        #: Since when the lists contain all news; None: not all of them could be read.
        self._news_since: int | None = None
        #: Requests for lists of news, including their follow-ups, and the addresses that the lists name.
        self._lists: set[str] = set()
        self._news: dict[str, int] = {}
        #: Time of the oldest answer to a follow-up request.
        led = (state.answered_at for url, state in self._states.items() if url != state.via)
        self._oldest = min((at for at in led if at is not None), default=0)

    def chosen(self, plan: Sequence[Request]) -> list[Request]:
        """Return the requests to ask now. Requests that are no longer planned are forgotten."""
        addresses = {request.url for request in plan}
        requests.forget(
            self._db, self._source, [url for url, state in self._states.items() if state.via not in addresses]
        )
        self._keeps = any(request.news_since is not None for request in plan)
        asked = wanted(plan, self._states, self._portion, self._clock())
        lists = [request for request in asked if request.news_since is not None]
        self._lists = {request.url for request in lists}
        self._news_since = max(
            (request.news_since for request in lists if request.news_since is not None), default=None
        )
        return asked

    def led(self, request: Request, led: Sequence[Request]) -> list[Request]:
        """
        Return the follow-up requests to ask, of those that an answer led to.

        These are all of them, or if only failed requests are asked, just those that failed; where the publisher's lists
        of news were read, those that the lists name.
        """
        if request.url in self._lists:
            # Lists from before all recorded answers are skipped.
            lists = [other for other in led if other.settled_at is None or other.settled_at > self._oldest]
            self._lists.update(other.url for other in lists)
            return lists
        state = self._states.get(request.url)
        if self._portion is not Portion.RETRY or (state is not None and state.answered_at is None):
            return [other for other in led if self._is_new(other)]
        failed = {url for url, state in self._states.items() if state.answered_at is None}
        return [other for other in led if other.url in failed]

    def is_settled(self, request: Request) -> bool:
        """Return whether the recorded answer to a request is final."""
        state = self._states.get(request.url)
        return request.settled_at is not None and state is not None and (state.answered_at or 0) >= request.settled_at

    def announce(self, news: Mapping[str, int]) -> None:
        """Record the addresses that a list names as new."""
        for url, at in news.items():
            self._news[url] = max(at, self._news.get(url, 0))

    def note(self, request: Request, via: str, *, answered: bool) -> None:
        """
        Record the result of a request.

        A follow-up request is recorded only if it failed now or before, or if there are lists of news. If a list fails,
        everything counts as new, because it could have named anything.
        """
        if request.url in self._lists and not answered:
            self._news_since = None
        if self._recording and (request.url == via or not answered or self._keeps or request.url in self._states):
            at = self._clock() if answered else None
            requests.note(self._db, self._source, request.url, via, at, keep=self._keeps)

    def _is_new(self, request: Request) -> bool:
        """Return whether a follow-up request must be asked, according to the publisher's lists of news."""
        state = self._states.get(request.url)
        if state is None or state.answered_at is None or self._news_since is None:
            return True
        since = max(self._news_since, self._news.get(request.url, 0), its_day(request.url, self._clock()))
        return state.answered_at < since


def midnight_of(now: int) -> int:
    """Return the first second of a moment's day, UTC."""
    return now // DAY_SECONDS * DAY_SECONDS


def its_day(url: str, now: int) -> int:
    """Return the first second of the latest day that the slow round assigns to this address."""
    today = now // DAY_SECONDS
    return (today - (today - zlib.crc32(url.encode())) % SLOW_ROUND) * DAY_SECONDS
