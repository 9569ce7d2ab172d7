"""A misbehaving publisher, and clients that talk to it in no time."""

import pytest

from almanac.sources.transport import wire
from almanac.sources.transport.http import Fetcher
from tests.support.misbehaving import Server
from tests.support.polite import Clock, Manners


@pytest.fixture
def server():
    with Server() as server:
        yield server


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def fetcher(clock):
    made = []

    def make(jitter=1.0, transport=None, private=True, resolve=wire.resolved, **manners):
        chosen = Fetcher(
            Manners(**manners), clock=clock, sleep=clock.sleep, jitter=lambda: jitter, transport=transport,
            private=private, resolve=resolve,
        )  # fmt: skip
        made.append(chosen)
        return chosen

    yield make
    for each in made:
        each.close()
