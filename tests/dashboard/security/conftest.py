"""A dashboard with the accounts of two people, and all that the one must never see of the other."""

import re
from dataclasses import dataclass, field

import pytest

from almanac.dashboard.site import pages
from almanac.dashboard.visit import Page
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.watchlist import Watchlist
from almanac.store.usage.counts import CountedUse
from tests.contract.conftest import built, own, service, worker_id
from tests.dashboard.account.conftest import PASSWORD, House, house
from tests.support.browser import Browser
from tests.support.page_visitor import NOW

__all__ = ["built", "house", "own", "service", "worker_id"]

PAGES = pages()
ADA, BEA, OPERATOR = "pro@example.org", "bea-secret@example.org", "op@example.org"
_NAME = re.compile(r"\{(\w+)\}")
#: Requests of the other's key: no other number on any page is like it.
THEIRS = 7_654_321


@dataclass
class Two:
    """Ada, who looks; and Bea, whose things are `secrets` to her. `ids` are what stands in addresses of Bea's things."""

    house: House
    ids: dict[str, list[str]]
    secrets: tuple[str, ...]
    browsers: dict[str, Browser] = field(default_factory=dict)

    def browser(self, email: str | None) -> Browser:
        """A browser, with somebody signed in by a cookie that is kept between calls."""
        if email is None:
            return self.house.browser(None)
        if email not in self.browsers or self.browsers[email].get("/account").status_code != 200:
            self.browsers[email] = self.house.browser(email)
        return self.browsers[email]

    def state(self) -> tuple[object, ...]:
        """All that a deed could change of Bea's, of the operator's, and of who is invited."""
        accounts = self.house.service.accounts
        authentication = Authentication(accounts)
        found: list[object] = []
        for email in (BEA, OPERATOR):
            one = accounts.account(email)
            live = sorted(session.id for session in authentication.sessions.of(one.id, now=NOW))
            keys = [(key.id, key.revoked, key.expires) for key in accounts.list_keys(email)]
            lists = Watchlist(accounts)
            found += [one.plan, one.role, one.disabled, live, keys, lists.watched(one.id)]
        return tuple(found)


@pytest.fixture
def two(house: House) -> Two:
    accounts: Accounts = house.service.accounts
    for email, role in ((BEA, "user"), (OPERATOR, "operator")):
        accounts.create_account(email, "pro", house.service.settings.plans, now=NOW)
        accounts.set_role(email, role)
        Authentication(accounts).set_password(email, PASSWORD, now=NOW)
    bea = accounts.account(BEA)
    text, key = accounts.create_key(BEA, (), "Zanzibar monitor", None, now=NOW)
    browser = house.browser(None)
    browser.get("/signin")
    browser.post("/signin", {"email": BEA, "password": PASSWORD}, **{"user-agent": "Bea's Browser of Her Own"})
    (session,) = Authentication(accounts).sessions.of(bea.id, now=NOW)
    house.usage.add([CountedUse(NOW // 86_400, bea.id, key.prefix, "/coverage", 200, THEIRS, THEIRS * 2_000)])
    lists = Watchlist(accounts)
    lists.watch(bea.id, "indicator", "policy_rate", now=NOW)
    return Two(
        house,
        {"key": [key.id], "session": [session.id], "account": [bea.id]},
        (
            BEA,
            "Zanzibar",
            text,
            key.prefix,
            f"{THEIRS:,}",
            str(THEIRS),
            "Browser of Her Own",
            session.id,
            browser.cookies["almanac"],
        ),
    )


def address(page: Page, **values: str) -> str:
    """An address of a page, names in its path filled in; `1` where nothing is given for one."""
    return _NAME.sub(lambda name: values.get(name[1], "1"), page.path)
