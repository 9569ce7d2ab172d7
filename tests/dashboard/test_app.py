"""What every page goes through: who may see it, what a form must carry, and what goes out with it."""

from collections.abc import Iterator

import pytest
import zstandard
from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount

from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.contract.errors import ApiError
from almanac.dashboard import cookies
from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi, is_simulated
from almanac.dashboard.people import People, Person
from almanac.dashboard.statics import Statics
from almanac.dashboard.visit import Answer, Cookie, Download, Forbidden, Html, NotFound, Page, Redirect, Visit
from almanac.store.accounts.authentication import Authentication
from almanac.store.engine.errors import UnavailableError
from tests.support.browser import Browser
from tests.support.service import REAL_NOW, Service

TEMPLATES = {
    "error.html": "{{ status }}: {{ text }}",
    "form.html": '<input type="hidden" name="csrf" value="{{ visit.csrf }}">{{ said }}',
    "coverage.html": "{{ told.data.series }} {{ visit.shown_requests[0].path_and_query }} {{ simulated }}",
}
ADA = Person("acc_ada", "ada@example.org", "pro", "user", "web_1")
OPERATOR = Person("acc_op", "op@example.org", "pro", "operator", "web_2")


class Two(People):
    """Two people, each with one web session."""

    def __init__(self) -> None:
        self._walltime = lambda: REAL_NOW + 18.0

    def person(self, token: str) -> Person | None:
        return {"ada": ADA, "op": OPERATOR}.get(token)


def form(visit: Visit) -> Answer:
    return Html("form.html", {"said": visit.form.get("said", "") if visit.method == "POST" else ""})


def coverage(visit: Visit) -> Answer:
    return Html("coverage.html", {"told": visit.ask("/coverage")})


def signed_in(visit: Visit) -> Answer:
    visit.set_cookies.append(Cookie("almanac", "ada", 60))
    return Redirect("/coverage")


def raising(error: Exception) -> Page:
    def handler(_: Visit) -> Answer:
        raise error

    return Page(f"/{type(error).__name__.lower()}", handler, who="anyone")


PAGES = (
    Page("/form", form, form, who="anyone"),
    Page("/signed-in", None, signed_in, who="anyone"),
    Page("/coverage", coverage),
    Page("/mine", form, form),
    Page("/operate", form, who="operator"),
    Page("/elsewhere", lambda visit: Redirect(visit.query["to"]), who="anyone"),
    Page("/file", lambda _: Download(b"a,b\n", "text/csv", "usage.csv"), who="anyone"),
    Page("/refused", lambda visit: Html("form.html", {"said": visit.ask("/rates/FRA")})),
    raising(Forbidden("Not yours.")), raising(NotFound("No such key.")), raising(UnavailableError("gone")),
    raising(ZeroDivisionError("secret detail")),
)  # fmt: skip


@pytest.fixture(scope="module")
def app(service: Service) -> Iterator[Dashboard]:
    api = InProcessApi(
        service.endpoints, b"c" * 32, service.reader.view, service.settings, clock=service.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )  # fmt: skip
    templates = Environment(loader=DictLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    return Dashboard(
        PAGES, api, Two(), b"f" * 32, templates, Statics(), service.settings,
        unavailable=(UnavailableError,),
    )  # fmt: skip


@pytest.fixture
def browser(app: Dashboard) -> Browser:
    return Browser(app)


def test_whoever_is_not_signed_in_is_led_to_the_form_and_back(browser: Browser) -> None:
    answer = browser.get("/mine", q="1&2")
    assert (answer.status_code, answer.headers["location"]) == (303, "/signin?next=/mine%3Fq%3D1%25262")


def test_a_page_shows_what_the_interface_says(browser: Browser, service: Service) -> None:
    browser.cookies["almanac"] = "ada"
    assert browser.get("/coverage").text == f"{service.ok('/coverage')['series']} /coverage False"


def test_a_form_of_this_browser_is_believed(browser: Browser) -> None:
    browser.get("/form")
    assert browser.post("/form", {"said": "<b>hello</b>"}).text.endswith("&lt;b&gt;hello&lt;/b&gt;")


def test_a_token_is_good_for_one_browser_and_one_sign_in(app: Dashboard) -> None:
    theirs, ours = Browser(app), Browser(app)
    theirs.get("/form")
    ours.get("/form")
    ours.text = theirs.text
    assert ours.post("/form").status_code == 403
    theirs.cookies["almanac"] = "ada"  # signed in since: the token of before holds no longer
    assert theirs.post("/form").status_code == 403


def test_a_form_sent_by_another_site_is_refused(browser: Browser) -> None:
    browser.get("/form")
    assert browser.post("/form", **{"sec-fetch-site": "cross-site"}).status_code == 403
    assert browser.post("/form", **{"content-type": "text/plain"}).status_code == 403


def test_a_form_of_megabytes_is_refused(browser: Browser) -> None:
    browser.get("/form")
    answer = browser.post("/form", {"said": "x" * 100_000})
    assert answer.status_code == 413
    assert "65,536 bytes" in answer.text


def test_the_token_differs_from_page_to_page_so_that_lengths_tell_nothing(browser: Browser) -> None:
    assert browser.get("/form").text != browser.get("/form").text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/forbidden", 403),
        ("/notfound", 404),
        ("/nowhere", 404),
        ("/unavailableerror", 503),
        ("/zerodivisionerror", 500),
    ],
)
def test_errors_are_pages_and_tell_nothing_from_inside(browser: Browser, path: str, status: int) -> None:
    answer = browser.get(path)
    assert answer.status_code == status
    assert answer.text.startswith(f"{status}: ")
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["cache-control"] == "no-store"


