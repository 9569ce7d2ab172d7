"""The whole dashboard over the invented world, with somebody of each plan signed in."""

from collections.abc import Callable

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.people import People, Person
from almanac.dashboard.site import pages, templates
from almanac.dashboard.statics import Statics
from tests.support.browser import Browser
from tests.support.page_visitor import people
from tests.support.service import REAL_NOW, Service


class Plans(People):
    """One person of each plan; the name of the plan is the token of the session."""

    def person(self, token: str) -> Person | None:
        return (
            Person(f"acc_{token}", f"{token}@example.org", token, "user", "web_1") if token in {"free", "pro"} else None
        )


def dashboard(service: Service) -> Dashboard:
    """The dashboard as it is served, over a service's store."""
    api = InProcessApi(
        service.endpoints, b"c" * 32, service.reader.view, service.settings, clock=service.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )  # fmt: skip
    statics = Statics()
    return Dashboard(
        pages(),
        api,
        people(service, Plans),
        b"f" * 32,
        templates(service.settings, statics),
        statics,
        service.settings,
    )


@pytest.fixture(scope="session")
def browser(service: Service) -> Callable[..., Browser]:
    """Makes a browser in which somebody of a plan is signed in."""
    app = dashboard(service)

    def made(plan: str = "pro") -> Browser:
        one = Browser(app)
        one.cookies["almanac"] = plan
        return one

    return made
