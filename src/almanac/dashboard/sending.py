"""What goes over the wire: headers of every answer, and status, headers and body of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec
from starlette.types import Send

from almanac.dashboard.statics import Static
from almanac.dashboard.visit import Download, Html, Redirect, leads_here

Header = tuple[bytes, bytes]

#: No nonce and no exception: what templates and scripts do without is tested.
CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

#: Who may have a page in a frame: an origin as the settings check it.
_FRAMES = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")

#: Says the same to old browsers as `frame-ancestors 'none'`, and cannot name an origin.
_NO_FRAME: Header = (b"x-frame-options", b"DENY")
_OTHERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_ALWAYS: tuple[Header, ...] = ((b"content-security-policy", CONTENT_SECURITY_POLICY.encode()), *_OTHERS, _NO_FRAME)
#: A year. Said only where the page came by TLS: over plain HTTP a browser must ignore it.
_STAY_WITH_TLS: Header = (b"strict-transport-security", b"max-age=31536000")


def headers(*, secure: bool, frames: Sequence[str] = ()) -> tuple[Header, ...]:
    """
    Return the headers that every answer carries. Pages of the origins in `frames` may have this one in a frame. Raises
    ValueError for text that is no origin.
    """
    always = _ALWAYS
    if frames:
        for origin in frames:
            if not _FRAMES.fullmatch(origin):
                raise ValueError(f"no page may be in a frame of {origin!r}")
        policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", " ".join(("frame-ancestors", *frames)))
        always = ((b"content-security-policy", policy.encode()), *_OTHERS)
    return (*always, _STAY_WITH_TLS) if secure else always


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