def test_cookies_are_for_this_host_and_out_of_reach_of_scripts(app: Dashboard) -> None:
    near = Browser(app)
    near.get("/form")
    name, *flags = near.post("/signed-in").headers["set-cookie"].split("; ")
    assert (name, set(flags)) == ("almanac=ada", {"Path=/", "HttpOnly", "SameSite=lax", "Max-Age=60"})
    far = Browser(app, "https://data.example.org")
    far.get("/form")
    name, *flags = far.post("/signed-in").headers["set-cookie"].split("; ")
    assert (name, set(flags)) == ("__Host-almanac=ada", {"Path=/", "HttpOnly", "SameSite=lax", "Secure", "Max-Age=60"})
    assert far.get("/coverage").status_code == 200
    # One that plain HTTP could have set counts for nothing there.
    far.cookies = {"almanac": "ada"}
    assert far.get("/coverage").status_code == 303


def test_a_file_is_kept_for_good_under_its_hash(
    app: Dashboard, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("static")
    (folder / "js").mkdir()
    body = b"export const answer = 42;\n" * 100
    (folder / "js" / "shared.js").write_bytes(body)
    first = Statics(folder)
    address = first.address("js/shared.js")
    served = Browser(Starlette(routes=[Mount(first.base, first)]))
    for coding in ("gzip", "zstd", "identity"):
        answer = served.send("GET", address, headers={"accept-encoding": coding})
        content = zstandard.decompress(answer.content) if coding == "zstd" else answer.content
        assert content == body
        assert answer.headers.get("content-encoding", "identity") == coding
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["vary"] == "accept-encoding"
        assert (int(answer.headers["content-length"]) < len(body)) == (coding != "identity")
    (folder / "js" / "shared.js").write_text("export const answer = 43;\n" * 100)
    assert Statics(folder).address("js/shared.js") != address
    with pytest.raises(KeyError, match=r"other\.js"):
        first.address("other.js")


def test_what_first_visitors_would_wait_for_is_made_when_it_starts(service: Service) -> None:
    warmed: list[int] = []
    endpoint = Endpoint("/w", "w", "", lambda _: ItemAnswer(b"{}"), warm=lambda _, now: warmed.append(now))
    api = InProcessApi((endpoint,), b"c" * 32, service.reader.view, service.settings, clock=lambda: 7)
    sources = dict(TEMPLATES)
    templates = Environment(loader=DictLoader(sources), autoescape=True, auto_reload=False)
    people = Two()
    people.authentication = Authentication(service.accounts)
    made = Dashboard(PAGES, api, people, b"f" * 32, templates, Statics(), service.settings)
    made.warm()
    sources.clear()
    assert warmed == [7]
    assert templates.get_template("error.html").render(status=404, text="Gone") == "404: Gone"


# -- the cookies of a request: ours alone, and in time that grows with the header and no faster -----------------------


def test_ours_are_read_and_no_others() -> None:
    header = "theirs=1; almanac=abc;almanac-form=d=e ; __Host-almanac=g; almanac-theme=dark; x; =y; almanac-x=1"
    assert cookies.read(header) == {
        "almanac": "abc", "almanac-form": "d=e", "__Host-almanac": "g", "almanac-theme": "dark"
    }  # fmt: skip


def test_what_is_written_is_read_again() -> None:
    for secure in (True, False):
        made = cookies.form_cookie()
        response = Response()
        cookies.write(response, made, secure=secure)
        sent = response.headers["set-cookie"].partition(";")[0]
        assert cookies.read(f"a=b; {sent}") == {cookies.named(made.name, secure=secure): made.value}


def test_of_two_the_last_counts_and_of_what_is_too_long_none() -> None:
    assert cookies.read("almanac=a; almanac=b") == {"almanac": "b"}
    assert cookies.read(f"almanac={'a' * 201}") == {}
    assert cookies.read('almanac="\\101\\102"') == {"almanac": '"\\101\\102"'}


# -- pages ask the interface's own endpoints: the same data, rights, windows and refusals as over HTTP ----------------


@pytest.fixture(scope="module")
def api(service: Service) -> Iterator[InProcessApi]:
    return InProcessApi(
        service.endpoints,
        service.accounts.secret("cursor"),
        service.reader.view,
        service.settings,
        clock=service.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/observations", {"country": "USA", "limit": 7}),
        ("/observations", {"country": "USA", "indicator_id": ["cpi_index", "gov_yield_10y"], "as_of": "2024-05-01"}),
        ("/rates/USA", {}),
        ("/indicators/cpi_index", {}),
        ("/screener", {"filter": "gov_yield_10y:gt:1"}),
        ("/coverage", {}),
        ("/sources", {"limit": 3}),
    ],
)
@pytest.mark.parametrize("plan", ["free", "pro"])
def test_an_answer_is_the_one_a_program_gets(
    service: Service, api: InProcessApi, path: str, params: dict[str, object], plan: str
) -> None:
    wire = {name: ",".join(value) if isinstance(value, list) else value for name, value in params.items()}
    answer = service.get(path, plan, None, **wire)
    if answer.status_code != 200:
        with pytest.raises(ApiError) as refused:
            api.ask("acc_any", plan, path, params)
        assert (refused.value.status, refused.value.message) == (answer.status_code, answer.json()["error"]["message"])
        return
    told = api.ask("acc_any", plan, path, params)
    assert told.data == answer.json()["data"]
    assert told.meta.get("pagination", {}).get("total") == answer.json()["meta"].get("pagination", {}).get("total")
    assert told.version == int(answer.headers["x-data-version"])
    assert told.history_from == answer.headers.get("x-history-from")


