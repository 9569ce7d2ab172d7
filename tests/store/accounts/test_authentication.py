"""Passwords, signing in, links to join and to set a new password."""

import threading

import pytest
from argon2 import PasswordHasher

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication, NotSignedIn, SignedIn
from almanac.store.accounts.passwords import Passwords
from almanac.store.accounts.records import AccountError
from almanac.store.accounts.throttle import Throttle
from tests.support.invented_accounts import ADA, NOW, PASSWORD, PLANS
from tests.support.places import kept as stored

HERE = {"address": "192.0.2.1", "agent": "browser"}
NEW = "another long password"


def signed_in(people, password=PASSWORD, now=NOW, email=ADA, **more):
    return people.sign_in(email, password, **{**HERE, **more}, now=now)


def test_the_right_password_signs_in(people, accounts):
    found = signed_in(people, now=NOW + 5)
    assert isinstance(found, SignedIn)
    assert (found.account.email, found.account.signed_in) == (ADA, NOW + 5)
    session, account = people.sessions.find(found.token, now=NOW + 6)
    assert (session, account.id) == (found.session, accounts.account(ADA).id)


@pytest.mark.parametrize("email", [ADA, "nobody@example.org", "no address", "\udcff@b", ""])
@pytest.mark.parametrize("password", ["wrong", "", "x" * 100_000, "\udcff" * 20])
def test_the_wrong_password_and_the_unknown_address_are_one_answer(people, email, password):
    assert signed_in(people, password, email=email) == NotSignedIn("wrong")


def test_an_unknown_address_is_hashed_for_as_a_known_one(people, monkeypatch):
    """As much work, so as much time: the same number of checks with the same parameters."""
    checked = []
    check = PasswordHasher.verify
    monkeypatch.setattr(
        PasswordHasher, "verify", lambda self, kept, given: checked.append(kept[:27]) or check(self, kept, given)
    )
    for email in (ADA, "nobody@example.org", "no address"):
        signed_in(people, "wrong", email=email)
    assert len(checked) == 3
    assert len(set(checked)) == 1


def test_an_account_without_a_password_is_not_signed_in_to(accounts, passwords):
    people = Authentication(accounts, passwords)
    assert signed_in(people, "") == NotSignedIn("wrong")
    assert signed_in(people) == NotSignedIn("wrong")


def test_a_disabled_account_is_told_to_those_with_the_password_only(people, accounts):
    token = signed_in(people).token
    accounts.disable(ADA, now=NOW)
    assert people.sessions.find(token, now=NOW) is None
    assert signed_in(people) == NotSignedIn("disabled")
    assert signed_in(people, "wrong") == NotSignedIn("wrong")


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("eleven char", "at least 12 characters"),
        ("", "at least 12"),
        ("x" * 1_001, "at most 1,000 bytes"),
        ("é" * 501, "at most 1,000"),
    ],
)
def test_a_password_that_cannot_be_is_refused(people, password, message):
    with pytest.raises(AccountError, match=message) as caught:
        people.set_password(ADA, password, now=NOW)
    assert password not in str(caught.value) or password == ""
    assert isinstance(signed_in(people), SignedIn)


def test_a_password_that_is_too_long_is_not_checked_by_its_beginning(people):
    people.set_password(ADA, "x" * 1_000, now=NOW)
    assert signed_in(people, "x" * 1_001) == NotSignedIn("wrong")
    assert isinstance(signed_in(people, "x" * 1_000), SignedIn)


def test_two_spellings_of_one_letter_are_one_password(people):
    people.set_password(ADA, "Zo\u00eb Zo\u00eb Zo\u00eb Zo\u00eb", now=NOW)
    assert isinstance(signed_in(people, "Zoe\u0308 Zo\u00eb Zo\u00eb Zoe\u0308"), SignedIn)


def test_what_is_kept_is_argon2id_and_not_the_password(people, accounts, place):
    accounts.close()
    kept = stored(place)
    assert b"$argon2id$v=19$" in kept
    assert PASSWORD.encode() not in kept
    accounts._open()  # the fixture closes it again


