"""Web sessions: what they outlive, who ends them, and that a token from before signing in is worth nothing after it."""

import threading

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.form_numbers import LIFE_SECONDS, FormNumbers, FormStale, FormUsed
from almanac.store.accounts.records import AccountError
from almanac.store.accounts.watchlist import MOST_WATCHED, Watchlist
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


# -- a form that is sent twice does once what it does -----------------------------------------------------------------


@pytest.fixture
def numbers(accounts):
    return FormNumbers(accounts)


def created(accounts, numbers, number, account, now=NOW, purpose="create_key", name=""):
    with numbers.taken(number, account, purpose, now=now):
        return accounts.create_key(ADA, name=name, now=now)


def test_a_form_that_is_sent_again_makes_nothing(accounts, numbers, ada, place):
    number = numbers.give(ada, "create_key", now=NOW)
    created(accounts, numbers, number, ada)
    other = Accounts(place)  # another worker
    for each in (accounts, other):
        with pytest.raises(FormUsed):
            created(each, FormNumbers(each), number, ada)
    assert len(accounts.list_keys()) == 1
    other.close()


def test_a_form_that_was_refused_can_be_sent_again(accounts, numbers, ada):
    number = numbers.give(ada, "create_key", now=NOW)
    with pytest.raises(AccountError, match="printable"):
        created(accounts, numbers, number, ada, name="x" * 500)
    created(accounts, numbers, number, ada, name="x")
    assert [key.name for key in accounts.list_keys()] == ["x"]


def test_a_number_is_good_for_one_account_one_purpose_and_a_day(accounts, numbers, ada):
    number = numbers.give(ada, "create_key", now=NOW)
    for account, purpose, now in (
        ("acc_other", "create_key", NOW),
        (ada, "rotate", NOW),
        (ada, "create_key", NOW + LIFE_SECONDS),
    ):
        with pytest.raises(FormStale):
            created(accounts, numbers, number, account, now, purpose)
    for wrong in (
        "",
        "1",
        number[:-1] + ("0" if number[-1] != "0" else "1"),
        f"{number}\n",
        "\udcff",
        number.replace("-", "-9", 1),
    ):
        with pytest.raises(FormStale):
            created(accounts, numbers, wrong, ada)
    created(accounts, numbers, number, ada)
    assert len(accounts.list_keys()) == 1


def test_of_two_sent_at_once_one_makes_a_key(accounts, ada, place):
    number, outcomes, start = FormNumbers(accounts).give(ada, "create_key", now=NOW), [], threading.Barrier(2)

    def send():
        opened = Accounts(place)
        start.wait()
        try:
            created(opened, FormNumbers(opened), number, ada)
            outcomes.append("made")
        except FormUsed:
            outcomes.append("used")
        opened.close()

    threads = [threading.Thread(target=send) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == ["made", "used"]
    assert len(accounts.list_keys()) == 1


def test_used_numbers_are_forgotten_when_they_have_run_out(accounts, numbers, ada):
    created(accounts, numbers, numbers.give(ada, "create_key", now=NOW), ada)
    later = NOW + LIFE_SECONDS
    created(accounts, numbers, numbers.give(ada, "create_key", now=later), ada, later)
    with accounts.opened() as db:
        assert db.execute("SELECT count(*) FROM form_number").get == 1


# -- the things that an account watches: bounded, its own alone, gone with the account --------------------------------


BOB = "bob@example.org"


@pytest.fixture
def two(accounts: Accounts) -> tuple[Watchlist, str, str]:
    bob = accounts.create_account(BOB, "pro", PLANS, now=NOW)
    return Watchlist(accounts), accounts.account(ADA).id, bob.id


def test_what_is_watched_is_listed_the_last_first_and_each_once(two: tuple[Watchlist, str, str]) -> None:
    watchlist, ada, bob = two
    watchlist.watch(ada, "series", "fred:country_usa:cpi_index:M", now=NOW)
    watchlist.watch(ada, "indicator", "policy_rate", now=NOW + 1)
    watchlist.watch(ada, "series", "fred:country_usa:cpi_index:M", now=NOW + 2)
    assert [(one.kind, one.what, one.added) for one in watchlist.watched(ada)] == [
        ("indicator", "policy_rate", NOW + 1),
        ("series", "fred:country_usa:cpi_index:M", NOW),
    ]
    assert watchlist.watches(ada, "indicator", "policy_rate")
    assert not watchlist.watches(bob, "indicator", "policy_rate")
    assert watchlist.watched(bob) == []
    watchlist.unwatch(bob, "indicator", "policy_rate")
    watchlist.unwatch(ada, "company", "policy_rate")
    assert len(watchlist.watched(ada)) == 2
    watchlist.unwatch(ada, "indicator", "policy_rate")
    assert [one.kind for one in watchlist.watched(ada)] == ["series"]


def test_the_list_is_bounded(two: tuple[Watchlist, str, str]) -> None:
    watchlist, ada, bob = two
    for number in range(MOST_WATCHED):
        watchlist.watch(ada, "company", f"company_{number}", now=NOW)
    with pytest.raises(AccountError, match="the watchlist holds 200 things and is full: remove one first"):
        watchlist.watch(ada, "company", "company_one_more", now=NOW)
    watchlist.watch(ada, "company", "company_0", now=NOW)
    assert len(watchlist.watched(ada)) == MOST_WATCHED
    # Of one account alone.
    watchlist.watch(bob, "company", "company_one_more", now=NOW)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\ud800", "x" * 81])
def test_a_name_that_is_none_is_refused(two: tuple[Watchlist, str, str], name: str) -> None:
    watchlist, ada, _ = two
    with pytest.raises(AccountError, match="printable"):
        watchlist.watch(ada, "series", name * 3, now=NOW)
    assert watchlist.watched(ada) == []


def test_other_kinds_are_refused(two: tuple[Watchlist, str, str]) -> None:
    watchlist, ada, _ = two
    with pytest.raises(AccountError, match="'planet' cannot be watched: allowed are series, company, indicator"):
        watchlist.watch(ada, "planet", "mars", now=NOW)


def test_the_list_goes_with_the_account(accounts: Accounts, two: tuple[Watchlist, str, str]) -> None:
    watchlist, ada, bob = two
    for one in (ada, bob):
        watchlist.watch(one, "indicator", "policy_rate", now=NOW)
    accounts.delete(ADA)
    assert watchlist.watched(ada) == []
    assert len(watchlist.watched(bob)) == 1
