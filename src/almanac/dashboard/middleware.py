"""Headers of every answer: what a browser may do with it, and the id of its request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from almanac.api.server.request import new_id

#: No nonce and no exception: what templates and scripts do without is tested.
CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
#: An origin as the settings check it.
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def frame_policy(origins: Sequence[str]) -> str:
    """
    Return the content security policy of a page that pages of `origins` may have in a frame. Raises ValueError for text that is
    no origin.
    """
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(f"no page may be in a frame of {origin!r}")
    return CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", " ".join(("frame-ancestors", *origins)))


class CommonHeaders:
    """
    Add the security headers and the request id to every answer. A response that has a content security policy keeps it.

    `request_id` and `secure` in the scope's state are for the pages: cookies are for TLS alone, except on loopback, where browser
    and server are one machine.
    """

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app, self._https = app, https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        secure = self._https or (host.rpartition(":")[0] or host).strip("[]") not in _LOOPBACK
        request_id = new_id().decode()
        scope["state"] = {**scope.get("state", {}), "request_id": request_id, "secure": secure}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                headers.update(_SECURITY)
                headers.setdefault("cache-control", "no-store")
                if "content-security-policy" not in headers:
                    headers["content-security-policy"] = CONTENT_SECURITY_POLICY
                    # Says the same to old browsers as `frame-ancestors 'none'`, and cannot name an origin.
                    headers["x-frame-options"] = "DENY"
                if secure:
                    # A year. Over plain HTTP a browser must ignore it.
                    headers["strict-transport-security"] = "max-age=31536000"
            elif scope["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        await self.app(scope, receive, send_with_headers)