def test_the_parameters_are_those_of_rfc_9106_for_little_memory():
    assert Passwords().hash("x" * 12).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_password_is_hashed_anew_when_the_parameters_have_changed(people, accounts):
    dearer = Authentication(accounts, Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)))
    assert signed_in(dearer, "wrong") == NotSignedIn("wrong")
    assert "m=8,t=1,p=1" in kept(accounts)
    assert isinstance(signed_in(dearer), SignedIn)
    assert "m=16,t=2,p=1" in kept(accounts)
    assert isinstance(signed_in(dearer), SignedIn)


def kept(accounts):
    with accounts.opened() as db:
        return db.execute("SELECT password_hash FROM account WHERE password_hash IS NOT NULL").get


def test_changing_the_password_ends_the_other_sessions(people):
    mine, other = signed_in(people), signed_in(people)
    change = {"address": "192.0.2.1", "now": NOW}
    assert people.change_password(mine.account, mine.session.id, "wrong", NEW, **change) == NotSignedIn("wrong")
    assert people.sessions.find(other.token, now=NOW)
    assert people.change_password(mine.account, mine.session.id, PASSWORD, NEW, **change) is None
    assert people.sessions.find(other.token, now=NOW) is None
    assert people.sessions.find(mine.token, now=NOW)[0].id == mine.session.id
    assert signed_in(people) == NotSignedIn("wrong")
    assert isinstance(signed_in(people, NEW), SignedIn)


# Links


def test_a_link_sets_a_new_password_once_and_ends_every_session(people):
    before = signed_in(people)
    letter = people.ask_reset(ADA.upper(), now=NOW)
    assert (letter.to, letter.kind) == (ADA, "reset")
    with pytest.raises(AccountError, match="at least 12"):
        people.reset(letter.token, "short", **HERE, now=NOW)
    found = people.reset(letter.token, NEW, **HERE, now=NOW + 1_799)
    assert found.account.email == ADA
    assert people.sessions.find(before.token, now=NOW) is None
    assert people.sessions.find(found.token, now=NOW + 1_799)
    with pytest.raises(AccountError, match="was used or has run out"):
        people.reset(letter.token, "a third password", **HERE, now=NOW + 1_799)
    assert isinstance(signed_in(people, NEW, now=NOW + 1_800), SignedIn)


def test_a_link_runs_out_after_half_an_hour(people):
    letter = people.ask_reset(ADA, now=NOW)
    assert people.resets.find(letter.token, now=NOW + 1_799).email == ADA
    assert people.resets.find(letter.token, now=NOW + 1_800) is None
    with pytest.raises(AccountError, match="has run out"):
        people.reset(letter.token, NEW, **HERE, now=NOW + 1_800)


def test_a_new_password_ends_all_links(people):
    letters = [people.ask_reset(ADA, now=NOW) for _ in range(2)]
    people.reset(letters[0].token, NEW, **HERE, now=NOW)
    assert people.resets.find(letters[1].token, now=NOW) is None


def test_nobody_is_flooded_with_letters(people):
    assert [people.ask_reset(ADA, now=NOW) is not None for _ in range(5)] == [True] * 3 + [False] * 2
    assert people.ask_reset(ADA, now=NOW + 1_800) is not None
    asked = [people.ask_to_join("bob@example.org", "free", PLANS, now=NOW) is not None for _ in range(5)]
    assert asked == [True] * 3 + [False] * 2


@pytest.mark.parametrize("email", ["nobody@example.org", "no address", "\udcff@b"])
def test_no_letter_goes_where_no_account_is(people, email):
    assert people.ask_reset(email, now=NOW) is None


def test_a_disabled_account_gets_no_letter_and_no_way_in(people, accounts):
    letter = people.ask_reset(ADA, now=NOW)
    accounts.disable(ADA, now=NOW)
    assert people.ask_reset(ADA, now=NOW) is None
    assert people.reset(letter.token, NEW, **HERE, now=NOW) == NotSignedIn("disabled")


