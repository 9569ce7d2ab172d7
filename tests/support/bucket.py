"""A small server that speaks the part of S3 that Almanac uses, and does it badly where a test wants that."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, SECRET, BUCKET = "invented-key", "invented-secret-hunter2", "invented-bucket"


@dataclass
class Held:
    """What the server holds, and how it behaves. Names of objects are whole keys, prefix and all."""

    objects: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    #: Whether `If-None-Match: *` is looked at.
    conditional: bool = True
    #: Names on one page of a list, and whether they come from the last to the first.
    page: int = 3
    backwards: bool = False
    #: Objects that are written before every request fails with 503; None: never.
    writes_left: int | None = None
    #: Writes that are made and then not answered.
    unanswered: int = 0
    endpoint: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """What a client must be told. Who gives no key is referred to this server too, and not to the machine's host."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_METADATA_ENDPOINT": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }

    def put(self, name: str, content: bytes, *, new: bool) -> bool:
        """Whether it was written."""
        with self.lock:
            if new and self.conditional and name in self.objects:
                return False
            self.objects[name] = content
            if self.writes_left is not None:
                self.writes_left -= 1
            return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Head and body in one piece: in two, the second waits for a client that waits.
    wbufsize = -1
    held: Held

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", kind: str = "application/xml") -> None:
        self.send_response(status)
        for name, value in (("Content-Length", len(body)), ("Content-Type", kind), ("ETag", '"invented"')):
            self.send_header(name, str(value))
        self.send_header("Last-Modified", "Mon, 14 Sep 2026 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def _fault(self, status: int, code: str, message: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode())

    def _name(self) -> str | None:
        """Name of the object asked for, `` for the bucket itself; None: refused, and answered."""
        bucket, _, name = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        if f"Credential={KEY}/" not in self.headers.get("Authorization", ""):
            self._fault(403, "InvalidAccessKeyId", "The key is not known.")
        elif self.held.writes_left == 0:
            self._fault(503, "SlowDown", "Not now.")
        elif bucket != BUCKET:
            self._fault(404, "NoSuchBucket", "The bucket does not exist.")
        else:
            return name
        return None

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        name = self._name()
        if name is None:
            return
        if not self.held.put(name, content, new=self.headers.get("If-None-Match") == "*"):
            self._fault(412, "PreconditionFailed", "It is there.")
        elif self.held.unanswered:
            self.held.unanswered -= 1
            self.close_connection = True
        else:
            self._answer(200)

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if not name:
            self._list({key: one for key, (one,) in parse_qs(urlsplit(self.path).query).items()})
        elif name in self.held.objects:
            self._answer(200, self.held.objects[name], "application/octet-stream")
        else:
            self._fault(404, "NoSuchKey", "The key does not exist.")

    def _list(self, asked: dict[str, str]) -> None:
        held = self.held
        names = sorted((one for one in held.objects if one.startswith(asked.get("prefix", ""))), reverse=held.backwards)
        start = int(asked.get("continuation-token", 0))
        rows = "".join(
            f"<Contents><Key>{escape(one)}</Key><Size>{len(held.objects[one])}</Size>"
            "<LastModified>2026-09-14T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
            for one in names[start : start + held.page]
        )
        more = start + held.page < len(names)
        token = f"<NextContinuationToken>{start + held.page}</NextContinuationToken>" if more else ""
        self._answer(
            200,
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{rows}</ListBucketResult>".encode(),
        )


@contextmanager
def bucket() -> Iterator[Held]:
    """A server on loopback that holds one empty bucket."""
    held = Held()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"held": held}))
    server.daemon_threads = True
    held.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