def test_the_request_shown_gives_the_same_data(service: Service, api: InProcessApi) -> None:
    told = api.ask(
        "acc_any", "pro", "/observations", {"country": "USA", "as_of": "2025-01-01", "sort": None, "limit": 5}
    )
    assert told.request.path_and_query == "/observations?country=USA&as_of=2025-01-01&limit=5"
    assert service.get(told.request.path_and_query).json()["data"] == told.data
    assert told.request.curl("http://127.0.0.1:8000") == (
        'curl -H "x-api-key: $ALMANAC_API_KEY" "http://127.0.0.1:8000/observations?country=USA&as_of=2025-01-01&limit=5"'
    )


def test_pages_walk_by_the_cursors_of_the_interface(service: Service, api: InProcessApi) -> None:
    first = api.ask("acc_any", "pro", "/observations", {"country": "USA", "limit": 3})
    second = api.ask("acc_any", "pro", "/observations", {"country": "USA", "limit": 3, "cursor": first.next_cursor})
    assert first.data + second.data == service.ok("/observations", country="USA", limit=6)


@pytest.mark.parametrize(
    ("path", "params", "status", "named"),
    [
        ("/nowhere", {}, 404, "there is nothing at this path"),
        ("/rates/FRA", {}, 404, "AUS, CAN, CHE"),
        ("/observations", {"as_of": "2999-01-01"}, 400, "'as_of'"),
        ("/observations", {"contry": "USA"}, 400, "'contry'"),
        ("/observations", {"country": "USA", "end_date": "2001-01-01"}, 403, "'end_date'"),
    ],
)
def test_a_refusal_is_the_one_a_program_gets(
    api: InProcessApi, path: str, params: dict[str, object], status: int, named: str
) -> None:
    with pytest.raises(ApiError) as refused:
        api.ask("acc_any", "free", path, params)
    assert refused.value.status == status
    assert named in refused.value.message


def test_a_plan_that_is_gone_is_refused_by_name(api: InProcessApi) -> None:
    with pytest.raises(ApiError, match="'gold'"):
        api.ask("acc_any", "gold", "/coverage", {})


def test_all_that_a_page_asks_is_of_one_state(own: Service) -> None:
    """What is written between two questions of one page shows on the next page."""
    api = InProcessApi(
        own.endpoints, own.accounts.secret("cursor"), own.reader.view, own.settings, clock=own.settings.clock,
        walltime=lambda: REAL_NOW + 18.0,
    )  # fmt: skip
    with api.one_state():
        before = api.ask("acc_any", "pro", "/coverage")
        with own.world(
            SOURCES__FRED__CONSENT__BY="", SOURCES__FRED__CONSENT__ON="", SOURCES__FRED__CONSENT__REFERENCE=""
        ):
            pass  # taking a consent back is a data version
        after = api.ask("acc_any", "pro", "/coverage")
    assert before.version == after.version
    with api.one_state():
        assert api.ask("acc_any", "pro", "/coverage").version > before.version


def test_the_simulated_world_is_told_from_a_real_one(service: Service) -> None:
    with service.reader.view() as view:
        assert not is_simulated(view)
