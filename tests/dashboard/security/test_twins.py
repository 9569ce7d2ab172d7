"""
What is withheld changes nothing that is sent: two stores that differ in withheld values alone answer the same bytes.

Every page, part, picture and file that there is: addresses are those that the pages themselves lead to, and each path of
the routing table must be among them, so that a page that is added later is asked as well.
"""

import html
import re
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2
import pytest

from almanac.api.server.routes import Routes
from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.explorer.embedding import PREFIX
from almanac.dashboard.people import People, Person
from almanac.dashboard.site import pages, templates
from almanac.dashboard.statics import Statics
from tests.contract.declared import ENDPOINTS, REQUIRED
from tests.contract.test_every_endpoint import url
from tests.contract.test_rights import NO_CONSENT
from tests.support.browser import Browser
from tests.support.filed_company import ENTITY
from tests.support.page_visitor import NOW, people
from tests.support.service import Service, copy
from tests.support.worlds import once

from .twin_worlds import SPREAD, build_both, opened

# The two homes share their accounts, which are a file.
pytestmark = pytest.mark.sqlite

PAGES = pages()
ROUTES = Routes(PAGES)
#: Pages of what an account has or may do: they are led to by what is made in a test, and show no data.
_OF_ACCOUNTS = {"/keys/{id}/used.json", "/keys/{id}/rotate", "/keys/{id}/revoke", "/signup/{token}", "/reset/{token}"}
#: Pages for those who are not signed in yet.
_DOORS = ("/signin", "/signup", "/forgot", "/reset")
#: Pages that show no number of the data, or none of a series that is withheld here.
_WITHOUT = _OF_ACCOUNTS - {"/signup/{token}", "/reset/{token}"} | {
    "/account", "/account/delete", "/account/sessions", "/companies", "/indicators",
    "/keys", "/keys/new", "/openapi.json", "/rates", "/rates/{scope}", "/screeners", "/screeners/equity/fields", "/search.json",
    "/sources", "/sources/{id}", "/usage", "/usage.csv",
}  # fmt: skip
_LEADS = re.compile(r'\s(?:href|src|action|data-[a-z-]+)="(/[^"]*)"|"href":"(/[^"]*)"')
#: What is another each time: the number of a request, and what a form must carry.
_EACH_TIME = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}|\b[0-9a-f]{16}\.[0-9a-f]{40}\b|\b[0-9a-f]{32}-\d+-[0-9a-f]{32}\b")
_CURSOR = re.compile(r'"next_?[cC]ursor":"[^"]*"')
#: Pages that are there only where the operator allows them.
FRAMES = {"EMBED_ORIGINS": "https://blog.example"}
_DAYS = ("2026-11-17", "2026-10-20")


class _Pro(People):
    """Whoever has a plan; the name of the plan is the token of the session."""

    ids: dict[str, str]

    def person(self, token: str) -> Person | None:
        return Person(self.ids[token], f"{token}@example.org", token, "user", "web_1") if token in self.ids else None


def dashboard(service: Service) -> Dashboard:
    known = people(service, _Pro)
    assert isinstance(known, _Pro)
    known.ids = {plan: service.accounts.account(f"{plan}@example.org").id for plan in ("pro", "free")}
    api = InProcessApi(
        service.endpoints, b"c" * 32, service.reader.view, service.settings, clock=service.settings.clock,
        walltime=lambda: float(NOW),
    )  # fmt: skip
    statics = Statics()
    return Dashboard(pages(), api, known, b"f" * 32, templates(service.settings, statics), statics, service.settings)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[tuple[Service, Service]]:
    """The services over both stores."""
    built = once(tmp_path_factory, worker_id, "twin-worlds", build_both)
    more = {**NO_CONSENT, **FRAMES}
    homes = [copy(built / name, tmp_path_factory.mktemp(name) / "home") for name in ("one", "other")]
    both = Service(homes[0], more), Service(homes[1], more)
    yield both
    for one in both:
        one.close()


@pytest.fixture(scope="module")
def shut(twins: tuple[Service, Service]) -> list[str]:
    """Ids of the series that are withheld. Asked of both, for what an account asked for is counted, and shown to it."""
    one, other = map(_withheld, twins)
    assert one == other
    return one


def _withheld(service: Service) -> list[str]:
    rows = [
        row
        for path in ("/observations", "/derived-observations")
        for row in service.walk(path, limit=500, sources="all")
    ]
    return sorted({row["metadata"]["seriesId"] for row in rows if row["rights"]["valueWithheld"]})


