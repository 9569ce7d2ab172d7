"""An accounts database with one account, and the people of it: as a file, and on a server."""

from pathlib import Path

import pytest
from argon2 import PasswordHasher

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.passwords import Passwords
from tests.support import places
from tests.support.invented_accounts import ADA, NOW, PASSWORD, PLANS

pytest_generate_tests = places.on_each_engine
place, path = places.placed("accounts.db"), places.path


@pytest.fixture
def another_place(place, tmp_path):
    """One more, of the same engine."""
    with places.place_for("sqlite" if isinstance(place, Path) else "postgres", tmp_path / "another.db") as found:
        yield found


@pytest.fixture
def accounts(place):
    opened = Accounts(place)
    opened.create_account(ADA, "free", PLANS, now=NOW)
    yield opened
    opened.close()


@pytest.fixture
def passwords():
    """Cheap ones: what they cost is not what is tested."""
    return Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def people(accounts, passwords):
    found = Authentication(accounts, passwords)
    found.set_password(ADA, PASSWORD, now=NOW)
    return found
