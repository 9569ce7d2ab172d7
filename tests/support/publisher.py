"""A publisher on this machine that stands for all others: requests to any host come to it. All content is invented."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import httpx2

from tests.support.loopback import LoopbackServer

#: What is answered to the path and query asked: status, body, and further headers.
Answer = Callable[[str], tuple[int, bytes, dict[str, str]]]


class Publisher(LoopbackServer):
    """Listens on a free port of 127.0.0.1 and writes down what is asked. Use as a context manager."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                status, body, headers = outer.answer(self.path)
                self.send_response(status)
                for name, value in {
                    "content-type": "application/xml",
                    "content-length": str(len(body)),
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)


class ToLoopback(httpx2.BaseTransport):
    """Whatever host is asked, the publisher on this port answers."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._plain = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._port)
        return self._plain.handle_request(request)

    def close(self) -> None:
        self._plain.close()


#: The same in a process of its own: Python that runs before a command. `{port}` is the publisher's.
REDIRECTED = """
import sys
sys.path.insert(0, {root!r})
from functools import partial
from tests.support.publisher import ToLoopback
from almanac.pipeline.ingest import asking
asking.Fetcher = partial(asking.Fetcher, transport=ToLoopback({port}))
"""
