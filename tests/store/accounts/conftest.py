"""An accounts database with one account, and the people of it."""

import pytest
from argon2 import PasswordHasher

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.passwords import Passwords
from almanac.store.accounts.people import People
from tests.support.invented_accounts import ADA, NOW, PASSWORD, PLANS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "accounts.db"


@pytest.fixture
def accounts(path):
    opened = Accounts(path)
    opened.create_account(ADA, "free", PLANS, now=NOW)
    yield opened
    opened.close()


@pytest.fixture
def passwords():
    """Cheap ones: what they cost is not what is tested."""
    return Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def people(accounts, passwords):
    found = People(accounts, passwords)
    found.set_password(ADA, PASSWORD, now=NOW)
    return found
