"""A client with time that stands still, and what tests ask of it."""

import httpx2
import pytest

from almanac.config import Http
from almanac.sources.transport.answers import FetchFailed


class Clock:
    """Time that passes by sleeping only, and by `step` seconds with each look."""

    def __init__(self, step=0.0):
        self.now = 1_000.0
        self.step = step
        self.slept = []

    def __call__(self):
        self.now += self.step
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds


class Manners(Http, frozen=True):
    user_agent: str = "Almanac-Test (invented)"
    contact: str | None = "invented@example.org"
    connect_timeout: float = 5.0
    read_timeout: float = 5.0
    total_timeout: float = 100.0
    attempts: int = 3
    max_bytes: int = 1_000_000
    requests_per_second: float = 1_000_000.0


def failure(fetcher, request, validators=None):
    with pytest.raises(FetchFailed) as caught:
        fetcher.fetch(request, validators)
    return caught.value


def pauses(clock):
    """Sleeps without those of the pace, which are about a millionth of a second here."""
    return [round(seconds, 3) for seconds in clock.slept if seconds > 0.001]


def table(answers):
    """A transport that answers from a table of URLs, and the requests it saw."""
    seen = []

    def handle(request):
        seen.append(request)
        status, headers = answers[str(request.url)]
        return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(b"invented"))

    return httpx2.MockTransport(handle), seen
