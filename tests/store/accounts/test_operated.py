"""What an operator does to an account or a key: disable, enable, delete, rotate; in this process and in others."""

import pytest

from almanac.store.accounts.accounts import UNKNOWN, AccountError, Accounts
from almanac.store.accounts.administration import Administration
from tests.support.invented_accounts import ADA, NOW, PLANS


@pytest.fixture
def worker(place, accounts):
    """Another process's view of the file."""
    opened = Accounts(place)
    yield opened
    opened.close()


def test_a_disabled_account_is_told_apart_in_every_worker_until_it_is_enabled(accounts, worker):
    text, _ = accounts.create_key(ADA, now=NOW)
    assert not worker.verify(text, NOW).disabled
    assert accounts.disable(ADA.upper(), now=NOW + 5).disabled == NOW + 5
    assert accounts.disable(ADA, now=NOW + 9).disabled == NOW + 5  # the first word counts
    assert worker.verify(text, NOW).disabled
    assert accounts.verify(text, NOW).disabled
    accounts.enable(ADA)
    assert not worker.verify(text, NOW).disabled
    assert accounts.account(ADA).disabled is None


def test_a_deleted_account_is_gone_everywhere(accounts, worker, people):
    text, _ = accounts.create_key(ADA, now=NOW)
    worker.verify(text, NOW)
    token, _ = people.sessions.begin(accounts.account(ADA).id, "browser", "192.0.2.1", now=NOW)
    reset = people.ask_reset(ADA, now=NOW).token
    found, keys = accounts.delete(ADA)
    assert (found.email, keys) == (ADA, 1)
    assert worker.verify(text, NOW) is UNKNOWN
    assert accounts.list_keys() == accounts.list_accounts() == []
    assert people.sessions.find(token, now=NOW) is None
    assert people.resets.find(reset, now=NOW) is None
    with pytest.raises(AccountError, match="no account has the address"):
        accounts.delete(ADA)
    # The address is free again, and nothing of the old account comes back with it.
    accounts.create_account(ADA, "pro", PLANS, now=NOW)
    assert accounts.verify(text, NOW) is UNKNOWN


def test_a_key_that_is_rotated_lives_on_for_its_grace(accounts, worker):
    text, old = accounts.create_key(ADA, ["macro:read"], "notebook", NOW + 10_000, now=NOW)
    assert worker.verify(text, NOW)
    fresh, made, before = accounts.rotate(old.prefix, 3_600, now=NOW + 10)
    assert (made.scopes, made.name, made.expires) == (("macro:read",), "notebook", NOW + 10_000)
    assert (before.id, before.replaced_by, before.expires, before.revoked) == (old.id, made.id, NOW + 3_610, None)
    assert worker.verify(text, NOW + 3_609).id == old.id
    assert worker.verify(text, NOW + 3_610) is UNKNOWN
    assert worker.verify(fresh, NOW + 3_610).id == made.id


def test_a_grace_does_not_outlive_the_key(accounts):
    _, old = accounts.create_key(ADA, expires=NOW + 100, now=NOW)
    assert accounts.rotate(old.id, 3_600, now=NOW)[2].expires == NOW + 100


def test_without_grace_the_old_key_ends_at_once(accounts, worker):
    text, _ = accounts.create_key(ADA, now=NOW)
    assert worker.verify(text, NOW)
    fresh, made, before = accounts.rotate(text, 0, now=NOW, name="new")
    assert (before.revoked, made.name) == (NOW, "new")
    assert worker.verify(text, NOW) is UNKNOWN
    assert worker.verify(fresh, NOW)


def test_a_key_that_has_ended_or_was_rotated_is_not_rotated(accounts):
    _, rotated = accounts.create_key(ADA, now=NOW)
    accounts.rotate(rotated.id, 60, now=NOW)
    _, revoked = accounts.create_key(ADA, now=NOW)
    accounts.revoke(revoked.id, now=NOW)
    _, expired = accounts.create_key(ADA, expires=NOW + 1, now=NOW)
    count = len(accounts.list_keys())
    for which, message in ((rotated, "was rotated before"), (revoked, "has ended"), (expired, "has ended")):
        with pytest.raises(AccountError, match=message):
            accounts.rotate(which.id, 60, now=NOW + 1)
    with pytest.raises(AccountError, match="cannot be negative"):
        accounts.rotate(rotated.id, -1, now=NOW)
    assert len(accounts.list_keys()) == count


