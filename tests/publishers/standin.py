"""
The stand-in for all publishers: one server on loopback with a room for each, that keeps their rules and counts.

Every request to any host comes here (`Way`), with a clock that answers move on. What is asked beyond a publisher's rules
is answered as it would answer, and written down.
"""

import hashlib
import math
import random
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler

import httpx2

from almanac.pipeline.ingest import asking
from almanac.sources.transport.http import Fetcher
from tests.publishers.clock import SimulatedClock
from tests.publishers.room import Asked, Reply, Room
from tests.support.loopback import LoopbackServer

#: What happens beside the rules: sees what was asked of which room and what it would answer, and answers in its place.
Trouble = Callable[[Room, Asked, Reply], Reply]


@dataclass(frozen=True)
class Logged:
    """One request: when, of whom, what, and how it was answered."""

    at: float
    room: str
    url: str
    status: int
    #: Whether it was no answer of any use: refused, broken off, an error of the publisher's.
    failed: bool


class StandIn(LoopbackServer):
    """Listens on a free port of 127.0.0.1. Use as a context manager."""

    def __init__(self, rooms: Sequence[Room], clock: SimulatedClock) -> None:
        self.clock = clock
        self.rooms = {room.name: room for room in rooms}
        self._by_host = {host: room for room in rooms for host in room.hosts}
        #: What went wrong by the rules: limits broken, hosts without a room. None may be.
        self.broken: list[str] = []
        self.log: list[Logged] = []
        #: Room → native code → when it was fetched, and the release of its newest figure then, where that was a newer one.
        self.fetched: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
        self.trouble: list[Trouble] = []
        #: Times of requests by room, and until when a room shuts out.
        self._asked: dict[str, deque[float]] = defaultdict(deque)
        self._shut: dict[str, float] = {}
        #: Answers that a room prepares: from when on each can be had.
        self._ready: dict[str, float] = {}
        self._under_way: tuple[str, Reply] | None = None
        super().__init__(self._handler())

    def reply(self, asked: Asked) -> Reply:
        """The answer to a request, by the rules of whom it goes to."""
        room = self._by_host.get(asked.host)
        if room is None:
            self.broken.append(f"{asked.host} has no room: {asked.url}")
            return Reply(b"no such host", "text/plain", 502)
        reply = self._refusal(room, asked) or self._answer(room, asked)
        self.log.append(Logged(asked.now, room.name, asked.url, reply.status, reply.failed))
        self.clock.sleep(room.rules.seconds)
        return reply

    def _answer(self, room: Room, asked: Asked) -> Reply:
        for before, after in room.rules.moved.items():
            if asked.path.startswith(before):
                return Reply(b"", status=301, headers={"location": asked.url.replace(before, after, 1)})
        reply = room.answer(asked)
        most, wait = room.rules.prepares or (math.inf, 0.0)
        if reply.values >= most and asked.now < self._ready.setdefault(asked.url, asked.now + wait):
            reply = room.preparing
        for trouble in self.trouble:
            reply = trouble(room, asked, reply)
        if reply.status == 200 and not reply.cut:
            reply = self._stated(room, asked, reply)
        self._under_way = room.name, reply
        return reply

    def arrived(self) -> None:
        """The last answer was taken whole."""
        if self._under_way is not None:
            name, reply = self._under_way
            if reply.status in {200, 304} and not reply.cut:
                for native, newest in reply.series.items():
                    held = self.fetched[name][native]
                    if not held or held[-1][1] < newest:
                        held.append((self.clock.now, newest))
        self._under_way = None

    def _refusal(self, room: Room, asked: Asked) -> Reply | None:
        """What is answered to who asks too often, or does not say who asks."""
        rules, now = room.rules, asked.now
        if now < self._shut.get(room.name, 0.0):
            self.broken.append(f"{room.name} is asked at {_written(now)} while it shuts out")
            return Reply(b"Forbidden", "text/html", 403)
        agent = asked.headers.get("user-agent", "")
        if (rules.named and "(" not in agent) or (rules.contact and "@" not in agent):
            return Reply(b"<html>Access Denied</html>", "text/html", 403)
        keyed = any(name in asked.query for name in ("api_key", "registrationkey"))
        limits = rules.limits_with_key if keyed and rules.limits_with_key is not None else rules.limits
        before = self._asked[room.name]
        before.append(now)
        for count, seconds in limits:
            within = sum(at > now - seconds for at in before)
            if within > count:
                self.broken.append(f"{room.name}: {within} requests within {seconds:.0f} s at {_written(now)}")
                if rules.shut_out:
                    self._shut[room.name] = now + rules.shut_out
                more = {} if rules.retry_after is None else {"retry-after": str(rules.retry_after)}
                return Reply(b"too many requests", "text/plain", rules.over, more)
        while before and before[0] < now - 90_000:
            before.popleft()
        return None

    def _stated(self, room: Room, asked: Asked, reply: Reply) -> Reply:
        """The answer with what it says of its state; 304 for who has it."""
        headers = dict(reply.headers)
        if room.rules.etag:
            headers["etag"] = tag = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
            if asked.headers.get("if-none-match") == tag:
                return replace(reply, body=b"", status=304, headers=headers)
        if room.rules.last_modified and reply.changed is not None:
            headers["last-modified"] = format_datetime(datetime.fromtimestamp(int(reply.changed), UTC), usegmt=True)
            since = asked.headers.get("if-modified-since")
            if since and parsedate_to_datetime(since).timestamp() >= int(reply.changed):
                return replace(reply, body=b"", status=304, headers=headers)
        return replace(reply, headers=headers)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # header and body together, else each waits for the other's acknowledgement

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                url = f"https://{headers.get('host', '')}{self.path}"
                try:
                    reply = stand_in.reply(Asked(url, headers, stand_in.clock.now))
                except Exception as error:
                    stand_in.broken.append(f"{url}: {type(error).__name__}: {error}")
                    reply = Reply(repr(error).encode(), "text/plain", 500)
                self.send_response(reply.status)
                for name, value in {"content-type": reply.media, **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
                self.close_connection = reply.cut
                self.wfile.flush()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class Way(httpx2.BaseTransport):
    """Leads every request, whatever its host, to the stand-in, and gives up where an answer takes too long by its clock."""

    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in
        self._plain = httpx2.HTTPTransport(verify=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        began = self._stand_in.clock.now
        patience = request.extensions.get("timeout", {}).get("read")
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._stand_in.port)
        response = self._plain.handle_request(request)
        if patience is not None and self._stand_in.clock.now - began > patience:
            response.close()
            self._stand_in.clock.now = began + patience
            raise httpx2.ReadTimeout("the stand-in took too long", request=request)
        self._stand_in.arrived()
        return response

    def close(self) -> None:
        self._plain.close()


def fetcher(stand_in: StandIn) -> Callable[..., Fetcher]:
    """Makes fetchers as the pipeline does, whose requests go to the stand-in and whose time is its clock's."""
    clock = stand_in.clock
    jitter = random.Random(1).random

    def made(http: object, **more: object) -> Fetcher:
        own = {"clock": clock, "wall": clock, "sleep": clock.sleep, "jitter": jitter, "transport": Way(stand_in)}
        return Fetcher(http, **{**more, **own})  # type: ignore[arg-type]  # as the pipeline calls it

    return made


def lead(stand_in: StandIn, patch: Callable[[object, str, object], None]) -> None:
    """Have the pipeline ask the stand-in. `patch` is a test's `monkeypatch.setattr`."""
    patch(asking, "Fetcher", fetcher(stand_in))


def _written(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
