"""The things that an account watches: bounded, its own alone, gone with the account."""

import pytest

from almanac.store.accounts.accounts import AccountError, Accounts
from almanac.store.accounts.watchlist import MOST_WATCHED, Watchlist
from tests.support.invented_accounts import ADA, NOW, PLANS

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
