"""HTTP: the host names under which the server answers, and the refusal of requests without a key."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .caller import NoKeyError, key_of
from .server import AlmanacServer

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: A call of a tool is a few hundred bytes.
_MOST_BODY = 256 * 1024


def security(hosts: Sequence[str], origins: Sequence[str] = ()) -> TransportSecuritySettings:
    """
    Build the settings for allowed host names, which keep a page in a browser from reaching the server under a name of
    its own (DNS rebinding).

    A host stands for itself and for any port of it. Requests of browser pages are refused, except from `origins` and
    from this machine.
    """
    named = [*LOOPBACK, *hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*named, *(f"{host}:*" for host in named if not _has_port(host))],
        allowed_origins=[
            *(f"http://{host}:*" for host in LOOPBACK),
            *(f"http://{host}" for host in LOOPBACK),
            *origins,
        ],
    )


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


class Keyed:
    """Middleware that answers 401 to a request without a key. The interface judges whether the key is valid."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                found = key_of(Headers(scope=scope))
                fault = None if found else "a key is needed, as Authorization: Bearer or as x-api-key"
            except NoKeyError as error:
                fault = str(error)
            if fault is not None:
                await _unauthorized(fault)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _unauthorized(message: str) -> JSONResponse:
    return JSONResponse(
        {"error": {"code": "unauthorized", "message": message}},
        status_code=401,
        headers={"WWW-Authenticate": 'Bearer realm="almanac"'},
    )


def app(server: AlmanacServer, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> ASGIApp:
    """
    Build the server's application at /mcp: without sessions, with answers as JSON. It runs its own lifespan, because it
    isn't mounted anywhere.
    """
    return Keyed(
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=_MOST_BODY,
            transport_security=security(hosts, origins),
        )
    )
