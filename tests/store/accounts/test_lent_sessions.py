"""Web sessions while the primary of accounts does not answer."""

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.lent_sessions import LentSessions
from almanac.store.accounts.web_sessions import WebSessions
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


class Visitors:
    """Two who are signed in, a primary that can be lost for us alone, and a clock."""

    def __init__(self, way, by_way, url):
        self.way, self.moment = way, 100.0
        self.accounts = Accounts(Server(url))
        made = self.accounts.create_account(ADA, "free", PLANS, now=NOW)
        self.sessions = WebSessions(self.accounts)
        self.stays, _ = self.sessions.begin(made.id, "a browser", "192.0.2.1", now=NOW)
        self.ended, _ = self.sessions.begin(made.id, "a browser", "192.0.2.1", now=NOW)
        self.ours = Accounts(Server(by_way))
        self.lent = LentSessions(self.ours, [Server(url)], held_seconds=HELD, monotonic=lambda: self.moment)

    def email(self, token):
        found = self.lent.find(token, now=NOW + 120)
        return None if found is None else found[1].email

    def close(self):
        self.lent.close()
        self.ours.close()
        self.accounts.close()


@pytest.fixture
def visitors():
    name, url = postgres.fresh()
    with way_to(url) as (way, by_way):
        made = Visitors(way, by_way, url)
        yield made
        way.go_on()
        made.close()
    postgres.drop(name)


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_who_is_signed_in_stays_so_for_a_bounded_time(visitors, how):
    assert [visitors.email(visitors.stays), visitors.email(visitors.ended)] == [ADA, ADA]
    visitors.sessions.sign_out(visitors.ended)
    assert visitors.email(visitors.ended) is None
    getattr(visitors.way, how)()
    assert [visitors.email(visitors.stays), visitors.email(visitors.ended)] == [ADA, None]
    assert visitors.email("no token") is None
    visitors.moment += HELD + 1
    with pytest.raises(UnavailableError, match="the accounts cannot be read"):
        visitors.email(visitors.stays)
    visitors.way.go_on() if how == "stall" else visitors.way.mend()
    visitors.moment += 3
    assert visitors.email(visitors.stays) == ADA


def test_one_that_has_not_got_as_far_says_nothing(visitors):
    assert visitors.email(visitors.stays) == ADA
    visitors.ours._version += 10
    visitors.way.cut()
    with pytest.raises(UnavailableError):
        visitors.email(visitors.stays)
