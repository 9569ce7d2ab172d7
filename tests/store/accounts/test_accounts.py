"""Accounts and keys: what is kept, what is refused, and in which words."""

import itertools
import re

import pytest

from almanac.store.accounts.accounts import MALFORMED, SCOPES, UNKNOWN, AccountError, Accounts, KeyRecord
from almanac.store.accounts.keytext import checksum, new_key
from almanac.store.engine.errors import UnavailableError
from tests.support.invented_accounts import NOW, PLANS
from tests.support.places import kept as stored


@pytest.mark.parametrize(
    "text", ["", "alm_", "ALM_" + "0" * 40, "alm_" + "0" * 39, "alm_" + "٣" * 40, "\udcff", "x" * 10**5]
)
def test_what_is_no_key_is_malformed(accounts, text):
    assert accounts.verify(text, NOW) is MALFORMED


def test_what_is_no_key_is_told_without_the_file(accounts, path):
    """Even of a key's length: a stranger's nonsense must not become a fault of the storage."""
    path.rename(path.with_name("away"))
    for text in ("x" * 44, new_key()[:-1] + "_"):
        assert accounts.verify(text, NOW) is MALFORMED
    with pytest.raises(UnavailableError):
        accounts.verify(new_key(), NOW)


# Accounts


def test_an_address_has_one_account_however_it_is_spelt(accounts):
    with pytest.raises(AccountError, match=r"ADA@example\.org has an account already"):
        accounts.create_account("ADA@Example.org", "pro", PLANS, now=NOW + 1)
    (only,) = accounts.list_accounts()
    assert re.fullmatch(r"acc_[0-9a-f]{20}", only.id)
    assert (only.email, only.plan, only.created) == ("ada@example.org", "free", NOW)
    assert accounts.account("Ada@EXAMPLE.org") == only


def test_letters_beyond_ascii_are_folded_too(accounts):
    accounts.create_account("ZO\u00cb@example.org", "free", PLANS, now=NOW)
    with pytest.raises(AccountError, match="already"):
        accounts.create_account("zoe\u0308@example.org", "free", PLANS, now=NOW)


@pytest.mark.parametrize(
    "email",
    [
        "", "ada", "@example.org", "ada@", "a@b@c", "a da@b.c", "ada@b.c\n", "a\u00a0b@c", "\udcff@b", "a@" + "b" * 253,
        # Of each of these a mail server reads something else.
        "a,b2@evil.example", "root2<x@evil.example>", "victim@corp.example,x", "Ada <ada@example.org>", "ada@example.org (x)",
        '"ada@example.org,"@evil.example', "g: a@b.c;", "a;b@c.d", "a\u202eb@c.d", "ada@[127.0.0.1]", "ada@example.org\0",
        "@relay.example:ada@example.org", "ada%example.org@[relay]",
    ],
)  # fmt: skip
def test_an_impossible_address_is_refused_by_name(accounts, email):
    with pytest.raises(AccountError, match=r"^'.*' is not an email address: .*[^.]$") as told:
        accounts.create_account(email, "free", PLANS, now=NOW)
    assert str(told.value).isprintable()
    with pytest.raises(AccountError, match="is not an email address"):
        accounts.account(email)
    assert len(accounts.list_accounts()) == 1


@pytest.mark.parametrize(
    "email",
    [
        "x@1", "demo@localhost", "ada@corp.local", "a'b+c@x.org", "a!#$%&*/=?^_`{|}~b@x.org", "\u00fc@example.org",
        "ada@ex\u00e4mple.org", "bob@127.0.0.1",
    ],
)  # fmt: skip
def test_an_address_of_ones_own_house_or_language_is_one(accounts, email):
    assert accounts.create_account(email, "free", PLANS, now=NOW).email == email
    assert accounts.account(email.upper()).email == email


