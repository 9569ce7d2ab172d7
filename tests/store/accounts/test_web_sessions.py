"""Web sessions: what they outlive, who ends them, and that a token from before signing in is worth nothing after it."""

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.web_sessions import IDLE_SECONDS, LONGEST_SECONDS, WebSessions
from tests.support.invented_accounts import ADA, NOW, PLANS


@pytest.fixture
def sessions(accounts):
    return WebSessions(accounts)


@pytest.fixture
def ada(accounts):
    return accounts.account(ADA).id


def begun(sessions, account, now=NOW, **more):
    return sessions.begin(account, "browser", "192.0.2.1", now=now, **more)


def test_a_session_ends_when_it_idles(sessions, ada):
    token, made = begun(sessions, ada)
    assert made.expires == NOW + IDLE_SECONDS
    assert sessions.find(token, now=NOW + IDLE_SECONDS - 1)[0].last_seen == NOW + IDLE_SECONDS - 1
    assert sessions.find(token, now=NOW + 2 * IDLE_SECONDS - 2)
    assert sessions.find(token, now=NOW + 4 * IDLE_SECONDS) is None


def test_a_session_ends_however_often_it_is_used(sessions, ada):
    token, _ = begun(sessions, ada)
    for now in range(NOW, NOW + LONGEST_SECONDS, IDLE_SECONDS // 2):
        assert sessions.find(token, now=now)
    assert sessions.find(token, now=NOW + LONGEST_SECONDS - 1)[0].expires == NOW + LONGEST_SECONDS
    assert sessions.find(token, now=NOW + LONGEST_SECONDS) is None


def test_being_seen_is_written_once_a_minute(sessions, ada):
    token, _ = begun(sessions, ada)
    assert sessions.find(token, now=NOW + 59)[0].last_seen == NOW
    assert sessions.find(token, now=NOW + 60)[0].last_seen == NOW + 60
    assert sessions.of(ada, now=NOW + 60)[0].last_seen == NOW + 60


def test_signing_in_gives_a_new_token_and_ends_the_one_before(sessions, ada):
    planted, _ = begun(sessions, ada)
    token, _ = begun(sessions, ada, before=planted)
    assert token != planted
    assert sessions.find(planted, now=NOW) is None
    assert sessions.find(token, now=NOW)
    # What was never a token does no harm, and is not taken over either.
    for before in ("mine", "x" * 43, ""):
        assert begun(sessions, ada, before=before)[0] != before


def test_sessions_end_one_by_one_or_all(sessions, ada, place):
    tokens, made = zip(*(begun(sessions, ada, NOW + number) for number in range(4)), strict=True)
    assert [one.id for one in sessions.of(ada, now=NOW + 4)] == [one.id for one in reversed(made)]
    assert sessions.end(ada, made[0].id)
    assert not sessions.end(ada, made[0].id)
    assert sessions.sign_out(tokens[1])
    assert not sessions.sign_out(tokens[1])
    assert sessions.end_all(ada, but=made[2].id) == 1
    other = Accounts(place)  # another process
    assert [WebSessions(other).find(token, now=NOW) is not None for token in tokens] == [False, False, True, False]
    other.close()
    assert sessions.end_all(ada) == 1
    assert sessions.of(ada, now=NOW) == []


def test_nobody_sees_or_ends_a_session_of_another(sessions, ada, accounts):
    bob = accounts.create_account("bob@example.org", "free", PLANS, now=NOW).id
    token, made = begun(sessions, ada)
    assert sessions.of(bob, now=NOW) == []
    assert not sessions.end(bob, made.id)
    assert sessions.end_all(bob) == 0
    assert sessions.find(token, now=NOW)


def test_what_a_browser_says_of_itself_is_cut_and_printable(sessions, ada):
    _, made = sessions.begin(ada, "Mozilla\x1b[31m\n" + "x" * 10_000, "y" * 1_000, now=NOW)
    assert made.agent.startswith("Mozilla [31m xx")
    assert (len(made.agent), len(made.address)) == (200, 64)
    assert made.agent.isprintable()


def test_old_sessions_are_removed_when_somebody_signs_in(sessions, ada, accounts):
    begun(sessions, ada)
    begun(sessions, ada, NOW + LONGEST_SECONDS)
    with accounts.opened() as db:
        assert db.execute("SELECT count(*) FROM web_session").get == 1