def test_a_rotation_that_fails_halfway_makes_nothing(accounts, monkeypatch):
    text, old = accounts.create_key(ADA, now=NOW)
    with pytest.raises(AccountError, match="printable"):
        accounts.rotate(old.id, 60, now=NOW, name="x" * 500)
    monkeypatch.setattr(Accounts, "create_key", broken(Accounts.create_key))
    with pytest.raises(RuntimeError):
        accounts.rotate(old.id, 60, now=NOW)
    monkeypatch.undo()
    assert accounts.list_keys() == [old]
    assert accounts.verify(text, NOW)


def broken(function):
    def call(*arguments, **named):
        function(*arguments, **named)
        raise RuntimeError("killed here")

    return call


def test_one_account_ends_no_key_of_another(accounts):
    bob = accounts.create_account("bob@example.org", "pro", PLANS, now=NOW)
    text, info = accounts.create_key(ADA, now=NOW)
    for which in (text, info.id, info.prefix):
        for deed in (accounts.revoke, lambda key, **named: accounts.rotate(key, 0, **named)):
            with pytest.raises(AccountError, match="no key matches"):
                deed(which, now=NOW, owner=bob.id)
    assert accounts.verify(text, NOW)
    assert accounts.revoke(info.id, now=NOW, owner=info.account_id).revoked == NOW


def test_deeds_are_listed_with_who_did_them(accounts, people):
    operator = Administration(accounts, "root@example.org")
    _, key = accounts.create_key(ADA, now=NOW)
    operator.create("bob@example.org", "pro", PLANS, now=NOW + 1, role="operator")
    operator.set_plan(ADA, "pro", PLANS, now=NOW + 2)
    operator.disable(ADA, now=NOW + 3)
    operator.enable(ADA, now=NOW + 4)
    operator.rotate(key.id, 60, now=NOW + 5)
    operator.revoke(key.id, now=NOW + 6)
    token, invitation = operator.invite("eve@example.org", "free", PLANS, now=NOW + 7)
    operator.withdraw(invitation.id, now=NOW + 8)
    reset = operator.reset_link(ADA, now=NOW + 9)
    operator.set_role(ADA, "operator", now=NOW + 10)
    assert operator.delete(ADA, now=NOW + 11)[1] == 2
    found = operator.audit_log.latest()
    assert [(deed.at - NOW, deed.what) for deed in reversed(found)] == list(
        enumerate(
            [
                "create",
                "plan",
                "disable",
                "enable",
                "rotate",
                "revoke",
                "invite",
                "withdraw",
                "reset",
                "role",
                "delete",
            ],
            1,
        )
    )
    assert {deed.who for deed in found} == {"root@example.org"}
    assert (found[-2].subject, found[-2].detail) == (ADA, "free to pro")
    assert operator.audit_log.latest(2, before=found[1].n) == found[2:4]
    assert not any(token in str(deed) or reset in str(deed) for deed in found)


def test_a_deed_that_fails_leaves_no_line(accounts):
    operator = Administration(accounts, "root@example.org")
    for deed in (
        lambda: operator.set_plan(ADA, "gold", PLANS, now=NOW),
        lambda: operator.delete("bob@example.org", now=NOW),
        lambda: operator.create(ADA, "free", PLANS, now=NOW),
        lambda: operator.set_role(ADA, "king", now=NOW),
    ):
        with pytest.raises(AccountError):
            deed()
    assert operator.audit_log.latest() == []
    assert accounts.account(ADA).role == "user"


def test_the_operators_list_counts_live_keys_and_names_none(accounts, people):
    operator = Administration(accounts, "root@example.org")
    accounts.create_account("bob@example.org", "pro", PLANS, now=NOW)
    text, _ = accounts.create_key(ADA, now=NOW)
    _, second = accounts.create_key(ADA, now=NOW)
    accounts.create_key(ADA, expires=NOW + 5, now=NOW)
    accounts.revoke(second.id, now=NOW)
    accounts.verify(text, NOW + 70)
    accounts.flush()
    ada, bob = operator.page(now=NOW + 10)
    assert (ada.account.email, ada.keys, ada.last_seen) == (ADA, 1, NOW + 70)
    assert (bob.account.email, bob.keys, bob.last_seen) == ("bob@example.org", 0, None)
    assert operator.page(1, after=ada.n, now=NOW) == [bob]
    assert [row.account.email for row in operator.page(email="BOB@", now=NOW)] == ["bob@example.org"]
