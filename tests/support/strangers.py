"""Strangers before a listener: requests as no program sends them, and connections that come to wait."""

from __future__ import annotations

import contextlib
import random
import resource
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import quote

#: Pieces that texts from outside are made of.
_TEXTS = [
    "", "0", "1", "-1", "9" * 30, "a", "x" * 300, "%00", "%0d%0a", "%ff", "%", "%2e%2e", "..", "//evil.example", "\\", "<b>", "'", '"', ";", "&",
    "=", "%C3%A9", "%F0%9F%92%A9", "%ED%A0%80", "null", "true", "NaN", "1e999", "a:gt:1", "USA", "cpi_index", "{}", "[]", "*", "~", "+" * 50,
    "," * 60, ":" * 60, "gov_yield_10y:gt:0", "%E2%80%AE", "acme", "desc", "next", "page", "2",
]  # fmt: skip
_HEADERS = [
    b'cookie: a="' + rb"\1" * 500 + b'"', b"cookie: almanac=x; almanac-form=" + b"y" * 300, b"cookie: ;;;=;", b"accept-encoding: zstd, gzip;q=0",
    b"accept-encoding: \xff", b"if-none-match: *", b'if-none-match: "x", W/"y"', b"x-forwarded-for: 1.2.3.4, ::1, \xff", b"range: bytes=0-1",
    b"origin: null", b"origin: https://evil.example", b"access-control-request-method: GET", b"authorization: Bearer \xff\xfe", b"accept: text/html",
    b"x-api-key: alm_x", b"x-request-id: \xc3\xa9" + b"z" * 300, b"content-type: text/plain", b"sec-fetch-site: cross-site", b"expect: 100-continue",
    b"te: trailers", b"upgrade: websocket", b"accept-language: *", b"user-agent: " + b"u" * 900,
]  # fmt: skip
_METHODS = ["GET"] * 12 + ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X"]


class Asked:
    """Requests to one listener over connections that are kept while they last, and what they were answered, by status."""

    def __init__(
        self, port: int, paths: Sequence[str], names: Sequence[str], own: Sequence[bytes] = (), seed: int = 1
    ) -> None:
        """`paths` may have names in braces; `names` are those of parameters; `own`: headers of somebody who is known."""
        self._port, self._paths, self._names, self._own = port, paths, names, own
        self._chance = random.Random(seed)
        self._connection: socket.socket | None = None
        self.statuses: Counter[int] = Counter()
        #: Requests that were answered 5xx.
        self.faults: list[bytes] = []

    def send(self, count: int) -> None:
        for _ in range(count):
            request = self._request()
            status = self._answer(request)
            self.statuses[status] += 1
            if status >= 500:
                self.faults.append(request[:2_000])
        self._close()

    def _request(self) -> bytes:
        chance = self._chance
        path = chance.choice(self._paths)
        while "{" in path:
            before, _, rest = path.partition("{")
            path = before + chance.choice(_TEXTS) + rest.partition("}")[2]
        if chance.random() < 0.1:
            place = chance.randrange(len(path) + 1)
            path = path[:place] + chance.choice(_TEXTS) + path[place:]
        query = [
            f"{chance.choice(self._names)}={chance.choice(_TEXTS)}" for _ in range(chance.choice([0, 0, 1, 1, 2, 4]))
        ]
        target = quote(
            "/" + path.lstrip("/") if chance.random() < 0.95 else path or "*", safe="/%:\\\\,=&;~*+'@!$()[]{}\"<>^|`"
        )
        target = "".join(c for c in target if "!" <= c <= "~" and c not in '"<>^`{|}\\\\') or "/"
        joined = "&".join(query).replace('"', "%22").replace("<", "%3C").replace(">", "%3E")
        method = chance.choice(_METHODS)
        head = [f"{method} {target}{'?' + joined if query else ''} HTTP/1.1".encode(), b"host: 127.0.0.1:1"]
        head += chance.sample(_HEADERS, chance.choice([0, 0, 0, 1, 2, 5]))
        if chance.random() < 0.8:
            head += self._own
        body = b""
        if method in {"POST", "PUT", "PATCH"}:
            body = chance.choice(
                [
                    b"",
                    b"csrf=x&a=b",
                    b"{}",
                    b"\xff" * 300,
                    b"&" * 3_000,
                    b'{"jsonrpc":"2.0","id":1,"method":"x"}',
                    b"x" * 70_000,
                ]
            )
            head.append(b"content-length: %d" % len(body))
            head.append(
                chance.choice([b"content-type: application/x-www-form-urlencoded", b"content-type: application/json"])
            )
        return b"\r\n".join(head) + b"\r\n\r\n" + body

    def _answer(self, request: bytes) -> int:
        """The status; 0 where the connection ended without any, as after a head that the server does not read."""
        for _ in range(2):  # the connection may have been closed after the last answer
            fresh = self._connection is None
            with contextlib.suppress(OSError):
                if self._connection is None:
                    self._connection = socket.create_connection(("127.0.0.1", self._port), timeout=60)
                self._connection.sendall(request)
            status = self._read(head_only=request.startswith(b"HEAD"))
            if status or fresh:
                return status
        return 0

    def _read(self, *, head_only: bool) -> int:
        if self._connection is None:
            return 0
        got = b""
        with contextlib.suppress(ConnectionError):
            while b"\r\n\r\n" not in got and (piece := self._connection.recv(65_536)):
                got += piece
            if got.startswith(b"HTTP/1.1 100 "):  # another follows
                got = got.partition(b"\r\n\r\n")[2] if b"\r\n\r\n" in got else got
        head, _, body = got.partition(b"\r\n\r\n")
        if not head:
            self._close()
            return 0
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        left = 0 if head_only else int(fields.get(b"content-length", b"0")) - len(body)
        while left > 0 and (piece := self._connection.recv(65_536)):
            left -= len(piece)
        if fields.get(b"connection") == b"close" or b"transfer-encoding" in fields:
            self._close()
        return int(head.split()[1])

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def room(number: int) -> bool:
    """Whether this process may open as many files, now at least."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number:
        if hard != resource.RLIM_INFINITY and hard < number:
            return False
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    return True


@contextlib.contextmanager
def waiting(port: int, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that say something and then wait, opened as fast as they can be."""
    with contextlib.ExitStack() as held:
        found = []
        chosen = held.enter_context(selectors.DefaultSelector())
        for _ in range(count):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(("127.0.0.1", port))
            found.append(one)
            if said:
                chosen.register(one, selectors.EVENT_WRITE)
        begun = time.monotonic()
        while said and chosen.get_map() and time.monotonic() < begun + 20:
            for key, _ in chosen.select(0.5):
                with contextlib.suppress(OSError):
                    key.fileobj.send(said)  # type: ignore[union-attr]  # a socket, as above
                chosen.unregister(key.fileobj)
        yield found


def hung_up(port: int, count: int, request: bytes) -> None:
    """Connections whose clients leave as soon as they have asked."""
    for _ in range(count):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=30) as one:
            one.sendall(request)


def took(port: int, request: bytes, expected: set[int], times: int) -> list[float]:
    """How long another client waits for an answer, connecting included, so many times; seconds, the shortest first."""
    found = []
    for _ in range(times):
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
            one.sendall(request)
            status = int(one.recv(65_536).split()[1])
        found.append(time.monotonic() - begun)
        assert status in expected, status
    return sorted(found)