def seeds(shut: list[str]) -> list[str]:
    """Where a walk begins: every path without a name, and what is withheld under every way to look at it."""
    found = [page.path for page in PAGES if page.look is not None and "{" not in page.path]
    # Of the company's series, which are many and alike, some.
    filed = [series for series in shut if ENTITY in series]
    for series in [one for one in shut if one not in filed[8:]]:
        _, _, slug, _ = series.split(":")
        found += [
            f"/series/{series}{tail}"
            for tail in ("", "?from=all&sources=all", ".csv", "/vintages.json", "/points.json", "/revisions?by=age")
        ]
        found += [f"{PREFIX}/series/{series}", f"{PREFIX}/compare?series={series}"]
        found += [f"/series/{series}{tail}?as_of={day}" for day in _DAYS for tail in ("", "/part", "/revisions")]
        found += [f"/indicators/{slug}", f"/indicators/{slug}?as_of={_DAYS[0]}"]
    for series in (SPREAD, shut[0]):
        for ending in ("", ".csv", ".xlsx", ".svg"):
            found += [
                f"/compare{ending}?series={series}&show={show}&from=all"
                for show in ("level", "change", "percent", "year", "index", "log")
            ]
            found.append(f"/compare{ending}?series={','.join(shut[:4])}&firsts=1")
    slugs = sorted({series.split(":")[2] for series in shut})
    for name in ("macro", "macro.json", "macro.csv"):
        found += [f"/screeners/{name}?filter={slug}:gt:{bound}" for slug in slugs for bound in ("0", "4", "7.5")]
    for name in ("equity", "equity.json", "equity.csv"):
        found += [
            f"/screeners/{name}?filter={clauses}"
            for clauses in ("net_margin:gt:-1000", "sector:eq:Industrials&sort=total_assets")
        ]
        found += [
            f"/screeners/{name}?as_of=2024-06-15&filter={clauses}"
            for clauses in ("total_assets:gt:1500", "sector:eq:Industrials&sort=total_assets")
        ]
    found += [
        f"/companies/{ENTITY}{query}"
        for query in ("", "?frequency=quarterly", "?statement=balance", "?as_of=2024-03-01")
    ]
    found += [f"/search?q={words}&all=1" for words in ("high+yield+spread", "unemployment", "net+income+ploughs")]
    found += [f"/calendar{ending}?from=2026-11-01" for ending in ("", ".csv")]
    return found


