"""An accounts database with one account."""

import pytest

from almanac.store.accounts.accounts import Accounts
from tests.support.invented_accounts import NOW, PLANS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "accounts.db"


@pytest.fixture
def accounts(path):
    opened = Accounts(path)
    opened.create_account("ada@example.org", "free", PLANS, now=NOW)
    yield opened
    opened.close()