def test_two_spellings_of_one_host_are_one_address(accounts):
    accounts.create_account("ada@xn--exmple-cua.org", "free", PLANS, now=NOW)
    with pytest.raises(AccountError, match="already"):
        accounts.create_account("ADA@ex\u00e4mple.org", "free", PLANS, now=NOW)
    assert accounts.account("ada@XN--EXMPLE-CUA.org").email == "ada@ex\u00e4mple.org"


def test_an_account_of_old_whose_address_is_none_is_found_and_can_be_deleted(accounts):
    made = accounts.create_account("old@example.org", "free", PLANS, now=NOW)
    with accounts.changing() as db:
        db.execute(
            "UPDATE account SET email = 'a,b@evil.example', email_key = 'a,b@evil.example' WHERE id = ?", (made.id,)
        )
    assert accounts.account("A,b@evil.example").id == made.id
    accounts.delete("a,b@evil.example")
    assert len(accounts.list_accounts()) == 1


def test_an_unknown_plan_names_the_plans(accounts):
    with pytest.raises(AccountError, match=r"unknown plan 'gold': allowed are free, pro"):
        accounts.create_account("bob@example.org", "gold", PLANS, now=NOW)
    with pytest.raises(AccountError, match=r"unknown plan 'gold'"):
        accounts.set_plan("ada@example.org", "gold", PLANS)
    assert [each.plan for each in accounts.list_accounts()] == ["free"]


# Keys


def test_a_new_key_is_live_and_reads_everything(accounts):
    text, info = accounts.create_key("ada@example.org", name="laptop", now=NOW)
    assert info == accounts.list_keys()[0]
    assert (info.prefix, info.name, info.scopes, info.created) == (text[:12], "laptop", ("data:read",), NOW)
    assert (info.last_used, info.expires, info.revoked) == (None, None, None)
    owner = accounts.account("ada@example.org")
    assert accounts.verify(text, NOW) == KeyRecord(info.id, owner.id, "free", ("data:read",), text[:12])


def test_scopes_are_kept_once_in_the_order_given(accounts):
    text, info = accounts.create_key("ada@example.org", ["events:read", "macro:read", "events:read"], now=NOW)
    assert info.scopes == ("events:read", "macro:read")
    assert accounts.verify(text, NOW).scopes == ("events:read", "macro:read")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scopes": ["macro:write"]}, f"unknown scope 'macro:write': allowed are {', '.join(SCOPES)}"),
        ({"name": "x" * 101}, "at most 100 printable characters"),
        ({"name": "red\x1b[31m"}, "at most 100 printable characters"),
        ({"expires": NOW}, "the expiry of a key must lie in the future"),
        ({"email": "bob@example.org"}, "no account has the address 'bob@example.org'"),
    ],
)
def test_a_key_that_cannot_be_is_refused_and_none_is_made(accounts, arguments, message):
    with pytest.raises(AccountError, match=re.escape(message)):
        accounts.create_key(**{"email": "ada@example.org", **arguments}, now=NOW)
    assert accounts.list_keys() == []


def test_keys_are_listed_by_account_the_oldest_first(accounts):
    accounts.create_account("bob@example.org", "pro", PLANS, now=NOW)
    made = [
        accounts.create_key(email, now=NOW)[1] for email in ("bob@example.org", "ada@example.org", "bob@example.org")
    ]
    assert accounts.list_keys() == made
    assert accounts.list_keys("BOB@example.org") == [made[0], made[2]]
    with pytest.raises(AccountError, match="no account"):
        accounts.list_keys("eve@example.org")


def test_the_text_of_a_key_is_nowhere_in_the_database(accounts, place):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    accounts.verify(text, NOW)
    accounts.flush()
    kept = stored(place)
    assert text[:12].encode() in kept
    assert text[12:].encode() not in kept
    assert text[4:].encode() not in kept


