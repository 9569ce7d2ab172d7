"""Accounts and keys: what is kept, what is refused, and in which words."""

import hashlib
import itertools
import re
from importlib.resources import files

import apsw
import pytest

from almanac.store.accounts import file
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.administration import Administration
from almanac.store.accounts.file import SCHEMA, hkdf
from almanac.store.accounts.keytext import checksum, new_key
from almanac.store.accounts.records import MALFORMED, SCOPES, UNKNOWN, AccountError, KeyRecord
from almanac.store.engine.errors import DatabaseError, UnavailableError
from tests.support.invented_accounts import ADA, NOW, PLANS
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


# What an operator does to an account or a key: disable, enable, delete, rotate; in this process and in others.


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


# -- a file of an earlier version is brought to this one's schema in place, and keeps what it holds -------------------


#: The first schema as it was given out. Files of it are everywhere: what made them is never edited.
FIRST = "a7eb3e5045f0447e"


def sql(number):
    return files("almanac.store.accounts").joinpath(f"schema/{number}.sql").read_text("utf-8")


def old_file(path, secret):
    """A file as version 0.1.0 made it, with an account, a live key and a revoked one."""
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute(sql(1))
    db.pragma("user_version", 1)
    texts = [new_key(), new_key()]
    import hmac

    pepper = hkdf(secret.encode(), b"almanac", b"pepper")
    db.execute("INSERT INTO state VALUES('pepper_check', ?)", (hmac.digest(pepper, b"check", "sha256")[:8],))
    db.execute(
        "INSERT INTO account(id, email, email_key, plan, created) VALUES('acc_1', ?1, ?1, 'pro', ?2)", (ADA, NOW)
    )
    for number, text in enumerate(texts):
        db.execute(
            "INSERT INTO api_key(id, account_id, prefix, digest, name, scopes, created, last_used, revoked)"
            " VALUES(?, 'acc_1', ?, ?, 'laptop', 'macro:read events:read', ?, ?, ?)",
            (
                f"key_{number}",
                text[:12],
                hmac.digest(pepper, text.encode(), "sha256"),
                NOW,
                NOW + 60,
                NOW if number else None,
            ),
        )
    db.close()
    return texts


def test_the_first_schema_is_as_it_was_given_out():
    assert hashlib.sha256(sql(1).encode()).hexdigest().startswith(FIRST)


def test_a_file_of_the_first_schema_keeps_its_keys(path):
    live, revoked = old_file(path, "a secret")
    accounts = Accounts(path, "a secret")
    assert accounts.verify(live, NOW) == KeyRecord("key_0", "acc_1", "pro", ("macro:read", "events:read"), live[:12])
    assert accounts.verify(revoked, NOW) is UNKNOWN
    (ada,) = accounts.list_accounts()
    assert (ada.email, ada.plan, ada.created, ada.role, ada.disabled) == (ADA, "pro", NOW, "user", None)
    assert [(key.name, key.last_used, key.replaced_by) for key in accounts.list_keys()] == [
        ("laptop", NOW + 60, None)
    ] * 2
    # What came with the schema works on it.
    accounts.disable(ADA, now=NOW)
    assert accounts.verify(live, NOW).disabled
    accounts.close()


def test_an_upgraded_file_is_the_same_as_a_new_one(path, tmp_path):
    old_file(path, "a secret")
    Accounts(path, "a secret").close()
    Accounts(tmp_path / "new.db").close()
    found = []
    for each in (path, tmp_path / "new.db"):
        db = apsw.Connection(str(each))
        found.append(
            (db.pragma("user_version"), sorted(db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()))
        )
        db.close()
    assert found[0] == found[1]
    assert found[0][0] == SCHEMA.number


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    live, _ = old_file(path, "a secret")
    monkeypatch.setattr(file, "SCHEMA", SCHEMA._replace(steps=(*SCHEMA.steps, "CREATE TABLE account(n)")))
    with pytest.raises(DatabaseError, match="already exists"):
        Accounts(path, "a secret")
    monkeypatch.undo()
    db = apsw.Connection(str(path))
    assert db.pragma("user_version") == 1
    assert [row[1] for row in db.execute("PRAGMA table_info(account)")][-1] == "password_hash"
    db.close()
    accounts = Accounts(path, "a secret")
    assert accounts.verify(live, NOW).plan == "pro"
    accounts.close()


def test_a_file_of_a_newer_version_says_so(path):
    Accounts(path).close()
    db = apsw.Connection(str(path))
    db.pragma("user_version", SCHEMA.number + 1)
    db.close()
    with pytest.raises(AccountError, match=f"has schema {SCHEMA.number + 1} of a newer version of Almanac"):
        Accounts(path)
    with pytest.raises(AccountError, match="newer"):
        Accounts(path).create_account("bob@example.org", "free", PLANS, now=NOW)