def test_of_two_who_use_a_link_at_once_one_succeeds(people):
    token, outcomes, start = people.ask_reset(ADA, now=NOW).token, [], threading.Barrier(2)

    def use(number):
        start.wait()
        try:
            outcomes.append(people.reset(token, f"{NEW} {number}", **HERE, now=NOW))
        except AccountError:
            outcomes.append(None)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(one is None for one in outcomes) == [False, True]


def test_no_token_and_no_password_is_in_the_database(people, accounts, place):
    token = signed_in(people).token
    letters = [people.ask_reset(ADA, now=NOW), people.ask_to_join("bob@example.org", "free", PLANS, now=NOW)]
    held = stored(place)
    assert b"bob@example.org" in held
    for one in (token, *(letter.token for letter in letters)):
        assert one.encode() not in held


def test_an_invitation_makes_the_account_it_was_for(people, accounts):
    token, made = people.invitations.invite("Bob@example.org", "pro", PLANS, made_by=ADA, now=NOW, role="operator")
    assert people.invitations.find(token, now=NOW) == made
    assert people.invitations.open(now=NOW) == [made]
    with pytest.raises(AccountError, match="at least 12"):
        people.join(token, "short", **HERE, now=NOW)
    found = people.join(token, NEW, **HERE, now=NOW + 5)
    assert (found.account.email, found.account.plan, found.account.role) == ("Bob@example.org", "pro", "operator")
    assert people.sessions.find(found.token, now=NOW + 5)
    assert isinstance(signed_in(people, NEW, email="bob@example.org"), SignedIn)
    with pytest.raises(AccountError, match="was used or has run out"):
        people.join(token, NEW, **HERE, now=NOW + 6)
    assert people.invitations.open(now=NOW) == []


def test_an_invitation_runs_out_and_a_new_one_ends_the_old(people):
    first, _ = people.invitations.invite("bob@example.org", "pro", PLANS, made_by=ADA, now=NOW)
    second, made = people.invitations.invite("BOB@example.org", "free", PLANS, made_by=ADA, now=NOW)
    assert people.invitations.find(first, now=NOW) is None
    assert people.invitations.find(second, now=made.expires - 1).plan == "free"
    assert people.invitations.find(second, now=made.expires) is None
    people.invitations.withdraw(made.id)
    assert people.invitations.find(second, now=NOW) is None
    with pytest.raises(AccountError, match="there is no invitation"):
        people.invitations.withdraw(made.id)


@pytest.mark.parametrize(
    ("email", "plan", "message"),
    [
        (ADA, "free", "has an account already"),
        ("bob", "free", "not an email address"),
        ("bob@example.org", "gold", "unknown plan"),
    ],
)
def test_who_cannot_be_invited(people, email, plan, message):
    with pytest.raises(AccountError, match=message):
        people.invitations.invite(email, plan, PLANS, made_by=ADA, now=NOW)


def test_who_asks_to_join_learns_nothing_and_the_owner_of_the_address_all(people):
    assert people.ask_to_join(ADA.upper(), "free", PLANS, now=NOW).kind == "known"
    letter = people.ask_to_join("bob@example.org", "free", PLANS, now=NOW)
    assert (letter.to, letter.kind) == ("bob@example.org", "join")
    assert people.join(letter.token, NEW, **HERE, now=NOW).account.plan == "free"


def test_asking_does_not_undo_an_invitation(people):
    token, _ = people.invitations.invite("bob@example.org", "pro", PLANS, made_by=ADA, now=NOW)
    letter = people.ask_to_join("bob@example.org", "free", PLANS, now=NOW)
    assert people.invitations.find(token, now=NOW).plan == people.invitations.find(letter.token, now=NOW).plan == "pro"


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "x" * 10_000, "\udcff" * 43, "' OR 1=1 --"])
def test_what_is_no_token_opens_nothing(people, token):
    assert people.sessions.find(token, now=NOW) is None
    assert people.resets.find(token, now=NOW) is None
    assert people.invitations.find(token, now=NOW) is None
    assert people.sessions.sign_out(token) is False


# -- how often somebody may try to sign in: whoever guesses waits, and the owner gets in ------------------------------


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
