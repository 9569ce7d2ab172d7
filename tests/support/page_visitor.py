"""The whole dashboard over a Service, and browsers with somebody signed in."""

from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.letters import Letters
from almanac.dashboard.people import People, Person
from almanac.dashboard.site import pages, templates
from almanac.dashboard.statics import Statics
from almanac.mail import Mail
from almanac.store.engine.errors import UnavailableError
from almanac.store.usage.counts import UsageFile
from almanac.store.usage.reports import UsageReports

from .browser import Browser
from .service import REAL_NOW, Service

#: Token → who is signed in with it; `visit` takes one.
PEOPLE = {
    "ada": Person("acc_ada", "ada@example.org", "pro", "user", "web_1"),
    "free": Person("acc_free", "free@example.org", "free", "user", "web_2"),
    "op": Person("acc_op", "op@example.org", "pro", "operator", "web_3"),
}
NOW = REAL_NOW + 18


class _Known(People):
    def person(self, token: str) -> Person | None:
        return PEOPLE.get(token)


def people(service: Service, kind: type[People] = _Known) -> People:
    """What the dashboard keeps of people, over a service; its letters are told to nobody."""
    letters = Letters(Mail(service.settings.smtp, lambda *_, **__: None), service.settings.dashboard_address)
    usage = UsageReports(UsageFile(service.settings.home / "usage.db"))
    return kind(service.accounts, usage, letters, walltime=lambda: float(NOW))


def dashboard(service: Service) -> Dashboard:
    """All pages, as they are served, over what a service has."""
    statics = Statics()
    api = InProcessApi(
        service.endpoints, service.accounts.secret("cursor"), service.reader.view, service.settings,
        clock=service.settings.clock, walltime=lambda: float(NOW),
    )  # fmt: skip
    return Dashboard(
        pages(), api, people(service), b"f" * 32,
        templates(service.settings, statics), statics, service.settings, unavailable=(UnavailableError,),
    )  # fmt: skip


def signed_in(app: Dashboard, who: str = "ada") -> Browser:
    """A browser in which somebody of `PEOPLE` is signed in."""
    browser = Browser(app)
    browser.cookies["almanac"] = who
    return browser
