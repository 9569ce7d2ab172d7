"""The dashboard with real accounts: whoever has a password signs in with it."""

import re
from collections.abc import Callable, Iterator

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.letters import Letters
from almanac.dashboard.people import People
from almanac.dashboard.site import pages, templates
from almanac.dashboard.statics import Statics
from almanac.mail import Mail
from almanac.store.accounts.authentication import Authentication
from almanac.store.engine.errors import UnavailableError
from almanac.store.usage.counts import UsageFile
from almanac.store.usage.reports import UsageReports
from tests.support.browser import Browser
from tests.support.page_visitor import NOW
from tests.support.service import Service

PASSWORD = "correct horse battery"  # an invented one
LINK = re.compile(r"http://127\.0\.0\.1:8001(/\S+)")


class House:
    """A dashboard over a service of one's own; `said` are the letters that an operator would hand on."""

    def __init__(self, service: Service) -> None:
        self.service, self.said = service, []
        self.usage = UsageFile(service.settings.home / "usage.db")
        self.letters = Letters(
            Mail(service.settings.smtp, lambda _, **letter: self.said.append(letter["text"])),
            service.settings.dashboard_address,
        )
        self.people = People(
            service.accounts, UsageReports(self.usage), self.letters,
            walltime=lambda: float(NOW),
        )  # fmt: skip
        api = InProcessApi(
            service.endpoints, b"c" * 32, service.reader.view, service.settings, clock=service.settings.clock,
            walltime=lambda: float(NOW),
        )  # fmt: skip
        statics = Statics()
        self.app = Dashboard(
            pages(), api, self.people, b"f" * 32, templates(service.settings, statics), statics, service.settings,
            unavailable=(UnavailableError,),
        )  # fmt: skip
        for email in ("pro@example.org", "free@example.org"):
            Authentication(service.accounts).set_password(email, PASSWORD, now=NOW)

    def browser(self, email: str | None = "pro@example.org", **where: str) -> Browser:
        """A browser, with somebody signed in."""
        one = Browser(self.app, **where)
        if email is not None:
            one.get("/signin")
            assert one.post("/signin", {"email": email, "password": PASSWORD}).headers["location"] == "/"
        return one

    def link(self) -> str:
        """Where the letter sent last leads."""
        self.letters.close()
        found = LINK.findall(self.said[-1])
        return str(found[-1])


@pytest.fixture
def house(own: Service) -> Iterator[House]:
    one = House(own)
    yield one
    one.letters.close()
    one.usage.close()


@pytest.fixture
def open_house(built, tmp_path) -> Iterator[Callable[..., House]]:
    """Makes a house over a home of one's own, under settings of one's own."""
    from tests.support.service import copy

    made = []

    def make(**more: str) -> House:
        made.append(House(Service(copy(built, tmp_path / f"home{len(made)}"), more)))
        return made[-1]

    yield make
    for one in made:
        one.letters.close()
        one.usage.close()
        one.service.close()