def plain(answer: httpx2.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    """What is compared: status, body and headers, without what differs from one request to the next."""
    body = answer.content
    if not answer.headers.get("content-type", "").startswith("application/vnd"):
        body = _EACH_TIME.sub("", body.decode()).encode()
    kept = [(name, _EACH_TIME.sub("", value)) for name, value in answer.headers.multi_items() if name != "x-request-id"]
    return answer.status_code, body, kept


def leads(answer: httpx2.Response) -> Iterator[str]:
    """The addresses on this dashboard that an answer leads to."""
    if not answer.headers.get("content-type", "").startswith(("text/html", "application/json")):
        return
    for attribute, member in _LEADS.findall(answer.text):
        found = html.unescape(attribute or member).partition("#")[0]
        yield found
        # What others may have in a frame of the same.
        yield f"{PREFIX}{found}"
    if "location" in answer.headers:
        yield answer.headers["location"]


def shape(address: str) -> tuple[str, tuple[str, ...]] | None:
    """What makes addresses alike: the path of the routing table, and the names in the query; None for what is no page for a person."""
    path, query = urlsplit(address).path, urlsplit(address).query
    found = ROUTES.find(unquote(path))
    if found is None or found[0].look is None or found[0].who == "operator":
        return None
    return found[0].path, tuple(sorted({name for name, _ in parse_qsl(query)}))


class Walked(NamedTuple):
    """The paths of the routing table that were looked at, with how they answered; and the addresses that were answered otherwise."""

    statuses: dict[str, set[int]]
    differing: list[str]


def walk(services: tuple[Service, Service], shut: list[str], plan: str, alike: int = 5) -> Walked:
    """
    Look at every address with both, as somebody of a plan, beginning with the series that are withheld in the twins.

    A page of a thousand links would lead to a thousand like it: of addresses of one path with the same names in their
    query, `alike` are followed.
    """
    one, other = (Browser(dashboard(service)) for service in services)
    one.cookies["almanac"] = other.cookies["almanac"] = plan
    first = seeds(shut)
    if alike == 1:  # of each kind of address that a walk begins with, every fourth
        first = [one for one in first if "?" not in one] + [one for one in first if "?" in one][::4]
    seen, like = set(first), Counter[object]()
    waiting = deque(first)
    statuses: dict[str, set[int]] = {}
    differing: list[str] = []
    while waiting:
        address = waiting.popleft()
        route = shape(address)
        if route is None:
            continue
        answers = one.send("GET", address), other.send("GET", address)
        statuses.setdefault(route[0], set()).add(answers[0].status_code)
        if plain(answers[0]) != plain(answers[1]):
            differing.append(address)
        for found in leads(answers[0]):
            of = shape(found) if found not in seen else None
            if of is not None and like[of] < alike:
                like[of] += 1
                seen.add(found)
                waiting.append(found)
    return Walked(statuses, differing)


@pytest.mark.parametrize(
    ("plan", "alike"), [("pro", 1), *(pytest.param(plan, 5, marks=pytest.mark.slow) for plan in ("pro", "free"))]
)
def test_every_page_and_file_is_the_same_whatever_is_withheld(
    twins: tuple[Service, Service], shut: list[str], plan: str, alike: int
) -> None:
    statuses, differing = walk(twins, shut, plan, alike)
    assert differing == []
    wanted = {page.path for page in PAGES if page.look is not None and page.who != "operator"} - _OF_ACCOUNTS
    assert wanted - set(statuses) == set()
    assert {path for path in wanted if not statuses[path] & {200, 303}} == set()


def test_every_answer_of_the_interface_is_the_same(twins: tuple[Service, Service], shut: list[str]) -> None:
    for path, endpoint in ENDPOINTS.items():
        queries: list[dict[str, str]] = [{}]
        if endpoint.kind == "list":
            queries += [{"limit": str(endpoint.max_limit)}]
            queries += [{"order": "desc", "limit": "100"}] if "order" in endpoint.by_name else []
        names = {series.split(":")[2] for series in shut}
        queries += [{"indicator": name} for name in sorted(names) if "indicator" in endpoint.by_name]
        for query in queries:
            asked = {**REQUIRED.get(path, {}), **query}
            one, other = (_told(service, url(service, path), asked) for service in twins)
            assert one == other, (path, query)


def test_every_form_of_a_list_is_the_same(twins: tuple[Service, Service], shut: list[str]) -> None:
    names = sorted({series.split(":")[2] for series in shut})
    for path, endpoint in ENDPOINTS.items():
        for place, form in enumerate(endpoint.forms):
            queries: list[dict[str, str]] = [{}]
            if endpoint.kind == "list":
                # Each indicator in one form, and all of them in every form.
                asked_for = names[place :: len(endpoint.forms)] if "indicator" in endpoint.by_name else []
                queries += [{"all": "true"}, *({"indicator": name, "all": "true"} for name in asked_for)]
            for query in queries:
                asked = {**REQUIRED.get(path, {}), **query}
                answers = [service.get(f"{url(service, path)}.{form.name}", **asked) for service in twins]
                one, other = ((answer.status_code, answer.content, answer.headers.get("etag")) for answer in answers)
                assert one == other, (path, form.name, query)
                assert one[0] == 200


def _told(service: Service, path: str, query: dict[str, str]) -> tuple[int, str, str]:
    answer = service.get(path, **query)
    return answer.status_code, _CURSOR.sub("", _EACH_TIME.sub("", answer.text)), answer.headers.get("etag", "")


@pytest.mark.slow
def test_with_consent_the_walk_finds_them_different(
    twins: tuple[Service, Service], shut: list[str], tmp_path: Path
) -> None:
    """Under each path that shows numbers at all: what finds nothing above would find it."""
    homes = [copy(one.home, tmp_path / str(number)) for number, one in enumerate(twins)]
    for home in homes:
        opened(home)
    first, second = (Service(home, FRAMES) for home in homes)
    found = walk((first, second), shut, "pro")
    first.close()
    second.close()
    paths = {of[0] for of in map(shape, found.differing) if of is not None}
    shown = {page.path for page in PAGES if page.look is not None and page.who != "operator"}
    assert {path for path in shown if not path.startswith(_DOORS)} - paths == _WITHOUT
