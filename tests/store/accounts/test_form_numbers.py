"""A form that is sent twice does once what it does."""

import threading

import pytest

from almanac.store.accounts.accounts import AccountError, Accounts
from almanac.store.accounts.form_numbers import LIFE_SECONDS, FormNumbers, FormStale, FormUsed
from tests.support.invented_accounts import ADA, NOW


@pytest.fixture
def numbers(accounts):
    return FormNumbers(accounts)


@pytest.fixture
def ada(accounts):
    return accounts.account(ADA).id


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
