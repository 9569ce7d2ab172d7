"""A served dashboard, a browser before it, and people signed in: one of each for all tests of a worker."""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from tests.contract.conftest import worker_id
from tests.support.mail_server import mail_server
from tests.support.servers import free_port, serving
from tests.support.worlds import once

from . import world

__all__ = ["worker_id"]

PHONE, DESK = 390, 1440
WIDTHS = (PHONE, DESK)
_READABLE = """() => document.readyState === 'complete'
  && [...document.querySelectorAll('[data-chart]')].every(one => one.tabIndex === 0
    || !JSON.parse(document.getElementById(one.dataset.chart).textContent).lines.some(line => line.points.length))"""


def readable(frame: Any) -> None:
    """Wait until charts of a page, or of a frame in it, take keys: their script comes after the page, which waits not."""
    frame.wait_for_function(_READABLE)


class Served(NamedTuple):
    """Addresses of the dashboard and of the interface, the home they serve, and letters sent by them."""

    dashboard: str
    api: str
    home: Path
    letters: list[bytes]
    #: What stands for the names in `addresses.ADDRESSES`.
    names: dict[str, str]

    def key(self, name: str = "pro") -> dict[str, str]:
        """The header with a key of a plan."""
        lines = (self.home / "keys").read_text().splitlines()
        return {"x-api-key": dict(line.split() for line in lines)[name]}

    def ask(self, path: str, **params: Any) -> Any:
        """`data` of the interface's answer."""
        answer = httpx2.get(self.api + path, params=params, headers=self.key(), timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@dataclass
class Visitor:
    """A page of a browser, and what went through it: complaints on its console, and requests to other hosts."""

    page: Any
    base: str
    script: bool = True
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)

    def _said(self, said: Any) -> None:
        # A page that says 404 is reported by the browser as a failure of the page's own address.
        own = said.location.get("url", "") == self.page.url and "the server responded with a status of" in said.text
        if said.type in {"error", "warning"} and not own:
            self.complaints.append(said.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.base + "/", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def go(self, path: str, status: int = 200) -> Any:
        """Open an address of the dashboard."""
        answer = self.page.goto(self.base + path)
        assert answer.status == status, f"{path}: {answer.status}"
        if self.script:
            readable(self.page)
        return answer

    def done(self) -> None:
        """Nothing was complained of, and nobody else was asked."""
        assert (self.complaints, self.elsewhere) == ([], [])


@pytest.fixture(scope="session")
def served(chromium: Any, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Served]:
    """The dashboard and the interface over the world of walks, with a mail server beside them. None without a browser."""
    home = tmp_path_factory.mktemp("browser") / "home"
    shutil.copytree(once(tmp_path_factory, worker_id, "browser-world", world.build), home)
    names = world.names(home)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    # Whose pages may show charts in a frame: a test serves one there.
    names["blog"] = f"http://127.0.0.1:{free_port()}"
    with (
        mail_server() as mail,
        serving(
            home,
            DASHBOARD="true", DASHBOARD_PORT=str(port), DASHBOARD_URL=address, SIGNUP="open", EMBED_ORIGINS=names["blog"], CORS_ORIGINS=address,
            SMTP__HOST="127.0.0.1", SMTP__PORT=str(mail.port), SMTP__SENDER="almanac@example.org", SMTP__SECURITY="none",
        ) as server,
    ):  # fmt: skip
        _wait(address + "/signin")
        one = Served(address, server.base, home, mail.letters, names)
        for name, indicator in (("observation", "cpi_inflation_yoy"), ("withheld", "consumer_confidence")):
            path = "/derived-observations" if name == "observation" else "/observations"
            names[name] = one.ask(path, indicator=indicator, country="USA", order="desc", limit=1)[0]["id"]
        yield one


def _wait(address: str) -> None:
    until = time.monotonic() + 60
    while True:
        with contextlib.suppress(httpx2.TransportError):
            httpx2.get(address, timeout=30)
            return
        assert time.monotonic() < until, "the dashboard did not start"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def cookies(served: Served) -> dict[str, list[dict[str, str]]]:
    """The web session of each of `world.PEOPLE`, as a browser keeps it: nobody signs in more than once."""
    found = {}
    for name, email in world.PEOPLE.items():
        with httpx2.Client(base_url=served.dashboard, timeout=30) as client:
            form = client.get("/signin").text
            token = form.partition('name="csrf" value="')[2].partition('"')[0]
            answer = client.post("/signin", data={"csrf": token, "email": email, "password": world.PASSWORD})
            assert answer.status_code == 303, answer.text
            found[name] = [{"name": "almanac", "value": client.cookies["almanac"], "url": served.dashboard}]
    return found


@pytest.fixture
def visitor(
    served: Served, chromium: Any, cookies: dict[str, list[dict[str, str]]]
) -> Iterator[Callable[..., Visitor]]:
    """Makes a visitor: `who` is signed in (None: nobody) at a width; `script` False is a browser without any."""
    opened: list[tuple[Any, Visitor]] = []

    def make(who: str | None = "pro", width: int = DESK, *, script: bool = True, scheme: str = "light") -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=script, color_scheme=scheme
        )
        context.set_default_timeout(15_000)
        if who is not None:
            context.add_cookies(cookies[who])
        one = Visitor(context.new_page(), served.dashboard, script)
        opened.append((context, one))
        return one

    yield make
    for context, one in opened:
        context.close()
        one.done()
