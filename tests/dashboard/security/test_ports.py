"""Two doors: the interface's serves no page, and the dashboard's gives nothing for a key."""

import pytest

from .conftest import ADA, PAGES, Two, address

ACCEPT = {"accept": "text/html,application/xhtml+xml"}


@pytest.mark.parametrize("key", [None, "pro"])
def test_the_interface_serves_no_page(two: Two, key: str | None) -> None:
    service = two.house.service
    cookies = two.browser(ADA).cookies
    cookie = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    paths = [
        *{
            address(page, id="x", name="japan", slug="policy_rate", scope="USA", token="x", deed="plan")
            for page in PAGES
        },
        "/static/x/app.css",
    ]
    for path in paths:
        for method in ("GET", "POST"):
            answer = service.request(method, path, key, headers={**ACCEPT, **cookie})
            if path != "/":  # says in one sentence where the dashboard is
                assert not answer.headers.get("content-type", "").startswith("text/html"), path
            assert "<html" not in answer.text, path
            assert "<form" not in answer.text, path
            assert "set-cookie" not in answer.headers, path
            # A web session is no key.
            if key is None and path not in {"/", "/openapi.json"}:
                assert answer.status_code in {401, 404, 405}, (path, answer.status_code)


def test_the_dashboard_gives_nothing_for_a_key(two: Two) -> None:
    key = two.house.service.keys["pro"]
    shapes = (
        {"x-api-key": key},
        {"authorization": f"Bearer {key}"},
        {"cookie": f"almanac={key}"},
        {"x-api-key": key, "accept": "application/json"},
    )
    paths = [address(page) for page in PAGES]
    paths += [endpoint.path for endpoint in two.house.service.endpoints]
    for headers in shapes:
        for path in paths:
            bare = two.browser(None).send("GET", path)
            keyed = two.browser(None).send("GET", path, headers=headers)
            assert keyed.status_code == bare.status_code, path
            assert keyed.headers.get("location") == bare.headers.get("location"), path
            assert keyed.headers.get("content-type") != "application/json", path
            assert key not in keyed.text, path
            if keyed.status_code == 200:
                assert '"data"' not in keyed.text, path
