"""The built site in a browser: it asks nobody else for anything, and fits a phone and a desk."""

import contextlib
import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.browser]
LOOKED_AT = (
    "index.html", "start.html", "tutorials/first-series.html", "reference/index.html",
    "reference/listObservations.html", "interface.html", "settings.html", "architecture.html",
)  # fmt: skip


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told):
        """Nothing is told of requests."""


@pytest.fixture(scope="module")
def address(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def opened(chromium, address, width):
    """A page of this width, and what it complained of or asked of others."""
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page, told = context.new_page(), []
    page.on(
        "request", lambda asked: None if asked.url.startswith((address, "data:", "blob:")) else told.append(asked.url)
    )
    page.on("response", lambda given: told.append(given.url) if given.status >= 400 else None)
    page.on("console", lambda said: told.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    yield page, told
    context.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_fit_and_load_nothing_from_elsewhere(chromium, address, width):
    with opened(chromium, address, width) as (page, told):
        for name in LOOKED_AT:
            page.goto(f"{address}/{name}")
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        assert told == []


def test_search_finds_an_operation_by_its_name(chromium, address):
    with opened(chromium, address, 1440) as (page, told):
        page.goto(f"{address}/index.html")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("Control+k")
        page.keyboard.type("listVintages")
        page.get_by_text("GET /observations/vintages").first.wait_for()
        assert told == []