def test_the_digest_needs_the_pepper(accounts, another_place):
    # The same key under two peppers: a row copied from one installation opens nothing in another.
    two = Accounts(another_place)
    two.create_account("ada@example.org", "free", PLANS, now=NOW)
    text, info = accounts.create_key("ada@example.org", now=NOW)
    two.create_key("ada@example.org", now=NOW)
    with accounts.opened() as source, two.opened() as target:
        digest = source.execute("SELECT digest FROM api_key").get
        target.execute("UPDATE api_key SET digest = ?, prefix = ?", (digest, info.prefix))
    assert accounts.verify(text, NOW)
    assert two.verify(text, NOW) is UNKNOWN
    two.close()


def test_a_key_with_a_live_prefix_and_another_rest_is_unknown(accounts):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    body = text[4:12] + "".join("0" for _ in range(26))
    assert accounts.verify(f"alm_{body}{checksum(body)}", NOW) is UNKNOWN


def test_unknown_revoked_and_expired_are_one_answer(accounts):
    revoked, info = accounts.create_key("ada@example.org", now=NOW)
    expiring, _ = accounts.create_key("ada@example.org", expires=NOW + 10, now=NOW)
    assert accounts.verify(revoked, NOW)
    assert accounts.verify(expiring, NOW + 9)
    accounts.revoke(info.id, now=NOW + 5)
    answers = [accounts.verify(text, NOW + 10) for text in (new_key(), revoked, expiring)]
    assert answers == [UNKNOWN, UNKNOWN, UNKNOWN]
    assert not any(answers)


def test_an_expired_key_is_refused_before_it_was_ever_used(accounts):
    text, _ = accounts.create_key("ada@example.org", expires=NOW + 10, now=NOW)
    assert accounts.verify(text, NOW + 10) is UNKNOWN


@pytest.mark.parametrize("way", ["text", "id", "prefix", "start"])
def test_a_key_is_revoked_by_its_text_its_id_or_its_prefix(accounts, way):
    text, info = accounts.create_key("ada@example.org", now=NOW)
    kept, _ = accounts.create_key("ada@example.org", now=NOW)
    which = {"text": text, "id": info.id, "prefix": info.prefix, "start": info.prefix[:10]}[way]
    assert accounts.revoke(which, now=NOW + 3).revoked == NOW + 3
    assert accounts.revoke(which, now=NOW + 9).revoked == NOW + 3  # the first word counts
    assert accounts.verify(text, NOW) is UNKNOWN
    assert accounts.verify(kept, NOW)


def test_an_ambiguous_prefix_revokes_nothing(accounts, monkeypatch):
    bodies = itertools.chain(["twin" + "a" * 30, "twin" + "b" * 30])
    texts = iter([f"alm_{body}{checksum(body)}" for body in bodies])
    monkeypatch.setattr("almanac.store.accounts.accounts.new_key", lambda: next(texts))
    pair = [accounts.create_key("ada@example.org", now=NOW)[0] for _ in range(2)]
    with pytest.raises(AccountError, match="2 keys start with 'alm_twin'"):
        accounts.revoke("alm_twin", now=NOW)
    assert all(accounts.verify(text, NOW) for text in pair)
    assert accounts.revoke("alm_twina", now=NOW).prefix == "alm_twinaaaa"


@pytest.mark.parametrize(
    "which", ["", "alm_", "alm_abc", "alm_zzzzzzzz", "alm_%", "alm_____", "key_", "key_%", "\udcff", "*"]
)
def test_what_names_no_key_revokes_nothing(accounts, which):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    with pytest.raises(AccountError, match="no key matches"):
        accounts.revoke(which, now=NOW)
    assert accounts.verify(text, NOW)


def test_no_message_repeats_a_key(accounts):
    text = new_key()
    for refused in (
        lambda: accounts.revoke(text, now=NOW),
        lambda: accounts.create_key("ada@example.org", [f"x{text}"], now=NOW),
        lambda: accounts.account(f"{text} @b"),
        lambda: accounts.set_plan("ada@example.org", text, PLANS),
    ):
        with pytest.raises(AccountError) as caught:
            refused()
        assert text[:12] in str(caught.value)
        assert text[:13] not in str(caught.value)
