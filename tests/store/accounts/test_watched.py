"""Keys of accounts on a server: remembered, watched, and for a bounded time enough while the primary does not answer."""

import pytest

from almanac.store.accounts.accounts import MALFORMED, UNKNOWN, Accounts
from almanac.store.accounts.watched import WatchedKeys
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.opening import Server
from tests.support import postgres
from tests.support.invented_accounts import ADA, NOW, PLANS
from tests.support.stalling import way_to

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]
HELD = 600.0


class Worker:
    """One whose primary can be lost for it alone, and a clock."""

    def __init__(self, way, primary, replicas, accounts):
        self.way, self.moment, self.told = way, 100.0, []
        self.accounts = accounts
        self.keys = WatchedKeys(
            Accounts(Server(primary)),
            Server(primary),
            [Server(one) for one in replicas],
            held_seconds=HELD,
            monotonic=lambda: self.moment,
            tell=self.told.append,
        )

    def known(self, text, now=NOW):
        return getattr(self.keys.known(text, now), "plan", self.keys.known(text, now))

    def verify(self, text, now=NOW):
        found = self.keys.verify(text, now)
        return getattr(found, "plan", found)

    def after(self, seconds):
        """So much later, having looked."""
        self.moment += seconds
        self.keys.look()


@pytest.fixture
def server():
    name, url = postgres.fresh()
    yield url
    postgres.drop(name)


@pytest.fixture
def worker(server):
    accounts = Accounts(Server(server))
    accounts.create_account(ADA, "free", PLANS, now=NOW)
    with way_to(server) as (way, by_way):
        made = Worker(way, by_way, [server], accounts)
        yield made
        made.keys.close()
    accounts.close()


@pytest.fixture
def alone(server):
    accounts = Accounts(Server(server))
    accounts.create_account(ADA, "free", PLANS, now=NOW)
    with way_to(server) as (way, by_way):
        made = Worker(way, by_way, [], accounts)
        yield made
        made.keys.close()
    accounts.close()


def test_a_key_is_looked_up_once_and_what_changes_holds_at_the_next_look(worker):
    text, info = worker.accounts.create_key(ADA, now=NOW)
    assert worker.known(text) is None
    assert worker.verify(text) == "free"
    assert worker.known(text) == "free"
    worker.accounts.set_plan(ADA, "pro", PLANS)
    worker.after(0.5)
    assert worker.known(text) is None
    assert worker.verify(text) == "pro"
    worker.accounts.revoke(info.id, now=NOW)
    worker.after(0.5)
    assert worker.known(text) is None
    assert worker.verify(text) is UNKNOWN
    assert worker.known("alm_" + "x" * 40) is MALFORMED
    assert worker.told == []


def test_what_is_remembered_is_not_believed_where_nobody_looks(worker):
    text, _ = worker.accounts.create_key(ADA, now=NOW)
    worker.verify(text)
    worker.moment += 1.9
    assert worker.known(text) == "free"
    worker.moment += 0.2
    assert worker.known(text) is None


def test_an_expired_key_is_none(worker):
    text, _ = worker.accounts.create_key(ADA, expires=NOW + 10, now=NOW)
    assert worker.verify(text) == "free"
    assert worker.known(text, NOW + 9) == "free"
    assert worker.known(text, NOW + 10) is None
    assert worker.verify(text, NOW + 10) is UNKNOWN


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_keys_hold_for_a_bounded_time_while_the_primary_does_not_answer(worker, how):
    met, _ = worker.accounts.create_key(ADA, now=NOW)
    unmet, info = worker.accounts.create_key(ADA, now=NOW)
    worker.after(0.5)
    worker.verify(met)
    getattr(worker.way, how)()
    worker.after(0.5)
    assert len(worker.told) == 1
    assert worker.told[0] is not None
    assert worker.known(met) == "free"
    assert worker.verify(unmet) == "free"
    # A replica may lack what was made last, so that it does not know a key says nothing.
    absent = worker.accounts.create_key(ADA, now=NOW)[0]
    worker.accounts.revoke(absent[:12], now=NOW)
    assert worker.verify(absent) is UNKNOWN
    worker.moment += HELD - 1
    worker.keys.look()
    assert worker.known(met) == "free"
    worker.after(2)
    assert worker.known(met) is None
    with pytest.raises(UnavailableError, match="the accounts cannot be read"):
        worker.verify(met)
    worker.accounts.revoke(info.id, now=NOW)
    worker.way.go_on() if how == "stall" else worker.way.mend()
    worker.after(0.5)
    assert worker.told[1:] == [None]
    assert worker.verify(met) == "free"
    assert worker.verify(unmet) is UNKNOWN


def test_one_that_has_not_got_as_far_says_nothing_of_keys(worker):
    text, _ = worker.accounts.create_key(ADA, now=NOW)
    worker.after(0.5)
    worker.keys._state = worker.keys._state._replace(token=worker.keys._state.token + 1)
    worker.way.cut()
    worker.after(0.5)
    with pytest.raises(UnavailableError, match="has not got as far"):
        worker.verify(text)


def test_without_a_replica_a_key_that_was_not_met_cannot_be_told(alone):
    met, _ = alone.accounts.create_key(ADA, now=NOW)
    unmet, _ = alone.accounts.create_key(ADA, now=NOW)
    alone.after(0.5)
    alone.verify(met)
    alone.way.cut()
    alone.after(0.5)
    assert alone.known(met) == "free"
    with pytest.raises(UnavailableError):
        alone.verify(unmet)


def test_what_is_read_while_it_changes_is_not_remembered(worker, monkeypatch):
    text, info = worker.accounts.create_key(ADA, now=NOW)
    door = worker.keys._primary
    read = door.read

    def meanwhile(ask):
        found = read(ask)
        worker.accounts.revoke(info.id, now=NOW)
        worker.keys.look()
        return found

    monkeypatch.setattr(door, "read", meanwhile)
    assert worker.verify(text) == "free"
    assert worker.known(text) is None
