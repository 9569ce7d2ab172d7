"""A chart in somebody else's page: taken along by pointer and by keys, shown where it is allowed and nowhere else."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.servers import free_port

from .addresses import COMPARED, PRICES
from .conftest import DESK, PHONE, Served, Visitor, readable

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@contextlib.contextmanager
def a_site(origin: str, markup: str) -> Iterator[None]:
    """A page of somebody else's at an origin on this machine, with some markup in it."""
    body = f'<!doctype html><html lang="en"><title>A blog</title><h1>A blog</h1>{markup}</html>'.encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", urlsplit(origin).port or 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def markup_of(one: Visitor, path: str) -> str:
    """What a reader copies from below a chart, by the keyboard alone."""
    one.go(path)
    one.page.locator("details.embed summary").focus()
    one.page.keyboard.press("Enter")
    code = one.page.locator("#embed-markup")
    code.wait_for()
    return str(code.inner_text())


def _of_ours(said: Any, served: Served) -> bool:
    """Whether an error is of what the dashboard sent: a browser also looks for the blog's own icon."""
    return said.type in {"error", "warning"} and said.location.get("url", "").startswith(served.dashboard)


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
@pytest.mark.parametrize("path", [f"/series/{PRICES}?as_of=2026-08-31", COMPARED])
def test_a_chart_is_taken_along_and_shown(
    served: Served, visitor: Callable[..., Visitor], chromium: Any, width: int, scheme: str, path: str
) -> None:
    taken = visitor("pro", width, scheme=scheme)
    markup = markup_of(taken, path)
    assert taken.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    complaints: list[str] = []
    with a_site(served.names["blog"], markup):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        try:
            page = context.new_page()
            page.on("console", lambda said: complaints.append(said.text) if _of_ours(said, served) else None)
            page.goto(served.names["blog"])
            frame = page.frame_locator("iframe")
            chart = frame.locator("svg.chart:visible").first
            chart.wait_for()
            # Whole within the frame, and read by keys as at home.
            inner = page.frames[1]
            readable(inner)
            assert inner.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            frame.locator("[data-chart]").first.focus()
            page.keyboard.press("End")
            inner.wait_for_function("() => document.querySelector('.readout').textContent")
            text = frame.locator("main").inner_text().replace("\xa0", " ")
            assert "Licence:" in text
            assert ("As known on 31 Aug 2026." if "as_of" in path else "As known today,") in text
            # The way back opens beside the page, and leads to the door: this reader has no account.
            with context.expect_page() as opened:
                frame.get_by_role("link", name="Table, revisions and lineage").click()
            opened.value.wait_for_url("**/signin?next=**")
            assert context.cookies(served.dashboard) == [] or {one["name"] for one in context.cookies()} == {
                "almanac-form"
            }
        finally:
            context.close()
    assert complaints == []


def test_another_site_gets_an_empty_frame(served: Served, visitor: Callable[..., Visitor], chromium: Any) -> None:
    markup = markup_of(visitor("pro"), f"/series/{PRICES}")
    other = f"http://127.0.0.1:{free_port()}"
    said: list[str] = []
    with a_site(other, markup):
        context = chromium.new_context()
        try:
            page = context.new_page()
            page.on("console", lambda one: said.append(one.text))
            page.goto(other)
            page.wait_for_event("console", lambda one: "frame-ancestors" in one.text) if not any(
                "frame-ancestors" in one for one in said
            ) else None
            assert page.frame_locator("iframe").locator("svg.chart").count() == 0
        finally:
            context.close()
    assert any("frame-ancestors" in one and served.names["blog"] in one for one in said)
