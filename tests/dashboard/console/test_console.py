"""The reference: all operations without script, the vendored Swagger UI beside it, and a policy that gives way by a hair."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from almanac.dashboard import policy
from almanac.dashboard.app import Dashboard
from almanac.dashboard.statics import Statics
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

OPEN = "http://127.0.0.1:8001"


@pytest.fixture(scope="module")
def app(service: Service) -> Dashboard:
    return dashboard(service)


@pytest.fixture
def browser(app: Dashboard) -> Browser:
    return signed_in(app)


def directives(header: str) -> dict[str, str]:
    return dict(one.strip().split(" ", 1) for one in header.split(";"))


def test_the_description_is_the_interfaces(browser: Browser, service: Service) -> None:
    answer = browser.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == service.get("/openapi.json").content


@pytest.mark.parametrize("path", ["/console", "/console/swagger", "/openapi.json"])
def test_it_is_for_people_signed_in(app: Dashboard, path: str) -> None:
    assert Browser(app).get(path).status_code == 303


def test_every_operation_and_parameter_is_there_without_script(browser: Browser, service: Service) -> None:
    text = browser.get("/console").text
    document = service.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        one = methods["get"]
        start = text.index(f'<details class="operation" id="{one["operationId"]}">')
        own = text[start : text.index("</details>", start)]
        assert f"GET {path}</code>" in own
        told = re.findall(r"<dt><code>([^<]+)</code>", own)
        assert told == [row["name"] for row in one["parameters"]]


def test_the_plain_list_loads_nothing_more_than_other_pages(browser: Browser) -> None:
    answer = browser.get("/console")
    assert "swagger-ui" not in answer.text
    assert answer.headers["content-security-policy"] == policy.CONTENT_SECURITY_POLICY


def test_swagger_ui_alone_may_show_images_that_its_style_holds(browser: Browser) -> None:
    answer = browser.get("/console/swagger")
    found = directives(answer.headers["content-security-policy"])
    assert found == directives(policy.CONTENT_SECURITY_POLICY) | {"img-src": "'self' data:"}
    assert browser.get("/console").headers["content-security-policy"] == policy.CONTENT_SECURITY_POLICY


def test_it_sends_nothing_where_the_interface_would_not_answer(browser: Browser) -> None:
    text = browser.get("/console/swagger").text
    assert 'data-sends="no"' in text
    assert "ALMANAC_CORS_ORIGINS" in text


@pytest.mark.parametrize("allowed", [OPEN, "*"])
def test_it_sends_to_the_interface_where_that_names_the_dashboard(service: Service, allowed: str) -> None:
    one = Service(service.home, {"CORS_ORIGINS": allowed, "BASE_URL": "https://api.example.org"})
    try:
        answer = signed_in(dashboard(one)).get("/console/swagger")
    finally:
        one.close()
    assert 'data-sends="yes"' in answer.text
    found = directives(answer.headers["content-security-policy"])
    assert found["connect-src"] == "'self' https://api.example.org"
    assert found["script-src"] == "'self'"


def test_the_script_asks_by_get_alone_and_keeps_no_key() -> None:
    body = Statics()
    found = body.find(body.address("js/console.js"))
    assert found is not None
    text = found.body.decode()
    assert 'supportedSubmitMethods: sends ? ["get"] : []' in text
    assert "validatorUrl: null" in text
    assert "persistAuthorization: false" in text
    assert "queryConfigEnabled: false" in text


@pytest.mark.parametrize(
    "loads",
    [
        {"script-src": ("data:",)}, {"script-src": ("'unsafe-inline'",)}, {"img-src": ("*",)}, {"connect-src": ("*",)},
        {"img-src": ("data:; script-src *",)}, {"connect-src": ("https://a.example; script-src *",)}, {"default-src": ("'self'",)},
    ],
)  # fmt: skip
def test_no_page_may_loosen_more(loads: policy.Loads) -> None:
    with pytest.raises(ValueError, match="no page may have"):
        policy.headers(secure=True, loads=loads)


def test_a_loosened_policy_stays_one_header() -> None:
    found = policy.headers(secure=True, loads={"img-src": ("data:",)})
    assert [name for name, _ in found] == [name for name, _ in policy.headers(secure=True)]


def test_the_document_of_another_path_is_refused(app: Dashboard) -> None:
    from almanac.api.contract.errors import ApiError

    for path in ("/coverage", "/observations", "/nowhere"):
        with pytest.raises(ApiError):
            app._api.document(path)
    assert msgspec.json.decode(app._api.document("/openapi.json"))["openapi"] == "3.1.0"


def test_all_that_the_page_names_is_served(browser: Browser) -> None:
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', browser.get("/console/swagger").text):
        assert browser.get(address).status_code == 200, Path(address).name
