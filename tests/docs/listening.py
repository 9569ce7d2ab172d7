"""The small world behind a real address on loopback, for code of the pages that opens connections of its own."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tools.docs.served import Service

#: Headers that are of a connection, not of an answer.
_OF_THE_WAY = {"content-length", "content-encoding", "transfer-encoding", "connection", "date", "server"}


@contextlib.contextmanager
def listening(service: Service) -> Iterator[str]:
    """The address at which the service answers until the end of the block, one request after another."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with turn:
                answer = service.ask("GET", self.path, headers=dict(self.headers.items()))
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                if name not in _OF_THE_WAY:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_request(self, code: object = "", size: object = "") -> None:
            """Nothing is told of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
