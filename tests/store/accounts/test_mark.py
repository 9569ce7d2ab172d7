"""The mark: new at each change that a key which was read before must not outlive, and at no other."""

import contextlib

import pytest

from almanac.store.accounts.file import SCHEMA
from almanac.store.engine import opening
from tests.support.invented_accounts import ADA, NOW

CHANGES = {
    "UPDATE account SET plan = 'pro'": True,
    "UPDATE account SET disabled = 1": True,
    "UPDATE account SET id = 'acc_2'": True,
    "UPDATE account SET signed_in = 1": False,
    "UPDATE account SET password_hash = 'x', password_set = 1, role = 'operator'": False,
    "DELETE FROM account": True,
    "UPDATE api_key SET revoked = 1": True,
    "UPDATE api_key SET expires = 1": True,
    "UPDATE api_key SET scopes = 'macro:read'": True,
    "UPDATE api_key SET prefix = 'alm_00000000'": True,
    "UPDATE api_key SET digest = ?": True,
    "UPDATE api_key SET last_used = 1": False,
    "UPDATE api_key SET name = 'laptop'": False,
    "DELETE FROM api_key": True,
    "INSERT INTO api_key(n, id, account_id, prefix, digest, name, scopes, created)"
    " SELECT 9, 'key_9', id, 'alm_1', ?, '', '', 1 FROM account": True,
    "UPDATE secret SET value = ?": True,
    "DELETE FROM secret": True,
    "DELETE FROM deed": False,
}


@pytest.mark.parametrize(("sql", "changed"), CHANGES.items(), ids=CHANGES)
def test_the_mark_is_new_where_a_key_may_be_another(accounts, place, sql, changed):
    """Whoever writes: it is the database that sees to it."""
    if "account SET id" not in sql:  # which only an account without keys may have changed
        accounts.create_key(ADA, now=NOW)
    with contextlib.closing(opening.open_auxiliary(place, schema=SCHEMA)) as db:
        asked = "SELECT value FROM state WHERE name = 'mark'"
        before = db.execute(asked).get
        assert len(before) == 16
        db.execute(sql, (b"\0",) if "?" in sql else ())
        assert (db.execute(asked).get != before) == changed
