"""How often somebody may try to sign in: whoever guesses waits, and the owner gets in."""

import threading

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication, NotSignedIn, SignedIn
from almanac.store.accounts.throttle import Throttle
from tests.support.invented_accounts import ADA, NOW, PASSWORD
from tests.support.places import kept as stored

HOME, AWAY = "192.0.2.1", "198.51.100.7"


def tried(people, password="wrong", now=NOW, address=HOME, email=ADA):
    return people.sign_in(email, password, address=address, agent="browser", now=now)


@pytest.mark.parametrize("email", [ADA, "nobody@example.org"])
def test_waits_grow_up_to_five_minutes(people, email):
    now, waits = NOW, []
    for _ in range(5):
        assert tried(people, now=now, email=email) == NotSignedIn("wrong")
    for _ in range(9):
        held = tried(people, now=now, email=email)
        assert held.reason == "wait"
        waits.append(held.wait)
        now += held.wait
        assert tried(people, now=now, email=email) == NotSignedIn("wrong")
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]


def test_a_try_that_must_wait_is_not_counted_and_no_password_is_looked_at(people):
    for _ in range(5):
        tried(people)
    assert {tried(people, PASSWORD, now=NOW + 4).wait for _ in range(50)} == {1}
    assert isinstance(tried(people, PASSWORD, now=NOW + 5), SignedIn)
    assert tried(people, now=NOW + 5) == NotSignedIn("wrong")  # it was right: all begins anew


def test_an_hour_of_quiet_ends_it(people):
    for number in range(8):
        tried(people, now=NOW + 100 * number)
    assert [tried(people, now=NOW + 700 + 3_600).reason for _ in range(6)] == ["wrong"] * 5 + ["wait"]


def test_another_address_does_not_wait_for_the_guesses_of_the_first(people):
    for _ in range(6):
        tried(people, address=AWAY)
    assert isinstance(tried(people, PASSWORD), SignedIn)


def test_many_addresses_cannot_guess_one_account_nor_keep_its_owner_out(people):
    assert isinstance(tried(people, PASSWORD), SignedIn)  # the owner was here before
    answers = [tried(people, address=f"203.0.113.{number}").reason for number in range(60)]
    assert answers == ["wrong"] * 50 + ["wait"] * 10
    assert tried(people, PASSWORD, address=AWAY) == NotSignedIn("wait", 3_600)
    assert isinstance(tried(people, PASSWORD), SignedIn)
    assert tried(people, address=AWAY, now=NOW + 3_600) == NotSignedIn("wrong")


def test_the_owner_at_a_new_address_gets_in_by_the_link(people):
    for number in range(50):
        tried(people, address=f"203.0.113.{number}")
    assert tried(people, PASSWORD, address=AWAY).reason == "wait"
    letter = people.ask_reset(ADA, now=NOW)
    people.reset(letter.token, "another long password", address=AWAY, agent="browser", now=NOW)
    assert isinstance(tried(people, "another long password", address=AWAY), SignedIn)


def test_one_address_cannot_try_one_password_on_every_account(people):
    answers = [tried(people, address=AWAY, email=f"{number}@example.org").reason for number in range(110)]
    assert answers == ["wrong"] * 100 + ["wait"] * 10
    assert isinstance(tried(people, PASSWORD), SignedIn)


def test_an_ipv6_address_counts_by_its_network(people):
    for number in range(5):
        assert tried(people, address=f"2001:db8::{number}").reason == "wrong"
    assert tried(people, address="2001:db8::ffff").reason == "wait"
    assert tried(people, address="2001:db8:0:1::1").reason == "wrong"
    for _ in range(5):
        tried(people, address="::ffff:192.0.2.9")
    assert tried(people, address="192.0.2.9").reason == "wait"


def test_processes_count_together_and_tries_at_once_do_not_slip_through(people, place, passwords):
    other = Accounts(place)
    both, answers, start = (people, Authentication(other, passwords)), [], threading.Barrier(8)

    def work(number):
        start.wait()
        answers.extend(tried(both[number % 2]).reason for _ in range(3))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (answers.count("wrong"), answers.count("wait")) == (5, 19)
    other.close()


def test_what_was_typed_is_not_kept(people, accounts, place):
    tried(people, email="hunter2 hunter2")
    assert b"hunter2" not in stored(place)


def test_old_counts_are_removed(accounts):
    throttle = Throttle(accounts)
    for number in range(20):
        throttle.take(f"{number}@example.org", f"192.0.2.{number}", now=NOW)
    throttle.take(ADA, HOME, now=NOW + 3_600)
    with accounts.opened() as db:
        assert db.execute("SELECT count(*) FROM sign_in_try").get == 3
