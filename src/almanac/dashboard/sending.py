"""What goes over the wire: status, headers and body of an answer, compressed where the browser says it can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from starlette.types import Send

from almanac.dashboard.policy import Header
from almanac.dashboard.statics import Static
from almanac.dashboard.visit import Download, Html, Redirect, leads_here

_FOR_GOOD = b"public, max-age=31536000, immutable"
#: A page of somebody signed in is asked for anew each time; what was shown once is kept nowhere.
_ANEW, _NOWHERE = b"private, no-cache", b"no-store"


class Sent(msgspec.Struct):
    """An answer, ready but for the headers that all have."""

    status: int
    headers: list[Header]
    body: bytes = b""
    #: Whose pages may show it in a frame.
    frames: tuple[str, ...] = ()

    @classmethod
    def file(cls, file: Static, asked: dict[bytes, bytes]) -> Sent:
        headers = [(b"content-type", file.media_type.encode()), (b"cache-control", _FOR_GOOD)]
        headers.append((b"vary", b"accept-encoding"))
        offered = asked.get(b"accept-encoding", b"").decode("latin-1")
        for name in ("zstd", "gzip"):
            if name in offered and name in file.coded:
                return cls(200, [*headers, (b"content-encoding", name.encode())], file.coded[name])
        return cls(200, headers, file.body)

    @classmethod
    def redirect(cls, answer: Redirect, own: Iterable[Header]) -> Sent:
        """To an address of ours alone. Raises ValueError for any other."""
        if not leads_here(answer.to):
            raise ValueError(f"not an address of the dashboard: {answer.to!r}")
        return cls(answer.status, [(b"location", answer.to.encode("latin-1")), (b"cache-control", _NOWHERE), *own])

    @classmethod
    def refusal(cls, status: int, text: str, wait: int | None = None) -> Sent:
        """A sentence in place of a page: what is refused must cost less than what was asked for. `wait`: seconds."""
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", _NOWHERE)]
        if wait is not None:
            headers.append((b"retry-after", b"%d" % wait))
        return cls(status, headers, f"{text}\n".encode())

    @classmethod
    def download(cls, answer: Download, own: Iterable[Header]) -> Sent:
        headers = [(b"content-type", answer.media_type.encode()), (b"cache-control", _ANEW), *own]
        if answer.filename is not None:
            headers.append((b"content-disposition", f'attachment; filename="{answer.filename}"'.encode("latin-1")))
        return cls(answer.status, headers, answer.body)

    @classmethod
    def page(cls, body: bytes, answer: Html, own: Iterable[Header], *, signed_in: bool) -> Sent:
        kept = _NOWHERE if answer.secret or not signed_in or answer.status != 200 else _ANEW
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", kept), *own]
        headers.append((b"vary", b"cookie, accept-encoding"))
        return cls(answer.status, headers, body, answer.frames)


async def send_answer(send: Send, sent: Sent, method: str, always: Sequence[Header]) -> None:
    """Send it. A HEAD gets the headers alone."""
    headers = [*sent.headers, *always, (b"content-length", b"%d" % len(sent.body))]
    await send({"type": "http.response.start", "status": sent.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else sent.body})
