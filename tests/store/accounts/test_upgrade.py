"""A file of an earlier version is brought to this one's schema in place, and keeps what it holds."""

import hashlib
from importlib.resources import files

import apsw
import pytest

from almanac.store.accounts import file
from almanac.store.accounts.accounts import UNKNOWN, AccountError, Accounts, KeyRecord
from almanac.store.accounts.file import SCHEMA, hkdf
from almanac.store.accounts.keytext import new_key
from almanac.store.engine.errors import DatabaseError
from tests.support.invented_accounts import ADA, NOW, PLANS

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
