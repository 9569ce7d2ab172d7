"""Keys of accounts on a server, as an event loop asks for them: what is remembered holds for a moment, and nobody waits for a server."""

import time

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.records import MALFORMED, UNKNOWN
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.opening import Server
from tests.support import postgres
from tests.support.invented_accounts import ADA, NOW, PLANS
from tests.support.stalling import way_to

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]
NOTICE = 0.5


class Worker:
    """A worker on whose way to the server anything may happen, and a clock."""

    def __init__(self, way, url):
        self.way, self.moment = way, 100.0
        self.accounts = Accounts(Server(url), notice_seconds=NOTICE, monotonic=lambda: self.moment)

    def known(self, text, now=NOW):
        found = self.accounts.known(text, now)
        return getattr(found, "plan", found)

    def verify(self, text, now=NOW):
        found = self.accounts.verify(text, now)
        return getattr(found, "plan", found)


@pytest.fixture
def url():
    name, url = postgres.fresh()
    yield url
    postgres.drop(name)


@pytest.fixture
def operator(url):
    accounts = Accounts(Server(url))
    accounts.create_account(ADA, "free", PLANS, now=NOW)
    yield accounts
    accounts.close()


@pytest.fixture
def worker(url, operator):
    with way_to(url) as (way, by_way):
        made = Worker(way, by_way)
        yield made
        made.accounts.close()


def test_what_another_process_changes_holds_within_the_notice(worker, operator):
    text, info = operator.create_key(ADA, now=NOW)
    assert worker.known(text) is None
    assert worker.verify(text) == worker.known(text) == "free"
    operator.set_plan(ADA, "pro", PLANS)
    worker.moment += NOTICE
    assert worker.known(text) is None
    assert worker.verify(text) == worker.known(text) == "pro"
    operator.revoke(info.id, now=NOW)
    worker.moment += NOTICE
    assert worker.known(text) is None
    assert worker.verify(text) is UNKNOWN
    assert worker.known("alm_" + "x" * 40) is MALFORMED


def test_an_expired_key_is_none(worker, operator):
    text, _ = operator.create_key(ADA, expires=NOW + 10, now=NOW)
    assert worker.verify(text) == worker.known(text, NOW + 9) == "free"
    assert worker.known(text, NOW + 10) is None
    assert worker.verify(text, NOW + 10) is UNKNOWN


def test_a_server_that_cannot_be_reached_is_told_at_once_and_used_again(worker, operator):
    text, _ = operator.create_key(ADA, now=NOW)
    worker.verify(text)
    worker.accounts._monotonic = time.monotonic
    worker.accounts._noticed = time.monotonic() - 60  # what was remembered was noticed long ago
    worker.way.cut()
    assert worker.known(text) is None
    for most in (3.0, 0.2):  # the second is not asked for
        began = time.monotonic()
        with pytest.raises(UnavailableError, match="the accounts cannot be read"):
            worker.verify(text)
        assert time.monotonic() - began < most
    worker.way.mend()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            assert worker.verify(text) == "free"
            break
        except UnavailableError:
            time.sleep(0.1)
    assert worker.known(text) == "free"
